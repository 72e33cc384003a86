"""Variants: each is one function, and all accepted pairs of variants work together."""

import functools
import itertools
from typing import Literal, get_args, get_origin

import jax
import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config, setting_types
from jax_ttt.dqn import random_numbers
from jax_ttt.dqn.learner import DQN
from jax_ttt.training import run_start

SMALL = {"num_envs": 4, "num_updates": 4}
WORDS_AND_SWITCHES = {
    field: (False, True) if kind is bool else get_args(kind)
    for field, kind in setting_types().items()
    if kind is bool or get_origin(kind) is Literal
}
VALUES = WORDS_AND_SWITCHES | {
    "env_id": ("tic_tac_toe", "connect_four"),  # other tests train all games
    "opponent": ("self", "random"),
    "first_move": (None, 2),
    "filters": (0, 2),
    "target_update_every": (0, 3),
    "reward_draw": (0.0, 0.5),
    "random_opening": (0, 3),
    "replay_capacity": (0, 2000),
}
"""Values of every setting that selects a computation."""
NEEDS = {
    "seat": {"opponent": "random"},
    "reward_draw": {"opponent": "random"},
    "table_key": {"network": "table"},
}
"""Settings without which a setting has no effect, if they differ from the defaults."""


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


def covering_settings():
    """Return settings that cover every accepted pair, and the numbers of pairs.

    The first settings cover the most pairs.
    """
    choices = [(field, value) for field, values in VALUES.items() for value in values]
    pairs = [p for p in itertools.combinations(choices, 2) if p[0][0] != p[1][0]]
    uncovered = {tuple(sorted(pair, key=str)) for pair in pairs}
    configs, refused = [], set()
    for pair in sorted(uncovered, key=str):
        if pair not in uncovered:  # covered by earlier settings
            continue
        choice = dict(pair)
        if accepted(choice) is None:
            refused.add(pair)
            continue
        for field, values in VALUES.items():
            if field in choice:
                continue
            candidates = [choice | {field: value} for value in values]
            candidates.sort(key=lambda c: len(pairs_of(c) & uncovered), reverse=True)
            choice = next(filter(accepted, candidates), choice)
        uncovered -= pairs_of(choice)
        configs.append(accepted(choice))
    assert uncovered == refused
    return configs, len(pairs) - len(refused), len(refused)


@pytest.mark.slow
def test_every_accepted_pair_of_variants_can_be_traced():
    """An update keeps the shapes and types of the state."""
    configs, num_accepted, num_refused = covering_settings()
    assert num_accepted > 500
    assert num_refused > 20
    for config in configs:
        learner = DQN.of(config, run_start.make_opponent(config, 0))
        before, after, metrics = jax.eval_shape(functools.partial(one_update, learner))
        assert jax.tree.structure(before) == jax.tree.structure(after), config
        for a, b in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), config
        assert {leaf.shape for leaf in jax.tree.leaves(metrics)} == {()}, config


def one_update(learner):
    """Return the states before and after the first update, and its metrics."""
    before = learner.init(jax.random.key(0))
    drawn = random_numbers.draw_random_numbers(
        learner.config, before.key, before.update
    )
    return before, *learner.update(before, drawn)
