"""All mutants, collected from the tables of the folders."""

import itertools
from collections.abc import Iterator

from mutants import of_dqn
from mutants.mutant import Mutant

TABLES = (of_dqn.MUTANTS,)


def all_mutants() -> Iterator[Mutant]:
    """Return all mutants."""
    return itertools.chain(*TABLES)
