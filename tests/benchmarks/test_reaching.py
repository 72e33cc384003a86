"""The time of finding what a network reaches: its parts, on the smallest board."""

import pytest

from jax_ttt.benchmarks import reaching
from jax_ttt.solver import reach
from jax_ttt.solver.reach import Reach


@pytest.mark.slow
def test_the_parts_of_the_time_add_up(capsys):
    figures = reaching.measure_reach(1, "connect_4x4")
    found = Reach(reaching.of_first_weights("connect_4x4"))
    reach.follow(found, 10**9)
    assert figures["positions"] == found.num_positions
    shares = [figures[part]["median"] for part in ("player", "game", "merging")]
    assert sum(shares) == pytest.approx(100)
    per_million = figures["seconds"]
    seconds = per_million["median"] * found.num_positions / 1e6
    assert seconds == pytest.approx(per_million["wall_seconds"])
    named = f"connect_4x4, 128-128, {found.num_positions:,} positions"
    assert named in capsys.readouterr().out
