"""The opponent in training: the agent itself, or a player.

Axes: `B` games.
"""

import dataclasses
from typing import ClassVar, TypeAlias

import jax
import jax.numpy as jnp
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key

from jax_ttt.config.catalogue import SEATS, EnvId
from jax_ttt.config.choices import SEATS_OF
from jax_ttt.config.parts.opponent import SELF, OpponentSettings
from jax_ttt.config.parts.run import RunSettings
from jax_ttt.envs import pgx_games, replies
from jax_ttt.envs.pgx_games import Move


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SelfPlay:
    """The agent plays both sides; a step is one move."""

    name: ClassVar[str] = SELF

    def start(
        self, run: RunSettings, settings: OpponentSettings, key: Key[Array, ""]
    ) -> pgx.State:
        """Return new games; `key` is consumed."""
        del settings
        return pgx_games.init(pgx_games.make_env(run.env_id), key, run.num_envs)

    def replacement(
        self,
        run: RunSettings,
        settings: OpponentSettings,
        key: Key[Array, ""],
        new_game: pgx.State,
    ) -> pgx.State:
        """Return the one new game that replaces all finished games.

        The agent plays both sides, so either player may begin in all of them.
        """
        del run, settings, key
        return new_game

    def reply(
        self,
        env: pgx.Env,
        gamma: float | Float[Array, ""],
        key: Key[Array, ""],
        before: pgx.State,
        after: pgx.State,
        move: Move,
    ) -> tuple[pgx.State, Move]:
        """Return `after` and `move` unchanged, as the agent itself moves next."""
        del env, gamma, key, before
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

    name: str = dataclasses.field(metadata={"static": True})  # the setting `opponent`
    player: Partial  # (key, env_state of B games) -> actions

    def start(
        self, run: RunSettings, settings: OpponentSettings, key: Key[Array, ""]
    ) -> pgx.State:
        """Return new games in which it is the agent's turn; `key` is consumed.

        Where the agent moves second, the player has made its first move.
        """
        env = pgx_games.make_env(run.env_id)
        init_key, move_key = jax.random.split(key)
        env_state = pgx_games.init(env, init_key, run.num_envs)
        agent = pgx_games.seated(env_state, settings.seat)
        return replies.await_turn(
            env, move_key, env_state, agent, self.player, settings.first_move
        )[0]

    def replacement(
        self,
        run: RunSettings,
        settings: OpponentSettings,
        key: Key[Array, ""],
        new_game: pgx.State,
    ) -> pgx.State:
        """Return a new game for each finished one, made by `start`."""
        del new_game
        return self.start(run, settings, key)

    def reply(
        self,
        env: pgx.Env,
        gamma: float | Float[Array, ""],
        key: Key[Array, ""],
        before: pgx.State,
        after: pgx.State,
        move: Move,
    ) -> tuple[pgx.State, Move]:
        """Return the games after the player's reply, and the updated move."""
        return replies.reply(env, key, before, after, move, self.player, gamma)

    def result(
        self, before: pgx.State, reward: Float[Array, " B"]
    ) -> Float[Array, " B"]:
        """Return the agent's reward: the mover is the agent."""
        del before
        return reward

    def moves_made(self, before: pgx.State, after: pgx.State) -> Int[Array, ""]:
        """Return the moves of both sides since `before`, including an opening move."""
        return pgx_games.moves_made(before, after, with_opening=True)


Opponent: TypeAlias = SelfPlay | Versus


def check(settings: OpponentSettings, opponent: Opponent) -> None:
    """Raise `ValueError` unless `opponent` is the one named in the settings."""
    if opponent.name != settings.opponent:
        raise ValueError(
            f"the settings name the opponent {settings.opponent!r}, "
            f"the argument is {opponent.name!r}"
        )


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
