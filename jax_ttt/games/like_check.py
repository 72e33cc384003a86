"""A check of a user's game whose board and symmetries are those of another game.

Exact results rest on them: symmetric boards are one position, and a search rebuilds a
position from its stones. Random games show whether both hold.

Axes: `B` random games, `G` views, `F` cells, `A` actions.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Array, Bool, Key, UInt32

from jax_ttt.config.errors import GameError
from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.games import pgx_games, position_keys, stone_boards
from jax_ttt.runtime.compiling import Program

NUM_GAMES = 256
"""Random games of the check."""


def check_like(env_id: EnvId, like: EnvId) -> None:
    """Raise `GameError` unless the game's results may rest on its boards alone."""
    game = GAMES[env_id]
    is_searched = game.packing is not None and not game.enumerable
    if not (game.symmetries or is_searched):
        return
    # A new program each time: a name may be registered again, with other rules. It is
    # compiled here, so that it also runs while another function is being traced.
    play = functools.partial(_play_random_games, env_id, is_searched)
    program = Program(play, level="0").jitted().lower(np.uint32(0)).compile()
    is_asymmetric, is_hidden = program(np.uint32(0))
    if is_asymmetric:
        raise GameError(
            f"{env_id}: with like={like!r}, symmetric boards must have the same legal "
            "moves and results"
        )
    if is_hidden:
        raise GameError(
            f"{env_id}: with like={like!r}, whose turn it is, the legal moves and the "
            "result must follow from the stones as in that game: only who wins differs"
        )


def _play_random_games(
    env_id: EnvId, is_searched: bool, seed: UInt32[Array, ""]
) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
    """Return whether games differ from their images, and from games of their stones.

    The second is False for a game that `is_searched` is not.
    """
    env, views = pgx_games.make_env(env_id), position_keys.all_views(env_id)
    num_views, num_cells = views.cells.shape
    to_view = jnp.asarray(np.argsort(views.actions, axis=1))  # (G, A)
    key, start_key = jax.random.split(jax.random.key(seed))
    start = pgx_games.init(env, start_key, NUM_GAMES)
    # The first player has id 0, as in the states that a search makes.
    start = pgx_games.select_games(
        start.current_player == 1, pgx_games.swap_player_ids(start), start
    )
    # Row `g * B + b` is view `g` of game `b`; the first view is the game itself.
    games = jax.tree.map(lambda leaf: jnp.concatenate([leaf] * num_views), start)

    def play(games: pgx.State, key: Key[Array, ""]) -> tuple[pgx.State, Array]:
        real = jax.tree.map(lambda leaf: leaf[:NUM_GAMES], games)
        scores = jnp.where(real.legal_action_mask, 0.0, -jnp.inf)
        action = jax.random.categorical(key, scores)
        actions = to_view[:, action].reshape(-1)
        is_asymmetric, is_hidden = _differs_from_image(games, views), jnp.bool_(False)
        if not is_searched:
            after = jax.vmap(env.step)(games, actions)
            return after, jnp.stack([is_asymmetric, is_hidden])
        # The same moves from states that are made from the stones alone, in one call.
        rebuilt = position_keys.to_states(env_id, position_keys.stones_of(real))
        after = jax.vmap(env.step)(
            jax.tree.map(lambda *leaves: jnp.concatenate(leaves), games, rebuilt),
            jnp.concatenate([actions, action]),
        )
        moved, rebuilt_moved = (
            jax.tree.map(lambda leaf, rows=rows: leaf[rows], after)
            for rows in (slice(NUM_GAMES), slice(len(actions), None))
        )
        is_wrong = _differs(real, rebuilt) | _differs(moved, rebuilt_moved)
        is_hidden = (is_wrong & ~pgx_games.is_finished(real)).any()
        after = jax.tree.map(lambda leaf: leaf[: len(actions)], after)
        return after, jnp.stack([is_asymmetric, is_hidden])

    # After the last move of a full board, its images are compared once more.
    _, is_wrong = jax.lax.scan(play, games, jax.random.split(key, num_cells + 1))
    is_asymmetric, is_hidden = is_wrong.any(axis=0)
    return is_asymmetric, is_hidden


def _differs_from_image(games: pgx.State, views: stone_boards.Views) -> Bool[Array, ""]:
    """Return whether a view of a game is another position than the game's image."""
    num_views, num_cells = views.cells.shape
    stones = position_keys.stones_of(games)
    same = np.zeros((num_views, 1), int)
    compared = [
        (stones.first, views.cells),
        (stones.second, views.cells),
        (games.observation.reshape(-1, num_cells, 2), views.cells),
        (games.legal_action_mask, views.actions),
        (games.current_player[:, None], same),
        (pgx_games.is_finished(games)[:, None], same),
        *((games.rewards[:, player, None], same) for player in (0, 1)),
    ]
    is_wrong = jnp.bool_(False)
    for leaf, orders in compared:
        real = leaf[:NUM_GAMES]
        image = jnp.concatenate([real[:, order] for order in orders])
        is_wrong |= (leaf != image).any()
    return is_wrong


def _differs(state: pgx.State, other: pgx.State) -> Bool[Array, " B"]:
    """Return which states differ in what exact results depend on."""
    stones, other_stones = map(position_keys.stones_of, (state, other))
    compared = [
        (stones.first, other_stones.first),
        (stones.second, other_stones.second),
        (state.observation, other.observation),
        (state.current_player, other.current_player),
        (state.legal_action_mask, other.legal_action_mask),
        (pgx_games.is_finished(state), pgx_games.is_finished(other)),
        (state.rewards, other.rewards),
    ]
    is_wrong = jnp.zeros(NUM_GAMES, bool)
    for leaf, other_leaf in compared:
        is_wrong |= (leaf != other_leaf).reshape(NUM_GAMES, -1).any(axis=1)
    return is_wrong
