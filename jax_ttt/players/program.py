"""A program that plays: it reads positions on stdin, and answers moves on stdout.

docs/programs.md describes the protocol. A program is a process for one seat of a game.
The first line that it gets is the game and the seat. Then each line is a position, as
the moves so far, and the program answers with one line, its move. Imports no JAX.
"""

import contextlib
import dataclasses
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import EnvId, Seat

Line = tuple[int, ...]
"""The moves of a game from its first position."""

_END_SECONDS = 1.0
"""Time for a program to end by itself after `quit`."""
_SILENT_SECONDS = 0.05
"""Time after the last answer in which a program must say nothing."""
_MOST_SHOWN = 60
"""Most characters of an answer that a message shows."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramOptions:
    """How programs are asked.

    Attributes:
        copies: Processes of a program in each seat, which answer in turn.
        answer_seconds: Time limit of an answer.
        max_positions: Most positions that a program is asked for in advance in a seat.
        in_advance: Whether a program is asked for all positions that it can reach,
            before the games; else it is asked during a game.
        say: Shows the progress.
    """

    copies: int = 1
    answer_seconds: float = 10.0
    max_positions: int = 100_000
    in_advance: bool = True
    say: Callable[[str], None] = lambda text: None


def position_phrase(moves: Line) -> str:
    """Return the position after these moves, in words."""
    if not moves:
        return "before the first move"
    return f"after the moves {' '.join(map(str, moves))}"


class Program:
    """A running program in a seat. It ends with `end`, or with this process.

    Raises:
        PlayerError: the program can't be started.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env_id: EnvId,
        seat: Seat,
        answer_seconds: float,
    ) -> None:
        self.name = name
        self.answer_seconds = answer_seconds
        self._buffer = b""
        self._deadline = 0.0
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  `_end` does
        try:
            # In a session of its own, so that Ctrl-C does not reach it, and that all
            # that it starts can be ended with it.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise PlayerError(f"{name}: can't be started: {error.strerror}") from None
        # Called by `end`, or when this object or the interpreter ends.
        self.end = weakref.finalize(self, _end, self._process, self._errors)
        self._write(f"{env_id} {seat}")

    def fileno(self) -> int:
        """Return the file descriptor of the answers, for `select`."""
        return self._output.fileno()

    @property
    def _output(self) -> IO[bytes]:
        assert self._process.stdout is not None  # it is a pipe
        return self._process.stdout

    @property
    def seconds_left(self) -> float:
        """Seconds until the answer is late."""
        return self._deadline - time.monotonic()

    def ask(self, moves: Line) -> None:
        """Ask for the move in the position after these moves.

        Raises:
            PlayerError: the program has said something that it was not asked for.
        """
        self.check_silence(0.0, moves)
        self._write(" ".join(map(str, moves)))
        self._deadline = time.monotonic() + self.answer_seconds

    def check_silence(self, seconds: float, moves: Line) -> None:
        """Wait, and raise `PlayerError` if the program says something meanwhile.

        `moves` lead to the latest position that it was asked for, or will be.
        """
        readable, _, _ = select.select([self], [], [], seconds)
        if readable and (said := os.read(self.fileno(), 4096)):
            where = position_phrase(moves)
            raise PlayerError(f"{self.name}: said {_shown(said)} unasked, {where}")

    def read(self, moves: Line) -> int | None:
        """Return the answer if its line is complete, else None; call it when readable.

        Raises:
            PlayerError: the program has ended, or its answer is not a number.
        """
        data = os.read(self.fileno(), 4096)
        self._buffer += data
        where = position_phrase(moves)
        if not data:
            raise PlayerError(f"{self.name}: {self._how_it_ended()} {where}")
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            return None
        text = line.decode(errors="replace").strip()
        if rest or not text.isascii() or not text.isdigit():
            said = _shown(self._buffer)
            raise PlayerError(f"{self.name}: answered {said}, not one move, {where}")
        self._buffer = b""
        return int(text)

    def late(self, moves: Line) -> PlayerError:
        """Return the error of an answer that is late."""
        said = f"; it said only {_shown(self._buffer)}" if self._buffer else ""
        limit, where = f"{self.answer_seconds:g} s", position_phrase(moves)
        return PlayerError(f"{self.name}: no answer within {limit} {where}{said}")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None  # it is a pipe
        # If the program has ended, the end of its output says so.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n".encode())

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its output"
        how = f"ended with exit code {code}"
        if code < 0:
            how = f"was ended by {signal.Signals(-code).name}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in lines[::-1] if line.strip()), "")
        return f"{how} ({last[:200]})" if last else how


def _shown(said: bytes) -> str:
    """Return what a program said, as text in quotes, cut if it is long."""
    text = said.decode(errors="replace").rstrip("\n")
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")


def _end(process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    """End a program: by asking, and then with all processes of its session."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.write(b"quit\n")
    with contextlib.suppress(OSError):
        process.stdin.close()
    # Its process id is free, and may be another program's, only after `wait`.
    _wait_for_end_of_output(process.stdout)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    errors.close()


def _wait_for_end_of_output(output: IO[bytes]) -> None:
    """Wait until nobody can write to the output any more, a second at most."""
    deadline = time.monotonic() + _END_SECONDS
    while (seconds := deadline - time.monotonic()) > 0:
        readable, _, _ = select.select([output], [], [], seconds)
        if readable and not os.read(output.fileno(), 4096):
            return


def answers(programs: Sequence[Program], lines: Iterable[Line]) -> Iterator[int]:
    """Yield the move after each line, in the order of the lines.

    Each of the programs, which are copies of one, answers the next open line.

    Raises:
        PlayerError: an answer is missing, late or no number; the programs go on.
    """
    open_lines = enumerate(lines)
    asked: dict[Program, tuple[int, Line]] = {}
    moves: dict[int, int] = {}
    num_yielded = 0
    line: Line = ()

    def ask_next(program: Program) -> None:
        asked.pop(program, None)
        if (following := next(open_lines, None)) is not None:
            program.ask(following[1])
            asked[program] = following

    for program in programs:
        ask_next(program)
    while asked:
        seconds = min(program.seconds_left for program in asked)
        readable, _, _ = select.select([*asked], [], [], max(seconds, 0))
        for program in readable:
            number, line = asked[program]
            move = program.read(line)
            if move is not None:
                moves[number] = move
                ask_next(program)
        for program, (_, line) in asked.items():
            if program.seconds_left <= 0:
                raise program.late(line)
        while num_yielded in moves:
            yield moves.pop(num_yielded)
            num_yielded += 1
    # A second line as an answer may come late.
    for program in programs:
        program.check_silence(_SILENT_SECONDS, line)
