"""Players written by users: functions and policies, checked before they play.

Axes: `B` games, `A` actions, `P` positions.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int, Key, Shaped

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import EnvId
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.pgx_games import ChooseFn
from jax_ttt.players import random_players
from jax_ttt.players.player import Player
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import policies


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _UserFunction:
    """A user's function; static, since it is a part of the compiled program."""

    function: ChooseFn


def from_function(name: str, function: ChooseFn, env_id: EnvId) -> Player:
    """Return a user's function as a player.

    It is called on many boards. If its moves change neither with the key nor with the
    players' ids, it plays one move in each position, and results can be exact.

    Raises:
        PlayerError: JAX can't compile the function, it does not return one action per
            game, it plays an illegal move, or a move depends on the other games.
    """
    choose = Partial(_function_actions, _UserFunction(function))
    boards = _test_boards(env_id)
    key, other_key = jax.random.split(jax.random.key(0))
    _check_shape(name, function, key, boards)
    play = jax.jit(choose)
    action = np.asarray(play(key, boards))
    _check_legal(name, action, boards)
    with_other_key = play(other_key, boards)
    with_other_ids = play(key, pgx_games.swap_player_ids(boards))
    is_deterministic = bool(
        (action == with_other_key).all() and (action == with_other_ids).all()
    )
    if is_deterministic:
        _check_independence(name, play, key, boards, action)
    tree = trees.host_tree(env_id)
    if tree is None or not is_deterministic:
        return Player(
            env_id=env_id,
            name=name,
            choose=choose,
            evidence="signature" if is_deterministic else "none",
        )
    return _policy_player(name, policies.deterministic_policy(tree, action), env_id)


def from_policy(name: str, policy: Shaped[np.ndarray, "..."], env_id: EnvId) -> Player:
    """Return a user's policy, `(P, A)` probabilities of moves, as a player.

    Raises:
        PlayerError: the game is not enumerable, or the array is not a policy over its
            tree.
    """
    tree = trees.host_tree(env_id)
    if tree is None:
        raise PlayerError(f"{name}: {env_id} is too large for a policy as an array")
    shape = tree.legal_action_mask.shape
    if policy.shape != shape or not np.issubdtype(policy.dtype, np.number):
        raise PlayerError(
            f"{name}: must be numbers of shape {shape}, got {policy.dtype} of shape "
            f"{policy.shape}"
        )
    probs = np.where(tree.terminal[:, None], 0.0, policy)
    is_allowed = (probs >= 0) & (tree.legal_action_mask | (probs == 0))
    has_sum_1 = np.isclose(probs.sum(axis=1), 1, atol=1e-5)
    is_right = is_allowed.all(axis=1) & (has_sum_1 | tree.terminal)
    if not is_right.all():
        position = int(np.argmin(is_right))
        raise PlayerError(
            f"{name}: must be probabilities of legal moves with the sum 1, got "
            f"{probs[position]} in position {position}"
        )
    return _policy_player(name, probs, env_id)


def _policy_player(name: str, probs: Float[np.ndarray, "P A"], env_id: EnvId) -> Player:
    choose = random_players.policy_player(trees.position_index(env_id), probs)
    return Player(
        env_id=env_id,
        name=name,
        choose=choose,
        policy=probs,
        evidence="construction",
    )


def _function_actions(
    user: _UserFunction, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    return user.function(key, env_state).astype(jnp.int32)


def _test_boards(env_id: EnvId) -> pgx.State:
    """Return boards in which a move must be chosen.

    They are all such positions of an enumerable game, else boards of random games.
    """
    tree = trees.host_tree(env_id)
    if tree is not None:
        return jax.tree.map(lambda x: x[tree.decisions], tree.env_state)
    env, key = pgx_games.make_env(env_id), jax.random.key(0)
    boards = random_players.boards_of_random_games(env, key, num_games=64, num_moves=32)
    is_unfinished = ~np.asarray(pgx_games.is_finished(boards))
    return jax.tree.map(lambda x: x[is_unfinished], jax.device_get(boards))


def _check_shape(
    name: str, function: ChooseFn, key: Key[Array, ""], boards: pgx.State
) -> None:
    rule = "must return an array with one whole number per game"
    try:
        action = jax.eval_shape(function, key, boards)
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise PlayerError(
            f"{name}: can't be compiled; a player is a function (key, env_state) "
            f"written with jax.numpy: {reason}"
        ) from error
    shape = boards.terminated.shape
    if not isinstance(action, jax.ShapeDtypeStruct):
        raise PlayerError(f"{name}: {rule}, got {type(action).__name__}")
    if action.shape != shape or not jnp.issubdtype(action.dtype, jnp.integer):
        raise PlayerError(
            f"{name}: {rule}, got {action.dtype} of shape {action.shape} for "
            f"{count_phrase(shape[0], 'game')}"
        )


def _check_legal(name: str, action: Int[np.ndarray, " B"], boards: pgx.State) -> None:
    mask = boards.legal_action_mask
    num_actions = mask.shape[1]
    is_action = (action >= 0) & (action < num_actions)
    rows = np.arange(len(action))
    is_legal = is_action & mask[rows, action.clip(0, num_actions - 1)]
    if not is_legal.all():
        row = int(np.argmin(is_legal))
        raise PlayerError(
            f"{name}: plays {action[row]}, but the legal moves are "
            f"{' '.join(map(str, np.flatnonzero(mask[row])))}"
        )


def _check_independence(
    name: str,
    play: Callable[[Key[Array, ""], pgx.State], Int[Array, " B"]],
    key: Key[Array, ""],
    boards: pgx.State,
    action: Int[np.ndarray, " B"],
) -> None:
    """Check that a move depends on its own board only.

    It must not depend on the other boards of the batch or on its place among them.
    `action` holds the moves on `boards`. They are compared with the moves in two other
    batches: of the emptier half of the boards and of the fuller half, each twice and in
    a random order, so that both the places and the mean of the batch change.
    """
    rng = np.random.default_rng(0)
    size = len(action)
    num_stones = np.asarray(boards.observation).reshape(size, -1).sum(axis=1)
    order = np.argsort(num_stones, kind="stable")
    emptier, fuller = order[: -(-size // 2)], order[size // 2 :]
    for half in (emptier, fuller):
        batch = rng.permutation(np.resize(half, size))
        moves = play(key, jax.tree.map(lambda x, batch=batch: x[batch], boards))
        if (action[batch] != moves).any():
            raise PlayerError(
                f"{name}: a move must depend on its own game only, but it changes with "
                "the other games of the batch or their order"
            )
