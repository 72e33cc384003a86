"""A value that a thread makes while the server answers already."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from jax_ttt.serving.replies import Refusal

LOADING_SECONDS = 120.0
"""How long a request waits for the value; compiling can take some of it."""
Value = TypeVar("Value")


class Loading(Generic[Value]):
    """A value in the making, and whether the server is about to end."""

    def __init__(self) -> None:
        self._made: concurrent.futures.Future[Value] = concurrent.futures.Future()
        self._thread: threading.Thread | None = None
        self.ended = threading.Event()

    def begin(self, make: Callable[[], Value], failed: Callable[[], None]) -> None:
        """Make the value in a thread; `failed` is called there if that raises."""

        def work() -> None:
            try:
                self._settle(make())
            except BaseException as error:
                self._settle(error)
                failed()

        self._thread = threading.Thread(target=work, name="loading", daemon=True)
        self._thread.start()

    async def value(self) -> Value:
        """Wait for the value.

        Raises:
            Refusal: it takes too long, can't be made, or the server is about to end.
        """
        made = asyncio.shield(asyncio.wrap_future(self._made))
        try:
            return await asyncio.wait_for(made, LOADING_SECONDS)
        except TimeoutError:
            raise Refusal(503, "still loading: try again") from None
        except Refusal:
            raise
        except Exception:
            raise Refusal(503, "the server could not start") from None

    def value_now(self) -> Value | None:
        """Return the value; None if it is not there."""
        if not self._made.done() or self._made.exception() is not None:
            return None
        return self._made.result()

    def join(self) -> None:
        """Wait for the end of the thread: Python must not end while it uses JAX."""
        if self._thread is not None:
            self._thread.join()

    def end(self) -> None:
        """Refuse the requests that wait; streams see `ended`."""
        self.ended.set()
        self._settle(Refusal(503, "the server is about to end"))

    def error(self) -> BaseException | None:
        """Return what was raised by making the value, if anything."""
        error = self._made.exception() if self._made.done() else None
        return None if isinstance(error, Refusal) else error

    def _settle(self, made: Value | BaseException) -> None:
        try:
            if isinstance(made, BaseException):
                self._made.set_exception(made)
            else:
                self._made.set_result(made)
        except concurrent.futures.InvalidStateError:
            return  # the server has ended, or the value has come, in the meantime
