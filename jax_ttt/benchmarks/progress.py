"""The benchmark's progress bars, on stderr, and lines of output that spare them."""

import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tqdm import tqdm

from jax_ttt.runtime import compile_events

P = ParamSpec("P")
R = TypeVar("R")


class Steps(compile_events.Bar):
    """A progress bar that is shown where stderr is a terminal, and gone at its end."""

    def __init__(self, total: int, unit: str, text: str = "") -> None:
        super().__init__(
            total=total,
            unit=unit,
            desc=text,
            leave=False,
            disable=not sys.stderr.isatty(),
        )

    def step(
        self, text: str, run: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run one of the steps, named by `text`, and return its result."""
        self.set_description(text)
        found = run(*args, **kwargs)
        self.update()
        return found


def say(text: str) -> None:
    """Print a line on stdout at once; bars on the same terminal are drawn below it."""
    with tqdm.external_write_mode(file=sys.stdout):
        print(text, flush=True)
