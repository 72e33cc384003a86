"""Players written by users: functions and policies, checked before they play.

A function's signature says how sure its moves are. One of the state alone, `f(state)`,
is traced by JAX once, for a batch of one game, and this one program plays and is
proven, board by board. So it depends neither on chance nor on other games, whatever the
function does while it is traced. If the program calls what it does not show, such as
Python, or if JAX can't trace the function, it is asked for its moves as a program is.
One that takes a key, `f(key, state)`, may draw by chance, so its games are sampled.

Axes: `B` games, `A` actions, `P` positions.
"""

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.tree_util import Partial
from jaxtyping import Array, Int, Key, Shaped

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, EnvId, Seat
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import choose_in_blocks, choose_moves, replay
from jax_ttt.games.user_rules import UserRules
from jax_ttt.players import asked_players, program, random_players
from jax_ttt.players.asked_players import SampledPlayer
from jax_ttt.players.player import Player
from jax_ttt.players.program import Asked, Line
from jax_ttt.runtime import tracing
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import policies

PlayerFn = Callable[..., Any]
"""A user's function, `f(state)` or `f(key, state)`."""

_BLOCK = 64
"""Boards whose moves are replayed at once, before a function is asked for each."""
_MOVES = 8
"""Their moves are filled up to a multiple of these, so that few programs serve all."""


def from_function(
    name: str, function: PlayerFn, env_id: EnvId, options: ProgramOptions
) -> Player:
    """Return a user's function as a player; `options` say how it is asked.

    Raises:
        Refused: the function takes other arguments, raises an error, does not return
            one action per game, or plays an illegal move.
    """
    takes_key = _takes_key(name, function)
    asked = _AskedFunction(name, function, env_id, options)
    key, boards = jax.random.key(0), _test_boards(env_id)
    seen = boards if takes_key else jax.tree.map(lambda x: x[:1], boards)
    arguments = (key, seen) if takes_key else (seen,)
    try:
        traced = tracing.trace_once(function, *arguments)
    except Exception as error:
        if not takes_key and asked.can_answer(seen, error):
            return asked_players.make_asked_player(asked, env_id)
        raise _refusal(name, seen, error) from error
    _check_result(name, traced.result, seen)
    if takes_key:
        choose = Partial(lambda key, state: function(key, state).astype(jnp.int32))
    elif traced.calls_outside:
        asked = dataclasses.replace(asked, function=jax.jit(function))
        return asked_players.make_asked_player(asked, env_id)
    else:
        play = functools.partial(_board_by_board, env_id, traced.program)
        choose = Partial(play)
    actions = np.asarray(choose_moves(choose, key, boards))
    _check_legal(name, actions, boards)
    tree = trees.host_tree(env_id)
    if takes_key:
        note = "it takes a key, so its games are sampled; f(state) could be proven"
        return SampledPlayer(env_id=env_id, name=name, choose=choose, note=note)
    if tree is None:
        return Player(env_id=env_id, name=name, choose=choose, evidence="signature")
    _check_numbers(name, choose, actions, env_id)
    probs = policies.deterministic_policy(tree, actions)
    return Player(env_id=env_id, name=name, policy=probs, evidence="signature")


def _takes_key(name: str, function: PlayerFn) -> bool:
    """Return whether a function takes a key and a state, and not the state alone.

    Raises:
        Refused: it takes neither.
    """
    for arguments in (["state"], ["key", "state"]):
        # `bind` raises TypeError; functions of C may not say what they take.
        with contextlib.suppress(TypeError, ValueError):
            inspect.signature(function).bind(*arguments)
            return "key" in arguments
    rule = "a player is a function f(state), or f(key, state) if it draws by chance"
    raise Refused(f"{name}: {rule}")


def from_policy(name: str, policy: Shaped[np.ndarray, "..."], env_id: EnvId) -> Player:
    """Return a user's policy, `(P, A)` probabilities of moves, as a player.

    Raises:
        Refused: the game is not enumerable, or the array is not a policy over its tree.
    """
    tree = trees.host_tree(env_id)
    if tree is None:
        raise Refused(f"{name}: {env_id} is too large for a policy as an array")
    shape = tree.legal_action_mask.shape
    if policy.shape != shape or policy.dtype.kind not in "iuf":
        raise Refused(
            f"{name}: must be numbers of shape {shape}, got {policy.dtype} of shape "
            f"{policy.shape}"
        )
    probs = np.where(tree.terminal[:, None], 0.0, policy)
    is_allowed = (probs >= 0) & (tree.legal_action_mask | (probs == 0))
    has_sum_1 = np.isclose(probs.sum(axis=1), 1, atol=1e-5)
    is_right = is_allowed.all(axis=1) & (has_sum_1 | tree.terminal)
    if not is_right.all():
        position = int(np.argmin(is_right))
        raise Refused(
            f"{name}: must be probabilities of legal moves with the sum 1, got "
            f"{probs[position]} in position {position}"
        )
    return Player(env_id=env_id, name=name, policy=probs, evidence="construction")


def _board_by_board(
    env_id: EnvId, program: ClosedJaxpr, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    """Return the moves that the program plays on each board for itself."""
    if GAMES[env_id].packing is not None:
        # Of a position, the function sees what a search shows it, and no player ids.
        stones = position_keys.stones_of(env_state)
        env_state = position_keys.to_states(env_id, stones)

    def play(key: Key[Array, ""], board: pgx.State) -> Int[Array, " one"]:
        del key
        (action,) = jaxpr_as_fun(program)(*jax.tree.leaves(board))
        return action.astype(jnp.int32)

    return choose_in_blocks(play, 1, key, env_state)


@dataclasses.dataclass(frozen=True)
class _AskedFunction(Asked):
    """A user's function that is asked on the host, one board at a time."""

    name: str
    function: PlayerFn
    env_id: EnvId
    options: ProgramOptions

    def answers(
        self,
        seat: Seat,
        lines: Sequence[Line],
        legal: Sequence[Sequence[int]],
        states: object = None,
    ) -> Iterator[int]:
        """Yield the function's moves after these lines, where these moves are legal.

        Raises:
            Refused: it raises an error, or an answer is not a legal move.
        """
        del seat
        for begin in range(0, len(lines), _BLOCK):
            here = slice(begin, begin + _BLOCK)
            if states is None:
                boards = self._after(lines[here])
            else:
                boards = jax.tree.map(lambda x, here=here: x[here], states)
            boards = jax.device_get(boards)  # arrays that the function can't write
            for place, line in enumerate(lines[here]):
                one = slice(place, place + 1)
                move = self.move(line, jax.tree.map(lambda x, one=one: x[one], boards))
                program.check_answer(self.name, move, line, legal[begin + place])
                yield move

    def _after(self, lines: Sequence[Line]) -> pgx.State:
        """Return the boards after these lines, and more."""
        num_moves = max(map(len, lines)) // _MOVES * _MOVES + _MOVES
        filling = [(-1,) * num_moves] * (_BLOCK + 1 - len(lines))
        return replay(self.env_id, [*lines, *filling])

    def can_answer(self, board: pgx.State, error: Exception) -> bool:
        """Return whether it returns a move, though tracing it raises an error.

        Raises:
            Refused: it raises another error, which is not about tracing.
        """
        try:
            self.move((), jax.device_get(jax.device_put(board)))
        except Refused:
            if isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
                raise
            return False
        return True

    def move(self, line: Line, board: pgx.State) -> int:
        """Return the function's move on a board, after the moves of a line."""
        try:
            result = np.asarray(self.function(board))
        except Exception as error:
            where = program.position_phrase(line)
            raise _refusal(f"{self.name} {where}", board, error) from error
        _check_result(self.name, result, board)
        return int(result[0])


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


def _refusal(name: str, boards: pgx.State, error: Exception) -> Refused:
    """Return the error of a function that can't be called with boards."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    shape = ", ".join(map(str, boards.observation.shape[1:]))
    rule = f"a player gets a batch of games, whose observation is (B, {shape})"
    kind = type(error).__name__
    return Refused(f"{name}: {rule}; this one raises {kind}: {reason}")


def _check_result(name: str, result: object, boards: pgx.State) -> None:
    rule = "a player gets a batch of games, and must return one whole number per game"
    shape = boards.terminated.shape
    if not isinstance(result, jax.ShapeDtypeStruct | np.ndarray):
        raise Refused(f"{name}: {rule}, got {type(result).__name__}")
    if result.shape != shape or not jnp.issubdtype(result.dtype, jnp.integer):
        raise Refused(
            f"{name}: {rule}, got {result.dtype} of shape {result.shape} for "
            f"{count_phrase(shape[0], 'game')}"
        )


def _check_numbers(
    name: str, choose: Partial, action: Int[np.ndarray, " D"], env_id: EnvId
) -> None:
    """Raise `Refused` if a move of the tree depends on who is player 0."""
    tree, rules = trees.enumerated(env_id), GAMES[env_id].user_env
    if not isinstance(rules, UserRules):
        return
    boards = jax.tree.map(lambda x: x[tree.decisions], rules.other_states)
    others = np.asarray(choose_moves(choose, jax.random.key(0), boards))
    if (differs := action != others).any():
        reason = "and another move where player 1 began the game"
        raise Refused(f"{name}: the player plays {action[differs][0]}, {reason}")


def _check_legal(name: str, action: Int[np.ndarray, " B"], boards: pgx.State) -> None:
    mask = boards.legal_action_mask
    num_actions = mask.shape[1]
    is_action = (action >= 0) & (action < num_actions)
    rows = np.arange(len(action))
    is_legal = is_action & mask[rows, action.clip(0, num_actions - 1)]
    if not is_legal.all():
        row = int(np.argmin(is_legal))
        raise Refused(
            f"{name}: plays {action[row]}, but the legal moves are "
            f"{' '.join(map(str, np.flatnonzero(mask[row])))}"
        )
