"""The opponent in training: the agent itself, or another player.

A step of training is one move of the agent, and against another player also that
player's reply. So the agent is to move at the start of every step.

Axes: `B` games.
"""

import dataclasses
from typing import TypeAlias

import jax
import jax.numpy as jnp
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.config.game_facts import GAMES, EnvId, SeatSetting
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games
from jax_ttt.games.pgx_games import ChooseFn, Move


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

        One is enough: the agent plays both sides, so it does not matter which player
        id moves first.
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
        """Return the number of moves made in all games since `before`."""
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
        """Return new games in which the agent is to move; `key` is consumed.

        Where the agent moves second, the player has made its first move.
        """
        env = pgx_games.make_env(self.env_id)
        init_key, move_key = jax.random.split(key)
        env_state = pgx_games.init(env, init_key, self.num_envs)
        agent = pgx_games.player_in_seat(env_state, self.seat)
        env_state, _ = await_turn(
            env, move_key, env_state, agent, self.player, self.first_move
        )
        return env_state

    def replacement(self, key: Key[Array, ""], _new_game: pgx.State) -> pgx.State:
        """Return as many new games as there are games; `key` is consumed.

        Each finished game gets its own one, so that the seats and the opponent's first
        moves stay random.
        """
        return self.start(key)

    def reply(
        self, key: Key[Array, ""], before: pgx.State, after: pgx.State, move: Move
    ) -> tuple[pgx.State, Move]:
        """Let the player reply to `move`, until the agent is to move again.

        The move led from `before` to `after`. Returns the games after the reply, and
        the move with its final reward and discount: its reward includes the agent's
        reward from the reply, and its discount is `+gamma`, as the agent moves next,
        or 0 if the game is over. `key` is consumed.
        """
        env = pgx_games.make_env(self.env_id)
        agent = before.current_player
        after, reward_of_reply = await_turn(env, key, after, agent, self.player)
        discount = pgx_games.signed_discount(after, agent, jnp.abs(move.discount))
        return after, Move(move.reward + reward_of_reply, discount, move.live)

    def result(
        self, _before: pgx.State, reward: Float[Array, " B"]
    ) -> Float[Array, " B"]:
        """Return the agent's reward: the mover is the agent."""
        return reward

    def moves_made(self, before: pgx.State, after: pgx.State) -> Int[Array, ""]:
        """Return the moves of both sides since `before`, including an opening move."""
        return pgx_games.moves_made(before, after, with_opening=True)


Opponent: TypeAlias = SelfPlay | Versus


def max_turns(config: Config) -> int:
    """Return the maximum number of moves that the agent makes in a game.

    Raises:
        ValueError: the maximum length of a game is not known.
    """
    env_id = config.env_id
    length = GAMES[env_id].max_moves
    if length is None:
        raise ValueError(f"the maximum length of a game of {env_id} is not known")
    if config.is_self_play:
        return length
    return (length + 1) // 2 if "first" in config.seats else length // 2


def force_first_move(
    env_state: pgx.State, action: Int[Array, " B"], first_move: int | None
) -> Int[Array, " B"]:
    """Return `action`, replaced by `first_move` (if not None) in new games."""
    if first_move is None:
        return action
    return jnp.where(env_state._step_count == 0, first_move, action)


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

    def waits(env_state: pgx.State) -> jax.Array:
        return ~pgx_games.is_finished(env_state) & ~pgx_games.is_turn(env_state, player)

    def move(carry: tuple) -> tuple:
        key, env_state, total_reward = carry
        key, move_key = jax.random.split(key)
        action = opponent(move_key, env_state)
        action = force_first_move(env_state, action, first_move)
        after = jax.vmap(env.step)(env_state, action)
        # The opponent moves in all games at once; only where the player waits, its
        # move counts.
        is_opponents = waits(env_state)
        reward = jnp.where(is_opponents, pgx_games.reward_to(after, player), 0.0)
        env_state = pgx_games.select_games(is_opponents, after, env_state)
        return key, env_state, total_reward + reward

    start = (key, env_state, jnp.zeros(player.shape))
    _, env_state, total_reward = jax.lax.while_loop(
        lambda carry: waits(carry[1]).any(), move, start
    )
    return env_state, total_reward
