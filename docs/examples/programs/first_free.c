/* Play the first free cell of tic-tac-toe. Build: cc -o first_free first_free.c */
#include <stdio.h>
#include <string.h>

int main(void) {
  char line[256];
  if (!fgets(line, sizeof line, stdin)) return 0; /* the game and the seat */
  while (fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
    int cell = 0;
    while (strchr(line, '0' + cell)) cell++; /* each move is one digit */
    printf("%d\n", cell);
    fflush(stdout);
  }
  return 0;
}
