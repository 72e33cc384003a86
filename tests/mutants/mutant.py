"""A fault that a person could make, as a change of one place in the source."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Mutant(NamedTuple):
    """A change of a file, and the tests that must fail after it."""

    file: str  # below the root of the repository
    old: str  # occurs once in the file
    new: str
    fault: str  # in words
    tests: tuple[str, ...]  # files or tests below `tests/`

    @property
    def folder(self) -> str:
        """The folder of the package, or the file if it is elsewhere."""
        parts = Path(self.file).parts
        return parts[1] if parts[0] == "jax_ttt" and len(parts) > 2 else self.file

    def applied(self, text: str) -> str:
        """Return the contents of the file with the fault.

        Raises:
            ValueError: the old text does not occur exactly once.
        """
        if (found := text.count(self.old)) != 1 or self.old == self.new:
            raise ValueError(f"{self.file}: {self.old!r} is there {found} times")
        return text.replace(self.old, self.new)


def mutants(
    file: str, tests: str, rows: Sequence[tuple[str, str, str]]
) -> Iterator[Mutant]:
    """Yield the mutants of a file, from rows of the old text, the new one, the fault.

    `file` is below `jax_ttt/` unless its path begins with `/`, which is the root of the
    repository. `tests` are separated by spaces.
    """
    path = file[1:] if file.startswith("/") else f"jax_ttt/{file}"
    for old, new, fault in rows:
        yield Mutant(path, old, new, fault, tuple(tests.split()))
