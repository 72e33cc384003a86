"""Settings: what is refused and how, and what follows from them."""

import contextlib
import functools
import json
import math
import re
import typing
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from msgspec import Meta

from jax_ttt.config import ranges, settings
from jax_ttt.config.errors import ConflictError, SettingError
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config, setting_types, traced_names
from jax_ttt.dqn.base_learner import static_settings

TYPES = setting_types()


class Limits(NamedTuple):
    """The numbers that a setting may take."""

    kind: type
    low: float
    high: float
    above_low: bool
    optional: bool


def limits_of(type_):
    """Return the limits of a number, which may be optional; None for other types."""
    optional = type(None) in typing.get_args(type_)
    plain = typing.get_args(type_)[0] if optional else type_
    marks = getattr(plain, "__metadata__", ())
    for meta in marks:
        if isinstance(meta, Meta) and meta.le is not None:
            is_above = meta.gt is not None
            low: Any = meta.gt if is_above else meta.ge
            kind = typing.get_args(plain)[0]
            return Limits(kind, low, meta.le, is_above, optional)
    return None


RANGES = {
    field: allowed
    for field, type_ in TYPES.items()
    if field != "first_move" and (allowed := limits_of(type_))
}
CHOICES = {
    field: typing.get_args(type_)
    for field, type_ in TYPES.items()
    if typing.get_origin(type_) is typing.Literal
} | {"env_id": tuple(GAMES)}
SWITCHES = ("canonical", "lockstep", "double", "backward")


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


def test_every_number_has_a_range():
    numbers = {f for f, v in Config().as_dict().items() if type(v) in (int, float)}
    assert numbers | {"eval_games"} == RANGES.keys()


def assert_refused(field, value, rule):
    with pytest.raises(SettingError) as refusal:
        config_with(**{field: value})
    assert str(refusal.value).startswith(f"{field} must be {rule}, got {value!r}")


WRONG = [True, "1", "", "\udcff", math.nan, math.inf, 1j, [1], {}, {"hex"}]
"""No number may have these values."""


def test_a_number_just_outside_its_range_and_any_other_value_is_refused():
    for field, allowed in RANGES.items():
        after = allowed.high + max(1, math.ulp(allowed.high))
        near = [allowed.low - 1e-9, math.nextafter(allowed.high, math.inf)]
        values = [*WRONG, allowed.low - 1, after]
        values += [1.5, 1.0] if allowed.kind is int else near
        values += [allowed.low] if allowed.above_low else []
        values += [] if allowed.optional else [None]
        for value in values:
            assert_refused(field, value, ranges.rule(TYPES[field]))


def contradicts(field, value):
    """Return whether an allowed number is refused beside all others."""
    if field in ("reward_win", "reward_loss"):
        return value == {"reward_win": -1, "reward_loss": 1}[field]
    return field == "replay_capacity" and 0 < value < Config().num_envs


def assert_allowed(field, value):
    """Other numbers are set so that they do not contradict it."""
    others = {"reward_win": 1.0, "reward_draw": value, "reward_loss": -1.0}
    others |= {"replay_batch": 1, "replay_start": 0, "epsilon_end": 0.0}
    if field not in ("reward_win", "reward_draw", "reward_loss"):
        others["reward_draw"] = 0.0
    if field in ("start_share", "max_positions"):
        others |= {"env_id": "connect_4x4", "start_share": 0.5, "opponent": "self"}
    config = config_with(**others | {field: value})
    assert getattr(config, field) == value


def test_the_ends_of_a_range_are_allowed():
    for field, allowed in RANGES.items():
        low = math.ulp(0.0) if allowed.above_low else allowed.low
        for value in (low, allowed.high):
            if not contradicts(field, value):
                assert_allowed(field, value)


@pytest.mark.fault
def test_a_choice_is_one_of_the_listed_words_and_a_switch_true_or_false():
    for field, words in CHOICES.items():
        for value in (*WRONG, None, 4, "RELU", "chess"):
            assert_refused(field, value, f"one of {', '.join(words)}")
    for field in SWITCHES:
        for value in (*WRONG[1:], None, 0, 1, "true"):
            assert_refused(field, value, "true or false")


@pytest.mark.parametrize(
    ("preset", "changes", "ends"),
    [
        ("default", "learning_rate=0.003", (0.001, 0.1)),  # from 0.006 to 0.002
        ("default", "learning_rate=0.06", (0.02, 0.1)),
        ("default", "learning_rate=0.006", (0.002, 0.1)),
        ("default", "learning_rate=0.003 learning_rate_end=0.002", (0.002, 0.1)),
        ("default", "epsilon_start=0.5", (0.002, 0.05)),  # from 1 to 0.1
        ("default", "epsilon_start=0.05", (0.002, 0.005)),
        ("default", "epsilon_start=0", (0.002, 0)),
        ("default", "epsilon_start=0.5 epsilon_end=0.1", (0.002, 0.1)),
        ("table", "learning_rate=0.1", (0.1, 0.5)),  # constant
        ("plain", "learning_rate=0.1", (0, 0.5)),  # to 0
    ],
)
def test_the_end_of_a_schedule_follows_its_start_unless_it_is_given(
    preset, changes, ends
):
    config = PRESETS[preset].replace(**fields_of(changes))
    actual = config.learning_rate_end, config.epsilon_end
    assert actual == pytest.approx(ends, rel=1e-12)


def test_a_constant_schedule_stays_constant_exactly():
    for rate in (0.1, 0.3, 1 / 3, 0.7):
        changed = PRESETS["tictac-q"].replace(learning_rate=rate)
        assert changed.learning_rate_end == rate


def test_a_field_that_a_file_lacks_has_its_default():
    for field in TYPES:
        fields = Config().as_dict()
        del fields[field]
        assert Config.of(**fields) == Config()


def fields_of(text):
    """Return the fields of a text like `gamma=0.5 network=table`."""
    pairs = [word.split("=") for word in text.split()]
    return {name: ranges.parse_value(name, TYPES[name], word) for name, word in pairs}


CONTRADICTIONS = [
    ("env_id=connect_four network=table", "network", "mlp in connect_four"),
    ("learning_rate=0.1 learning_rate_end=0.2", "learning_rate_end", "at most 0.1"),
    ("epsilon_start=0.2 epsilon_end=0.4", "epsilon_end", "at most 0.2 (epsilon_start)"),
    ("env_id=hex two_planes=true", "two_planes", "false in hex: it does not show"),
    ("env_id=hex backward=true", "backward", "false in hex: its games have no known"),
    ("seat=first", "seat", "both in self-play, where it plays both sides"),
    (
        "reward_draw=0.5",
        "reward_draw",
        "0 in self-play: one's gain is the other's loss",
    ),
    ("reward_loss=-0.5", "reward_loss", "-1.0 in self-play (-reward_win)"),
    ("backup=two-ply opponent=random", "backup", "one-ply against an opponent: its"),
    ("backup=two-ply double=true", "double", "false with a two-ply backup"),
    ("backward=true replay_capacity=5000", "backward", "false with replay, which has"),
    (
        "replay_capacity=1023 replay_batch=1024",
        "replay_capacity",
        "0 or at least 1,024",
    ),
    ("replay_capacity=999", "replay_capacity", "0 or at least 1,000 (replay_start)"),
    ("replay_capacity=1000 num_envs=2000", "replay_capacity", "0 or at least 2,000"),
    ("opponent=random reward_win=-1", "reward_loss", "below -1.0 (reward_win)"),
    ("opponent=random reward_win=0.5 reward_draw=0.75", "reward_draw", "at most 0.5"),
    (
        "start_share=0.5",
        "start_share",
        "0: the whole tree of tic_tac_toe is enumerated",
    ),
    ("first_move=-1", "first_move", "a whole number from 0 to 65,536"),
]
"""Settings, the field that is refused beside the others, and how its rule begins."""


@pytest.mark.parametrize(("text", "field", "rule"), CONTRADICTIONS)
def test_settings_that_contradict_each_other_are_refused(text, field, rule):
    with pytest.raises(SettingError, match=rf"^{field} must be {re.escape(rule)}"):
        Config.of(**fields_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "replay_capacity=1000",
        "opponent=random seat=first",
        "epsilon_schedule=exponential epsilon_decay=0.5",
        "epsilon_start=0.2 epsilon_end=0.2",
        "hidden_layers=0 activation=tanh filters=2",
    ],
)
def test_settings_that_go_together_are_allowed(text):
    Config.of(**fields_of(text)).check_changes(Config())


NO_EFFECT = [
    ("network=table", "hidden_size=64", "network table"),
    ("network=table", "two_planes=true", "network table"),
    ("network=table", "precision=float32", "network table"),
    ("", "table_key=after-state", "network mlp"),
    ("hidden_layers=0", "hidden_size=64", "hidden_layers 0"),
    ("hidden_layers=0", "activation=tanh", "hidden_layers 0"),
    ("target_update_every=5", "tau=0.5", "target_update_every 5"),
    ("", "epsilon_decay=0.5", "epsilon_schedule linear"),
    (
        "epsilon_start=0.5 epsilon_end=0.5",
        "epsilon_schedule=steps",
        "epsilon_end equal to epsilon_start",
    ),
    ("num_envs=1", "lockstep=true", "num_envs 1"),
    ("gamma=0", "tremble=0.25", "gamma 0"),
    ("gamma=0", "target_update_every=7", "gamma 0"),
    ("optimizer=sgd", "weight_decay=0.5", "optimizer sgd"),
    ("", "replay_batch=64", "replay_capacity 0"),
    ("", "max_positions=5", "start_share 0"),
    (
        "env_id=othello",
        "canonical=false",
        "env_id othello: its symmetries are not listed",
    ),
    ("backward=true", "lockstep=true", "backward: all games end in each update"),
]
"""Settings, a field without effect with them, and how the cause begins."""


@pytest.mark.parametrize(("others", "change", "cause"), NO_EFFECT)
def test_a_setting_without_effect_is_refused_if_it_is_changed(others, change, cause):
    """A preset or a file may have it."""
    before = Config.of(**fields_of(others))
    config = before.replace(**fields_of(change))
    config.check_changes(config)
    field, _, _ = change.partition("=")
    rule = f"^{field} must be left out: it has no effect with {cause}"
    with pytest.raises(ConflictError, match=rule):
        config.check_changes(before)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_setting_of_a_preset_has_an_effect(preset):
    PRESETS[preset].check_changes(Config())


@pytest.mark.parametrize(
    ("preset", "change", "field", "other_field"),
    [
        ("default", "opponent=random", "backup", "opponent"),
        ("default", "double=true", "double", "backup"),
        ("tictac-q", "reward_win=0.5", "reward_draw", "reward_win"),
        ("go-second", "replay_start=60000", "replay_capacity", "replay_start"),
        ("matlab", "network=mlp", "network", "learning_rate"),
    ],
)
def test_a_preset_that_contradicts_a_change_is_refused_and_not_repaired(
    preset, change, field, other_field
):
    before = PRESETS[preset]
    with pytest.raises(ConflictError, match=other_field) as refusal:
        before.replace(**fields_of(change)).check_changes(before)
    assert refusal.value.field == field


def test_a_table_becomes_an_mlp_with_a_new_learning_rate():
    changed = PRESETS["matlab"].replace(network="mlp", learning_rate=1e-2)
    changed.check_changes(PRESETS["matlab"])


def test_an_unknown_field_is_refused_by_name():
    with pytest.raises(SettingError, match=r"^momentum must be the name of a setting"):
        Config.of(momentum=0.9)
    with pytest.raises(SettingError, match=r"^own must be left out: .*, got 3"):
        Config.of(own=3)


def test_a_damaged_name_is_printed_on_one_line():
    with pytest.raises(SettingError, match=r"^replay_capacit\\x7fy must be the name"):
        Config.of(**{"replay_capacit\x7fy": 0})


def test_numbers_of_numpy_become_pythons():
    numbers: dict[str, Any] = {
        "hidden_size": np.int64(64),
        "learning_rate": np.float32(0.5),
    }
    fields = Config.of(**numbers).as_dict()
    assert (type(fields["hidden_size"]), fields["hidden_size"]) == (int, 64)
    assert type(fields["learning_rate"]) is float


def test_a_run_can_be_proven_by_the_tree_or_by_counterexamples():
    assert Config.of(env_id="tic_tac_toe").can_be_proven
    assert Config.of(env_id="connect_4x4", start_share=0.5).can_be_proven
    assert not Config.of(env_id="connect_4x4").can_be_proven


def test_a_match_has_the_given_number_of_games_or_a_default_without_exact_results():
    for is_exact, default in ((False, 1024), (True, 0)):
        assert Config().num_eval_games(is_exact) == default
        for games in (8, 0):  # 0 is no default: it means no match
            assert Config.of(eval_games=games).num_eval_games(is_exact) == games


def other_values(field):
    """Return values of a field among which any configuration has another one."""
    if field in RANGES:
        allowed = RANGES[field]
        values = [allowed.low, (allowed.low + allowed.high) / 2, allowed.high, 0.125]
        return [allowed.kind(value) for value in [*values, 1, 2, 4096]]
    words = CHOICES.get(field, ("random", "minimax"))
    return [*words, True, False, 0, 1]


def changes_of(field):
    """Yield pairs of configurations that differ in one field only."""
    start_share = {"env_id": "connect_4x4", "start_share": 0.5}
    bases = [Config(), Config.of(opponent="random"), Config.of(**start_share)]
    for config in [*bases, *PRESETS.values()]:
        for value in other_values(field):
            with contextlib.suppress(SettingError):
                changed = config.replace(**{field: value})
                if changed != config:
                    yield config, changed


@pytest.mark.parametrize("field", TYPES)
def test_a_change_changes_one_setting_and_a_program_unless_the_setting_is_data(field):
    """Else a sweep would train an agent with the program of other settings."""
    config, changed = next(changes_of(field))
    assert Config.of(**json.loads(json.dumps(changed.as_dict()))) == changed
    others = TYPES.keys() - {field, settings.END_OF_START.get(field)}
    assert [n for n in others if getattr(changed, n) != getattr(config, n)] == []
    is_shared = static_settings(changed) == static_settings(config)
    assert is_shared == (field in traced_names())
    assert is_shared == (jax.tree.leaves(changed) != jax.tree.leaves(config))


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


def test_the_heads_follow_from_the_backup():
    for text, heads in (
        ("", "value"),
        ("double=true", "value"),
        ("backup=two-ply", "value-and-reply"),
        ("double=true network=table", "two-tables"),
    ):
        assert Config.of(**fields_of(text)).architecture.head_kind == heads
