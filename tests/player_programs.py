"""Programs that play: tests write and start them, and see what they leave behind.

Each is a file of Python, which uses nothing of the package. It logs all lines that it
gets, and starts a child, which sleeps.
"""

import os
import shlex
import signal
import sys
import time
from pathlib import Path

FIRST_FREE = "say(min({*range(9)} - {*moves}))"
MINIMAX = """
    import rules
    board = "-" * 9
    for move in moves:
        board = rules.after(board, move)
    say(rules.first_best(board)[0])
"""
"""Exact play by the tests' own rules: the first of the best moves."""
FIRST_COLUMN = "say(next(c for c in (1, 2, 0, 3) if moves.count(c) < 4))"
"""A player of `connect_4x4`: the first column that is not full, from the middle."""
DEAF = """
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
get(), get(), time.sleep(600)
"""
"""The whole code of a program that ignores signals, `quit` and the end of its input."""

_START = """
import os, sys, time
sys.path.insert(0, {tests!r})
log = open(f"{folder}/{{os.getpid()}}.told", "w", buffering=1)

def get():
    line = sys.stdin.readline()
    log.write(line)
    return line

def say(text):
    print(text, flush=True)

def start_child(keeps_output):
    if child := os.fork():
        open(f"{folder}/{{child}}.child", "w").close()
    else:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        keeps_output or os.dup2(0, 1)
        os.execvp("sleep", ["sleep", "600"])

start_child({keeps_output})
"""
_LOOP = """
game, seat = get().split()
while (line := get()) not in ("", "quit\\n"):
    moves = [int(move) for move in line.split()]
    {answer}
"""


class PlayerProgram:
    """A program in a new file, and the processes that it has become.

    `answer` are statements that answer a position with `say`; they know `game`, `seat`,
    `line` and `moves`. With `code`, it is the whole program after its preparations.
    """

    def __init__(
        self,
        folder: Path,
        answer: str = FIRST_FREE,
        code: str = "",
        file: str = "player.py",
        keeps_output: bool = False,
    ) -> None:
        self.folder = folder / f"told-{file}"
        self.folder.mkdir(parents=True)
        start = _START.format(
            tests=str(Path(__file__).parent),
            folder=self.folder,
            keeps_output=keeps_output,
        )
        self.path = folder / file
        shebang = f"#!{sys.executable} -IS\n"
        self.path.write_text(shebang + start + (code or _LOOP.format(answer=answer)))
        self.path.chmod(0o755)
        self.command = [sys.executable, "-IS", str(self.path)]
        self.name = f"program:{shlex.join(self.command)}"

    def told(self) -> list[list[str]]:
        """Return the lines that each process got, in the order of their starts."""
        files = self.folder.glob("*.told")
        by_start = sorted(files, key=lambda path: int(path.stem))
        return [path.read_text().split("\n")[:-1] for path in by_start]

    def asked(self, seat: str, game: str = "tic_tac_toe") -> list[list[str]]:
        """Return the positions that each process in a seat was asked for."""
        told = [lines for lines in self.told() if lines[:1] == [f"{game} {seat}"]]
        return [[line for line in lines[1:] if line != "quit"] for lines in told]

    def wait_until_asked(self) -> None:
        """Wait until a process has got a position."""
        deadline = time.monotonic() + 120
        while not any(len(lines) > 1 for lines in self.told()):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def left_running(self) -> list[int]:
        """Return which processes, with their children, go on; then end these.

        The kernel may need a moment to end a process.
        """
        numbers = [int(path.stem) for path in self.folder.iterdir()]
        deadline = time.monotonic() + 60
        while (left := [*filter(_is_running, numbers)]) and time.monotonic() < deadline:
            time.sleep(0.02)
        for number in left:
            os.kill(number, signal.SIGKILL)
        return left


def _is_running(number):
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        status = ""
    # A container may have nobody who waits for orphans, so they stay as zombies.
    if status.rpartition(")")[2].split()[:1] in (["Z"], ["X"]):
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
