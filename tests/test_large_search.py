"""docs/large_search.py: a player that reaches many positions, and what they take."""

import runpy
import tracemalloc
from pathlib import Path

import pytest

from jax_ttt.solver import merged_positions, reached_positions
from jax_ttt.solver.batches import SearchedPlayer
from jax_ttt.solver.reached_positions import Reach

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "large_search.py"))


@pytest.mark.slow
def test_it_prints_a_row_for_each_level(capsys):
    SCRIPT["main"]("connect_4x4", "first", "100")
    *rows, last = capsys.readouterr().out.splitlines()[2:]
    cells = [row.strip("| ").split(" | ") for row in rows]
    assert [int(row[0]) for row in cells[:-1]] == [*range(len(rows) - 1)]
    assert [int(row[1]) for row in cells[:3]] == [1, 2, 6]
    assert last.startswith("not complete Results(won=Ends(moves=")


@pytest.mark.slow
def test_a_position_takes_at_most_32_bytes(monkeypatch):
    """What is sorted together is made small, as it is beside millions of positions."""
    monkeypatch.setattr(merged_positions, "_BUFFER_ROWS", 2**10)
    monkeypatch.setattr(merged_positions, "_RANGE_POSITIONS", 2**8)
    monkeypatch.setattr(merged_positions, "_FILE_BYTES", 2**10)
    player = SearchedPlayer(
        env_id="connect_5x4",
        choose=SCRIPT["PLAYER"],
        seat="second",
        merge_symmetric=False,
        batch=2**9,
    )
    reached_positions.follow_all_lines(Reach(player), 1000)  # compiles
    search = Reach(player)
    tracemalloc.start()
    reached_positions.follow_all_lines(search, 10**9)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert search.num_positions == 339_421
    assert most < 32 * search.num_positions
