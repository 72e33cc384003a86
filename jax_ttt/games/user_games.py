"""Games of users: their rules are checked, and become one of the package's games."""

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pgx

from jax_ttt.config import game_facts
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import (
    GAMES,
    MAX_TREE_POSITIONS,
    GameFacts,
    MovesOn,
    Symmetry,
)
from jax_ttt.games import pgx_games, stone_boards, user_rules
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Enumeration, Tree
from jax_ttt.games.user_rules import UserRules, leaves_of
from jax_ttt.runtime import compiling

_NUM_LINES = 32
"""Random lines of play that are examined in a game whose positions are too many."""
_MAX_BYTES = 2**27
"""Bytes of the positions that are enumerated when a game is registered, at most."""


def register_game(
    env_id: str,
    make_env: Callable[[], pgx.Env],
    *,
    move_names: Sequence[str | int] = (),
    board_text: Callable[[pgx.State], str] | None = None,
) -> None:
    """Add a game of your own, for all functions and commands but `correct` and `web`.

    The rules are an environment of PGX: a class with `_init`, `_step` and `_observe`,
    written with `jax.numpy`, whose Python runs once. A game has at most 1,000 moves.
    The rules name the players by `state.current_player`, never by a number, since
    `_init` draws by its key who begins; nothing else is random or hidden. Only the last
    move gives rewards, from -1 to 1, which add up to 0.

    Call this at the top level of your file, in each process; `--rules FILE` lets a
    command run the file first. Another call with the same name replaces your game, for
    instance when a notebook's cell runs again.

    All positions are enumerated, at most 100,000. If these are all, they are the game's
    tree, and results of any policy are exact; else 32 random lines of play are examined
    too, and a player that plays one move in each position is proven by a walk of all
    positions that it reaches. If the observation shows two planes of stones, and each
    action adds one on its cell or in its column, the board is drawn, and its symmetries
    are used if they hold in all positions.

    Args:
        env_id: The name of the game: small letters, digits and `_`.
        make_env: A function without arguments that returns the environment, for
            instance its class.
        move_names: The name of each action, by which people read and type it: small
            letters and digits. By default its number.
        board_text: A function from one state to its board as text. By default boards of
            stones are drawn.

    Raises:
        Refused: a game of the package has the name, the rules are not those of such a
            game, or an argument does not fit them.

    Examples:
        >>> from pgx.tic_tac_toe import TicTacToe
        >>> class Misere(TicTacToe):
        ...     def _step(self, state, action, key):
        ...         state = super()._step(state, action, key)
        ...         return state.replace(rewards=-state.rewards)
        >>> jax_ttt.register_game("misere", Misere)
        >>> jax_ttt.grade("minimax", env_id="misere").unbeatable
        True
    """
    if not isinstance(env_id, str) or not re.fullmatch("[a-z][a-z0-9_]*", env_id):
        rule = "the name of a game must be of small letters, digits and _"
        raise Refused(f"{rule}, got {env_id!r}")
    before = GAMES.get(env_id)
    if before is not None and before.user_env is None:
        raise Refused(f"there is a game {env_id} already: choose another name")
    env = _checked_env(env_id, make_env)
    start = _checked_start(env_id, env)
    _check_names(env_id, move_names, len(start.legal_action_mask))
    compiling.use_user_cache()
    try:
        rules = UserRules(env_id, env)
        facts = _examine(rules)
    except Refused as error:
        raise Refused(f"{env_id}: {error}") from None
    except Exception as error:  # a user's functions may raise anything
        rule = "its rules can't be compiled"
        raise Refused(f"{env_id}: {rule}: {_first_line(error)}") from error
    if before is not None:
        pgx_games.forget_games()
    GAMES[env_id] = replace(
        facts, move_names=tuple(map(str, move_names)), board_text=board_text
    )


def _examine(rules: UserRules) -> GameFacts:
    """Return the facts that the game's positions show.

    Raises:
        Refused: a position breaks a rule.
    """
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(rules.starts))
    found = trees.enumerate_positions(
        rules, max_positions=min(MAX_TREE_POSITIONS, _MAX_BYTES // size)
    )
    tree = found.tree()
    if not found.is_whole:
        _check_observations(found, tree)
        trees.enumerate_positions(rules, num_lines=_NUM_LINES)
        return _board_facts(found, tree, GameFacts(user_env=rules))
    trees.index_of_tree(tree)  # they may hide a part of the state
    rules.tree, rules.other_states = tree, found.states(1)
    facts = GameFacts(user_env=rules, enumerable=True, max_moves=len(found.moves))
    return _board_facts(found, tree, facts)


def _check_observations(found: Enumeration, tree: Tree) -> None:
    """Raise `Refused` if an observation hides what a move leads to."""
    _, seen_as = trees.unique_rows(
        tree.env_state._step_count,
        tree.obs,
        tree.legal_action_mask,
        tree.terminal,
        tree.outcome,
    )
    for num_moves, (parent, action, child) in enumerate(found.moves):
        before = np.stack([seen_as[parent], action], axis=1)
        num_before = len(trees.unique_rows(before)[0])
        if len(trees.unique_rows(before, seen_as[child])[0]) > num_before:
            rule = "the observation must show all that matters for the rest of the game"
            raise user_rules.broken(rule, num_moves)


def _board_facts(found: Enumeration, tree: Tree, facts: GameFacts) -> GameFacts:
    """Return the facts with the board and its symmetries, if it is one of stones.

    Its observation shows two planes of stones, the mover's and the other player's; each
    action adds a stone of the mover's, on its cell or in its column.
    """
    if tree.obs.ndim != 4 or tree.obs.shape[3] != 2 or tree.obs.dtype != bool:
        return facts
    rows, columns = shape = tree.obs.shape[1:3]
    own, other = np.moveaxis(tree.obs.reshape(-1, rows * columns, 2), 2, 0)
    parent, action, child = map(np.concatenate, zip(*found.moves, strict=True))
    new = other[child] & ~own[parent]
    is_added = (own[child] == other[parent]).all(axis=1) & (new.sum(axis=1) == 1)
    is_added &= (other[child] | ~own[parent]).all(axis=1)
    if (own & other).any() or not is_added.all():
        return facts
    num_actions, cell = tree.legal_action_mask.shape[1], new.argmax(axis=1)
    views: tuple[Symmetry, ...] = ()
    if num_actions == rows * columns and (cell == action).all():
        moves_on: MovesOn = "cells"
        if rows == columns:
            views = game_facts.square_views(rows)
    elif num_actions == columns and (cell % columns == action).all():
        moves_on = "columns"
        views = game_facts.column_views(rows, columns)
    else:
        return facts
    facts = replace(facts, shape=shape, stones=found.is_whole, moves_on=moves_on)
    boards = stone_boards.cells(tree.obs)
    if (
        not facts.enumerable
        or not views
        or len(np.unique(boards, axis=0)) < len(boards)
    ):
        return facts
    with contextlib.suppress(ValueError):
        trees.with_symmetries(tree, pgx_games.views_of(views))
        return replace(facts, symmetries=views)
    return facts


def _checked_env(env_id: str, make_env: Callable[[], pgx.Env]) -> pgx.Env:
    """Return the environment, for which programs are compiled."""
    try:
        env = make_env()
    except Exception as error:  # a user's function may raise anything
        raise Refused(f"{env_id}: make_env fails: {_first_line(error)}") from error
    if not isinstance(env, pgx.Env):
        rule = "make_env must return an environment, a pgx.Env"
        raise Refused(f"{env_id}: {rule}, got {type(env).__name__}")
    if env.num_players != 2:
        rule = "a game must have 2 players"
        raise Refused(f"{env_id}: {rule}, got {env.num_players}")
    return env


def _checked_start(env_id: str, env: pgx.Env) -> pgx.State:
    """Return the shapes of the first state, after which a move must keep them."""
    action = jax.ShapeDtypeStruct((), jnp.int32)
    try:
        start = jax.eval_shape(lambda: env.init(jax.random.key(0)))
        # PGX's `step` needs a move to keep the shapes, and says so in many lines.
        after = jax.eval_shape(lambda s, a: env._step(s, a, None), start, action)
    except Exception as error:  # a user's functions may raise anything
        raise Refused(
            f"{env_id}: its rules can't be compiled; they are functions written with "
            f"jax.numpy, and nothing is random: {_first_line(error)}"
        ) from error
    expected = {
        "legal_action_mask": f"bool of shape ({start.legal_action_mask.size},)",
        "rewards": "float32 of shape (2,)",
        "current_player": "int32 of shape ()",
        "_step_count": "int32 of shape ()",
        "terminated": "bool of shape ()",
        "truncated": "bool of shape ()",
    }
    leaves_after = leaves_of(after)
    for name, leaf in leaves_of(start).items():
        shape, shape_after = _shape(leaf), _shape(leaves_after.get(name))
        if not (leaf.dtype == bool or jnp.issubdtype(leaf.dtype, jnp.number)):
            rule = f"nothing is random, and {name} must be numbers"
            raise Refused(f"{env_id}: {rule}, got {shape}")
        if shape != shape_after:
            rule = f"a move must keep the shape and dtype of {name}"
            raise Refused(f"{env_id}: {rule}: {shape}, then {shape_after}")
        if shape != expected.get(name, shape):
            raise Refused(f"{env_id}: {name} must be {expected[name]}, got {shape}")
    if len(start.observation.shape) not in (1, 2, 3):
        rule = "observation must have 1 to 3 axes: rows, columns and planes"
        raise Refused(f"{env_id}: {rule}, got {_shape(start.observation)}")
    return start


def _check_names(
    env_id: str, move_names: Sequence[str | int], num_actions: int
) -> None:
    """Raise `Refused` unless there is another word for each action, or none."""
    words = {word for word in map(str, move_names) if re.fullmatch("[a-z0-9]+", word)}
    if move_names and not len(words) == len(move_names) == num_actions:
        rule = f"move_names must be {num_actions} different words"
        raise Refused(f"{env_id}: {rule} of small letters and digits, one per action")


def _shape(leaf: jax.ShapeDtypeStruct | None) -> str:
    return "none" if leaf is None else f"{leaf.dtype} of shape {leaf.shape}"


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
