"""What a terminal shows while JAX compiles or computes: a notice, a status, a bar."""

import contextlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm

EVENTS = "/jax/core/compile/"
"""Prefix of the events of tracing, lowering and compiling."""
WILL_COMPILE = "/jax_ttt/compile"
"""Our event before a program is compiled: JAX has one only with its cache."""
_JAX_BEGINS = "/jax/compilation_cache/compile_requests_use_cache"
_JAX_ENDS = f"{EVENTS}backend_compile_duration"
_LONG = 0.5
"""CPU seconds; reading a program from JAX's cache takes less."""
_ALARM = 100.0
"""Seconds after which XLA's alarm is hidden; XLA logs it after 120."""
_FATAL = 3
"""XLA's log level above errors."""


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
    """Calls `say` once, when a program is compiled and not only read from the cache.

    It also hides XLA's alarm "Very slow compile?", which XLA logs after two minutes.
    """

    def __init__(self, say: Callable[[], None]) -> None:
        """Start to listen, until the process ends."""
        import jax.monitoring

        self._say, self._said, self._hidden = say, False, False
        self._begun: dict[int, tuple[float, float]] = {}  # CPU and wall time, by thread
        self._looking = False
        self._lock = threading.Lock()
        jax.monitoring.register_event_listener(self._begins)
        jax.monitoring.register_event_duration_secs_listener(self._ends)

    def _begins(self, event: str, **kwargs: str | int) -> None:
        del kwargs
        if event not in (_JAX_BEGINS, WILL_COMPILE):
            return
        with self._lock:
            now = time.process_time(), time.monotonic()
            self._begun[threading.get_ident()] = now
            if not self._looking:
                self._looking = True
                threading.Thread(target=self._look, daemon=True).start()

    def _ends(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        del duration_secs, kwargs
        if event == _JAX_ENDS:
            with self._lock:
                self._begun.pop(threading.get_ident(), None)

    def _look(self) -> None:
        """Look at what compiles until nothing does."""
        while True:
            time.sleep(_LONG / 5)
            with self._lock:
                if not self._begun:
                    self._looking = False
                    self._hide(False)
                    return
                cpu, wall = map(min, zip(*self._begun.values(), strict=True))
                self._hide(time.monotonic() - wall >= _ALARM)
                if self._said or time.process_time() - cpu < _LONG:
                    continue
                self._said = True
            self._say()

    def _hide(self, hidden: bool) -> None:
        if hidden != self._hidden:
            self._hidden = hidden
            set_log_level(_FATAL if hidden else None)


def set_log_level(level: int | None) -> None:
    """Let XLA log messages of this level and above; None is the environment's level.

    XLA has no switch for its alarm, an error in its log. Real errors of compiling are
    raised too.
    """
    with contextlib.suppress(ImportError, AttributeError):  # in another release of JAX
        log = importlib.import_module("jaxlib.utils")
        # JAX sets the variable when it is imported.
        usual = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "")
        usual = int(usual) if usual.isdigit() else 1
        log.absl_set_min_log_level(usual if level is None else level)


class Status:
    """A line on a terminal that shows what a command waits for, and for how long."""

    def __init__(self, text: str) -> None:
        """Show the line; nothing where stderr is not a terminal."""
        self._bar = None
        if sys.stderr.isatty():
            self._ended = threading.Event()
            layout = "{desc} {elapsed}"
            self._bar = tqdm(desc=text, bar_format=layout, leave=False)
            self._ticks = threading.Thread(target=self._tick, daemon=True)
            self._ticks.start()

    def say(self, text: str) -> None:
        """Show another text."""
        if self._bar is not None:
            self._bar.set_description_str(text)

    def _tick(self) -> None:
        while self._bar is not None and not self._ended.wait(1):
            self._bar.refresh()

    def close(self) -> None:
        """Remove the line."""
        if self._bar is not None:
            self._ended.set()
            self._ticks.join()
            self._bar.close()

    def __enter__(self) -> "Status":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Bar(tqdm):
    """A progress bar whose rate excludes compiling."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Show the bar; the arguments are those of tqdm."""
        self._listening = contextlib.ExitStack()
        super().__init__(*args, **{"dynamic_ncols": True} | options)
        if not self.disable:
            self._listening.enter_context(durations(self._heard))

    def _heard(self, event: str, seconds: float) -> None:
        if event == _JAX_ENDS and seconds > _LONG:
            self.unpause()

    def close(self) -> None:
        """Remove the bar."""
        self._listening.close()
        super().close()
