"""A run that is spread over some of the tests' devices."""

import pytest

from jax_ttt.scaling import mesh
from jax_ttt.scaling.flags import Spread


@pytest.fixture
def spread():
    """Return a function that spreads what is compiled from then on over devices."""
    yield lambda number: mesh.use_devices("auto", Spread(devices=str(number)))
    mesh.use_devices("auto", Spread(devices="1"))
