"""The opponent's moves between two moves of a player, and forced openings.

Axes: `B` games.
"""

import jax
import jax.numpy as jnp
import pgx
from jaxtyping import Array, Float, Int, Key

from jax_ttt.games import pgx_games
from jax_ttt.games.pgx_games import Move, Player


def reply(
    env: pgx.Env,
    key: Key[Array, ""],
    before: pgx.State,
    after: pgx.State,
    move: Move,
    opponent: Player,
) -> tuple[pgx.State, Move]:
    """Let the opponent reply to `move`, until the mover is to move again.

    The move led from `before` to `after`. Returns the games after the reply and the
    updated move. Its reward includes the mover's reward from the reply. Its discount
    is `+gamma`, as the mover moves next, or 0 if the game is over. `key` is consumed.
    """
    mover = before.current_player
    after, gained = await_turn(env, key, after, mover, opponent)
    discount = pgx_games.signed_discount(after, mover, jnp.abs(move.discount))
    return after, Move(move.reward + gained, discount, move.live)


def await_turn(
    env: pgx.Env,
    key: Key[Array, ""],
    env_state: pgx.State,
    player: Int[Array, " B"],
    opponent: Player,
    first_move: int | None = None,
) -> tuple[pgx.State, Float[Array, " B"]]:
    """Let the opponent move until it is the player's turn or the game is over.

    Returns the games, and the player's reward from these moves. `key` is consumed.
    """

    def waiting(env_state: pgx.State) -> jax.Array:
        return ~pgx_games.finished(env_state) & ~pgx_games.is_turn(env_state, player)

    def move(carry: tuple) -> tuple:
        key, env_state, total = carry
        key, move_key = jax.random.split(key)
        action = opening(env_state, opponent(move_key, env_state), first_move)
        after = jax.vmap(env.step)(env_state, action)
        theirs = waiting(env_state)
        total += jnp.where(theirs, pgx_games.reward_to(after, player), 0.0)
        return key, pgx_games.pick(theirs, after, env_state), total

    start = (key, env_state, jnp.zeros(player.shape))
    _, env_state, total = jax.lax.while_loop(
        lambda carry: waiting(carry[1]).any(), move, start
    )
    return env_state, total


def opening(
    env_state: pgx.State, action: Int[Array, " B"], first_move: int | None
) -> Int[Array, " B"]:
    """Return `action`, replaced by `first_move` (if not None) in new games."""
    if first_move is None:
        return action
    return jnp.where(env_state._step_count == 0, first_move, action)
