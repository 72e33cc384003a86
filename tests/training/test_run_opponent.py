"""The opponent of a run: the one that the settings name, drawn from its seed."""

import jax
import numpy as np
import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config
from jax_ttt.envs.opponents import Versus
from jax_ttt.training import run_opponent


def test_the_opponent_is_the_one_that_the_settings_name():
    assert run_opponent.make_opponent(Config(), 1) is None  # the agent itself
    for name in ("random", "minimax", "blend:0.5:minimax"):
        opponent = run_opponent.make_opponent(Config.of(opponent=name), 1)
        assert isinstance(opponent, Versus)
        assert opponent.name == name


def test_what_an_opponent_draws_comes_from_the_runs_seed():
    """A search draws its playouts: the same seed gives the same player."""

    def drawn(seed):
        opponent = run_opponent.make_opponent(Config.of(opponent="mcts:4"), seed)
        return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(opponent)])

    assert np.array_equal(drawn(1), drawn(1))
    assert not np.array_equal(drawn(1), drawn(2))


def test_a_first_move_has_to_be_legal():
    run_opponent.check_first_move(Config.of(opponent="random", first_move=8))
    config = Config.of(opponent="random", first_move=9)
    with pytest.raises(SettingError, match=r"\[0, 1, 2, 3, 4, 5, 6, 7, 8\]"):
        run_opponent.check_first_move(config)
