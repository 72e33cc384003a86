"""Where the values of a refused setting come from. Imports no JAX."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence

from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import Setting
from jax_ttt.config.settings import PART_OF, Parts


@contextlib.contextmanager
def naming_origins(
    settings: Parts,
    source: str,
    given: Collection[str],
    grid: Mapping[str, Sequence[Setting]] | None = None,
) -> Iterator[None]:
    """Add to a refusal meanwhile where the values come from that the user did not give.

    `given` are the fields that the user gave, `grid` those that a grid varies. The
    others have the values of `settings`, which are from `source`: "preset table".
    """
    try:
        yield
    except SettingError as error:
        error.origin = _origin(error, settings, source, given, grid or {})
        raise


def _origin(
    error: SettingError,
    settings: Parts,
    source: str,
    given: Collection[str],
    grid: Mapping[str, Sequence[Setting]],
) -> str:
    field = error.field
    if field not in PART_OF:
        return ""
    origins = []
    is_given = field in given or field in grid
    if field in grid:
        origins.append(f"from {_grid_word(field, grid)}")
    elif field not in given:
        origins.append(f"from {source}")
    for other in error.others:
        if other in grid:
            origins.append(f"{other} is from {_grid_word(other, grid)}")
        elif is_given and other not in given:
            origins.append(f"{other} {settings.value(other)} is from {source}")
    return "; ".join(origins)


def _grid_word(field: str, grid: Mapping[str, Sequence[Setting]]) -> str:
    return f"--grid {field}={','.join(map(str, grid[field]))}"
