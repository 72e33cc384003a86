"""Settings: what is refused and how, and what follows from them."""

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

from jax_ttt.config import settings
from jax_ttt.config.errors import ConflictError, SettingError
from jax_ttt.config.game_facts import EnvId, SeatSetting
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import PART_OF_FIELD, Config

FRACTION = "a number from 0 to 1"
RULES = {  # the rule, lowest and highest value of each number; see ABOVE_LOW
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
OPTIONAL = {"eval_games"}
"""Numbers that may be None."""
ABOVE_LOW = {"learning_rate", "tau"}
"""Numbers whose lowest value itself is not allowed."""
WHOLE = {field for field, (rule, *_) in RULES.items() if "whole" in rule}
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@functools.cache
def config_in_which_all_numbers_have_an_effect(network, epsilon_schedule):
    return Config.of(
        opponent="random",
        optimizer="adamw",
        replay_capacity=2**24,
        epsilon_start=1.0,
        epsilon_end=0.0,
        learning_rate=1e38,
        network=network,
        epsilon_schedule=epsilon_schedule,
    )


def config_with(**fields):
    config = config_in_which_all_numbers_have_an_effect(
        network="table" if "initial_value" in fields else "mlp",
        epsilon_schedule="steps" if "epsilon_decay" in fields else "linear",
    )
    return config.replace(**fields)


def after(high):
    """Return a number just above a range: by 1, or by the spacing of its floats."""
    return high + max(1, math.ulp(high))


def outside(field):
    """Return a strategy for what a number's field refuses: numbers, and other types."""
    _, low, high = RULES[field]
    kinds = [
        st.floats(max_value=low, exclude_max=field not in ABOVE_LOW),
        st.floats(min_value=high, exclude_min=True),
        st.integers(max_value=low if field in ABOVE_LOW else low - 1),
        st.integers(min_value=int(after(high))),
        st.just(math.nan),
        st.booleans() | st.text() | st.lists(st.integers()) | st.complex_numbers(),
    ]
    kinds += [st.floats()] if field in WHOLE else []
    kinds += [] if field in OPTIONAL else [st.none()]
    return st.one_of(*kinds)


def inside(field):
    """Return a strategy for what a number's field allows."""
    _, low, high = RULES[field]
    if field in WHOLE:
        return st.integers(low, high)
    return st.floats(low, high, exclude_min=field in ABOVE_LOW)


def with_value(strategy):
    """Return a strategy for a number's field with a value of `strategy(field)`."""
    fields = st.sampled_from(list(RULES))
    return fields.flatmap(lambda field: st.tuples(st.just(field), strategy(field)))


def just_outside():
    """Return every number's field with the values just outside its range."""
    cases = []
    for field, (_, low, high) in RULES.items():
        values = [low - 1, after(high), math.nan, math.inf, True, "1"]
        near = [low - 1e-9, math.nextafter(high, math.inf)]
        values += [1.5, 1.0] if field in WHOLE else near
        values += [low] if field in ABOVE_LOW else []
        cases += [(field, value) for value in values]
    return cases


def ends():
    """Return every number's field with both ends of its range."""
    return [
        (field, end)
        for field, (_, low, high) in RULES.items()
        for end in (math.ulp(0.0) if field in ABOVE_LOW else low, high)
    ]


def also(cases):
    """Return a decorator: a property is tried with these cases before any others."""

    def add(test):
        for case in reversed(cases):
            test = example(case)(test)
        return test

    return add


def test_every_number_has_its_rule():
    numbers = {
        field
        for field, value in Config().as_dict().items()
        if type(value) in (int, float)
    }
    assert numbers | OPTIONAL == RULES.keys()


@given(with_value(outside))
@also(just_outside())
def test_a_number_outside_its_range_is_refused(case):
    field, value = case
    with pytest.raises(SettingError) as refusal:
        config_with(**{field: value})
    error = refusal.value
    assert (error.field, error.rule) == (field, RULES[field][0])
    assert str(error) == f"{field} must be {RULES[field][0]}, got {value!r}"


@given(with_value(inside))
@also(ends())
def test_a_number_within_its_range_is_allowed(case):
    """Other numbers are set so that they do not contradict it."""
    field, value = case
    others = {"reward_win": 1.0, "reward_draw": value, "reward_loss": -1.0}
    others |= {"replay_batch": 1, "replay_start": 0, "epsilon_end": 0.0}
    assume(field not in ("reward_win", "reward_loss") or value != -others[field])
    assume(field != "replay_capacity" or value == 0 or value >= Config().run.num_envs)
    if field not in ("reward_win", "reward_draw", "reward_loss"):
        others["reward_draw"] = 0.0
    if field in ("start_share", "max_positions"):
        others |= {"env_id": "connect_4x4", "start_share": 0.5, "opponent": "self"}
    assert config_with(**others | {field: value}).value(field) == value


SWITCHES = ("canonical", "lockstep", "double", "backward")
CHOICES = {
    "env_id": EnvId,
    "network": settings.NetworkKind,
    "activation": settings.Activation,
    "optimizer": settings.OptimizerKind,
    "loss": settings.Loss,
    "epsilon_schedule": settings.EpsilonSchedule,
    "backup": settings.Backup,
    "seat": SeatSetting,
    "table_key": settings.TableKey,
    "precision": settings.Precision,
}


@given(st.sampled_from(SWITCHES), ANYTHING | st.sampled_from([0, 1, "true"]))
def test_a_switch_is_true_or_false(field, value):
    assume(not isinstance(value, bool))
    with pytest.raises(SettingError) as refusal:
        config_with(**{field: value})
    assert str(refusal.value) == f"{field} must be true or false, got {value!r}"


@given(st.sampled_from(list(CHOICES)), ANYTHING | st.sampled_from(["", "RELU"]))
def test_a_choice_is_one_of_the_listed_words(field, value):
    words = get_args(CHOICES[field])
    assume(value not in words)
    with pytest.raises(SettingError) as refusal:
        config_with(**{field: value})
    rule = f"one of {', '.join(words)}"
    assert str(refusal.value) == f"{field} must be {rule}, got {value!r}"


def test_a_config_does_not_change():
    for record, field in ((Config().run, "num_envs"), (Config(), "run")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field, 2)


@pytest.mark.parametrize("preset", PRESETS)
@given(with_value(inside))
@example(("tau", 0.5))
def test_a_changed_preset_changes_nothing_else_and_survives_json(preset, case):
    field, value = case
    config = PRESETS[preset]
    with contextlib.suppress(SettingError):
        changed = config.replace(**{field: value})
        assert changed.as_dict() == config.as_dict() | {field: value}
        config = changed
    assert Config.of(**json.loads(json.dumps(config.as_dict()))) == config


def test_a_field_that_a_file_lacks_has_its_default():
    for field in PART_OF_FIELD:
        fields = Config().as_dict()
        del fields[field]
        assert Config.of(**fields) == Config()


CONTRADICTIONS = [
    (
        {"env_id": "connect_four", "network": "table"},
        "network must be mlp in connect_four: too many boards for a table, got 'table'",
    ),
    (
        {"learning_rate": 0.1, "learning_rate_end": 0.2},
        "learning_rate_end must be at most 0.1 (learning_rate), got 0.2",
    ),
    (
        {"epsilon_start": 0.2, "epsilon_end": 0.4},
        "epsilon_end must be at most 0.2 (epsilon_start), got 0.4",
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
        "reward_draw must be 0 in self-play: one's gain is the other's loss, got 0.5",
    ),
    (
        {"reward_loss": -0.5},
        "reward_loss must be -1.0 in self-play (-reward_win), got -0.5",
    ),
    (
        {"backup": "two-ply", "opponent": "random"},
        "backup must be one-ply against an opponent: its reply is part of the move, "
        "got 'two-ply'",
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
        {"replay_capacity": 999},
        "replay_capacity must be 0 or at least 1,000 (replay_start), got 999",
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
]


@pytest.mark.parametrize(("fields", "message"), CONTRADICTIONS)
def test_settings_that_contradict_each_other_are_refused(fields, message):
    with pytest.raises(SettingError) as refusal:
        Config.of(**fields)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    "fields",
    [
        {"replay_capacity": 1000},
        {"opponent": "random", "seat": "first"},
        {"epsilon_schedule": "exponential", "epsilon_decay": 0.5},
        {"epsilon_start": 0.2, "epsilon_end": 0.2},
        {"hidden_layers": 0, "activation": "tanh", "filters": 2},
    ],
)
def test_settings_that_go_together_are_allowed(fields):
    Config.of(**fields).check_changes(Config())


NO_EFFECT = [
    ({"network": "table"}, "hidden_size", 64, "network table"),
    ({"network": "table"}, "two_planes", True, "network table"),
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
    ({"gamma": 0.0}, "target_update_every", 7, "gamma 0"),
    ({"optimizer": "sgd"}, "weight_decay", 0.5, "optimizer sgd"),
    ({}, "replay_batch", 64, "replay_capacity 0"),
    ({}, "max_positions", 5, "start_share 0"),
    (
        {"env_id": "othello"},
        "canonical",
        False,
        "env_id othello: its symmetries are not listed",
    ),
    ({"backward": True}, "lockstep", True, "backward: all games end in each update"),
]
"""Settings, a field without effect with them, its value, and the cause."""


@pytest.mark.parametrize(("others", "field", "value", "cause"), NO_EFFECT)
def test_a_setting_without_effect_is_refused_if_it_is_changed(
    others, field, value, cause
):
    """A preset or a file may have it."""
    config = Config.of(**others, **{field: value})
    config.check_changes(config)
    with pytest.raises(SettingError) as refusal:
        config.check_changes(Config.of(**others))
    rule = f"left out: it has no effect with {cause}"
    assert str(refusal.value) == f"{field} must be {rule}, got {value!r}"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_setting_of_a_preset_has_an_effect(preset):
    PRESETS[preset].check_changes(Config())


PRESET_CONTRADICTIONS = [
    ("default", {"learning_rate": 1e-3}, "learning_rate_end", 2e-3, "learning_rate"),
    ("default", {"opponent": "random"}, "backup", "two-ply", "opponent"),
    ("default", {"double": True}, "double", True, "backup"),
    ("tictac-q", {"reward_win": 0.5}, "reward_draw", 1.0, "reward_win"),
    ("go-second", {"replay_start": 60_000}, "replay_capacity", 50_000, "replay_start"),
    ("matlab", {"network": "mlp"}, "network", "mlp", "learning_rate"),
]
"""A preset, a change, and the field, value and other field that the message names."""


@pytest.mark.parametrize(
    ("preset", "fields", "field", "value", "other_field"), PRESET_CONTRADICTIONS
)
def test_a_preset_that_contradicts_a_field_is_refused_and_not_repaired(
    preset, fields, field, value, other_field
):
    before = PRESETS[preset]
    with pytest.raises(ConflictError) as refusal:
        before.replace(**fields).check_changes(before)
    assert (refusal.value.field, refusal.value.value) == (field, value)
    assert other_field in str(refusal.value)


def test_a_table_becomes_an_mlp_with_a_new_learning_rate():
    changed = PRESETS["matlab"].replace(
        network="mlp", learning_rate=1e-2, learning_rate_end=0.0
    )
    changed.check_changes(PRESETS["matlab"])


def test_an_unknown_field_is_refused_by_name():
    with pytest.raises(SettingError, match=r"^momentum must be the name of a setting"):
        Config.of(momentum=0.9)


def test_numbers_of_numpy_become_pythons():
    numbers: dict[str, Any] = {
        "hidden_size": np.int64(64),
        "learning_rate": np.float32(0.5),
    }
    fields = Config.of(**numbers).as_dict()
    assert (type(fields["hidden_size"]), fields["hidden_size"]) == (int, 64)
    assert type(fields["learning_rate"]) is float


def test_settings_and_the_command_line_load_no_jax():
    program = (
        "import jax_ttt.config.presets, jax_ttt.cli, sys\n"
        "assert not {'jax', 'pgx', 'flax', 'numpy'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    ("env_id", "start_share", "expected"),
    [
        ("tic_tac_toe", 0.0, True),  # its tree is enumerated
        ("connect_4x4", 0.5, True),  # by a search of what the agent reaches
        ("connect_4x4", 0.0, False),
    ],
)
def test_a_run_can_be_proven_by_the_tree_or_by_counterexamples(
    env_id, start_share, expected
):
    config = Config.of(env_id=env_id, start_share=start_share)
    assert config.run.can_be_proven is expected


def test_a_match_has_the_given_number_of_games_or_a_default_without_exact_results():
    for is_exact, default in ((False, 1024), (True, 0)):
        assert Config().evaluation.num_games(is_exact) == default
        assert Config.of(eval_games=8).evaluation.num_games(is_exact) == 8


TRAINING_ONLY = {
    "num_envs": 8,
    "learning_rate": 0.5,
    "gamma": 0.5,
    "opponent": "random",
    "seat": "second",
    "precision": "bfloat16",
    "eval_games": 0,
    "target_update_every": 5,
}
ARCHITECTURE = {
    "env_id": "connect_four",
    "network": "table",
    "canonical": False,
    "hidden_size": 64,
    "activation": "tanh",
    "two_planes": True,
    "filters": 4,
    "backup": "two-ply",
}


def test_networks_that_differ_only_in_training_have_one_architecture():
    assert Config.of(**TRAINING_ONLY).architecture == Config().architecture
    for field, value in ARCHITECTURE.items():
        assert Config.of(**{field: value}).architecture != Config().architecture


@pytest.mark.parametrize(
    ("fields", "heads"),
    [
        ({}, "value"),
        ({"double": True}, "value"),
        ({"backup": "two-ply"}, "value-and-reply"),
        ({"double": True, "network": "table"}, "two-tables"),
    ],
)
def test_the_heads_follow_from_the_backup(fields, heads):
    assert Config.of(**fields).architecture.heads == heads
