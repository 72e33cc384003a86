"""docs/large_search.py: a player that reaches many positions, and what they take."""

import importlib.util
import tracemalloc
from pathlib import Path

import jax
import pytest

from jax_ttt.games import pgx_games
from jax_ttt.solver import position_levels, reach
from jax_ttt.solver.reach import Reach
from jax_ttt.solver.successors import SearchedPlayer

SCRIPT = Path(__file__).parents[1] / "docs" / "large_search.py"


@pytest.fixture(scope="module")
def script():
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("large_search", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_moves_are_legal_and_depend_on_the_board_alone(script):
    env = pgx_games.make_env("connect_4x4")
    state = pgx_games.init(env, jax.random.key(0), 3)
    for _ in range(16):
        moves = script.PLAYER(jax.random.key(0), state)
        assert moves.tolist() == script.PLAYER(jax.random.key(1), state).tolist()
        assert len(set(moves.tolist())) == 1  # three times the same board
        assert state.legal_action_mask[0, moves[0]]
        state = pgx_games.play_moves(env, state, moves)
        if state.terminated.all():
            break


def test_it_prints_a_row_for_each_level(script, capsys):
    script.main("connect_4x4", "first", "100")
    *rows, last = capsys.readouterr().out.splitlines()[2:]
    cells = [row.split(" | ") for row in rows]
    assert [int(row[0].strip("| ")) for row in cells[:-1]] == [*range(len(rows) - 1)]
    assert [int(row[1]) for row in cells[:3]] == [1, 2, 6]
    assert last.startswith("not complete Results(won=Ends(moves=")


@pytest.mark.slow
def test_a_position_takes_at_most_32_bytes(script, monkeypatch):
    """What is sorted at a time is made small, as it is beside millions of positions."""
    monkeypatch.setattr(position_levels, "_BUFFER_ROWS", 2**10)
    monkeypatch.setattr(position_levels, "_RANGE_POSITIONS", 2**8)
    monkeypatch.setattr(position_levels, "_RANGE_POSITIONS", 2**10)
    subject = SearchedPlayer(
        env_id="connect_5x4",
        choose=script.PLAYER,
        seat="second",
        merge_symmetric=False,
        batch=2**9,
    )
    found = Reach(subject)
    reach.follow_all_lines(found, 1000)  # compiles
    found = Reach(subject)
    tracemalloc.start()
    reach.follow_all_lines(found, 10**9)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.num_positions == 339_421
    assert most < 32 * found.num_positions
