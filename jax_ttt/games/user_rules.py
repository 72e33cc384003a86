"""The rules of a user's game, as programs that never change."""

from typing import Any

import jax
import jax.numpy as jnp
import pgx
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jaxtyping import Array, Bool, Int, Key

from jax_ttt.config.errors import GameError
from jax_ttt.runtime import tracing
from jax_ttt.runtime.compiling import Program

_NUM_STARTS = 2**16
"""Keys with which `_init` is called, to see that all games begin in one position."""


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
            GameError: they call Python while they run, or a game may begin in more than
                one position.
        """
        self.id = env_id
        init = tracing.trace_once(env.init, jax.random.key(0))
        step = tracing.trace_once(env.step, init.result, jnp.int32(0))
        if init.calls_outside or step.calls_outside:
            rule = "nothing is random: its rules may not call Python while they run"
            raise GameError(rule)
        self._program = step.program
        self.starts: pgx.State = _starts(init.program, init.result)
        """The first states `(2, ...)`: where player 0 begins, where player 1 begins."""

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
        return jax.tree.unflatten(structure, after)

    _init, _step = init, step

    def _observe(self, state: pgx.State, player_id: Array) -> Array:
        return state.observation


def _starts(program: ClosedJaxpr, shapes: pgx.State) -> pgx.State:
    """Return the first states where player 0 begins, and where player 1 begins."""
    names, init = [*leaves_of(shapes)], jaxpr_as_fun(program)
    place = names.index("current_player")
    # The observation is a function of the others.
    compared = [i for i, name in enumerate(names) if name != "observation"]

    def examine(keys: Key[Array, " K"]) -> tuple[list[Array], Bool[Array, " leaves"]]:
        few = jax.vmap(init)(keys[:64])
        rows = jnp.stack([few[place].argmin(), few[place].argmax()])
        starts = [leaf[rows] for leaf in few]

        def differs(key: Key[Array, ""]) -> Bool[Array, " leaves"]:
            new = init(key)
            unlike = [
                (new[leaf][None] != starts[leaf]).reshape(2, -1).any(axis=1)
                for leaf in compared
            ]
            return jnp.stack(unlike)[:, new[place]]

        return starts, jax.vmap(differs)(keys).any(axis=0)

    keys = jax.random.split(jax.random.key(0), _NUM_STARTS)
    starts, is_drawn = jax.device_get(Program(examine, level="0")(keys))
    if starts[place].tolist() != [0, 1]:
        raise GameError("_init must draw who begins, player 0 or 1, by its key")
    if is_drawn.any():
        name = names[compared[int(is_drawn.argmax())]]
        raise GameError(f"all games must begin in one position; {name} is drawn")
    return jax.tree.unflatten(jax.tree.structure(shapes), starts)


def leaves_of(state: pgx.State) -> dict[str, Any]:
    """Return a state's arrays, or their shapes, by the names of its fields."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path).lstrip("."): leaf for path, leaf in leaves}
