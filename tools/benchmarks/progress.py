"""The benchmark's progress bars on stderr, and output lines above them."""

import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tqdm import tqdm

P = ParamSpec("P")
R = TypeVar("R")


class Steps(tqdm):
    """A progress bar, shown on a terminal only and removed at its end."""

    def __init__(self, total: int, unit: str, text: str = "") -> None:
        super().__init__(
            total=total,
            unit=unit,
            desc=text,
            leave=False,
            dynamic_ncols=True,
            disable=not sys.stderr.isatty(),
        )

    def step(
        self, text: str, run: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run one step with the name `text`, and return its result."""
        self.set_description(text)
        result = run(*args, **kwargs)
        self.update()
        return result


def say(text: str) -> None:
    """Print a line on stdout at once, above the bars of the same terminal."""
    with tqdm.external_write_mode(file=sys.stdout):
        print(text, flush=True)
