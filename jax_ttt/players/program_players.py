"""Programs as players: asked in advance for all their moves, or during a game.

A program that was asked in advance is a policy in an enumerable game, and elsewhere a
table of its moves in the positions that it reaches. So its results are exact. Some of
the positions are asked for twice; if an answer differs, the program is asked in each
game, and its results are sampled.

Axes: `B` games, `N` positions of a table, `P` positions, `A` actions.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Int, Key, UInt32

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat, seat_name
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.players import program, random_players
from jax_ttt.players.player import Player
from jax_ttt.players.player_names import PlayerSpec
from jax_ttt.players.program import Line, ProgramCopies, ProgramOptions
from jax_ttt.solver import policies, successors
from jax_ttt.solver.successors import ILLEGAL, OPEN, SearchedPlayer

_BATCH = 2**12
"""Positions in a call of the compiled programs."""
_FIRST_POSITIONS = 50
"""The first positions of a seat, which are asked twice."""
_SECOND_SHARE = 0.1
"""Share of the other positions that are asked twice."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ProgramPlayer(Player):
    """A program that is asked in each game, as its moves are not known in advance.

    Its `choose` raises `PlayerError`: a compiled program can't ask another program.

    Attributes:
        copies: The program's processes.
    """

    copies: ProgramCopies

    @property
    def is_compiled(self) -> bool:
        """Whether compiled programs can call `choose`: no."""
        return False

    def moves(
        self, lines: Sequence[Line], states: pgx.State, key: Key[Array, ""]
    ) -> Int[np.ndarray, " B"]:
        """Return the program's moves in the games that go on, and 0 in the others.

        As `Player.moves`; `key` is not used.
        """
        del key
        legal = np.asarray(states.legal_action_mask)
        open_games = np.flatnonzero(~np.asarray(pgx_games.is_finished(states))).tolist()
        actions = np.zeros(len(lines), np.int32)
        actions[open_games] = self.ask(
            [lines[place] for place in open_games],
            [np.flatnonzero(legal[place]).tolist() for place in open_games],
        )
        return actions

    def close(self) -> None:
        """End the program's processes; it starts again if it is asked."""
        self.copies.end()

    def ask(self, lines: Sequence[Line], legal: Sequence[Sequence[int]]) -> list[int]:
        """Return the program's moves after these lines, where these moves are legal.

        Raises:
            PlayerError: the program gives no answer, or an illegal one.
        """
        moves = [0] * len(lines)
        for parity, seat in enumerate(SEATS):
            places = [i for i, line in enumerate(lines) if len(line) % 2 == parity]
            seat_lines = [lines[i] for i in places]
            seat_legal = [legal[i] for i in places]
            answers = self.copies.answers(seat, seat_lines, seat_legal)
            for place, move in zip(places, answers, strict=True):
                moves[place] = move
        return moves


def make_program_player(
    spec: PlayerSpec, env_id: EnvId, options: ProgramOptions, name: str | None = None
) -> Player:
    """Return a program as a player, whose name is `spec.name` by default.

    With `options.in_advance` it is asked for all its moves, and the result is a player
    that needs the program no more. If its moves can't be known, or without the option,
    it is a `ProgramPlayer`.

    Raises:
        PlayerError: the program can't be started, or an answer is missing, late, no
            number or illegal.
    """
    name = spec.name if name is None else name
    copies = ProgramCopies(name, spec.command, env_id, options)
    note = ""
    if options.in_advance:
        try:
            tree = trees.host_tree(env_id)
            if tree is not None:
                return _player_of_policy(copies, env_id, tree)
            return _player_of_table(copies, env_id)
        except _NotInAdvanceError as error:
            note = str(error)
        finally:
            copies.end()
    return ProgramPlayer(
        env_id=env_id,
        name=name,
        choose=Partial(functools.partial(_refuse, name, note)),
        copies=copies,
        note=note,
    )


class _NotInAdvanceError(Exception):
    """A program's moves can't be known in advance; the message says why."""


def _refuse(
    name: str, note: str, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    """Raise `PlayerError`: this needs the program's moves in advance."""
    del key, env_state
    reason = f": {note}" if note else ""
    raise PlayerError(f"{name}: its moves must be known in advance here{reason}")


def _player_of_policy(
    copies: ProgramCopies, env_id: EnvId, tree: Tree[np.ndarray]
) -> Player:
    """Return the program's policy as a player, from an answer in each position.

    Raises:
        _NotInAdvanceError: an answer differs the second time.
    """
    lines = _lines_of_tree(tree, by_last_parent=False)
    other_lines = _lines_of_tree(tree, by_last_parent=True)
    action = np.zeros(tree.num_positions, np.int32)
    num_again = 0
    for seat in SEATS:
        turns = tree.turns_of(seat) & ~tree.terminal
        positions = np.flatnonzero(turns).tolist()
        legal = [np.flatnonzero(tree.legal_action_mask[p]).tolist() for p in positions]
        moves = _ask_seat(copies, seat, [lines[p] for p in positions], legal)
        action[positions] = moves
        second_lines = [other_lines[p] for p in positions]
        num_again += _ask_again(copies, seat, second_lines, legal, moves=moves)
    copies.check_silence()
    probs = policies.deterministic_policy(tree, action[tree.decisions])
    index = trees.position_index(env_id)
    return Player(
        env_id=env_id,
        name=copies.name,
        choose=random_players.policy_player(index, probs),
        policy=probs,
        is_deterministic=True,
        asked_twice=num_again / len(tree.decisions),
    )


def _lines_of_tree(tree: Tree[np.ndarray], by_last_parent: bool) -> list[Line]:
    """Return a line to each position: through its first parent, or its last one."""
    lines: dict[int, Line] = {0: ()}
    for position in range(tree.num_positions):
        for action in np.flatnonzero(tree.legal_action_mask[position]).tolist():
            after = int(tree.successor[position, action])
            if by_last_parent or after not in lines:
                lines[after] = (*lines[position], action)
    return [lines[position] for position in range(tree.num_positions)]


def _ask_seat(
    copies: ProgramCopies,
    seat: Seat,
    lines: Sequence[Line],
    legal: Sequence[Sequence[int]],
    so_far: int = 0,
) -> list[int]:
    """Return the program's moves after these lines; show how many it has answered."""

    def show(number: int) -> None:
        text = f"asking {copies.name} as {seat_name(seat)}: {number:,} positions"
        copies.options.say(text)

    show(so_far)
    moves: list[int] = []
    for move in copies.answers(seat, lines, legal):
        moves.append(move)
        if (so_far + len(moves)) % 100 == 0:
            show(so_far + len(moves))
    return moves


def _ask_again(
    copies: ProgramCopies,
    seat: Seat,
    lines: Sequence[Line],
    legal: Sequence[Sequence[int]],
    moves: Sequence[int],
) -> int:
    """Ask new copies for some of the moves again, in another order; return how many.

    Raises:
        _NotInAdvanceError: an answer differs from `moves`.
    """
    rng = np.random.default_rng(0)
    is_chosen = rng.random(len(lines)) < _SECOND_SHARE
    is_chosen[:_FIRST_POSITIONS] = True
    order = rng.permutation(np.flatnonzero(is_chosen)).tolist()
    new_copies = copies.new()
    try:
        second_moves = new_copies.answers(
            seat, [lines[i] for i in order], [legal[i] for i in order]
        )
        for i, move in zip(order, second_moves, strict=True):
            if move != moves[i]:
                where = program.position_phrase(lines[i])
                raise _NotInAdvanceError(
                    f"it does not play one move in each position (once {moves[i]} and "
                    f"once {move}, {where}), so its games are sampled"
                )
    finally:
        new_copies.end()
    return len(order)


def _player_of_table(copies: ProgramCopies, env_id: EnvId) -> Player:
    """Return a table of the program's moves, in all positions it reaches, as a player.

    Raises:
        _NotInAdvanceError: it reaches too many positions, or positions of this game
            can't be enumerated, or an answer differs the second time.
    """
    if GAMES[env_id].packing is None:
        raise _NotInAdvanceError(
            f"positions of {env_id} can't be enumerated, so its games are sampled"
        )
    table: dict[int, int] = {}
    num_again = 0
    for seat in SEATS:
        moves, num_again_in_seat = _moves_of_seat(copies, env_id, seat)
        table |= moves
        num_again += num_again_in_seat
    copies.check_silence()
    keys = np.array(sorted(table), np.uint64)
    actions = np.array([table[key] for key in keys.tolist()], np.int32)
    table_arrays = jax.device_put((position_keys.numbers_to_keys(keys), actions))
    return Player(
        env_id=env_id,
        name=copies.name,
        choose=Partial(_table_function(env_id), *table_arrays),
        is_deterministic=True,
        asked_twice=num_again / len(table),
    )


def _moves_of_seat(
    copies: ProgramCopies, env_id: EnvId, seat: Seat
) -> tuple[dict[int, int], int]:
    """Return the program's moves in a seat, by the keys of the positions it reaches.

    The second result is the number of them that were asked for twice. The positions are
    found level by level: after the program's own moves and after all moves of its
    opponent.

    Raises:
        _NotInAdvanceError: there are too many, or an answer differs the second time.
    """
    most = copies.options.max_asked
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
                    f"it reaches more than {most:,} positions as {seat_name(seat)}, "
                    "so its games are sampled"
                )
            own_lines = [*level.values()]
            own = _ask_seat(copies, seat, own_lines, level_legal, so_far=len(moves))
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
    num_again = _ask_again(copies, seat, lines, legal, moves=[*moves.values()])
    return moves, num_again


def _all_moves(
    searched: SearchedPlayer, numbers: list[int]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return what each move leads to, and the number of the next position, `(A,)`."""
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    keys = np.array(numbers, np.uint64)
    for _, after in successors.expand_all_moves(searched, keys):
        pairs += zip(after.result, after.keys[after.place], strict=True)
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
        """Return the moves of the table; -1, which is illegal, where it has none.

        A search tries the images of a board too. The table lacks most of them, so the
        search finds that the player is not symmetric.
        """
        del key
        keys = position_keys.pack(env_id, position_keys.stones_of(env_state))
        place = position_keys.places_of_keys(words, keys)
        is_known = (words[place] == keys).all(axis=1)
        return jnp.where(is_known, actions[place], -1)

    return table_actions
