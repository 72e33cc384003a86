"""Published settings, written down once more."""

from typing import get_args

import pytest

from jax_ttt.config import presets
from jax_ttt.config.presets import PRESETS, SYSTEMS, Preset
from jax_ttt.config.settings import Config

_TABLE = {
    **{"network": "table", "optimizer": "sgd", "loss": "mse", "backward": True},
    **{"tau": 1.0, "target_update_every": 0, "backup": "one-ply", "tremble": 0.0},
    **{"replay_capacity": 0, "weight_decay": 0.0, "lockstep": False},
    **{"first_move": None, "seat": "both", "reward_win": 1.0, "reward_loss": -1.0},
    **{"env_id": "tic_tac_toe", "double": False, "reward_draw": 0.0},
}
_TICTAC = _TABLE | {
    **{"table_key": "after-state", "canonical": True, "initial_value": 0.0},
    **{"learning_rate": 0.4, "learning_rate_end": 0.4, "gamma": 1.0},
    **{"epsilon_start": 0.7, "epsilon_schedule": "steps", "epsilon_decay": 0.1},
    **{"opponent": "random", "num_envs": 32, "num_updates": 438},  # 14,000 games
}
_NET = {
    **{"network": "mlp", "env_id": "tic_tac_toe", "backup": "one-ply"},
    **{"tremble": 0.0, "backward": False, "lockstep": False, "canonical": True},
    **{"optimizer": "adamw", "weight_decay": 0.0, "loss": "mse", "first_move": None},
    **{"reward_win": 1.0, "reward_loss": -1.0, "learning_rate_end": 0.0},
}
_GO = _NET | {
    **{"hidden_size": 72, "hidden_layers": 1, "activation": "tanh"},
    **{"double": True, "gamma": 0.75, "target_update_every": 100},
    **{"replay_capacity": 50_000, "replay_batch": 512, "replay_start": 1000},
    **{"reward_win": 0.999, "reward_draw": 0.001, "learning_rate": 0.01},
    **{"epsilon_start": 1.0, "epsilon_end": 0.5, "epsilon_decay": 0.9999},
    **{"epsilon_schedule": "exponential", "num_envs": 64, "num_updates": 4000},
}
_TWO_PLY = {
    **{"env_id": "tic_tac_toe", "opponent": "self", "seat": "both"},
    **{"backup": "two-ply", "canonical": True, "replay_capacity": 0},
}
# From the program or article of each, but for what its footnote calls mended.
SETTINGS = {
    "tictac-q": _TICTAC | {"reward_draw": 1.0, "epsilon_end": 0.1},
    "tictac-q-article": _TICTAC | {"epsilon_end": 0.0},
    "tictac-double-q": _TICTAC
    | {"reward_draw": 1.0, "epsilon_end": 0.1, "double": True},
    "tictac-minimax": _TICTAC | {"epsilon_end": 0.0, "opponent": "minimax"},
    "tictac-neural": _NET
    | {
        **{"hidden_size": 36, "hidden_layers": 2, "activation": "relu"},
        **{"learning_rate": 0.004, "reward_draw": 0.5, "gamma": 1.0, "seat": "both"},
        **{"epsilon_start": 0.7, "epsilon_end": 0.2, "epsilon_decay": 0.1},
        **{"epsilon_schedule": "steps", "opponent": "blend:0.7:minimax"},
        **{"double": False, "target_update_every": 0, "tau": 0.05},
        **{"replay_capacity": 0, "num_envs": 256, "num_updates": 4000},
    },
    "go-first": _GO | {"seat": "first", "opponent": "blend:0.5:minimax"},
    "go-second": _GO | {"seat": "second", "opponent": "blend:0.4:minimax"},
    "matlab": _TABLE
    | {
        **{"table_key": "hash", "canonical": False, "initial_value": 1.0},
        **{"learning_rate": 1.0, "learning_rate_end": 1.0, "gamma": 1.0},
        **{"epsilon_start": 1.0, "epsilon_end": 0.1, "epsilon_decay": 0.1},
        **{"epsilon_schedule": "steps", "opponent": "self"},
        **{"num_envs": 500, "num_updates": 200},  # 100,000 games
    },
    "web": _TABLE
    | {
        **{"table_key": "position", "canonical": True, "initial_value": 0.0},
        **{"learning_rate": 0.3, "learning_rate_end": 0.3, "gamma": 0.9},
        **{"epsilon_start": 0.5, "epsilon_end": 0.5, "opponent": "self"},
        **{"num_envs": 50, "num_updates": 600},  # 30,000 games
    },
    "default": _TWO_PLY
    | {
        **{"network": "mlp", "optimizer": "adamw", "loss": "huber"},
        **{"tremble": 0.5, "gamma": 0.85, "tau": 0.12, "average_span": 0.15},
        **{"learning_rate": 6e-3, "learning_rate_end": 2e-3},
        **{"epsilon_start": 1.0, "epsilon_end": 0.1},
        **{"num_envs": 128, "num_updates": 1800},
    },
    "table": _TWO_PLY
    | {
        **{"network": "table", "optimizer": "sgd", "loss": "mse", "weight_decay": 0.0},
        **{"tremble": 0.7, "gamma": 1.0, "tau": 1.0, "average_span": 0.0},
        **{"learning_rate": 1.0, "learning_rate_end": 1.0},
        **{"epsilon_start": 1.0, "epsilon_end": 0.5},
        **{"num_envs": 256, "num_updates": 400},
    },
}


def test_every_preset_is_listed_with_its_system():
    assert set(PRESETS) == set(get_args(Preset))
    boards = {f"connect-{size}" for size in ("4x4", "5x4", "5x5", "6x5", "6x6", "7x6")}
    assert set(PRESETS) - boards - {"plain"} == set(SYSTEMS)
    for name in boards:
        assert PRESETS[name].env_id == name.replace("-", "_")
    # `test_settings.py` has those of the article.
    assert SETTINGS.keys() == SYSTEMS.keys() - {"article"}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_settings_of_a_preset(name):
    wanted = SETTINGS[name]
    found = {field: PRESETS[name].value(field) for field in wanted}
    assert found == wanted
    fields = PRESETS[name].as_dict().items()
    changed = {field for field, value in fields if value != Config().value(field)}
    assert changed <= wanted.keys() | {"eval_every"}


@pytest.mark.parametrize(
    ("env_id", "opponents", "name"),
    [
        (None, [None], "default"),
        ("tic_tac_toe", [], "default"),
        ("tic_tac_toe", ["self", None], "default"),
        ("connect_four", ["self"], "plain"),
        ("tic_tac_toe", ["random"], "plain"),
        (None, [None, "self", "minimax"], "plain"),
        ("chess", [None], "plain"),
    ],
)
def test_the_preset_where_none_is_named(env_id, opponents, name):
    assert presets.default_preset(env_id, *opponents) == name
