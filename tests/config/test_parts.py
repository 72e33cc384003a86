"""Parts of the settings: what has an effect, and what follows from them."""

import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import (
    Config,
    EvaluationSettings,
    NetworkSettings,
    RunSettings,
)

SAME_ENDS = {"epsilon_start": 0.5, "epsilon_end": 0.5, "epsilon_schedule": "steps"}
NO_LAYERS = {"hidden_layers": 0, "activation": "tanh"}


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"network": "table", "two_planes": True}, "two_planes"),
        ({"network": "table", "filters": 2}, "filters"),
        (NO_LAYERS, "activation"),
        (NO_LAYERS | {"filters": 2}, None),  # a convolution has one too
        ({"epsilon_schedule": "exponential", "epsilon_decay": 0.5}, None),
        (SAME_ENDS, "epsilon_schedule"),
        ({"gamma": 0.0, "tau": 0.5}, "tau"),
        ({"gamma": 0.0, "target_update_every": 7}, "target_update_every"),
        ({"replay_capacity": 999}, "replay_capacity"),
        ({"replay_capacity": 1000}, None),
        ({"opponent": "random", "seat": "first"}, None),
        ({"opponent": "random", "reward_win": -1.0}, "reward_loss"),
    ],
)
def test_what_is_refused_beside_other_settings(fields, refused):
    if refused is None:
        Config.of(**fields).check_changes(Config())
        return
    before = Config()
    with pytest.raises(SettingError) as error:
        before.replace(**fields).check_changes(before)
    assert error.value.field == refused


@pytest.mark.parametrize(
    ("env_id", "start_share", "expected"),
    [
        ("tic_tac_toe", 0.0, True),  # its tree is enumerated
        ("connect_4x4", 0.5, True),  # by a search of what the agent reaches
        ("connect_4x4", 0.0, False),
        ("go_9x9", 0.0, False),
    ],
)
def test_a_run_can_be_proven_by_the_tree_or_by_counterexamples(
    env_id, start_share, expected
):
    settings = RunSettings(env_id=env_id, start_share=start_share)
    assert settings.can_be_proven is expected


def test_a_match_is_played_as_often_as_given_or_where_no_result_is_exact():
    for is_exact, usual in ((False, 1024), (True, 0)):
        assert EvaluationSettings().num_games(is_exact) == usual
        for given in (0, 8):
            assert EvaluationSettings(eval_games=given).num_games(is_exact) == given
    # As its original did.
    assert PRESETS["article"].evaluation.num_games(is_exact=True) == 1024


def test_a_table_has_no_hidden_layers():
    assert NetworkSettings(hidden_size=7, hidden_layers=3).hidden_sizes == (7, 7, 7)
    assert NetworkSettings(network="table").hidden_sizes == ()
