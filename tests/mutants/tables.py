"""All mutants, collected from the tables of the folders."""

import itertools
from collections.abc import Iterator

from mutants import (
    of_checkpoints,
    of_dqn,
    of_files,
    of_games,
    of_players,
    of_reach,
    of_scaling,
    of_server,
    of_simulation,
    of_solver,
)
from mutants.mutant import Mutant

TABLES = (
    of_dqn.MUTANTS,
    of_games.MUTANTS,
    of_solver.MUTANTS,
    of_players.MUTANTS,
    of_reach.MUTANTS,
    of_server.MUTANTS,
    of_files.MUTANTS,
    of_checkpoints.MUTANTS,
    of_scaling.MUTANTS,
    of_simulation.MUTANTS,
)


def all_mutants() -> Iterator[Mutant]:
    """Return all mutants."""
    return itertools.chain(*TABLES)
