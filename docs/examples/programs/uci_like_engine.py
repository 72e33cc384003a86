"""Play the moves of an engine whose dialogue is like UCI, the protocol of chess.

    python uci_like_engine.py "depth 8" ./engine ARGUMENTS

The first argument is what follows `go`. Use a depth or a number of nodes rather than
`movetime`: a search that ends by the clock may choose another move the second time.
The engine gets `uci` once (it answers `uciok`), and these lines for each position:

    ucinewgame
    isready                        (it answers `readyok`)
    position startpos moves 4 0
    go depth 8                     (it answers `bestmove 8`)

If the engine has other names for moves, change `to_engine` and `from_engine`.
"""

import sys
from subprocess import PIPE, Popen


def to_engine(moves):
    """Return the engine's names of these moves."""
    return moves


def from_engine(move):
    """Return the number of a move that the engine names."""
    return move


limit, *command = sys.argv[1:]
engine = Popen(command, stdin=PIPE, stdout=PIPE, text=True)


def send(text):
    """Send a line to the engine."""
    print(text, file=engine.stdin, flush=True)


def wait_for(word):
    """Return the words of the engine's next line that begins with this word."""
    for line in engine.stdout:
        if line.split()[:1] == [word]:
            return line.split()
    sys.exit(f"{command[0]} ended before it said {word}")


send("uci")
wait_for("uciok")
sys.stdin.readline()  # the game and the seat
for line in sys.stdin:
    if line.strip() == "quit":
        break
    send("ucinewgame\nisready")
    wait_for("readyok")
    moves = " ".join(["moves", *to_engine(line.split())])
    send(f"position startpos {moves}" if line.strip() else "position startpos")
    send(f"go {limit}")
    print(from_engine(wait_for("bestmove")[1]), flush=True)
send("quit")
