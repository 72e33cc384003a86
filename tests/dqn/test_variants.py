"""Variants: each is one function, and all accepted pairs of variants work."""

import functools
import itertools
from typing import Literal, get_args, get_origin

import jax
import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.ranges import field_types
from jax_ttt.config.settings import PART_TYPES, Config
from jax_ttt.dqn import random_numbers
from jax_ttt.dqn.learner import Learner
from jax_ttt.training import loop

SMALL = {"num_envs": 4, "num_updates": 4}
VALUES = {
    "env_id": ("tic_tac_toe", "connect_four", "othello"),
    "lockstep": (False, True),
    "opponent": ("self", "random"),
    "seat": ("both", "first", "second"),
    "first_move": (None, 2),
    "network": ("mlp", "table"),
    "canonical": (False, True),
    "hidden_layers": (0, 2),
    "two_planes": (False, True),
    "filters": (0, 2),
    "activation": ("relu", "tanh", "sigmoid"),
    "precision": ("auto", "float32", "bfloat16"),
    "table_key": ("position", "after-state", "hash"),
    "initial_value": (0.5,),
    "backup": ("one-ply", "two-ply"),
    "double": (False, True),
    "backward": (False, True),
    "tau": (0.5,),
    "target_update_every": (0, 3),
    "reward_draw": (0.0, 0.5),
    "epsilon_schedule": ("linear", "steps", "exponential"),
    "epsilon_decay": (0.5,),
    "random_opening": (0, 3),
    "optimizer": ("adamw", "sgd"),
    "weight_decay": (0.25,),
    "average_span": (0.5,),
    "loss": ("huber", "mse"),
    "replay_capacity": (0, 2000),
    "replay_batch": (8,),
}
"""Values of every setting that selects a computation."""
NEEDS = {
    "seat": {"opponent": "random"},
    "reward_draw": {"opponent": "random"},
    "table_key": {"network": "table"},
    "initial_value": {"network": "table"},
    "epsilon_decay": {"epsilon_schedule": "steps"},
    "replay_batch": {"replay_capacity": 2000},
}
"""Settings without which a setting has no effect, if they differ from the defaults."""


HINTS = {
    name: hint
    for part in PART_TYPES.values()
    for name, hint in field_types(part).items()
}


@pytest.mark.parametrize("field", HINTS)
def test_every_word_and_switch_of_a_setting_is_traced(field):
    hint = HINTS[field]
    if field == "env_id":  # a few kinds of games; the slow tests train all games
        assert set(VALUES[field]) <= set(get_args(hint))
    elif get_origin(hint) is Literal:
        assert set(VALUES[field]) == set(get_args(hint))
    elif hint is bool:
        assert set(VALUES[field]) == {False, True}


def accepted(choice):
    """Return the settings with these fields, or None if they are not allowed."""
    needed = {}
    for field in choice:
        needed |= NEEDS.get(field, {})
    try:
        config = Config.of(**SMALL, **needed | choice)
        config.check_changes(Config.of(**SMALL))
    except SettingError:
        return None
    return config


def pairs_of(choice):
    return set(itertools.combinations(sorted(choice.items(), key=str), 2))


@functools.cache
def covering():
    """Return settings that cover every accepted pair, and the numbers of pairs.

    The first settings cover the most pairs.
    """
    values = [(field, value) for field, some in VALUES.items() for value in some]
    pairs = [p for p in itertools.combinations(values, 2) if p[0][0] != p[1][0]]
    left = {tuple(sorted(p, key=str)) for p in pairs}
    found, refused = [], set()
    for pair in sorted(left, key=str):
        if pair not in left:  # covered by earlier settings
            continue
        choice = dict(pair)
        if accepted(choice) is None:
            refused.add(pair)
            continue
        for field, some in VALUES.items():
            if field in choice:
                continue
            candidates = [choice | {field: value} for value in some]
            candidates.sort(key=lambda one: len(pairs_of(one) & left), reverse=True)
            choice = next(filter(accepted, candidates), choice)
        assert pair in pairs_of(choice)
        left -= pairs_of(choice)
        found.append(accepted(choice))
    assert left == refused
    return found, len(pairs) - len(refused), len(refused)


@pytest.mark.slow
def test_every_accepted_pair_of_variants_can_be_traced():
    """Tracing checks that an update keeps the shapes and types of the state."""
    configs, num_accepted, num_refused = covering()
    assert num_accepted > 700
    assert num_refused > 40
    for config in configs:
        learner = Learner.of(config, loop.make_opponent(config, 0))
        jax.eval_shape(functools.partial(one_update, learner))


def one_update(learner):
    """Check shapes and types of the first update."""
    config, before = learner.config, learner.init(jax.random.key(0))
    drawn = random_numbers.draw_random_numbers(config, before.key, before.update)
    after, metrics = learner.update(before, drawn)
    assert jax.tree.structure(before) == jax.tree.structure(after), config
    for a, b in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), config
    assert {leaf.shape for leaf in jax.tree.leaves(metrics)} == {()}, config
