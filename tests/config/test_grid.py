"""Grids of settings: how they are read, combined and refused."""

import pytest

from jax_ttt.config import grid
from jax_ttt.config.errors import SettingError, UsageError
from jax_ttt.config.settings import Config


def test_every_combination_comes_once_the_last_setting_fastest():
    settings = grid.read_grid(["learning_rate=1e-3,2e-3", "--num-envs=8,16,8"])
    assert settings == {"learning_rate": (0.001, 0.002), "num_envs": (8, 16)}
    points = grid.grid_points(Config(), settings)
    assert [grid.point_text(point) for point, _ in points] == [
        "learning_rate=0.001 num_envs=8",
        "learning_rate=0.001 num_envs=16",
        "learning_rate=0.002 num_envs=8",
        "learning_rate=0.002 num_envs=16",
    ]
    for point, config in points:
        assert config == Config.of(**point)


def test_values_have_their_settings_types():
    words = ["double=true,false", "optimizer=sgd", "first_move=4", "opponent=mcts:9"]
    assert grid.read_grid(words) == {
        "double": (True, False),
        "optimizer": ("sgd",),
        "first_move": (4,),
        "opponent": ("mcts:9",),
    }


def test_no_grid_is_the_settings_as_they_are():
    assert grid.grid_points(Config.of(tau=0.5), grid.read_grid([])) == [
        ({}, Config.of(tau=0.5))
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["tau"], "must be SETTING=VALUE,VALUE, for instance .* got 'tau'"),
        ([""], "must be SETTING=VALUE,VALUE, for instance .* got ''"),
        (["tua=1"], "--grid: there is no setting 'tua'; did you mean tau"),
        (["=1"], "--grid: there is no setting ''"),
        (["eval_games=1"], "--grid can't vary eval_games: a sweep is of one game, and"),
        (["tau=0.1", "--tau=0.2"], "must name each setting once, got tau twice"),
    ],
)
def test_a_word_that_names_no_setting_is_refused(words, why):
    with pytest.raises(UsageError, match=why):
        grid.read_grid(words)


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("tau=0.0", "tau"),
        ("tau=", "tau"),
        ("num_envs=1.5", "num_envs"),
        ("num_envs=many", "num_envs"),
        ("num_envs=1_000", "num_envs"),  # as the flag
        ("tau=0.1,0.0_5", "tau"),
        ("double=2", "double"),
        ("network=cnn", "network"),
        ("epsilon_end=0.1,2", "epsilon_end"),
    ],
)
def test_a_value_outside_its_range_is_refused(word, field):
    with pytest.raises(SettingError) as error:
        grid.grid_points(Config(), grid.read_grid([word]))
    assert error.value.field == field


def test_none_is_a_value_where_a_setting_allows_it():
    settings = grid.read_grid(["first_move=None,4"])
    assert settings == {"first_move": (None, 4)}
    with pytest.raises(SettingError, match="hidden_size must be a whole number"):
        grid.read_grid(["hidden_size=None"])
