#!/bin/sh
# Play the first free cell of tic-tac-toe.
read -r game seat
while read -r moves && [ "$moves" != quit ]; do
  for cell in 0 1 2 3 4 5 6 7 8; do
    case $moves in
      *$cell*) ;; # each move is one digit
      *) echo $cell; break ;;
    esac
  done
done
