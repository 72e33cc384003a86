"""A process that answers each line with a line, such as a program that plays."""

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import IO

_END_SECONDS = 1.0
"""Time for a process to end by itself after `quit`."""
_MAX_BYTES = 4096
"""Bytes that are read at once; an answer must be shorter."""
_MAX_UNREAD = 16
"""Maximum number of such reads that nobody has taken yet; the process then waits."""
_FULL_SECONDS = 0.1
"""Seconds after which a reader that waits for place looks whether it is to end."""


_STARTED: "set[LineProcess]" = set()
"""The processes to end with this one."""


class LineProcess:
    """A running process, and all that it starts. It ends with `end`, or with ours.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  `end` does
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
        except OSError:
            self._errors.close()
            raise
        self._deadline: float | None = None  # of its end, once it is asked to
        self._output: queue.Queue[bytes] = queue.Queue(_MAX_UNREAD)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        _STARTED.add(self)

    def _read(self) -> None:
        """Queue what the process writes; an empty text is the end of its output."""
        assert self._process.stdout is not None
        with self._process.stdout as output:
            while data := os.read(output.fileno(), _MAX_BYTES):
                self._put(data)
        self._put(b"")

    def _put(self, data: bytes) -> None:
        """Queue what it wrote, when there is place; not once it is asked to end."""
        while self._deadline is None:
            with contextlib.suppress(queue.Full):
                self._output.put(data, timeout=_FULL_SECONDS)
                return
        if not data:  # somebody may still wait for an answer
            with contextlib.suppress(queue.Full):
                self._output.put_nowait(data)

    def write(self, line: str) -> None:
        """Write a line to the process."""
        assert self._process.stdin is not None
        # If the process has ended, the end of its output says so.
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())

    def unread(self, seconds: float = 0.0) -> bytes:
        """Return what it has written unasked; wait for it at most so many seconds."""
        try:
            return self._next(seconds)
        except queue.Empty:
            return b""

    def _next(self, seconds: float) -> bytes:
        """Return what it has written next; empty at the end of its output.

        Raises:
            queue.Empty: it has written nothing within so many seconds.
        """
        data = self._output.get(block=seconds > 0, timeout=max(seconds, 0.0))
        if not data:
            self._output.put_nowait(data)  # the end stays, for each later question
        return data

    def answer(self, seconds: float) -> bytes:
        """Return what it writes up to the end of a line, and all that came with it.

        Raises:
            TimeoutError: there is no whole line within so many seconds; its argument is
                what there is.
            EOFError: its output has ended; the message says how.
        """
        deadline = time.monotonic() + seconds
        text = b""
        while b"\n" not in text and len(text) < _MAX_BYTES:
            try:
                data = self._next(deadline - time.monotonic())
            except queue.Empty:
                raise TimeoutError(text) from None
            if not data:
                raise EOFError(self._how_it_ended())
            text += data
        return text

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its output"
        how = f"ended with exit code {code}"
        if code < 0:
            names = {number.value: number.name for number in signal.Signals}
            how = f"was ended by {names.get(-code, f'signal {-code}')}"
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - _MAX_BYTES, 0))
        lines = self._errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in lines[::-1] if line.strip()), "")
        return f"{how} ({last[:200]})" if last else how

    def quit(self) -> None:
        """Ask the process to end by itself, within a second."""
        if self._deadline is None:
            self._deadline = time.monotonic() + _END_SECONDS
            self.write("quit")
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def end(self) -> None:
        """Wait for the end that `quit` asks for; then end all that is left."""
        if self._errors.closed:
            return
        try:
            self.quit()
            assert self._deadline is not None  # `quit` has set it
            # Until nobody can write to the output any more.
            self._reader.join(max(self._deadline - time.monotonic(), 0.0))
        finally:  # also after a second Ctrl-C
            self.kill()
            self._process.wait()
            self._errors.close()
            _STARTED.discard(self)

    def kill(self) -> None:
        """End the process at once, with all in its group."""
        if self._errors.closed:  # it has ended, and its number may be another's now
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def kill_all() -> None:
    """End all started processes at once."""
    for process in tuple(_STARTED):
        process.kill()


@atexit.register
def _end_all() -> None:
    for process in tuple(_STARTED):
        process.quit()
    for process in tuple(_STARTED):
        process.end()
