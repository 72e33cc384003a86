"""Rows as a DataFrame of the optional package pandas."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jax_ttt.config.errors import require_package
from jax_ttt.files.json_records import JsonObject

if TYPE_CHECKING:
    import pandas


def data_frame(rows: Sequence[JsonObject]) -> "pandas.DataFrame":
    """Return rows as a DataFrame; a column that a row lacks is NaN there.

    Raises:
        MissingPackageError: pandas is not installed.
    """
    require_package("pandas", "pandas", "a data frame")
    import pandas

    return pandas.DataFrame(rows)
