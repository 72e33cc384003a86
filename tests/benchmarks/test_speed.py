"""Games of PGX without learning, and sampled matches."""

import pgx
import pytest

from jax_ttt.benchmarks import speed


def test_bare_games_are_played_and_restarted(monkeypatch):
    monkeypatch.setattr(speed, "NUM_STEPS", 12)
    state = speed.bare(64)()
    assert isinstance(state, pgx.State)
    stones = state.observation.sum(axis=(1, 2, 3))
    # 12 moves are more than a game has, so every game has been restarted.
    assert not state.terminated.any()
    assert 0 <= int(stones.min()) < int(stones.max()) <= 8
    assert (state.legal_action_mask.sum(axis=1) == 9 - stones).all()


def test_a_sampled_match_is_timed_by_its_moves(monkeypatch):
    monkeypatch.setattr(speed, "NUM_GAMES", 256)
    rows = speed.measure_arena(1)
    assert rows.keys() == {"sampled", "cross_table"}
    per_game = rows["sampled"]["median"] * rows["sampled"]["wall_seconds"] / 256
    assert per_game == pytest.approx(7.5, abs=0.5)  # 7.6 moves per random game
