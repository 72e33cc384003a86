"""Games of users: their rules are checked, and become one of the package's games."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import pgx

from jax_ttt.config.errors import GameError, did_you_mean
from jax_ttt.config.game_facts import GAMES, GameFacts
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import MAX_MOVES
from jax_ttt.games.user_rules import UserRules, leaves_of
from jax_ttt.runtime import compiling

_NUM_LINES = 32
"""Random lines of play that are examined in a game whose positions are too many."""


def register_game(
    env_id: str,
    make_env: Callable[[], pgx.Env],
    *,
    like: str | None = None,
    enumerable: bool | None = None,
    max_moves: int | None = None,
    move_names: Sequence[str | int] = (),
    board_text: Callable[[pgx.State], str] | None = None,
) -> None:
    """Add a game of your own, for all functions and commands but `correct` and `web`.

    The rules are an environment of PGX: a class with `_init`, `_step` and `_observe`,
    written with `jax.numpy`, whose Python runs once. Two players take turns, for at
    most 1,000 moves. The rules name them by `state.current_player`, never by a number,
    since `_init` draws by its key who begins; nothing else is random or hidden. Only
    the last move gives rewards, from -1 to 1, which add up to 0.

    Call this at the top level of your file, in each process; `--rules FILE` lets a
    command run the file first. Another call with the same name replaces your game, for
    instance when a notebook's cell runs again. All positions of an enumerable game are
    examined, and of another game 32 random lines of play.

    Args:
        env_id: The name of the game: small letters, digits and `_`.
        make_env: A function without arguments that returns the environment, for
            instance its class.
        like: A game whose board and moves this one has, for instance `"tic_tac_toe"`:
            only who wins differs. It also has the symmetries if both are enumerable.
        enumerable: Whether the game has at most 100,000 positions: all of them are
            enumerated, so that results are exact. By default as in `like`, else False:
            the game is graded by samples.
        max_moves: The most moves of a game, 1 to 1,000; the setting `backward` needs
            it. By default as in `like`.
        move_names: The name of each action, by which people read and type it: small
            letters and digits. By default as in `like`, else its number.
        board_text: A function from one state to its board as text, also in place of
            the board of `like`. By default boards are drawn as in `like`, if at all.

    Raises:
        Refused: a game of the package has the name, the rules are not those of such a
            game, or an argument does not fit them.

    Examples:
        >>> from pgx.tic_tac_toe import TicTacToe
        >>> class Misere(TicTacToe):
        ...     def _step(self, state, action, key):
        ...         state = super()._step(state, action, key)
        ...         return state.replace(rewards=-state.rewards)
        >>> jax_ttt.register_game("misere", Misere, like="tic_tac_toe")
        >>> jax_ttt.grade("minimax", env_id="misere").unbeatable
        True
    """
    if not isinstance(env_id, str) or not re.fullmatch("[a-z][a-z0-9_]*", env_id):
        rule = "the name of a game must be of small letters, digits and _"
        raise GameError(f"{rule}, got {env_id!r}")
    before = GAMES.get(env_id)
    if before is not None and before.user_env is None:
        raise GameError(f"there is a game {env_id} already: choose another name")
    if like is not None and like not in GAMES:
        raise GameError(f"{env_id}: like: no game {like!r}{did_you_mean(like, GAMES)}")
    if max_moves is not None and not 1 <= max_moves <= MAX_MOVES:
        rule = f"max_moves must be from 1 to {MAX_MOVES:,}"
        raise GameError(f"{env_id}: {rule}, got {max_moves!r}")
    env = _checked_env(env_id, make_env)
    start = _checked_start(env_id, env)
    if like is not None:
        _check_fields(env_id, start, like)
    _check_names(env_id, move_names, len(start.legal_action_mask))
    other = GameFacts(user_env=env) if like is None else GAMES[like]
    is_enumerable = other.enumerable if enumerable is None else enumerable
    max_moves = max_moves or other.max_moves
    compiling.use_user_cache()
    try:
        rules = UserRules(env_id, env)
        if not is_enumerable:
            trees.enumerate_positions(
                env=rules,
                max_positions=trees.MAX_POSITIONS,
                views=None,
                max_moves=max_moves or MAX_MOVES,
                num_lines=_NUM_LINES,
            )
    except GameError as error:
        raise GameError(f"{env_id}: {error}") from None
    except Exception as error:  # a user's functions may raise anything
        rule = "its rules can't be compiled"
        raise GameError(f"{env_id}: {rule}: {_first_line(error)}") from error
    if before is not None:
        pgx_games.forget_games()
    # What the name of the other game says about its rules does not hold here. Its
    # symmetries are checked on all positions, so only where these are enumerated.
    GAMES[env_id] = replace(
        other,
        pgx_id=None,
        in_a_row=None,
        user_env=rules,
        rules_file="",
        symmetries=other.symmetries if is_enumerable and other.enumerable else (),
        enumerable=is_enumerable,
        packing=None,
        certified=False,
        preset="plain",
        exam=None,
        best_result=None,
        max_moves=max_moves,
        move_names=tuple(map(str, move_names)) or other.move_names,
        board_text=board_text or other.board_text,
    )
    try:
        trees.host_tree(env_id)  # it is kept
    except BaseException:  # also Ctrl-C
        del GAMES[env_id]
        if before is not None:
            GAMES[env_id] = before
        pgx_games.forget_games(with_programs=False)  # none has been compiled
        raise


def _checked_env(env_id: str, make_env: Callable[[], pgx.Env]) -> pgx.Env:
    """Return the environment, for which programs are compiled."""
    try:
        env = make_env()
    except Exception as error:  # a user's function may raise anything
        raise GameError(f"{env_id}: make_env fails: {_first_line(error)}") from error
    if not isinstance(env, pgx.Env):
        rule = "make_env must return an environment, a pgx.Env"
        raise GameError(f"{env_id}: {rule}, got {type(env).__name__}")
    if env.num_players != 2:
        rule = "a game must have 2 players"
        raise GameError(f"{env_id}: {rule}, got {env.num_players}")
    return env


def _checked_start(env_id: str, env: pgx.Env) -> pgx.State:
    """Return the shapes of the first state, after which a move must keep them."""
    action = jax.ShapeDtypeStruct((), jnp.int32)
    try:
        start = jax.eval_shape(lambda: env.init(jax.random.key(0)))
        # PGX's `step` needs a move to keep the shapes, and says so in many lines.
        after = jax.eval_shape(lambda s, a: env._step(s, a, None), start, action)
    except Exception as error:  # a user's functions may raise anything
        raise GameError(
            f"{env_id}: its rules can't be compiled; they are functions written with "
            f"jax.numpy, and nothing is random: {_first_line(error)}"
        ) from error
    before_leaves, after_leaves = map(leaves_of, (start, after))
    for name, leaf in before_leaves.items():
        if not (leaf.dtype == bool or jnp.issubdtype(leaf.dtype, jnp.number)):
            rule = f"nothing is random, and {name} must be numbers"
            raise GameError(f"{env_id}: {rule}, got {_shape(leaf)}")
        if _shape(leaf) != (other := _shape(after_leaves.get(name))):
            rule = f"a move must keep the shape and dtype of {name}"
            raise GameError(f"{env_id}: {rule}: {_shape(leaf)}, then {other}")
    num_actions = start.legal_action_mask.size
    expected = {
        "legal_action_mask": f"bool of shape ({num_actions},)",
        "rewards": "float32 of shape (2,)",
        "current_player": "int32 of shape ()",
        "_step_count": "int32 of shape ()",
        "terminated": "bool of shape ()",
        "truncated": "bool of shape ()",
    }
    for name, kind in expected.items():
        if (shape := _shape(before_leaves[name])) != kind:
            raise GameError(f"{env_id}: {name} must be {kind}, got {shape}")
    if len(start.observation.shape) not in (1, 2, 3):
        rule = "observation must have 1 to 3 axes: rows, columns and planes"
        raise GameError(f"{env_id}: {rule}, got {_shape(start.observation)}")
    return start


def _check_fields(env_id: str, start: pgx.State, like: str) -> None:
    """Raise `GameError` unless the states are those of the other game."""
    other_env = pgx_games.make_env(like)
    other = jax.eval_shape(lambda: other_env.init(jax.random.key(0)))
    ours, theirs = (
        {name: _shape(leaf) for name, leaf in leaves_of(state).items()}
        for state in (start, other)
    )
    if ours != theirs:
        rule = f"with like={like!r}, its states must have the fields of that game"
        raise GameError(f"{env_id}: {rule}")


def _check_names(
    env_id: str, move_names: Sequence[str | int], num_actions: int
) -> None:
    """Raise `GameError` unless there is another word for each action, or none."""
    words = {word for word in map(str, move_names) if re.fullmatch("[a-z0-9]+", word)}
    if move_names and not len(words) == len(move_names) == num_actions:
        rule = f"move_names must be {num_actions} different words"
        raise GameError(f"{env_id}: {rule} of small letters and digits, one per action")


def _shape(leaf: jax.ShapeDtypeStruct | None) -> str:
    return "none" if leaf is None else f"{leaf.dtype} of shape {leaf.shape}"


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
