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
        # What requests wait for: the value, or the refusal at the server's end.
        self._awaited: concurrent.futures.Future[Value] = concurrent.futures.Future()
        self.ended = threading.Event()

    def begin(self, make: Callable[[], Value], failed: Callable[[], None]) -> None:
        """Make the value in a thread; `failed` is called there if that raises."""

        def work() -> None:
            try:
                value = make()
            except BaseException as error:
                self._settle(error)
                self._made.set_exception(error)
                failed()
            else:
                self._settle(value)
                self._made.set_result(value)

        # Not a daemon: JAX must not compute while Python ends.
        threading.Thread(target=work, name="loading").start()

    async def value(self) -> Value:
        """Wait for the value.

        Raises:
            Refusal: it takes too long, can't be made, or the server is about to end.
        """
        awaited = asyncio.shield(asyncio.wrap_future(self._awaited))
        try:
            return await asyncio.wait_for(awaited, LOADING_SECONDS)
        except TimeoutError:
            raise Refusal(503, "still loading: try again") from None
        except Refusal:
            raise
        except Exception:
            raise Refusal(503, "the server could not start") from None

    def made(self) -> Value:
        """Wait for the thread and return the value, or raise why there is none."""
        return self._made.result()

    def end(self) -> None:
        """Refuse the requests that wait; streams see `ended`."""
        self.ended.set()
        self._settle(Refusal(503, "the server is about to end"))

    def _settle(self, value: Value | BaseException) -> None:
        """Give the requests what they wait for; only the first time counts."""
        try:
            if isinstance(value, BaseException):
                self._awaited.set_exception(value)
            else:
                self._awaited.set_result(value)
        except concurrent.futures.InvalidStateError:
            return  # the server has ended, or the value has come, in the meantime
