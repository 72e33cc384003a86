"""JAX's events of compiling: their durations, a notice, a progress bar."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm

EVENTS = "/jax/core/compile/"
"""Prefix of the events of tracing, lowering and compiling."""
_BEGIN = "/jax/compilation_cache/compile_requests_use_cache"
_END = f"{EVENTS}backend_compile_duration"
_LONG = 0.5
"""CPU seconds; reading a program from JAX's cache takes less."""


@contextlib.contextmanager
def durations(heard: Callable[[str, float], None]) -> Iterator[None]:
    """Call `heard(event, seconds)` after each step of compiling, in any thread."""
    import jax.monitoring

    within = True

    def listener(event: str, duration_secs: float, **kwargs: str | int) -> None:
        del kwargs
        if within and event.startswith(EVENTS):
            heard(event, duration_secs)

    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        yield
    finally:
        within = False
        # Older releases of JAX can't remove a listener.
        name = "unregister_event_duration_listener"
        getattr(jax.monitoring, name, lambda _: None)(listener)


class Notice:
    """Calls `say` once, when a program is compiled and not only read from the cache."""

    def __init__(self, say: Callable[[], None]) -> None:
        """Start to listen, until the process ends."""
        import jax.monitoring

        self._say, self._said = say, False
        self._begun: dict[int, float] = {}  # by thread
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        jax.monitoring.register_event_listener(self._begins)
        jax.monitoring.register_event_duration_secs_listener(self._ends)

    def _begins(self, event: str, **kwargs: str | int) -> None:
        del kwargs
        if event == _BEGIN and not self._said:
            with self._lock:
                self._begun[threading.get_ident()] = time.process_time()
                self._look_later()

    def _ends(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        del duration_secs, kwargs
        if event == _END:
            with self._lock:
                self._begun.pop(threading.get_ident(), None)

    def _look_later(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(_LONG / 5, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._lock:
            self._timer = None
            now = time.process_time()
            if self._said or not self._begun:
                return
            if now - min(self._begun.values()) < _LONG:
                self._look_later()
                return
            self._said = True
        self._say()


class Bar(tqdm):
    """A progress bar whose rate excludes compiling."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Show the bar; the arguments are those of tqdm."""
        self._listening = contextlib.ExitStack()
        super().__init__(*args, **options)
        if not self.disable:
            self._listening.enter_context(durations(self._heard))

    def _heard(self, event: str, seconds: float) -> None:
        if event == _END and seconds > _LONG:
            self.unpause()

    def close(self) -> None:
        """Remove the bar."""
        self._listening.close()
        super().close()
