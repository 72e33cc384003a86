"""Play the first free cell of tic-tac-toe."""

import sys

sys.stdin.readline()  # the game and the seat
for line in sys.stdin:
    if line == "quit\n":
        break
    moves = [int(move) for move in line.split()]
    free = [cell for cell in range(9) if cell not in moves]
    print(free[0], flush=True)
