"""Players from outside: functions, policies and programs, checked before they play.

A function's signature says how sure its moves are. One of the state alone, `f(state)`,
is traced by JAX once, for a batch of one game, and this one program plays and is
proven. So it depends neither on chance nor on other games, whatever the function does
while it is traced. One that takes a key, `f(key, state)`, may draw by chance, so its
games are sampled.

A program, and a function of the state alone that JAX can't trace or that calls what its
trace does not show, is asked for its moves: in the positions of a tree before it plays,
in a search for each batch of its boards, and in sampled games. Some positions are asked
for twice; if an answer differs, its games are sampled.

Programs speak the protocol of docs/use/programs.md. A program is a process for one seat
of a game. The first line that it gets is the game and the seat. Then each line is a
position, as the moves so far, and the program answers with one line, its move.

Axes: `B` games, `N` positions, `D` positions to decide, `P` positions of a tree, `A`
actions.
"""

import contextlib
import dataclasses
import functools
import inspect
import itertools
import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Int, Key, Shaped

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat, seat_name
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import choose_in_blocks, choose_moves
from jax_ttt.games.user_rules import UserRules
from jax_ttt.players.player import Player, boards_of_random_games
from jax_ttt.runtime import tracing
from jax_ttt.runtime.line_process import LineProcess
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import policies
from jax_ttt.solver.asked_moves import AskedMoves, ChangedAnswerError
from jax_ttt.solver.proof import Line

PlayerFn = Callable[..., Any]
"""A user's function, `f(state)` or `f(key, state)`."""

_BLOCK = 128
"""Boards that a traced function plays on at a time."""
_FIRST_POSITIONS = 50
"""The first positions of a seat, which are asked twice."""
_SECOND_SHARE = 0.1
"""Share of the other positions that are asked twice."""
_SILENT_SECONDS = 0.05
"""Time after the last answer in which a program must say nothing."""
_MAX_DIGITS = 9
"""Maximum number of digits of an answer."""
_MAX_SHOWN = 60
"""Maximum number of characters of an answer that a message shows."""


class Asked(Protocol):
    """Somebody who is asked for moves: a program, or a function on the host."""

    def answers(
        self, seat: Seat, lines: Sequence[Line], states: pgx.State
    ) -> Iterator[int]:
        """Yield its moves in a seat after these lines, which lead to these states.

        `states` are `(N, ...)`, on the host.

        Raises:
            Refused: an answer is missing or illegal.
        """
        ...

    def check_silence(self) -> None:
        """Raise `Refused` if it says more than its answers."""
        ...

    def end(self) -> None:
        """End what it has started; it is started again if it is asked."""
        ...


class Questions:
    """The questions to somebody who is asked for moves, and again for some of them.

    Attributes:
        say: Shows the progress.
        num_asked: The number of positions that it was asked for in a search.
        num_again: The number of those that it was asked for again.
    """

    def __init__(
        self,
        name: str,
        new: Callable[[], Asked],
        say: Callable[[str], None],
        sees_states: bool = False,
    ) -> None:
        """Ask nothing yet.

        `new` returns the one to ask, without a memory of earlier questions. With
        `sees_states`, its moves may depend on more of the states than on their lines.
        """
        self.name = name
        self._sees_states = sees_states
        self.say = say
        self.num_asked: dict[Seat, int] = dict.fromkeys(SEATS, 0)
        self.num_again = 0
        self._change = ""  # of an answer, once one has changed
        self._asked = new()
        self._again = new()

    @property
    def share_again(self) -> float | None:
        """The share of the positions that were asked for again; None before any."""
        number = sum(self.num_asked.values())
        return self.num_again / number if number else None

    def moves(self, seat: Seat, lines: Sequence[Line], states: pgx.State) -> list[int]:
        """Return the moves after these lines; show how many are answered."""
        moves: list[int] = []
        for move in self._asked.answers(seat, lines, states):
            number = self.num_asked[seat] + len(moves)
            if number % 100 == 0:
                place = f"as {seat_name(seat)}: {number:,} positions"
                self.say(f"asking {self.name} {place}")
            moves.append(move)
        return moves

    def checked_moves(
        self,
        seat: Seat,
        lines: Sequence[Line],
        other_lines: Sequence[Line],
        states: pgx.State,
        other_states: pgx.State | None,
    ) -> list[int]:
        """Return the moves in these positions; ask again for some, in another order.

        The arguments are those of `solver.asked_moves.AskFn`.

        Raises:
            ChangedAnswerError: an answer differs the second time.
            Refused: an answer is missing or illegal, or depends on who is player 0.
        """
        if self._change:
            raise ChangedAnswerError(self._change)
        moves = self.moves(seat, lines, states)
        rng = np.random.default_rng(self.num_asked[seat])
        is_chosen = rng.random(len(lines)) < _SECOND_SHARE
        is_chosen[: max(_FIRST_POSITIONS - self.num_asked[seat], 0)] = True
        order = rng.permutation(np.flatnonzero(is_chosen))
        again: Iterable[int] = ()
        if len(order):
            again = self._again.answers(
                seat,
                [other_lines[place] for place in order],
                jax.tree.map(lambda leaf: leaf[order], states),
            )
        for place, move in zip(order.tolist(), again, strict=True):
            if move != moves[place]:
                where = position_phrase(lines[place])
                self._change = (
                    f"it does not play one move in each position (once {moves[place]} "
                    f"and once {move}, {where}), so its games are sampled"
                )
                raise ChangedAnswerError(self._change)
        if other_states is not None and self._sees_states:
            others = self._asked.answers(seat, lines, other_states)
            for move, other in zip(moves, others, strict=True):
                if move != other:
                    rule = "and another move where player 1 began the game"
                    raise Refused(f"{self.name}: the player plays {move}, {rule}")
        self.num_asked[seat] += len(moves)
        self.num_again += len(order)
        return moves

    def end(self) -> None:
        """End what was started.

        Raises:
            Refused: it has said more than its answers.
        """
        try:
            self._asked.check_silence()
        finally:
            self._asked.end()
            self._again.end()


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AskedPlayer(Player):
    """A player who is asked for its moves, before it plays or in each game.

    Its `choose` raises `Refused` without a policy: a compiled program can't ask.

    Attributes:
        questions: Who is asked, and how often.
        walked: The answers in a search, by seat.
    """

    questions: Questions
    walked: dict[Seat, AskedMoves] = dataclasses.field(default_factory=dict)

    def asked_moves(self, seat: Seat) -> AskedMoves | None:
        """Return its answers in a search, which each search in the seat adds to."""
        if self.policy is not None:
            return None
        ask = functools.partial(self.questions.checked_moves, seat)
        start = position_keys.first_number(self.env_id)
        return self.walked.setdefault(seat, AskedMoves.from_start(ask, start))

    def moves(
        self,
        lines: Sequence[Line],
        states: pgx.State,
        key: Key[Array, ""],
        seat: Seat | None = None,
    ) -> Int[np.ndarray, " B"]:
        """Return the answers in the games that go on, and 0 in the others.

        As `Player.moves`; `key` is not used where the player is asked.
        """
        if self.policy is not None:
            return super().moves(lines, states, key, seat)
        going = np.flatnonzero(~np.asarray(pgx_games.is_finished(states))).tolist()
        actions = np.zeros(len(lines), np.int32)
        if GAMES[self.env_id].packing is not None:
            # Of a position, it sees what a search shows it, and no player ids.
            states = _as_searched(self.env_id, states)
        host_states = jax.device_get(states)
        for parity, own_seat in enumerate(SEATS):
            places = [
                place
                for place in going
                if (own_seat == seat if seat else len(lines[place]) % 2 == parity)
            ]
            if places:
                actions[places] = self.questions.moves(
                    own_seat,
                    [lines[place] for place in places],
                    jax.tree.map(lambda leaf, rows=places: leaf[rows], host_states),
                )
        return actions

    def close(self) -> None:
        """End the program's processes; it starts again if it is asked.

        Raises:
            Refused: it has said more than its answers.
        """
        self.questions.end()


@functools.partial(jax.jit, static_argnames="env_id")
def _as_searched(env_id: EnvId, states: pgx.State) -> pgx.State:
    """Return states of a game of stones that goes on, as if player 0 had begun it."""
    return position_keys.to_states(env_id, position_keys.stones_of(states))


def _asked_player(questions: Questions, env_id: EnvId) -> AskedPlayer:
    return AskedPlayer(
        env_id=env_id,
        name=questions.name,
        choose=Partial(functools.partial(_refuse, questions.name)),
        evidence="asked",
        questions=questions,
    )


def _refuse(name: str, key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    """Raise `Refused`: this needs the moves in advance."""
    del key, env_state
    raise Refused(f"{name}: its moves must be known in advance here")


def with_all_moves(player: Player) -> Player:
    """Return an asked player with its policy, if its game is enumerable.

    It is asked for a move in each position of the tree. If an answer differs the second
    time, its games are sampled. Any other player is returned as it is.

    Raises:
        Refused: an answer is missing or illegal.
    """
    tree = trees.host_tree(player.env_id)
    if not isinstance(player, AskedPlayer) or tree is None or player.policy is not None:
        return player
    questions = player.questions
    lines, other_lines = _lines_of_tree(player.env_id)
    action = np.zeros(tree.num_positions, np.int32)
    rules = GAMES[player.env_id].user_env
    other_states = rules.other_states if isinstance(rules, UserRules) else None
    try:
        for seat in SEATS:
            positions = np.flatnonzero(tree.turns_of(seat) & ~tree.terminal)
            action[positions] = questions.checked_moves(
                seat,
                [lines[position] for position in positions],
                [other_lines[position] for position in positions],
                jax.tree.map(lambda leaf, rows=positions: leaf[rows], tree.env_state),
                jax.tree.map(lambda leaf, rows=positions: leaf[rows], other_states),
            )
    except ChangedAnswerError as error:
        return dataclasses.replace(player, evidence="none", note=str(error))
    finally:
        player.close()
    probs = policies.deterministic_policy(tree, action[tree.decisions])
    return dataclasses.replace(player, policy=probs)


@pgx_games.cache_of_games
def _lines_of_tree(env_id: EnvId) -> tuple[list[Line], list[Line]]:
    """Return a line to each position through its first parent, and one by its last."""
    tree = trees.enumerated(env_id)
    first: dict[int, Line] = {0: ()}
    last: dict[int, Line] = {0: ()}
    for position in range(tree.num_positions):
        for action in np.flatnonzero(tree.legal_action_mask[position]).tolist():
            after = int(tree.successor[position, action])
            first.setdefault(after, (*first[position], action))
            last[after] = (*last[position], action)
    positions = range(tree.num_positions)
    return [first[p] for p in positions], [last[p] for p in positions]


def position_phrase(line: Line) -> str:
    """Return the position after these moves, in words."""
    if not line:
        return "before the first move"
    return f"after the moves {' '.join(map(str, line))}"


def _check_answer(
    name: str, move: int, line: Line, legal: Bool[np.ndarray, " A"]
) -> None:
    """Raise `Refused` if an answer is not one of the legal moves after a line."""
    if not (0 <= move < len(legal) and legal[move]):
        allowed = " ".join(map(str, np.flatnonzero(legal)))
        raise Refused(
            f"{name}: answered {move} {position_phrase(line)}; legal are {allowed}"
        )


def program_player(
    name: str, command: Sequence[str], env_id: EnvId, options: ProgramOptions
) -> AskedPlayer:
    """Return a program as a player, which is started when it is asked first."""
    new = functools.partial(AskedProgram, name, command, env_id, options)
    return _asked_player(Questions(name, new, options.say), env_id)


class AskedProgram:
    """A program: processes in each seat, which start when the seat is asked."""

    def __init__(
        self, name: str, command: Sequence[str], env_id: EnvId, options: ProgramOptions
    ) -> None:
        self._name = name
        self._command = command
        self._env_id: EnvId = env_id
        self.options = options
        self._processes: dict[Seat, list[LineProcess]] = {}
        self._has_answered = False

    def answers(
        self, seat: Seat, lines: Sequence[Line], states: pgx.State
    ) -> Iterator[int]:
        """Yield its moves; each process answers the next open line.

        As `Asked.answers`.

        Raises:
            Refused: it can't be started, or an answer is missing, late, no number or
                illegal.
        """
        legal = np.asarray(states.legal_action_mask)
        free: queue.SimpleQueue[LineProcess] = queue.SimpleQueue()
        pool = ThreadPoolExecutor(self.options.copies)
        try:
            for process in self._started(seat):
                free.put(process)
            answer = functools.partial(self._next_answer, free)
            for place, move in enumerate(pool.map(answer, lines)):
                _check_answer(self._name, move, lines[place], legal[place])
                yield move
        except BaseException:  # an answer may still come: it must not be taken later
            self.end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _started(self, seat: Seat) -> list[LineProcess]:
        processes = self._processes.setdefault(seat, [])
        while len(processes) < self.options.copies:
            try:
                processes.append(LineProcess(self._command))
            except OSError as error:
                reason = f"can't be started: {error.strerror}"
                raise Refused(f"{self._name}: {reason}") from None
            processes[-1].write(f"{self._env_id} {seat}")
        return processes

    def _next_answer(self, free: queue.SimpleQueue[LineProcess], line: Line) -> int:
        """Return the move after a line, of a process that is free."""
        process = free.get()
        try:
            return self._answer(process, line)
        finally:
            free.put(process)

    def _answer(self, process: LineProcess, line: Line) -> int:
        seconds, where = self.options.answer_seconds, position_phrase(line)
        if said := process.unread():
            fault = f"wrote {_shown(said)} before it was asked for a move"
            raise Refused(f"{self._name}: {fault}, {where}")
        process.write(" ".join(map(str, line)))
        try:
            said = process.answer(seconds)
        except EOFError as error:
            raise Refused(f"{self._name}: {error} {where}") from None
        except TimeoutError as error:
            (said,) = error.args
            reason = f"no answer within {seconds:g} s {where}"
            if said:
                reason += f"; it said only {_shown(said)}"
            elif not self._has_answered:
                advice = "does it flush its output, as mawk does with -W interactive?"
                reason += f"; {advice}"
            raise Refused(f"{self._name}: {reason}") from None
        text, _, rest = said.partition(b"\n")
        move = text.decode(errors="replace").strip()
        is_number = move.isascii() and move.isdigit() and len(move) <= _MAX_DIGITS
        if rest or not is_number:
            reason = f"answered {_shown(said)}, not one move, {where}"
            raise Refused(f"{self._name}: {reason}")
        self._has_answered = True
        return int(move)

    def check_silence(self) -> None:
        """Wait a moment, and raise `Refused` if a process says more than its answers.

        A second line as an answer may come late.
        """
        for process in itertools.chain(*self._processes.values()):
            if said := process.unread(_SILENT_SECONDS):
                fault = f"wrote {_shown(said)} after its last answer"
                raise Refused(f"{self._name}: {fault}")

    def end(self) -> None:
        """End all processes; they are started again if the program is asked."""
        processes = [*itertools.chain(*self._processes.values())]
        self._processes.clear()
        try:
            for process in processes:
                process.quit()
            for process in processes:
                process.end()
        finally:  # also after a second Ctrl-C
            for process in processes:
                process.kill()


def _shown(output: bytes) -> str:
    """Return what a program said, as text in quotes, cut if it is long."""
    text = output.decode(errors="replace").rstrip("\n")
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")


def from_function(
    name: str,
    function: PlayerFn,
    env_id: EnvId,
    say: Callable[[str], None] = lambda text: None,
) -> Player:
    """Return a user's function as a player; `say` shows how much it is asked.

    Raises:
        Refused: the function takes other arguments, raises an error, does not return
            one action per game, or plays an illegal move.
    """
    takes_key = _takes_key(name, function)
    asked = _AskedFunction(name, function)
    questions = Questions(name, lambda: asked, say, sees_states=True)
    key, boards = jax.random.key(0), _test_boards(env_id)
    seen = boards if takes_key else jax.tree.map(lambda x: x[:1], boards)
    arguments = (key, seen) if takes_key else (seen,)
    try:
        traced = tracing.trace_once(function, *arguments)
    except Exception as error:
        if takes_key or not asked.can_answer(seen, error):
            raise _refusal(name, seen, error) from error
        return _asked_player(questions, env_id)
    _check_result(name, traced.result, seen)
    if takes_key:
        choose = Partial(lambda key, state: function(key, state).astype(jnp.int32))
        _check_legal(name, np.asarray(choose_moves(choose, key, boards)), boards)
        note = "it takes a key, so its games are sampled; f(state) could be proven"
        return Player(env_id=env_id, name=name, choose=choose, note=note)
    if traced.calls_outside:
        return _asked_player(questions, env_id)
    # One operation after the other: a new function each time, as within a training, is
    # not compiled, which would take most of the time.
    actions = np.asarray(_moves_on_boards(traced.program, boards))
    _check_legal(name, actions, boards)
    tree = trees.host_tree(env_id)
    if tree is None:
        choose = Partial(functools.partial(_moves_in_blocks, env_id, traced.program))
        return Player(env_id=env_id, name=name, choose=choose, evidence="signature")
    _check_numbers(name, traced.program, actions, env_id)
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


def _moves_on_boards(program: ClosedJaxpr, env_state: pgx.State) -> Int[Array, " B"]:
    """Return the moves that the program, of one game, plays on each board."""

    def play(board: pgx.State) -> Int[Array, ""]:
        one = jax.tree.map(lambda leaf: leaf[None], board)
        (action,) = jaxpr_as_fun(program)(*jax.tree.leaves(one))
        return action[0].astype(jnp.int32)

    return jax.vmap(play)(env_state)


def _moves_in_blocks(
    env_id: EnvId, program: ClosedJaxpr, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    """Return the moves of `_moves_on_boards`, rounded alike among any other boards."""
    if GAMES[env_id].packing is not None:
        env_state = _as_searched(env_id, env_state)

    def play(key: Key[Array, ""], boards: pgx.State) -> Int[Array, " B"]:
        del key
        return _moves_on_boards(program, boards)

    return choose_in_blocks(play, _BLOCK, key, env_state)


@dataclasses.dataclass(frozen=True)
class _AskedFunction:
    """A user's function that is asked on the host, for many boards at a time."""

    name: str
    function: PlayerFn

    def answers(
        self, seat: Seat, lines: Sequence[Line], states: pgx.State
    ) -> Iterator[int]:
        """Yield its moves; as `Asked.answers`."""
        del seat
        moves = self._moves(states)
        legal = np.asarray(states.legal_action_mask)
        for place, move in enumerate(moves.tolist()):
            _check_answer(self.name, move, lines[place], legal[place])
            yield move

    def _moves(self, states: pgx.State) -> Int[np.ndarray, " N"]:
        """Return its moves, as it gives them.

        Raises:
            Refused: it raises an error, or does not return one action per game.
        """
        number = len(states.terminated)
        # So few sizes that JAX's functions in it are not compiled for each batch.
        rows = np.arange(2 ** (number - 1).bit_length()).clip(max=number - 1)
        filled = jax.tree.map(lambda leaf: leaf[rows], states)
        boards = jax.device_get(jax.device_put(filled))  # it can't write them
        try:
            result = np.asarray(self.function(boards))
        except Exception as error:
            raise _refusal(self.name, boards, error) from error
        _check_result(self.name, result, boards)
        return result[:number]

    def can_answer(self, boards: pgx.State, error: Exception) -> bool:
        """Return whether it returns moves, though tracing it raises an error.

        Raises:
            Refused: it raises another error, which is not about tracing.
        """
        try:
            self._moves(boards)
        except Refused:
            if isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
                raise
            return False
        return True

    def check_silence(self) -> None:
        """Do nothing: it can't say more than its answers."""

    def end(self) -> None:
        """Do nothing: it has started nothing."""


def _test_boards(env_id: EnvId) -> pgx.State:
    """Return boards in which a move must be chosen.

    They are all such positions of an enumerable game, else boards of random games.
    """
    tree = trees.host_tree(env_id)
    if tree is not None:
        return jax.tree.map(lambda x: x[tree.decisions], tree.env_state)
    env, key = pgx_games.make_env(env_id), jax.random.key(0)
    boards = boards_of_random_games(env, key, num_games=64, num_moves=32)
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
    name: str, program: ClosedJaxpr, action: Int[np.ndarray, " D"], env_id: EnvId
) -> None:
    """Raise `Refused` if a move of the tree depends on who is player 0."""
    tree, rules = trees.enumerated(env_id), GAMES[env_id].user_env
    if not isinstance(rules, UserRules):
        return
    boards = jax.tree.map(lambda x: x[tree.decisions], rules.other_states)
    others = np.asarray(_moves_on_boards(program, boards))
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
