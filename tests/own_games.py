"""Games of users, made from other rules, and how a registration refuses them."""

import dataclasses
from typing import Any

import pytest

import jax_ttt
from jax_ttt.config.game_facts import GAMES


def variant(base: Any, *, start: Any = None, after: Any = None, **methods: Any) -> Any:
    """Return rules like those of a class, with other methods or properties.

    `start(state, key)` returns the fields that differ at the start of a game, and
    `after(new, state, action)` those that differ after a move in a state.
    """

    def init(self, key):
        state = base._init(self, key)
        return dataclasses.replace(state, **start(state, key))

    def step(self, state, action, key):
        new = base._step(self, state, action, key)
        return dataclasses.replace(new, **after(new, state, action))

    methods |= {"_init": init} if start else {}
    methods |= {"_step": step} if after else {}
    return type("Variant", (base,), methods)


def check_refused(make_env, reason):
    """Check that an environment is refused in one line."""
    with pytest.raises(jax_ttt.Refused, match=f"^wrong: .*{reason}") as refusal:
        jax_ttt.register_game("wrong", make_env)
    assert "\n" not in str(refusal.value)
    assert "wrong" not in GAMES
