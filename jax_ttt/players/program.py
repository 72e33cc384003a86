"""A program that plays: it reads positions on stdin, and answers moves on stdout.

docs/use/programs.md describes the protocol. A program is a process for one seat of a
game. The first line that it gets is the game and the seat. Then each line is a
position, as the moves so far, and the program answers with one line, its move.
"""

import contextlib
import itertools
import os
import selectors
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import IO

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import EnvId, Seat
from jax_ttt.config.player_kinds import ProgramOptions

Line = tuple[int, ...]
"""The moves of a game from its first position."""

_END_SECONDS = 1.0
"""Time for a program to end by itself after `quit`."""
_SILENT_SECONDS = 0.05
"""Time after the last answer in which a program must say nothing."""
_MAX_DIGITS = 9
"""Maximum number of digits of an answer."""
_MAX_BYTES = 4096
"""Maximum number of bytes that are read at once; an answer must be shorter."""
_MAX_SHOWN = 60
"""Maximum number of characters of an answer that a message shows."""


def position_phrase(line: Line) -> str:
    """Return the position after these moves, in words."""
    if not line:
        return "before the first move"
    return f"after the moves {' '.join(map(str, line))}"


def check_answer(name: str, move: int, line: Line, legal: Sequence[int]) -> None:
    """Raise `Refused` if an answer is not one of the legal moves after a line."""
    if move not in legal:
        allowed = " ".join(map(str, legal))
        raise Refused(
            f"{name}: answered {move} {position_phrase(line)}; legal are {allowed}"
        )


class Asked:
    """Somebody who is asked for moves: a program, or a function on the host.

    Attributes:
        name: The player's name.
        options: How it is asked.
    """

    name: str
    options: ProgramOptions

    def answers(
        self,
        seat: Seat,
        lines: Sequence[Line],
        legal: Sequence[Sequence[int]],
        states: object = None,
    ) -> Iterator[int]:
        """Yield its moves in a seat after these lines, where these moves are legal.

        `states` are the states after the lines, if they are known.

        Raises:
            Refused: an answer is missing or illegal.
        """
        raise NotImplementedError

    def new(self) -> "Asked":
        """Return the same one, without what it remembers of earlier questions."""
        return self

    def check_silence(self) -> None:
        """Raise `Refused` if it says more than its answers."""

    def end(self) -> None:
        """End what it has started; it is started again if it is asked."""


class ProgramCopies(Asked):
    """The copies of a program in both seats; those of a seat start when it is asked."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env_id: EnvId,
        options: ProgramOptions,
    ) -> None:
        self.name = name
        self.options = options
        self._command = command
        self._env_id: EnvId = env_id
        self._programs: dict[Seat, list[ProgramCopy]] = {}

    def new(self) -> "ProgramCopies":
        """Return other copies of the same program."""
        return ProgramCopies(self.name, self._command, self._env_id, self.options)

    def answers(
        self,
        seat: Seat,
        lines: Sequence[Line],
        legal: Sequence[Sequence[int]],
        states: object = None,
    ) -> Iterator[int]:
        """Yield the program's moves after these lines, where these moves are legal.

        Raises:
            Refused: the program can't be started, or an answer is missing, late, no
                number or illegal.
        """
        del states
        if not lines:
            return
        try:
            programs = self._programs.setdefault(seat, [])
            while len(programs) < self.options.copies:
                programs.append(self._start(seat))
            answers = answers_in_turn(programs, lines)
            for move, line, moves in zip(answers, lines, legal, strict=True):
                check_answer(self.name, move, line, moves)
                yield move
        except BaseException:  # an answer may still come: it must not be taken later
            self.end()
            raise

    def _start(self, seat: Seat) -> "ProgramCopy":
        return ProgramCopy(
            name=self.name,
            command=self._command,
            env_id=self._env_id,
            seat=seat,
            answer_seconds=self.options.answer_seconds,
        )

    def check_silence(self) -> None:
        """Wait a moment, and raise `Refused` if a copy says more than its answers.

        A second line as an answer may come late.
        """
        with selectors.DefaultSelector() as selector:
            for program in itertools.chain(*self._programs.values()):
                selector.register(program, selectors.EVENT_READ, program)
            ready = selector.select(_SILENT_SECONDS)
            for key, _ in ready:
                key.data.check_silence()

    def end(self) -> None:
        """End all copies; they are started again if the program is asked."""
        programs = [*itertools.chain(*self._programs.values())]
        self._programs.clear()
        for program in programs:
            program.quit()
        for program in programs:
            program.end()


class ProgramCopy:
    """A running copy of a program in a seat. It ends with `end`, or with this process.

    Raises:
        Refused: the program can't be started.
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
        self._has_answered = False
        self._line: Line = ()  # the latest position that it was asked for
        try:
            self._process = _Process(command)
        except OSError as error:
            raise Refused(f"{name}: can't be started: {error.strerror}") from None
        # Called by `end`, or when this object or the interpreter ends.
        self.end = weakref.finalize(self, self._process.end)
        self._write(f"{env_id} {seat}")

    def fileno(self) -> int:
        """Return the file descriptor of the answers, for `selectors`."""
        return self._process.stdout.fileno()

    def quit(self) -> None:
        """Ask the program to end; `end` waits for it."""
        self._process.quit()

    @property
    def seconds_left(self) -> float:
        """Seconds until the answer is late."""
        return self._deadline - time.monotonic()

    def ask(self, line: Line) -> None:
        """Ask for the move after these moves.

        Raises:
            Refused: the program has said something that it was not asked for.
        """
        self._line = line
        self.check_silence()
        self._write(" ".join(map(str, line)))
        self._deadline = time.monotonic() + self.answer_seconds

    def check_silence(self) -> None:
        """Raise `Refused` if the program has written before it was asked."""
        output = self._process.stdout
        if _is_readable(output, 0.0) and (text := _read(output)):
            where = position_phrase(self._line)
            fault = f"wrote {_shown(text)} before it was asked for a move"
            raise Refused(f"{self.name}: {fault}, {where}")

    def read(self) -> int | None:
        """Return the answer if its line is complete, else None; call it when readable.

        Raises:
            Refused: the program has ended, or its answer is not a number.
        """
        data = _read(self._process.stdout)
        self._buffer += data
        where = position_phrase(self._line)
        if not data:
            raise Refused(f"{self.name}: {self._how_it_ended()} {where}")
        answer, newline, rest = self._buffer.partition(b"\n")
        if not newline and len(answer) < _MAX_BYTES:
            return None
        text = answer.decode(errors="replace").strip()
        is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
        if rest or not is_number:
            said = _shown(self._buffer)
            raise Refused(f"{self.name}: answered {said}, not one move, {where}")
        self._buffer = b""
        self._has_answered = True
        return int(text)

    def late_error(self) -> Refused:
        """Return the error of an answer that is late."""
        incomplete = f"; it said only {_shown(self._buffer)}" if self._buffer else ""
        if not (incomplete or self._has_answered):
            advice = "does it flush its output, as mawk does with -W interactive?"
            incomplete = f"; {advice}"
        limit, where = f"{self.answer_seconds:g} s", position_phrase(self._line)
        return Refused(f"{self.name}: no answer within {limit} {where}{incomplete}")

    def _write(self, text: str) -> None:
        # If the program has ended, the end of its output says so.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{text}\n".encode())

    def _how_it_ended(self) -> str:
        try:
            code = self._process.popen.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its output"
        how = f"ended with exit code {code}"
        if code < 0:
            names = {number.value: number.name for number in signal.Signals}
            how = f"was ended by {names.get(-code, f'signal {-code}')}"
        lines = self._process.last_errors().split("\n")
        last = next((line.strip() for line in lines[::-1] if line.strip()), "")
        return f"{how} ({last[:200]})" if last else how


def _shown(output: bytes) -> str:
    """Return what a program said, as text in quotes, cut if it is long."""
    text = output.decode(errors="replace").rstrip("\n")
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")


def answers_in_turn(
    programs: Sequence[ProgramCopy], lines: Sequence[Line]
) -> Iterator[int]:
    """Yield the move after each line, in the order of the lines.

    Each of the programs, which are copies of one, answers the next open line.

    Raises:
        Refused: an answer is missing, late or no number; the programs go on.
    """
    open_lines = enumerate(lines)
    number_of: dict[ProgramCopy, int] = {}  # of the line that it is asked for
    answers: dict[int, int] = {}
    num_yielded = 0
    with selectors.DefaultSelector() as selector:

        def ask_next(program: ProgramCopy) -> None:
            if (following := next(open_lines, None)) is not None:
                number_of[program], line = following
                program.ask(line)
            elif number_of.pop(program, None) is not None:
                selector.unregister(program)

        for program in programs[: len(lines)]:
            selector.register(program, selectors.EVENT_READ, program)
            ask_next(program)
        while number_of:
            seconds = min(program.seconds_left for program in number_of)
            for key, _ in selector.select(max(seconds, 0)):
                program: ProgramCopy = key.data
                answer = program.read()
                if answer is not None:
                    answers[number_of[program]] = answer
                    ask_next(program)
            for program in number_of:
                if program.seconds_left <= 0:
                    raise program.late_error()
            while num_yielded in answers:
                yield answers.pop(num_yielded)
                num_yielded += 1


class _Process:
    """The process of a program, and all that it has started."""

    def __init__(self, command: Sequence[str]) -> None:
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  `end` does
        self._deadline: float | None = None
        try:
            # In a session of its own, so that Ctrl-C does not reach it, and that all
            # that it starts can be ended with it.
            self.popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                bufsize=0,
                start_new_session=True,
            )
        except OSError:
            self.errors.close()
            raise

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe of positions."""
        assert self.popen.stdin is not None
        return self.popen.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe of answers."""
        assert self.popen.stdout is not None
        return self.popen.stdout

    def last_errors(self) -> str:
        """Return the end of what the program has written to stderr."""
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(size - _MAX_BYTES, 0))
        return self.errors.read().decode(errors="replace")

    def quit(self) -> None:
        """Ask the program to end, within a second from now."""
        if self._deadline is None:
            self._deadline = time.monotonic() + _END_SECONDS
            with contextlib.suppress(OSError):
                self.stdin.write(b"quit\n")
            with contextlib.suppress(OSError):
                self.stdin.close()

    def end(self) -> None:
        """Wait for the end that `quit` asks for; then end all that is left."""
        try:
            self.quit()
            assert self._deadline is not None  # `quit` has set it
            while (seconds := self._deadline - time.monotonic()) > 0:
                # Until nobody can write to the output any more.
                if _is_readable(self.stdout, seconds) and not _read(self.stdout):
                    break
        finally:  # also after a second Ctrl-C
            # The process id can't be another program's before `wait`.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait()
            self.stdout.close()
            self.errors.close()


def _is_readable(output: IO[bytes], seconds: float) -> bool:
    """Return whether there is output, or its end, within so many seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def _read(output: IO[bytes]) -> bytes:
    """Return what can be read without waiting; empty at the end."""
    return os.read(output.fileno(), _MAX_BYTES)
