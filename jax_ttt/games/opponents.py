"""The opponent's moves between two moves of a player, and forced openings.

Axes: `B` games.
"""

import dataclasses
from typing import TypeAlias

import jax
import jax.numpy as jnp
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.config.game_facts import SEATS, EnvId, SeatSetting
from jax_ttt.config.settings import SEATS_OF, OpponentSettings
from jax_ttt.games import pgx_games
from jax_ttt.games.pgx_games import ChooseFn, Move


def reply(
    env: pgx.Env,
    key: Key[Array, ""],
    before: pgx.State,
    after: pgx.State,
    move: Move,
    opponent: ChooseFn,
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
    opponent: ChooseFn,
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


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SelfPlay:
    """The agent plays both sides; a step is one move."""

    env_id: EnvId = dataclasses.field(metadata={"static": True})
    num_envs: int = dataclasses.field(metadata={"static": True})

    def start(self, key: Key[Array, ""]) -> pgx.State:
        """Return new games; `key` is consumed."""
        return pgx_games.init(pgx_games.make_env(self.env_id), key, self.num_envs)

    def replacement(self, _key: Key[Array, ""], new_game: pgx.State) -> pgx.State:
        """Return the one new game that replaces all finished games.

        The agent plays both sides, so either player may begin in all of them.
        """
        return new_game

    def reply(
        self, _key: Key[Array, ""], _before: pgx.State, after: pgx.State, move: Move
    ) -> tuple[pgx.State, Move]:
        """Return `after` and `move` unchanged, as the agent itself moves next."""
        return after, move

    def result(
        self, before: pgx.State, reward: Float[Array, " B"]
    ) -> Float[Array, " B"]:
        """Return the first player's reward, given the mover's."""
        return jnp.where(pgx_games.first_to_move(before), reward, -reward)

    def moves_made(self, before: pgx.State, after: pgx.State) -> Int[Array, ""]:
        """Return the moves made in all games since `before`."""
        return pgx_games.moves_made(before, after, with_opening=False)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Versus:
    """The agent plays against a player; a step is the agent's move and the reply."""

    env_id: EnvId = dataclasses.field(metadata={"static": True})
    num_envs: int = dataclasses.field(metadata={"static": True})
    seat: SeatSetting = dataclasses.field(metadata={"static": True})  # the agent's
    first_move: int | None = dataclasses.field(metadata={"static": True})
    player: Partial  # (key, env_state of B games) -> actions

    def start(self, key: Key[Array, ""]) -> pgx.State:
        """Return new games in which it is the agent's turn; `key` is consumed.

        Where the agent moves second, the player has made its first move.
        """
        env = pgx_games.make_env(self.env_id)
        init_key, move_key = jax.random.split(key)
        env_state = pgx_games.init(env, init_key, self.num_envs)
        agent = pgx_games.seated(env_state, self.seat)
        return await_turn(
            env, move_key, env_state, agent, self.player, self.first_move
        )[0]

    def replacement(self, key: Key[Array, ""], _new_game: pgx.State) -> pgx.State:
        """Return a new game for each finished one, made by `start`."""
        return self.start(key)

    def reply(
        self, key: Key[Array, ""], before: pgx.State, after: pgx.State, move: Move
    ) -> tuple[pgx.State, Move]:
        """Return the games after the player's reply, and the updated move."""
        env = pgx_games.make_env(self.env_id)
        return reply(env, key, before, after, move, self.player)

    def result(
        self, _before: pgx.State, reward: Float[Array, " B"]
    ) -> Float[Array, " B"]:
        """Return the agent's reward: the mover is the agent."""
        return reward

    def moves_made(self, before: pgx.State, after: pgx.State) -> Int[Array, ""]:
        """Return the moves of both sides since `before`, including an opening move."""
        return pgx_games.moves_made(before, after, with_opening=True)


Opponent: TypeAlias = SelfPlay | Versus


def max_turns(env_id: EnvId, settings: OpponentSettings) -> int:
    """Return the maximum number of moves that the agent makes in a game.

    Raises:
        ValueError: the maximum length of a game is not known.
    """
    length = pgx_games.max_moves(env_id)
    if settings.is_self:
        return length
    later = SEATS.index(SEATS_OF[settings.seat][0])
    return (length + 1 - later) // 2
