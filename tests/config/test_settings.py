"""Settings: what is refused and how, and what a preset fixes."""

import contextlib
import dataclasses
import functools
import json
import math
import subprocess
import sys
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from jax_ttt.config.errors import ConflictError, SettingError
from jax_ttt.config.game_facts import EnvId, SeatSetting
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import (
    PART_OF_FIELD,
    Activation,
    Backup,
    Config,
    EpsilonSchedule,
    Loss,
    NetworkKind,
    OptimizerKind,
    Precision,
    RunSettings,
    TableKey,
)

FRACTION = "a number from 0 to 1"
RULES = {  # each number's rule, lowest and highest; the lowest of two is not allowed
    "num_envs": ("a whole number from 1 to 1,048,576", 1, 2**20),
    "num_updates": ("a whole number from 1 to 1,000,000,000", 1, 10**9),
    "start_share": (FRACTION, 0, 1),
    "learning_rate": ("a number above 0 and at most 1e+38", 0, 1e38),
    "learning_rate_end": ("a number from 0 to 1e+38", 0, 1e38),
    "learning_rate_decay": (FRACTION, 0, 1),
    "weight_decay": (FRACTION, 0, 1),
    "average_span": (FRACTION, 0, 1),
    "epsilon_start": (FRACTION, 0, 1),
    "epsilon_end": (FRACTION, 0, 1),
    "tau": ("a number above 0 and at most 1", 0, 1),
    "gamma": (FRACTION, 0, 1),
    "target_update_every": ("a whole number from 0 to 1,000,000,000", 0, 10**9),
    "tremble": (FRACTION, 0, 1),
    "epsilon_decay": (FRACTION, 0, 1),
    "random_opening": ("a whole number from 0 to 1,000", 0, 1000),
    "reward_win": ("a number from -1 to 1", -1, 1),
    "reward_draw": ("a number from -1 to 1", -1, 1),
    "reward_loss": ("a number from -1 to 1", -1, 1),
    "replay_capacity": ("a whole number from 0 to 16,777,216", 0, 2**24),
    "replay_batch": ("a whole number from 1 to 1,048,576", 1, 2**20),
    "replay_start": ("a whole number from 0 to 16,777,216", 0, 2**24),
    "initial_value": ("a number from -1 to 1", -1, 1),
    "hidden_layers": ("a whole number from 0 to 16", 0, 16),
    "hidden_size": ("a whole number from 1 to 16,384", 1, 2**14),
    "filters": ("a whole number from 0 to 1,024", 0, 2**10),
    "eval_every": ("a whole number from 1 to 1,000,000,000", 1, 10**9),
    "eval_games": ("a whole number from 0 to 1,048,576", 0, 2**20),
    "max_positions": ("a whole number from 1 to 4,294,967,295", 1, 2**32 - 1),
}
OPTIONAL = {"eval_games"}  # may be None
ABOVE_LOW = {"learning_rate", "tau"}
LARGE = {"epsilon_start": 1.0, "epsilon_end": 0.0, "learning_rate": 1e38}
WHOLE = {field for field, (rule, *_) in RULES.items() if "whole" in rule}
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@functools.cache
def everything_in_use(**words):
    """Return settings in which every number has an effect and its whole range."""
    return Config.of(
        opponent="random",
        optimizer="adamw",
        replay_capacity=2**24,
        **{"target_update_every": 0} | LARGE | words,
    )


def checked(**fields):
    """Return a config with these fields."""
    config = everything_in_use(
        epsilon_schedule="steps" if "epsilon_decay" in fields else "linear",
        network="table" if "initial_value" in fields else "mlp",
    )
    return config.replace(**fields)


def after(high):
    """Return a number just above a range: by 1, or by the spacing of its floats."""
    return high + max(1, math.ulp(high))


def outside(field):
    """Return a strategy of what a number's field refuses: numbers, and other types."""
    _, low, high = RULES[field]
    kinds = [
        st.floats(max_value=low, exclude_max=field not in ABOVE_LOW),
        st.floats(min_value=high, exclude_min=True),
        st.integers(max_value=low if field in ABOVE_LOW else low - 1),
        st.integers(min_value=int(after(high))),
        st.just(math.nan),
        st.booleans() | st.text() | st.lists(st.integers()),
        st.complex_numbers(),
    ]
    kinds += [st.floats()] if field in WHOLE else []
    kinds += [] if field in OPTIONAL else [st.none()]
    return st.one_of(*kinds)


def inside(field):
    """Return a strategy of what a number's field allows."""
    _, low, high = RULES[field]
    if field in WHOLE:
        return st.integers(low, high)
    return st.floats(low, high, exclude_min=field in ABOVE_LOW)


def edges():
    """Return every number's field with the values just outside its range."""
    found = []
    for field, (_, low, high) in RULES.items():
        values = [low - 1, after(high), math.nan, math.inf, -math.inf]
        values += [True, False, "1", [1], 1j]
        values += [] if field in OPTIONAL else [None]
        beside = [low - 1e-9, math.nextafter(high, math.inf)]
        values += [1.5, 1.0] if field in WHOLE else beside
        values += [low] if field in ABOVE_LOW else []
        found += [(field, value) for value in values]
    return found


def tried_too(cases):
    """Return a decorator: a property is tried with these cases before any others."""

    def add(test):
        for case in reversed(cases):
            test = example(case)(test)
        return test

    return add


def test_every_number_has_its_rule():
    kinds = (type(Config().value(field)) for field in PART_OF_FIELD)
    pairs = zip(PART_OF_FIELD, kinds, strict=True)
    numbers = {field for field, kind in pairs if kind in (int, float)}
    assert numbers | OPTIONAL == RULES.keys()


def with_value(strategy):
    """Return a strategy of a number's field with a value of `strategy(field)`."""
    fields = st.sampled_from(list(RULES))
    return fields.flatmap(lambda field: st.tuples(st.just(field), strategy(field)))


@given(with_value(outside))
@tried_too(edges())
def test_a_number_outside_its_range_is_refused(case):
    field, value = case
    with pytest.raises(SettingError) as refusal:
        checked(**{field: value})
    error = refusal.value
    assert (error.field, error.rule) == (field, RULES[field][0])
    assert str(error) == f"{field} must be {RULES[field][0]}, got {value!r}"


def ends(field):
    """Return both ends of a number's range."""
    _, low, high = RULES[field]
    return (math.ulp(0.0) if field in ABOVE_LOW else low), high


@given(with_value(inside))
@tried_too([(field, end) for field in RULES for end in ends(field)])
def test_a_number_within_its_range_is_allowed(case):
    """Both ends too, beside other numbers that it goes with."""
    field, value = case
    others = {"reward_win": 1.0, "reward_draw": value, "reward_loss": -1.0}
    others |= {"replay_batch": 1, "replay_start": 0, "epsilon_end": 0.0}
    assume(field not in ("reward_win", "reward_loss") or value != -others[field])
    assume(field != "replay_capacity" or value == 0 or value >= Config().run.num_envs)
    if field not in ("reward_win", "reward_draw", "reward_loss"):
        others["reward_draw"] = 0.0
    if field == "replay_capacity" and not value:
        others |= {"replay_batch": 256, "replay_start": 1000}  # without effect
    if field in ("start_share", "max_positions"):
        others |= {"env_id": "connect_4x4", "start_share": 0.5, "opponent": "self"}
    assert checked(**others | {field: value}).value(field) == value


def test_random_moves_may_not_become_more():
    with pytest.raises(SettingError) as refusal:
        Config.of(epsilon_start=0.2, epsilon_end=0.4)
    assert str(refusal.value) == (
        "epsilon_end must be at most 0.2 (epsilon_start), got 0.4"
    )
    assert Config.of(epsilon_start=0.2, epsilon_end=0.2).exploration.epsilon_end == 0.2


SWITCHES = ("canonical", "lockstep", "double", "backward")


@given(st.sampled_from(SWITCHES), ANYTHING | st.sampled_from([0, 1, "true"]))
def test_a_switch_is_true_or_false(field, value):
    assume(not isinstance(value, bool))
    with pytest.raises(SettingError) as refusal:
        checked(**{field: value})
    assert str(refusal.value) == f"{field} must be true or false, got {value!r}"


def test_a_config_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().run.num_envs = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().run = RunSettings()  # type: ignore[misc]


@given(st.tuples(st.sampled_from(list(PRESETS.values())), with_value(inside)))
@tried_too([(preset, ("tau", 0.5)) for preset in PRESETS.values()])
def test_a_config_survives_json(case):
    """Every preset, and one with a number changed where that goes with the others."""
    preset, (field, value) = case
    with contextlib.suppress(SettingError):
        preset = preset.replace(**{field: value})
    assert Config.of(**preset.as_dict()) == preset
    fields = json.loads(json.dumps(preset.as_dict()))
    assert Config.of(**fields) == preset


@given(st.sets(st.sampled_from(list(PART_OF_FIELD))))
@tried_too([{field} for field in PART_OF_FIELD])
def test_fields_that_an_older_file_lacks_have_their_defaults(fields):
    older = {k: v for k, v in Config().as_dict().items() if k not in fields}
    assert Config.of(**older) == Config()


CHOICES = {
    "env_id": EnvId,
    "network": NetworkKind,
    "activation": Activation,
    "optimizer": OptimizerKind,
    "loss": Loss,
    "epsilon_schedule": EpsilonSchedule,
    "backup": Backup,
    "seat": SeatSetting,
    "table_key": TableKey,
    "precision": Precision,
}


@given(
    st.sampled_from(list(CHOICES)), ANYTHING | st.sampled_from(["", "RELU", "chess"])
)
def test_a_choice_is_one_of_those_listed(field, value):
    allowed = get_args(CHOICES[field])
    for word in (value, *map(str.upper, allowed)):
        if word in allowed:
            continue
        with pytest.raises(SettingError) as refusal:
            checked(**{field: word})
        rule = f"one of {', '.join(allowed)}"
        assert str(refusal.value) == f"{field} must be {rule}, got {word!r}"


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        (
            {"env_id": "connect_four", "network": "table"},
            "network must be mlp in connect_four: too many boards for a table, "
            "got 'table'",
        ),
        (
            {"learning_rate": 0.1, "learning_rate_end": 0.2},
            "learning_rate_end must be at most 0.1 (learning_rate), got 0.2",
        ),
        (
            {"env_id": "hex", "two_planes": True},
            "two_planes must be false in hex: it does not show stones, got True",
        ),
        (
            {"env_id": "hex", "backward": True},
            "backward must be false in hex: its games have no known length, got True",
        ),
        (
            {"seat": "first"},
            "seat must be both in self-play, where it plays both sides, got 'first'",
        ),
        (
            {"reward_draw": 0.5},
            "reward_draw must be 0 in self-play: one's gain is the other's loss, "
            "got 0.5",
        ),
        (
            {"reward_loss": -0.5},
            "reward_loss must be -1.0 in self-play (-reward_win), got -0.5",
        ),
        (
            {"backup": "two-ply", "opponent": "random"},
            "backup must be one-ply against an opponent: its reply is part of the "
            "move, got 'two-ply'",
        ),
        (
            {"backup": "two-ply", "double": True},
            "double must be false with a two-ply backup, got True",
        ),
        (
            {"backward": True, "replay_capacity": 5000},
            "backward must be false with replay, which has no order, got True",
        ),
        (
            {"replay_capacity": 500, "replay_batch": 512, "replay_start": 0},
            "replay_capacity must be 0 or at least 512 (replay_batch), got 500",
        ),
        (
            {"replay_capacity": 500},
            "replay_capacity must be 0 or at least 1,000 (replay_start), got 500",
        ),
        (
            {"replay_capacity": 1000, "num_envs": 2000},
            "replay_capacity must be 0 or at least 2,000 (num_envs), got 1000",
        ),
        (
            {"opponent": "random", "reward_win": 0.0, "reward_loss": 0.0},
            "reward_loss must be below 0.0 (reward_win), got 0.0",
        ),
        (
            {"opponent": "random", "reward_win": 0.5, "reward_draw": 0.75},
            "reward_draw must be at most 0.5 (reward_win), got 0.75",
        ),
        ({"opponent": ""}, "opponent must be a text that is not empty, got ''"),
        (
            {"first_move": -1},
            "first_move must be a whole number from 0 to 65,536, got -1",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(fields, refusal):
    with pytest.raises(SettingError) as error:
        Config.of(**fields)
    assert str(error.value) == refusal


NO_EFFECT = [
    ({"network": "table"}, "hidden_size", 64, "network table"),
    ({"network": "table"}, "hidden_layers", 1, "network table"),
    ({"network": "table"}, "activation", "tanh", "network table"),
    ({"network": "table"}, "precision", "float32", "network table"),
    ({}, "table_key", "hash", "network mlp"),
    ({}, "initial_value", 0.5, "network mlp"),
    ({"hidden_layers": 0}, "hidden_size", 64, "hidden_layers 0"),
    ({"hidden_layers": 0}, "activation", "tanh", "hidden_layers 0"),
    ({"target_update_every": 5}, "tau", 0.5, "target_update_every 5"),
    ({}, "epsilon_decay", 0.5, "epsilon_schedule linear"),
    (
        {"epsilon_start": 0.5},
        "epsilon_schedule",
        "steps",
        "epsilon_end equal to epsilon_start",
    ),
    ({"num_envs": 1}, "lockstep", True, "num_envs 1"),
    ({"gamma": 0.0}, "tremble", 0.25, "gamma 0"),
    ({"gamma": 0.0}, "double", True, "gamma 0"),
    ({"optimizer": "sgd"}, "weight_decay", 0.5, "optimizer sgd"),
    ({}, "replay_batch", 64, "replay_capacity 0"),
    ({}, "replay_start", 64, "replay_capacity 0"),
    (
        {"env_id": "othello"},
        "canonical",
        False,
        "env_id othello: its symmetries are not listed",
    ),
    (
        {"backward": True},
        "lockstep",
        True,
        "backward: all games end in each update",
    ),
]
"""Settings, a field without effect beside them, a value, and what makes it useless."""


@pytest.mark.parametrize(("others", "field", "value", "cause"), NO_EFFECT)
def test_a_setting_without_effect_is_refused_if_it_is_given(
    others, field, value, cause
):
    """A preset, or a file, may have it."""
    config = Config.of(**others, **{field: value})
    assert Config.of(**config.as_dict()) == config
    config.check_changes(config)
    before = Config.of(**others)
    assert config != before
    with pytest.raises(SettingError) as refusal:
        config.check_changes(before)
    rule = f"left out: it has no effect with {cause}"
    assert str(refusal.value) == f"{field} must be {rule}, got {value!r}"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_setting_of_a_preset_has_an_effect(preset):
    PRESETS[preset].check_changes(Config())


def test_an_unknown_field_is_refused_by_name():
    fields = Config().as_dict() | {"momentum": 0.9}
    with pytest.raises(SettingError, match=r"^momentum must be the name of a setting"):
        Config.of(**fields)


def test_the_article_preset_has_the_articles_hyperparameters():
    assert PRESETS["article"].as_dict() == {
        "env_id": "tic_tac_toe",
        "num_envs": 2048,
        "num_updates": 2500,
        "start_share": 0.0,
        "learning_rate": 2e-3,
        "learning_rate_decay": 1.0,
        "learning_rate_end": 0.0,
        "weight_decay": 1e-4,
        "average_span": 0.0,
        "epsilon_start": 0.9,
        "epsilon_end": 0.05,
        "epsilon_schedule": "linear",
        "epsilon_decay": 0.1,
        "random_opening": 0,
        "tau": 0.005,
        "gamma": 1.0,
        "reward_win": 1.0,
        "reward_draw": 0.0,
        "reward_loss": -1.0,
        "opponent": "self",
        "seat": "both",
        "first_move": None,
        "double": False,
        "target_update_every": 0,
        "tremble": 0.0,
        "backup": "one-ply",
        "backward": False,
        "replay_capacity": 0,
        "replay_batch": 256,
        "replay_start": 1000,
        "canonical": False,
        "lockstep": True,
        "network": "mlp",
        "table_key": "position",
        "initial_value": 0.0,
        "hidden_size": 128,
        "hidden_layers": 2,
        "two_planes": False,
        "filters": 0,
        "activation": "relu",
        "precision": "auto",
        "optimizer": "adamw",
        "loss": "huber",
        "eval_every": 200,
        "eval_games": 1024,
        "max_positions": 2_000_000,
    }


def test_settings_are_had_without_jax():
    program = (
        "import jax_ttt.config.settings, jax_ttt.config.presets, jax_ttt.cli, sys\n"
        "assert not {'jax', 'pgx', 'flax', 'numpy'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_numbers_of_numpy_become_pythons():
    numbers: dict[str, Any] = {
        "hidden_size": np.int64(64),
        "learning_rate": np.float32(0.5),
    }
    config = Config.of(**numbers)
    assert (type(config.value("hidden_size")), config.value("hidden_size")) == (int, 64)
    assert type(config.value("learning_rate")) is float
    json.dumps(config.as_dict())


CONTRADICTED = [
    ("default", {"learning_rate": 1e-3}, "learning_rate_end", 2e-3, "learning_rate"),
    ("default", {"epsilon_start": 0.05}, "epsilon_end", 0.1, "epsilon_start"),
    ("default", {"opponent": "random"}, "backup", "two-ply", "opponent"),
    ("default", {"double": True}, "double", True, "backup"),
    ("tictac-q", {"reward_win": 0.5}, "reward_draw", 1.0, "reward_win"),
    ("tictac-q", {"reward_win": -1.0}, "reward_loss", -1.0, "reward_win"),
    ("plain", {"reward_draw": 0.5}, "reward_draw", 0.5, "self-play"),
    ("go-second", {"replay_start": 60_000}, "replay_capacity", 50_000, "replay_start"),
    ("go-first", {"replay_capacity": 600}, "replay_capacity", 600, "replay_start"),
    ("matlab", {"network": "mlp"}, "network", "mlp", "learning_rate"),
]
"""A preset, fields that contradict it, and what the refusal names."""


@pytest.mark.parametrize(("preset", "fields", "field", "value", "other"), CONTRADICTED)
def test_a_preset_that_contradicts_a_field_is_refused(
    preset, fields, field, value, other
):
    """It is not repaired; the refusal names both fields, and the preset's value."""
    before = PRESETS[preset]
    with pytest.raises(ConflictError) as refusal:
        before.replace(**fields).check_changes(before)
    error = refusal.value
    assert (error.field, error.value) == (field, value)
    assert other in str(error)


@pytest.mark.parametrize("preset", PRESETS)
@given(with_value(inside))
def test_a_change_of_a_preset_changes_nothing_else(preset, case):
    field, value = case
    config = PRESETS[preset]
    try:
        changed = config.replace(**{field: value})
    except SettingError:
        return
    assert changed.as_dict() == config.as_dict() | {field: value}


def test_a_table_becomes_an_mlp_with_a_learning_rate_of_its_own():
    rates = {"learning_rate": 1e-2, "learning_rate_end": 0.0}
    changed = PRESETS["matlab"].replace(network="mlp", **rates)
    changed.check_changes(PRESETS["matlab"])
    assert changed.network.network == "mlp"


def test_a_stored_contradiction_is_refused():
    with pytest.raises(SettingError, match="epsilon_end must be at most"):
        Config.of(epsilon_start=0.1, epsilon_end=0.2)
