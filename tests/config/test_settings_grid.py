"""Grids of settings: how they are read, combined and refused."""

import pytest

from jax_ttt.config import settings_grid
from jax_ttt.config.errors import Refused
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config


def test_every_combination_comes_once_and_the_last_setting_varies_fastest():
    settings = settings_grid.read_grid(
        ["learning_rate=1e-3,2e-3", "--num-envs=8,16,8"], Config()
    )
    assert settings == {"learning_rate": (0.001, 0.002), "num_envs": (8, 16)}
    points = settings_grid.grid_points(Config(), settings)
    assert [settings_grid.point_text(point) for point, _ in points] == [
        "learning_rate=0.001 num_envs=8",
        "learning_rate=0.001 num_envs=16",
        "learning_rate=0.002 num_envs=8",
        "learning_rate=0.002 num_envs=16",
    ]
    for point, config in points:
        assert config == Config.of(**point)
    assert settings_grid.grid_points(Config(), {}) == [({}, Config())]


def test_the_end_of_a_schedule_follows_its_start_in_each_point():
    settings = settings_grid.read_grid(["learning_rate=0.003,0.06"], Config())
    points = settings_grid.grid_points(PRESETS["default"], settings)
    ends = [config.learning_rate_end for _, config in points]
    assert ends == pytest.approx([0.001, 0.02])


def test_values_have_the_types_of_their_settings():
    words = [
        "double=true,false",
        "optimizer=sgd",
        "first_move=None,4",
        "opponent=mcts:9",
    ]
    assert settings_grid.read_grid(words, Config()) == {
        "double": (True, False),
        "optimizer": ("sgd",),
        "first_move": (None, 4),
        "opponent": ("mcts:9",),
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tau"], "must be SETTING=VALUE,VALUE, for instance .* got 'tau'"),
        (["tua=1"], "--grid: there is no setting 'tua'; did you mean tau"),
        (["=1"], "--grid: there is no setting ''"),
        (["eval_games=1"], "--grid can't vary eval_games: a sweep is of one game, and"),
        (["tau=0.1", "--tau=0.2"], "must name each setting once, got tau twice"),
        (["tau=0.0"], "^tau must be a number above 0 and at most 1, got '0.0'"),
        (["tau="], "^tau must be a number"),
        (["num_envs=1_000"], "^num_envs must be a whole number"),
        (["network=mlp,cnn"], "^network must be one of mlp, table, got 'cnn'"),
    ],
)
def test_a_wrong_word_or_value_is_refused(words, message):
    with pytest.raises(Refused, match=message):
        settings_grid.grid_points(Config(), settings_grid.read_grid(words, Config()))
