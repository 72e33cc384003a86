"""The rules of a user's game, as programs that never change."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jaxtyping import Array, Bool, Int, Key

from jax_ttt.config.errors import Refused
from jax_ttt.runtime import tracing
from jax_ttt.runtime.compiling import Program
from jax_ttt.runtime.words import count_phrase

_NUM_STARTS = 2**16
"""Keys with which `_init` is called, to see that all games begin in one position."""
_BATCH = 2**10
"""Keys at once: states may be large."""


class UserRules(pgx.Env):
    """A user's environment, as a program that JAX made of it when it was registered.

    The Python of the rules runs once. If it ran for each compiled program, rules that
    draw by Python's chance, or read what changes later, would be several games. For the
    same reason a game begins in one of two fixed states.
    """

    id: Any = ""
    version: Any = "v0"
    num_players: Any = 2

    def __init__(self, env_id: str, env: pgx.Env) -> None:
        """Trace the rules.

        Raises:
            Refused: they call Python while they run, or a game may begin in more than
                one position.
        """
        self.id = env_id
        init = tracing.trace_once(env.init, jax.random.key(0))
        step = tracing.trace_once(env.step, init.result, jnp.int32(0))
        if init.calls_outside or step.calls_outside:
            rule = "nothing is random: its rules may not call Python while they run"
            raise Refused(rule)
        if tracing.draws_numbers(step.program):
            rule = "nothing is random: a move may not draw random numbers"
            raise Refused(f"{rule}; tables of them belong outside of _step")
        self._program = step.program
        self.starts: pgx.State = _starts(init.program, init.result)
        """The first states `(2, ...)`: where player 0 begins, where player 1 begins."""
        self.tree: Any = None
        """The `games.tree.Tree` without symmetries; None if the game is too large."""
        self.other_states: Any = None
        """The states of the tree's positions where player 1 began."""

    def init(self, key: Key[Array, ""]) -> pgx.State:
        """Return a new game; `key` draws who begins."""
        player = jax.random.bernoulli(key).astype(jnp.int32)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[player], self.starts)

    def step(
        self, state: pgx.State, action: Int[Array, ""], key: object = None
    ) -> pgx.State:
        """Return the game after a move, at once with its observation."""
        leaves, structure = jax.tree.flatten(state)
        after = jaxpr_as_fun(self._program)(*leaves, jnp.int32(action))
        return jax.tree.map(_unsigned_zeros, jax.tree.unflatten(structure, after))

    _init, _step = init, step

    def _observe(self, state: pgx.State, player_id: Array) -> Array:
        return state.observation


def _unsigned_zeros(leaf: Array) -> Array:
    """Return the same numbers without -0, since states are compared by their bytes."""
    if not jnp.issubdtype(leaf.dtype, jnp.floating):
        return leaf
    # By bits: compiled programs take the smallest numbers for 0, too.
    num_bits = 8 * leaf.dtype.itemsize
    bits = jax.lax.bitcast_convert_type(leaf, f"uint{num_bits}")
    is_minus_zero = bits == np.array(1 << (num_bits - 1), bits.dtype)
    return jax.lax.bitcast_convert_type(
        jnp.where(is_minus_zero, jnp.zeros_like(bits), bits), leaf.dtype
    )


def _starts(program: ClosedJaxpr, shapes: pgx.State) -> pgx.State:
    """Return the first states where player 0 begins, and where player 1 begins."""
    names, starts = [*leaves_of(shapes)], dict[str, np.ndarray]()
    init = Program(jax.vmap(jaxpr_as_fun(program)), level="0")
    for keys in jax.random.split(jax.random.key(0), (_NUM_STARTS // _BATCH, _BATCH)):
        games = dict(zip(names, jax.device_get(init(keys)), strict=True))
        player = games["current_player"]
        if {*player.tolist()} != {0, 1}:
            raise Refused("_init must draw who begins, player 0 or 1, by its key")
        if not starts:
            rows = [player.argmin(), player.argmax()]
            starts = {name: leaf[rows] for name, leaf in games.items()}
        for name, leaf in games.items():
            # The observation is a function of the others.
            if name != "observation" and (leaf != starts[name][player]).any():
                raise Refused(f"all games must begin in one position; {name} is drawn")
    return jax.tree.unflatten(jax.tree.structure(shapes), starts.values())


def broken_rules(
    pairs: pgx.State, num_moves: int | Int[Array, "..."]
) -> dict[str, Bool[Array, " P"] | Bool[np.ndarray, " P"]]:
    """Return which positions break which rule of users' games.

    `pairs` are the two states of each position, `(P, 2, ...)`, of NumPy or JAX: where
    player 0 began, and where player 1 began; `num_moves` were made.
    """
    first, second = (
        jax.tree.map(lambda x, began=began: x[:, began], pairs) for began in (0, 1)
    )
    over, rewards = first.terminated | first.truncated, first.rewards
    differs = {
        "the rewards": rewards != second.rewards[:, ::-1],
        "the end of a game": over != (second.terminated | second.truncated),
        "the legal moves": first.legal_action_mask != second.legal_action_mask,
        "the observation": first.observation != second.observation,
        "truncated": first.truncated != second.truncated,
        "who is to move": first.current_player != 1 - second.current_player,
    }
    has_move = first.legal_action_mask.any(axis=1)
    faults = {
        f"{name} must not depend on whether player 0 or 1 begins: use "
        "state.current_player, not the number 0 or 1": is_wrong
        for name, is_wrong in differs.items()
    } | {
        "current_player must be 0 or 1": abs(2 * first.current_player - 1) != 1,
        "a move must not change _step_count": first._step_count != num_moves,
        "the rewards must add up to 0": rewards.sum(axis=1) != 0,
        "a reward must be from -1 to 1": ~(abs(rewards) <= 1),
        # Compiled programs take smaller numbers for 0.
        "a reward must be 0 or a normal number": (rewards != 0)
        & (abs(rewards) < np.finfo(np.float32).tiny),
        "only the last move may give a reward": ~over[:, None] & (rewards != 0),
        "there must be a legal move": ~over & ~has_move,
    }
    return {
        rule: is_wrong.reshape(len(rewards), -1).any(axis=1)
        for rule, is_wrong in faults.items()
    }


def broken(rule: str, num_moves: int, line: str = "") -> Refused:
    """Return the error of a position that breaks a rule, after a line of play."""
    moves_played = count_phrase(num_moves, "move")
    return Refused(f"{rule}; after {moves_played} it does not hold{line}")


def leaves_of(state: pgx.State) -> dict[str, Any]:
    """Return a state's arrays, or their shapes, by the names of its fields."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path).lstrip("."): leaf for path, leaf in leaves}
