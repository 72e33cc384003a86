"""Rates on many devices follow from computing, exchanges and a link."""

import pytest

from jax_ttt.simulation import rates
from jax_ttt.simulation.collectives import Exchange, Link
from jax_ttt.simulation.rates import Measured, Traffic

LINK = Link("a link", 1000.0, 0.5, 8)
MEASURED = Measured({64: 1.0, 256: 2.0, 1024: 8.0}, 30.0, 2)


def rows():
    """Return the table of four and of sixteen devices; the link joins eight."""
    some = [Exchange("all-reduce", (300, 100))], [Exchange("all-gather", (400,))]
    traffic = {1: Traffic([], []), 4: Traffic(*some), 16: Traffic(*some)}
    return rates.table(MEASURED, traffic, [LINK])


def test_what_each_device_sends_is_counted():
    found = rows()
    assert found["devices"] == [1, 4, 16]
    assert found["exchanges in an update"] == [0, 1, 1]
    assert found["bytes each device sends in an update"] == [0, 600, 750]
    assert found["bytes each device sends in a chunk of agents"] == [0, 300, 375]


def test_rates_have_the_time_of_computing_and_of_the_exchanges():
    found = rows()
    agents = found["agents/min, a link"]
    # A gather takes 0.3 s and 2 steps of 0.5 s; there are two chunks.
    assert agents == [2, pytest.approx(4 * 60 / (30 + 2 * 1.3)), None]
    # A sum takes 0.6 s and 4 steps. Each device computes 256 games in 2 s.
    moves = pytest.approx(1024 / (2 + 2.6))
    assert found["moves/s, 1,024 games, a link"] == [128, moves, None]
    assert found["moves/s, 256 games each, a link"] == [128, moves, None]


def test_a_share_of_games_that_was_not_measured_has_no_rate():
    found = rates.table(MEASURED, {2: Traffic([], [])}, [LINK])
    assert found["moves/s, 1,024 games, a link"] == [None]  # 512 on each
    assert found["moves/s, 256 games each, a link"] == [256]
