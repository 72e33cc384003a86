"""The interface to PGX: batched games, with rewards and discounts of the mover.

PGX draws which player id moves first, gives rewards by player id, and marks every
action as legal once a game is over. Other folders don't see that: only modules of
`games/` read player ids, rewards and the count of steps from a `pgx.State`.

Axes: `B` games, `A` actions, `H W C` planes.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from jax_ttt.config.game_facts import GAMES, EnvId, SeatSetting, Symmetry
from jax_ttt.games import line_games, stone_boards
from jax_ttt.games.stone_boards import Views


class Move(NamedTuple):
    """The results of one move in each game, from the mover's perspective."""

    reward: jax.Array  # (B,) float32, -1 to 1
    discount: jax.Array  # (B,) float32: 0, gamma or -gamma
    live: jax.Array  # (B,) bool: the game was not over before the move


ChooseFn = Callable[[jax.Array, pgx.State], jax.Array]
"""A function `(key, env_state of B games) -> actions`."""


_ParametersT = ParamSpec("_ParametersT")
_ResultT = TypeVar("_ResultT")
_caches: list[Callable[[], None]] = []


def cache_of_games(
    function: Callable[_ParametersT, _ResultT],
) -> Callable[_ParametersT, _ResultT]:
    """Return a function of games with its results kept, until `forget_games`."""
    cached = functools.cache(function)
    _caches.append(cached.cache_clear)
    return cast(Callable[_ParametersT, _ResultT], cached)


def forget_games(with_programs: bool = True) -> None:
    """Forget what was computed for games, since a name may get other rules."""
    for clear in _caches:
        clear()
    if with_programs:  # they are kept by the names of games, too
        jax.clear_caches()


@cache_of_games
def make_env(env_id: EnvId) -> pgx.Env:
    """Return the environment: PGX's, a game of stones in a row, or a user's."""
    game = GAMES[env_id]
    if game.user_env is not None:
        return game.user_env
    if game.in_a_row is not None:
        falls = game.moves_on == "columns"
        return line_games.LineGame(env_id, game.shape, game.in_a_row, falls)
    # PGX builds arrays when a game is imported. Under `jit` they would be tracers:
    # placeholders for the arrays of one program, which the cached environment would
    # then pass to the next one.
    with jax.ensure_compile_time_eval():
        return pgx.make(cast(pgx.EnvId, game.pgx_id))


@functools.partial(jax.jit, static_argnames=("env", "num_envs"))
def init(env: pgx.Env, key: Key[Array, ""], num_envs: int) -> pgx.State:
    """Return `num_envs` new games; `key` is consumed."""
    return jax.vmap(env.init)(jax.random.split(key, num_envs))


def step(
    env: pgx.Env,
    env_state: pgx.State,
    action: Int[Array, " B"],
    gamma: float | Float[Array, ""],
) -> tuple[pgx.State, Move]:
    """Play one move in each game; finished games don't change.

    `Move.discount` is 0 after the last move, `-gamma` if the opponent moves next and
    `+gamma` if the same player does. In the package's own games the players alternate,
    so there `+gamma` comes only from a reply that is part of the move (see
    `training_opponents.Versus.reply`). A truncated game did not end by its rules, so
    learning still uses the value of its last position.
    """
    mover = env_state.current_player  # before the step: rewards are by player id
    next_state = jax.vmap(env.step)(env_state, action)
    reward = reward_to(next_state, mover)
    discount = signed_discount(next_state, mover, gamma)
    return next_state, Move(reward, discount, ~is_finished(env_state))


@functools.partial(jax.jit, static_argnames="env")
def play_moves(
    env: pgx.Env, env_state: pgx.State, action: Int[Array, " B"]
) -> pgx.State:
    """Return the games after one move in each, without rewards and discounts."""
    return jax.vmap(env.step)(env_state, action)


def signed_discount(
    after: pgx.State, mover: Int[Array, " B"], gamma: float | Float[Array, "..."]
) -> Float[Array, " B"]:
    """Return 0 after the last move, `gamma` if the mover moves next, else `-gamma`."""
    discount = jnp.where(after.current_player == mover, gamma, -gamma)
    return jnp.where(after.terminated, 0.0, discount)


def first_to_move(env_state: pgx.State) -> Bool[Array, " B"] | Bool[np.ndarray, " B"]:
    """Return in which games the first player is to move; the players alternate."""
    return env_state._step_count % 2 == 0


def num_moves(env_state: pgx.State) -> Int[Array, " B"]:
    """Return the number of moves since the first position, in each game."""
    return env_state._step_count


def moves_made(
    before: pgx.State, after: pgx.State, with_opening: bool
) -> Int[Array, ""]:
    """Return the number of moves made in all games since `before`.

    With `with_opening`, the opponent's move before the agent's first one counts too.
    """
    start = before._step_count
    if with_opening:
        # One move before the agent's turn: the opponent has opened this game.
        start = jnp.where(start == 1, 0, start)
    return jnp.sum(after._step_count - start)


def player_in_seat(new_games: pgx.State, seat: SeatSetting) -> Int[Array, " B"]:
    """Return the PGX player id in a seat of new games.

    "both" is player 0, who moves first in a random half of the games.
    """
    first = new_games.current_player  # random
    return {"first": first, "second": 1 - first, "both": jnp.zeros_like(first)}[seat]


def is_turn(env_state: pgx.State, player: Int[Array, "..."]) -> Bool[Array, " B"]:
    """Return in which games `player` is to move: ids from `player_in_seat`, or one."""
    return env_state.current_player == player


def reward_to(env_state: pgx.State, player: Int[Array, " B"]) -> Float[Array, " B"]:
    """Return the latest move's reward to `player`, -1 to 1 (see `player_in_seat`)."""
    return jnp.take_along_axis(env_state.rewards, player[:, None], axis=1)[:, 0]


def is_finished(env_state: pgx.State) -> Bool[Array, " B"]:
    """Return which games are over: terminated by the rules, or truncated."""
    return jnp.logical_or(env_state.terminated, env_state.truncated)


def restart(new_games: pgx.State, env_state: pgx.State, lockstep: bool) -> pgx.State:
    """Replace finished games by new ones; with `lockstep`, once all are finished.

    `new_games` are as many as `env_state`, or one, for all.

    Call it after the TD target is computed. A restart inside the step would pair the
    new game's board and player with the old game's reward.
    """
    over = is_finished(env_state)
    over = jnp.broadcast_to(over.all(), over.shape) if lockstep else over
    return select_games(over, new_games, env_state)


def select_games(where: Bool[Array, " B"], new: pgx.State, old: pgx.State) -> pgx.State:
    """Return `new` in the games where `where` is True, else `old`."""

    def leaf(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(where.reshape(where.shape + (1,) * (old.ndim - 1)), new, old)

    return jax.tree.map(leaf, new, old)


@functools.partial(jax.jit, static_argnames="env_id")
def planes(env_id: EnvId, obs: Shaped[Array, "B *shape"]) -> Float[Array, "B H W C"]:
    """Return the network's input planes, from the mover's perspective.

    The two planes of a board of stones become one: +1 for the mover's stones, -1 for
    the opponent's. Other observations are only converted to float32. One of rows and
    columns alone is one plane, and a list of numbers is one row.
    """
    if GAMES[env_id].stones:
        obs = stone_boards.cells(obs).reshape(*obs.shape[:3], 1)
    if obs.ndim == 2:
        obs = obs[:, None]
    if obs.ndim == 3:
        obs = obs[..., None]
    return obs.astype(jnp.float32)


@cache_of_games
def symmetric_views(env_id: EnvId) -> Views | None:
    """Return the symmetric views of the game's boards; None where none are listed."""
    listed = GAMES[env_id].symmetries
    return views_of(listed) if listed else None


def views_of(symmetries: tuple[Symmetry, ...]) -> Views:
    """Return listed symmetries as arrays."""
    return Views(
        cells=np.array([symmetry.cells for symmetry in symmetries]),
        actions=np.array([symmetry.actions for symmetry in symmetries]),
    )


class Sizes(NamedTuple):
    """The input size of a game's network, and its number of actions."""

    planes: tuple[int, ...]  # (H, W, C)
    num_actions: int


@cache_of_games
def sizes(env_id: EnvId) -> Sizes:
    """Return the sizes for a game, from shapes alone: nothing is compiled or run."""
    env = make_env(env_id)
    state = jax.eval_shape(lambda: init(env, jax.random.key(0), 1))
    inputs = jax.eval_shape(functools.partial(planes, env_id), state.observation)
    return Sizes(inputs.shape[1:], state.legal_action_mask.shape[1])
