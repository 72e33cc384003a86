"""Programs as players: asked in advance for all their moves, or during a game.

A program that was asked in advance, and answers twice alike, is a policy in an
enumerable game, and elsewhere a table of its moves in the positions that it reaches. So
its results are exact. Another one is asked in each game, and its results are sampled.

Axes: `B` games, `N` positions of a table, `P` positions, `A` actions.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Int, Key, UInt32

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat
from jax_ttt.games import pgx_games, position_keys, position_lookup
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game
from jax_ttt.games.tree import Tree
from jax_ttt.players import program, random_players
from jax_ttt.players.player import Player
from jax_ttt.players.player_names import PlayerSpec
from jax_ttt.players.program import Line, Program, ProgramOptions
from jax_ttt.solver import policies, successors
from jax_ttt.solver.successors import ILLEGAL, OPEN, SearchedPlayer

_BATCH = 2**12
"""Positions in a call of the compiled programs."""
_ALWAYS_CHECKED = 50
"""The first positions of a seat, which are asked twice."""
_CHECKED_SHARE = 0.1
"""Share of the other positions that are asked twice."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ProgramPlayer(Player):
    """A program as a player; see `program`.

    Attributes:
        running: The program, which is started when it is asked.
    """

    running: "RunningProgram"

    @property
    def is_asked(self) -> bool:
        """Whether the program is asked in each game, as its moves are not known."""
        return not self.is_deterministic

    def moves(self, lines: Sequence[Line], legal: Sequence[Sequence[int]]) -> list[int]:
        """Return the program's moves after these lines, where these moves are legal.

        Raises:
            PlayerError: the program gives no answer, or an illegal one.
        """
        moves = [0] * len(lines)
        for parity, seat in enumerate(SEATS):
            places = [i for i, line in enumerate(lines) if len(line) % 2 == parity]
            if places:
                seat_lines, seat_legal = (
                    [lines[i] for i in places],
                    [legal[i] for i in places],
                )
                answers = self.running.moves(seat, seat_lines, seat_legal)
                for place, move in zip(places, answers, strict=True):
                    moves[place] = move
        return moves


def chosen_move(player: Player, game: Game, key: Key[Array, ""]) -> int:
    """Return a player's move in a game; a program is asked. `key` is consumed.

    Raises:
        PlayerError: a program gives no answer, or an illegal one.
    """
    if not isinstance(player, ProgramPlayer) or not player.is_asked:
        return game.move_of(player.choose, key)
    (move,) = player.moves([game.moves], [game.legal_moves])
    return move


class RunningProgram:
    """The copies of a program in both seats; each seat's are started when asked."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env_id: EnvId,
        options: ProgramOptions,
    ) -> None:
        self.name = name
        self.env_id: EnvId = env_id
        self.options = options
        self._command = command
        self._programs: dict[Seat, list[Program]] = {}

    def moves(
        self, seat: Seat, lines: Sequence[Line], legal: Sequence[Sequence[int]]
    ) -> Iterator[int]:
        """Yield the program's moves after these lines, where these moves are legal.

        Raises:
            PlayerError: the program can't be started, or an answer is missing, late, no
                number or illegal.
        """
        try:
            if seat not in self._programs:
                self._programs[seat] = []
                for _ in range(self.options.copies):
                    self._programs[seat].append(self._start(seat))
            yield from self._checked(self._programs[seat], lines, legal)
        except BaseException:  # an answer may still come: it must not be taken later
            self.end()
            raise

    def moves_of_a_new_copy(
        self, seat: Seat, lines: Sequence[Line], legal: Sequence[Sequence[int]]
    ) -> Iterator[int]:
        """Yield the moves of another copy, which ends after them."""
        copy = self._start(seat)
        try:
            yield from self._checked([copy], lines, legal)
        finally:
            copy.end()

    def _start(self, seat: Seat) -> Program:
        return Program(
            name=self.name,
            command=self._command,
            env_id=self.env_id,
            seat=seat,
            answer_seconds=self.options.answer_seconds,
        )

    def _checked(
        self,
        programs: Sequence[Program],
        lines: Sequence[Line],
        legal: Sequence[Sequence[int]],
    ) -> Iterator[int]:
        answers = program.answers(programs, lines)
        for move, line, moves in zip(answers, lines, legal, strict=True):
            if move not in moves:
                where = program.position_phrase(line)
                allowed = " ".join(map(str, moves))
                raise PlayerError(
                    f"{self.name}: answered {move} {where}; legal are {allowed}"
                )
            yield move

    def end(self) -> None:
        """End the program; it is started again if it is asked."""
        copies = [*itertools.chain(*self._programs.values())]
        for copy in copies:
            copy.quit()
        for copy in copies:
            copy.end()
        self._programs.clear()


def make_program_player(
    spec: PlayerSpec, env_id: EnvId, options: ProgramOptions
) -> ProgramPlayer:
    """Return a program as a player, asked in advance if the options say so.

    Raises:
        PlayerError: the program can't be started, or an answer is missing, late, no
            number or illegal.
    """
    running = RunningProgram(spec.name, spec.command, env_id, options)
    asked_in_games = ProgramPlayer(
        env_id=env_id,
        name=spec.name,
        choose=Partial(functools.partial(_refuse, spec.name)),
        running=running,
    )
    if not options.in_advance:
        return asked_in_games
    try:
        tree = trees.host_tree(env_id)
        if tree is not None:
            return _ask_for_policy(asked_in_games, tree)
        return _ask_for_table(asked_in_games)
    except _NotInAdvanceError as error:
        return dataclasses.replace(asked_in_games, note=str(error))
    finally:
        running.end()


class _NotInAdvanceError(Exception):
    """A program's moves can't be known in advance; the message says why."""


def _refuse(name: str, key: Key[Array, ""], env_state: pgx.State) -> Int[Array, " B"]:
    """Raise `PlayerError`: a compiled program can't ask another program."""
    del key, env_state
    raise PlayerError(f"{name}: its moves are not known in advance, as needed here")


def _ask_for_policy(player: ProgramPlayer, tree: Tree[np.ndarray]) -> ProgramPlayer:
    """Return the program with its policy, from an answer in each position of the game.

    Raises:
        _NotInAdvanceError: an answer differs the second time.
    """
    lines, other_lines = _lines_of_tree(tree, last=False), _lines_of_tree(tree, True)
    action = np.zeros(tree.num_positions, np.int32)
    for seat in SEATS:
        turns = tree.turns_of(seat) & ~tree.terminal
        positions = np.flatnonzero(turns).tolist()
        legal = [np.flatnonzero(tree.legal_action_mask[p]).tolist() for p in positions]
        moves = _ask_seat(player, seat, [lines[p] for p in positions], legal)
        action[positions] = moves
        _check_again(
            player, seat, [other_lines[p] for p in positions], legal, moves=moves
        )
    probs = policies.deterministic_policy(tree, action[tree.decisions])
    index = position_lookup.position_index(player.env_id)
    return dataclasses.replace(
        player,
        choose=random_players.policy_player(index, probs),
        policy=probs,
        is_deterministic=True,
    )


def _lines_of_tree(tree: Tree[np.ndarray], last: bool) -> list[Line]:
    """Return a line to each position: by its first parent, or by its last one."""
    lines: dict[int, Line] = {0: ()}
    for position in range(tree.num_positions):
        for action in np.flatnonzero(tree.legal_action_mask[position]).tolist():
            after = int(tree.successor[position, action])
            if last or after not in lines:
                lines[after] = (*lines[position], action)
    return [lines[position] for position in range(tree.num_positions)]


def _ask_seat(
    player: ProgramPlayer,
    seat: Seat,
    lines: Sequence[Line],
    legal: Sequence[Sequence[int]],
    so_far: int = 0,
) -> list[int]:
    """Return the program's moves after these lines; show how many it has answered."""

    def show(number: int) -> None:
        text = f"asking {player.name} as {seat} player: {number:,} positions"
        player.running.options.say(text)

    show(so_far)
    moves: list[int] = []
    for move in player.running.moves(seat, lines, legal):
        moves.append(move)
        if (so_far + len(moves)) % 100 == 0:
            show(so_far + len(moves))
    return moves


def _check_again(
    player: ProgramPlayer,
    seat: Seat,
    lines: Sequence[Line],
    legal: Sequence[Sequence[int]],
    moves: Sequence[int],
) -> None:
    """Ask a new copy for some of the moves again, in another order.

    Raises:
        _NotInAdvanceError: an answer differs from `moves`.
    """
    rng = np.random.default_rng(0)
    is_checked = rng.random(len(lines)) < _CHECKED_SHARE
    is_checked[:_ALWAYS_CHECKED] = True
    order = rng.permutation(np.flatnonzero(is_checked)).tolist()
    again = player.running.moves_of_a_new_copy(
        seat, [lines[i] for i in order], [legal[i] for i in order]
    )
    for i, move in zip(order, again, strict=True):
        if move != moves[i]:
            where = program.position_phrase(lines[i])
            raise _NotInAdvanceError(
                f"{player.name} does not play one move in each position (once "
                f"{moves[i]} and once {move}, {where}), so its games are sampled"
            )


def _ask_for_table(player: ProgramPlayer) -> ProgramPlayer:
    """Return the program with a table of its moves in all positions that it reaches.

    Raises:
        _NotInAdvanceError: it reaches too many positions, or positions of this game
            have no keys, or an answer differs the second time.
    """
    env_id = player.env_id
    if GAMES[env_id].packing is None:
        raise _NotInAdvanceError(
            f"positions of {env_id} can't be enumerated, so the games of {player.name} "
            "are sampled"
        )
    table: dict[int, int] = {}
    for seat in SEATS:
        table |= _moves_of_seat(player, seat)
    keys = np.array(sorted(table), np.uint64)
    actions = np.array([table[key] for key in keys.tolist()], np.int32)
    words = jnp.asarray(position_keys.numbers_to_keys(keys))
    return dataclasses.replace(
        player,
        choose=Partial(_table_function(env_id), words, jnp.asarray(actions)),
        is_deterministic=True,
    )


def _moves_of_seat(player: ProgramPlayer, seat: Seat) -> dict[int, int]:
    """Return the program's moves in a seat, by the keys of the positions it reaches.

    The positions are found level by level: after the program's own moves and after all
    moves of its opponent.

    Raises:
        _NotInAdvanceError: there are too many, or an answer differs the second time.
    """
    env_id, most = player.env_id, player.running.options.max_positions
    searched = SearchedPlayer(
        env_id=env_id,
        choose=random_players.random_player,  # not used: only all moves are expanded
        seat=seat,
        merge_symmetric=False,
        batch=_BATCH,
    )
    start = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
    (number,) = position_keys.keys_to_numbers(
        np.asarray(position_keys.keys_of(env_id, start))
    ).tolist()
    level: dict[int, Line] = {number: ()}
    last_lines: dict[int, Line] = {number: ()}  # by another order of the moves
    lines: list[Line] = []
    legal: list[list[int]] = []
    moves: dict[int, int] = {}
    for depth in itertools.count():
        if not level:
            break
        after = _all_moves(searched, [*level])
        level_legal = [np.flatnonzero(r != ILLEGAL).tolist() for r, _ in after]
        played = level_legal
        if searched.moves_at(depth):
            if len(moves) + len(level) > most:
                raise _NotInAdvanceError(
                    f"{player.name} reaches more than {most:,} positions as {seat} "
                    "player, so its games are sampled"
                )
            own_lines = [*level.values()]
            own = _ask_seat(player, seat, own_lines, level_legal, so_far=len(moves))
            moves |= zip(level, own, strict=True)
            lines += last_lines.values()
            legal += level_legal
            played = [[move] for move in own]
        following: dict[int, Line] = {}
        last_lines = {}
        for line, (results, numbers), actions in zip(
            level.values(), after, played, strict=True
        ):
            for action in actions:
                if results[action] == OPEN:
                    after_move = int(numbers[action])
                    following.setdefault(after_move, (*line, action))
                    last_lines[after_move] = (*line, action)
        level = following
    _check_again(player, seat, lines, legal, moves=[*moves.values()])
    return moves


def _all_moves(
    searched: SearchedPlayer, numbers: list[int]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return what each move leads to, and the number of the next position, `(A,)`."""
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    keys = np.array(numbers, np.uint64)
    for _, after in successors.expand_all_moves(searched, keys):
        next_numbers = position_keys.keys_to_numbers(after.keys)
        pairs += zip(after.result, next_numbers, strict=True)
    return pairs


@functools.cache
def _table_function(env_id: EnvId) -> Callable[..., Int[Array, " B"]]:
    """Return a function that looks up moves; one for a game, so programs are shared."""

    def table_actions(
        words: UInt32[Array, "N 2"],
        actions: Int[Array, " N"],
        key: Key[Array, ""],
        env_state: pgx.State,
    ) -> Int[Array, " B"]:
        """Return the moves of the table; any moves in positions that it lacks."""
        del key
        asked = position_keys.pack(env_id, position_keys.stones_of(env_state))
        return actions[position_keys.places_of_keys(words, asked)]

    return table_actions
