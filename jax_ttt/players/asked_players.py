"""Players that are asked for their moves: programs, and functions that JAX can't trace.

Whoever was asked for all moves in advance is a policy in an enumerable game, and
elsewhere a table of the moves in the positions that it reaches. So its results are
exact, by the moves that it gave. Some of the positions are asked for twice; if an
answer differs, it is asked in each game, and its results are sampled.

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

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat, seat_name
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.games import tree as trees
from jax_ttt.games.state_keys import OPEN
from jax_ttt.games.tree import Tree
from jax_ttt.players import program, random_players
from jax_ttt.players.player import Player
from jax_ttt.players.program import Asked, Line
from jax_ttt.solver import policies, successors
from jax_ttt.solver.batches import SearchedPlayer

_BATCH = 2**12
"""Positions in a call of the compiled programs."""
_FIRST_POSITIONS = 50
"""The first positions of a seat, which are asked twice."""
_SECOND_SHARE = 0.1
"""Share of the other positions that are asked twice."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AskedPlayer(Player):
    """A player of the moves that somebody gave in advance.

    Attributes:
        asked_twice: The share of the positions that were asked for twice, 0 to 1.
    """

    asked_twice: float


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SampledPlayer(Player):
    """A player of unknown moves, so that its games are sampled.

    Attributes:
        note: Why its moves are not known, for reports; may be empty.
    """

    note: str


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HostPlayer(SampledPlayer):
    """A player that is asked in each game, as its moves are not known in advance.

    Its `choose` raises `Refused`: a compiled program can't ask.

    Attributes:
        asked: Who is asked.
    """

    asked: Asked

    def moves(
        self, lines: Sequence[Line], states: pgx.State, key: Key[Array, ""]
    ) -> Int[np.ndarray, " B"]:
        """Return the answers in the games that go on, and 0 in the others.

        As `Player.moves`; `key` is not used.
        """
        del key
        legal = np.asarray(states.legal_action_mask)
        going = np.flatnonzero(~np.asarray(pgx_games.is_finished(states))).tolist()
        actions = np.zeros(len(lines), np.int32)
        for parity, seat in enumerate(SEATS):
            places = [i for i in going if len(lines[i]) % 2 == parity]
            answers = self.asked.answers(
                seat,
                [lines[i] for i in places],
                [np.flatnonzero(legal[i]).tolist() for i in places],
                jax.tree.map(lambda x, places=places: x[np.array(places, int)], states),
            )
            actions[places] = [*answers]
        return actions

    def close(self) -> None:
        """End the program's processes; it starts again if it is asked."""
        self.asked.end()


def reason_not_exact(player: Player) -> str:
    """Return why a player's results are not exact; empty if they are, or by chance."""
    return player.note if isinstance(player, SampledPlayer) else ""


def make_asked_player(asked: Asked, env_id: EnvId) -> Player:
    """Return a player that is asked for its moves, in advance or in each game.

    With the option `in_advance` it is asked for all of them, and the result is a player
    that needs nobody any more. If the moves can't be known, or without the option, it
    is a `HostPlayer`.

    Raises:
        Refused: an answer is missing or illegal.
    """
    note = ""
    if asked.options.in_advance:
        try:
            tree = trees.host_tree(env_id)
            if tree is not None:
                return _player_of_policy(asked, env_id, tree)
            return _player_of_table(asked, env_id)
        except _NotInAdvanceError as error:
            note = str(error)
        finally:
            asked.end()
    return _host_player(asked, env_id, note)


def _host_player(asked: Asked, env_id: EnvId, note: str) -> HostPlayer:
    return HostPlayer(
        env_id=env_id,
        name=asked.name,
        choose=Partial(functools.partial(_refuse, asked.name, note)),
        asked=asked,
        note=note,
    )


class _NotInAdvanceError(Exception):
    """The moves can't be known in advance; the message says why."""


def _refuse(
    name: str, note: str, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    """Raise `Refused`: this needs the moves in advance."""
    del key, env_state
    reason = f": {note}" if note else ""
    raise Refused(f"{name}: its moves must be known in advance here{reason}")


def _player_of_policy(asked: Asked, env_id: EnvId, tree: Tree[np.ndarray]) -> Player:
    """Return a policy as a player, from an answer in each position.

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
        moves = _ask_seat(asked, seat, [lines[p] for p in positions], legal)
        action[positions] = moves
        second_lines = [other_lines[p] for p in positions]
        num_again += _ask_again(asked, seat, second_lines, legal, moves=moves)
    asked.check_silence()
    probs = policies.deterministic_policy(tree, action[tree.decisions])
    return AskedPlayer(
        env_id=env_id,
        name=asked.name,
        policy=probs,
        evidence="asked",
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
    asked: Asked,
    seat: Seat,
    lines: Sequence[Line],
    legal: Sequence[Sequence[int]],
    so_far: int = 0,
) -> list[int]:
    """Return the moves after these lines; show how many are answered."""

    def show(number: int) -> None:
        text = f"asking {asked.name} as {seat_name(seat)}: {number:,} positions"
        asked.options.say(text)

    show(so_far)
    moves: list[int] = []
    for move in asked.answers(seat, lines, legal):
        moves.append(move)
        if (so_far + len(moves)) % 100 == 0:
            show(so_far + len(moves))
    return moves


def _ask_again(
    asked: Asked,
    seat: Seat,
    lines: Sequence[Line],
    legal: Sequence[Sequence[int]],
    moves: Sequence[int],
) -> int:
    """Ask anew for some of the moves, in another order; return how many.

    Raises:
        _NotInAdvanceError: an answer differs from `moves`.
    """
    rng = np.random.default_rng(0)
    is_chosen = rng.random(len(lines)) < _SECOND_SHARE
    is_chosen[:_FIRST_POSITIONS] = True
    order = rng.permutation(np.flatnonzero(is_chosen)).tolist()
    anew = asked.new()
    try:
        second_moves = anew.answers(
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
        anew.end()
    return len(order)


def _player_of_table(asked: Asked, env_id: EnvId) -> Player:
    """Return a table of its moves, in all positions that it reaches, as a player.

    Raises:
        _NotInAdvanceError: it reaches too many positions, or positions of this game
            have no short keys, or an answer differs the second time.
    """
    if GAMES[env_id].packing is None:
        raise _NotInAdvanceError(
            f"positions of {env_id} have no short keys, so its games are sampled"
        )
    table: dict[int, int] = {}
    num_again = 0
    for seat in SEATS:
        moves, num_again_in_seat = _moves_of_seat(asked, env_id, seat)
        table |= moves
        num_again += num_again_in_seat
    asked.check_silence()
    keys = np.array(sorted(table), np.uint64)
    actions = np.array([table[key] for key in keys.tolist()], np.int32)
    table_arrays = jax.device_put((position_keys.numbers_to_keys(keys), actions))
    return AskedPlayer(
        env_id=env_id,
        name=asked.name,
        choose=Partial(_table_function(env_id), *table_arrays),
        evidence="asked",
        asked_twice=num_again / len(table),
    )


def _moves_of_seat(
    asked: Asked, env_id: EnvId, seat: Seat
) -> tuple[dict[int, int], int]:
    """Return its moves in a seat, by the keys of the positions that it reaches.

    The second result is the number of them that were asked for twice. The positions are
    found level by level: after its own moves and after all moves of its opponent.

    Raises:
        _NotInAdvanceError: there are too many, or an answer differs the second time.
    """
    most = asked.options.max_asked
    searched = SearchedPlayer(
        env_id=env_id,
        choose=random_players.random_player,  # not used: only all moves are expanded
        seat=seat,
        merge_symmetric=False,
        batch=_BATCH,
    )
    (number,) = position_keys.first_number(env_id).tolist()
    level: dict[int, Line] = {number: ()}
    last_lines: dict[int, Line] = {number: ()}  # by another order of the moves
    lines: list[Line] = []
    legal: list[list[int]] = []
    moves: dict[int, int] = {}
    for depth in itertools.count():
        if not level:
            break
        after = _all_moves(searched, [*level])
        level_legal = [[*moves_after] for moves_after in after]
        played = level_legal
        if searched.moves_at(depth):
            if len(moves) + len(level) > most:
                raise _NotInAdvanceError(
                    f"it reaches more than {most:,} positions as {seat_name(seat)}, "
                    "so its games are sampled"
                )
            own_lines = [*level.values()]
            own = _ask_seat(asked, seat, own_lines, level_legal, so_far=len(moves))
            moves |= zip(level, own, strict=True)
            lines += last_lines.values()
            legal += level_legal
            played = [[move] for move in own]
        following: dict[int, Line] = {}
        last_lines = {}
        for line, moves_after, actions in zip(
            level.values(), after, played, strict=True
        ):
            for action in actions:
                if (after_move := moves_after[action]) is not None:
                    following.setdefault(after_move, (*line, action))
                    last_lines[after_move] = (*line, action)
        level = following
    num_again = _ask_again(asked, seat, lines, legal, moves=[*moves.values()])
    return moves, num_again


def _all_moves(
    searched: SearchedPlayer, numbers: list[int]
) -> list[dict[int, int | None]]:
    """Return the next position by each legal move; None if the game is over."""
    following: list[dict[int, int | None]] = [{} for _ in numbers]
    keys = np.array(numbers, np.uint64)
    for places, after in successors.expand_all_moves(searched, keys):
        columns = (after.row, after.action, after.result, after.keys)
        moves = zip(*(column.tolist() for column in columns), strict=True)
        for row, action, result, number in moves:
            is_open = result == OPEN
            following[places.start + row][action] = number if is_open else None
    return following


@functools.cache
def _table_function(env_id: EnvId) -> Callable[..., Int[Array, " B"]]:
    """Return a function that looks up moves; one for a game, to compile it once."""

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
