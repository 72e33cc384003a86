"""A solver of four in a row with falling stones, compiled by Numba.

It is a boolean alpha-beta: a search asks whether the player to move reaches a value of
at least 1 (it wins) or at least 0 (it does not lose). It uses bitboards, a
transposition table and a static test for draws. The bitboards are those of Fhourstones
(J. Tromp) and of P. Pons, "Solving Connect 4": a column has a bit for each cell, from
the bottom, and a free bit above them, which keeps lines from running into the next
column.

This module alone needs Numba (the extra `solver`), so import it where it is used.

Axes: `B` boards, `A` actions, `N` numbers of free cells, `T` places in the table.
"""

import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Int, Int8, Int64, UInt64
from numba import njit

from jax_ttt.config.game_facts import GAMES, EnvId, Goal

_WORD = 32  # bits of a key's word, as in `position_keys`
_MAX_FREE = 30  # free cells of the hardest boards that take tens of milliseconds
_MAX_TABLE_BITS = 26  # 512 MB

# Numba makes floats of unsigned and signed integers together, so all are unsigned.
_ZERO, _ONE, _TWO, _THREE = (np.uint64(number) for number in range(4))
_RESULT_BITS = np.uint64(4)
_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: Fibonacci hashing
_UNKNOWN = 2  # neither True nor False


Bits = np.uint64
"""A set of cells, the number of a position, or a distance between cells."""


class _Search(NamedTuple):
    """The bits of a board's cells, and the arrays of a search."""

    step: Bits
    """Bits from a cell to its right neighbour."""
    bottom: Bits
    """The lowest cell of each column."""
    cells: Bits
    upper: Bits
    """The highest cell of each column, and each second cell below it."""
    mirror_shift: Bits
    """Bits from the first column to the last."""
    table_shift: Bits
    """Bits of a hash that are not bits of a place in the table."""
    digit_shifts: UInt64[np.ndarray, " A"]
    """The place of each column's digit in a key."""
    columns: UInt64[np.ndarray, " A"]
    """The cells of each column, those nearest to the centre first."""
    table: UInt64[np.ndarray, " T"]
    waiting: UInt64[np.ndarray, "N 5 A"]
    """Positions that wait for their search, at each number of free cells: stones, mask,
    threats, number of free cells and score."""
    num_nodes: Int64[np.ndarray, " 1"]


class Solver:
    """A solver of one game and one goal.

    One table is shared by all questions, so that later ones are answered faster. It has
    `2**table_bits` places of 8 bytes. Only one thread at a time may ask.

    Raises:
        ValueError: the game is not four in a row with falling stones.
    """

    first_level: int
    """Boards with fewer stones are too hard, without an opening book."""

    def __init__(
        self, env_id: EnvId, goal: Goal, table_bits: int | None = None
    ) -> None:
        game = GAMES[env_id]
        is_four_in_a_row = game.in_a_row in (None, 4) and game.user_env is None
        if game.moves_on != "columns" or not is_four_in_a_row:
            raise ValueError(f"{env_id} is not four in a row with falling stones")
        rows, columns = game.shape
        cells = rows * columns
        self.first_level = max(0, cells - _MAX_FREE)
        if table_bits is None:
            table_bits = min(_MAX_TABLE_BITS, cells)
        step = rows + 1
        places = np.arange(columns)
        bottom = sum(1 << step * int(column) for column in places)
        per_word = _WORD // step
        from_centre = np.argsort(np.abs(2 * places - columns + 1), kind="stable")
        digit_shifts = places // per_word * _WORD + places % per_word * step
        self._threshold = 1 if goal == "win" else 0
        self._search = _Search(
            step=np.uint64(step),
            bottom=np.uint64(bottom),
            cells=np.uint64(bottom * (2**rows - 1)),
            upper=np.uint64(sum(bottom << row for row in range(rows - 1, -1, -2))),
            mirror_shift=np.uint64(step * (columns - 1)),
            table_shift=np.uint64(64 - table_bits),
            digit_shifts=digit_shifts.astype(np.uint64),
            columns=((2**rows - 1) << from_centre * step).astype(np.uint64),
            table=np.zeros(2**table_bits, np.uint64),
            waiting=np.zeros((cells + 1, 5, columns), np.uint64),
            num_nodes=np.zeros(1, np.int64),
        )

    @property
    def num_nodes(self) -> int:
        """Nodes searched so far."""
        return int(self._search.num_nodes[0])

    def keeping_moves(
        self, keys: UInt64[np.ndarray, " B"], order: Int[np.ndarray, "B A"]
    ) -> Int8[np.ndarray, " B"]:
        """Return for each board the first action after which the mover keeps its goal.

        `keys` are keys of `position_keys` as numbers; nobody has won on their boards.
        Each row of `order` has all actions, the preferred one first; illegal ones are
        skipped. The result is -1 where no legal action keeps the goal. The goal is kept
        if the player reaches it from then on, whatever the opponent does.
        """
        actions = np.empty(len(keys), np.int8)
        _fill_keeping_moves(
            # Copies of one dtype each, since each other type would be compiled too.
            np.array(keys, np.uint64),
            np.array(order, np.int8, order="C"),
            actions,
            self._threshold,
            self._search,
        )
        return actions


def _compiled(function: Callable) -> Callable:
    """Return a function compiled by Numba, without checks of types at run time.

    Compiling takes about 5 seconds. Numba keeps the result next to the module, or else
    in the user's cache folder.
    """
    plain = inspect.unwrap(function)
    try:
        return njit(nogil=True, cache=True)(plain)
    except RuntimeError:  # neither folder can be written to
        return njit(nogil=True)(plain)


@_compiled
def _count(bits: Bits) -> int:
    """Return the number of ones. LLVM compiles the loop to one instruction."""
    count = 0
    while bits != _ZERO:
        bits &= bits - _ONE
        count += 1
    return count


@_compiled
def _has_four(stones: Bits, step: Bits) -> bool:
    """Return whether there are four in a row."""
    pairs = stones & (stones >> _ONE)
    if pairs & (pairs >> _TWO):
        return True
    pairs = stones & (stones >> step)
    if pairs & (pairs >> (_TWO * step)):
        return True
    pairs = stones & (stones >> (step + _ONE))
    if pairs & (pairs >> (_TWO * (step + _ONE))):
        return True
    pairs = stones & (stones >> (step - _ONE))
    return (pairs & (pairs >> (_TWO * (step - _ONE)))) != _ZERO


@_compiled
def _in_line(stones: Bits, step: Bits) -> Bits:
    """Return the cells that complete three stones in this direction to four."""
    pairs = (stones << step) & (stones << (_TWO * step))
    cells = pairs & (stones << (_THREE * step))
    cells |= pairs & (stones >> step)
    pairs = (stones >> step) & (stones >> (_TWO * step))
    cells |= pairs & (stones << step)
    return cells | (pairs & (stones >> (_THREE * step)))


@_compiled
def _winning_cells(stones: Bits, mask: Bits, search: _Search) -> Bits:
    """Return the free cells that complete four in a row, playable now or later."""
    above = (stones << _ONE) & (stones << _TWO) & (stones << _THREE)
    lines = (
        above
        | _in_line(stones, search.step)
        | _in_line(stones, search.step + _ONE)
        | _in_line(stones, search.step - _ONE)
    )
    return lines & search.cells & ~mask


@_compiled
def _pair_holds(reach: Bits, a: Bits, b: Bits, step: Bits) -> bool:
    """Return whether each line in `reach` contains both `a` and `b`."""
    return not _has_four(reach ^ a, step) and not _has_four(reach ^ b, step)


@_compiled
def _two_pairs_hold(
    reach: Bits, a: Bits, b: Bits, c: Bits, d: Bits, step: Bits
) -> bool:
    """Return whether each line contains both `a` and `b`, or both `c` and `d`."""
    return _pair_holds(reach ^ a, c, d, step) and _pair_holds(reach ^ b, c, d, step)


@_compiled
def _replies_hold(own: Bits, mask: Bits, playable: Bits, search: _Search) -> bool:
    """Return whether paired replies keep the player to move from winning.

    The number of free cells must be even. The waiting player, who replies, uses pairs:

    - In each column, count the free cells from the top: the highest is above the
      second, the third above the fourth, and so on. The upper cell of each pair becomes
      playable when the lower one is taken. To a move on the lower cell the waiting
      player replies on the upper one.
    - A column with an odd number of free cells has one more, its lowest. There is an
      even number of such columns, and their lowest cells are paired two by two. To a
      move on one of a pair the waiting player replies on the other one.

    Proof. By induction, it is the player's move only when each pair is either full or
    free. So the player can only play on the lower cell of a pair in a column, whose
    upper cell is then playable, or on the lowest free cell of a column, whose partner
    is free and the lowest of its column too. So there is always a legal reply, and the
    player never gets an upper cell, nor both cells of a pair of lowest cells. If each
    line of four without a stone of the opponent contains an upper cell or both cells of
    such a pair, then the player never completes a line.
    """
    single = playable & search.upper
    reach = own | (search.cells & ~mask & ~(search.upper & ~single))
    step = search.step
    if not _has_four(reach, step):
        return True
    if single == _ZERO or _has_four(reach & ~single, step):
        return False
    a = single & (~single + _ONE)
    rest = single ^ a
    b = rest & (~rest + _ONE)
    rest ^= b
    if rest == _ZERO:
        return _pair_holds(reach, a, b, step)
    c = rest & (~rest + _ONE)
    d = rest ^ c
    if d & (d - _ONE):
        return False  # six columns are rare, and their 15 pairings are left out
    return (
        _two_pairs_hold(reach, a, b, c, d, step)
        or _two_pairs_hold(reach, a, c, b, d, step)
        or _two_pairs_hold(reach, a, d, b, c, step)
    )


@_compiled
def _table_key(own: Bits, mask: Bits, search: _Search) -> Bits:
    """Return the smaller number of the position's and of its mirror image's."""
    key = own | (mask + search.bottom)
    digit = (_ONE << search.step) - _ONE
    mirrored = _ZERO
    shift = _ZERO
    while shift <= search.mirror_shift:
        mirrored |= ((key >> shift) & digit) << (search.mirror_shift - shift)
        shift += search.step
    return min(key, mirrored)


@_compiled
def _store(
    own: Bits,
    mask: Bits,
    threshold: int,
    is_reached: bool,
    search: _Search,
) -> None:
    """Store whether the player to move reaches the threshold.

    An entry has the key and, in two bits each, the least and the greatest possible
    value, plus 1. The latest position replaces another one in its place.
    """
    key = _table_key(own, mask, search)
    place = (key * _HASH) >> search.table_shift
    entry = search.table[place]
    if entry >> _RESULT_BITS != key:
        entry = (key << _RESULT_BITS) | _TWO
    if is_reached:
        least = np.uint64(threshold + 1)
        if (entry >> _TWO) & _THREE < least:
            entry = (entry & ~np.uint64(12)) | (least << _TWO)
    else:
        greatest = np.uint64(threshold)
        if entry & _THREE > greatest:
            entry = (entry & ~_THREE) | greatest
    search.table[place] = entry


@_compiled
def _after_only_moves(
    own: Bits, mask: Bits, threats: Bits, num_free: int, search: _Search
) -> tuple[Bits, Bits, Bits, int]:
    """Return the position after moves that are the only ones that do not lose at once.

    The player to move can't win at once; `threats` are the winning cells of its
    opponent. The same holds for the returned position. There the player to move has a
    choice, or all its moves lose at once, or the board is full.
    """
    while True:
        playable = (mask + search.bottom) & search.cells
        forced = playable & threats
        moves = (forced if forced else playable) & ~(threats >> _ONE)
        if forced & (forced - _ONE) or moves & (moves - _ONE) or moves == _ZERO:
            return own, mask, threats, num_free
        own, mask, threats = (
            own ^ mask,
            mask | moves,
            _winning_cells(own | moves, mask | moves, search),
        )
        num_free -= 1


@_compiled
def _answer(
    own: Bits,
    mask: Bits,
    threats: Bits,
    threshold: int,
    num_free: int,
    search: _Search,
) -> int:
    """Return whether the player to move reaches the threshold, or that it is unknown.

    The position is a result of `_after_only_moves`.
    """
    playable = (mask + search.bottom) & search.cells
    if playable & threats:
        return 0
    if num_free > 0 and playable & ~(threats >> _ONE) == _ZERO:
        return 0
    if num_free <= 2:
        return int(threshold <= 0)
    if threshold == 1:
        if num_free % 2 == 0:
            if _replies_hold(own, mask, playable, search):
                return 0
        elif not _has_four(own | (search.cells & ~mask), search.step):
            return 0
    elif not _has_four(search.cells & ~own, search.step):
        return 1
    key = _table_key(own, mask, search)
    entry = search.table[(key * _HASH) >> search.table_shift]
    if entry >> _RESULT_BITS == key:
        if (entry >> _TWO) & _THREE >= np.uint64(threshold + 1):
            return 1
        if entry & _THREE < np.uint64(threshold + 1):
            return 0
    return _UNKNOWN


@_compiled
def _reaches(
    own: Bits,
    mask: Bits,
    threats: Bits,
    threshold: int,
    num_free: int,
    search: _Search,
) -> bool:
    """Search whether the player to move reaches the threshold.

    `_answer` of the same arguments does not know it.
    """
    search.num_nodes[0] += 1
    moves = (mask + search.bottom) & search.cells & ~(threats >> _ONE)
    # The player who replies gets most of the upper cells, see `_replies_hold`.
    strong = search.cells & ~search.upper if num_free % 2 == 0 else search.upper
    here = search.waiting[num_free]
    num_moves = 0
    for column in search.columns:
        move = moves & column
        if move == _ZERO:
            continue
        made = _winning_cells(own | move, mask | move, search)
        next_own, next_mask, next_threats, next_free = _after_only_moves(
            own ^ mask, mask | move, made, num_free - 1, search
        )
        is_own_turn = (num_free - next_free) % 2 == 0
        next_threshold = threshold if is_own_turn else 1 - threshold
        answer = _answer(
            next_own, next_mask, next_threats, next_threshold, next_free, search
        )
        # A success: the player reaches its threshold, or its opponent does not.
        if answer == is_own_turn:
            _store(own, mask, threshold, True, search)
            return True
        if answer != _UNKNOWN:
            continue
        # Threats matter most. A tie goes to the column nearer the centre.
        score = np.uint64(2 * _count(made) + _count(made & strong))
        place = num_moves
        while place > 0 and here[4, place - 1] < score:
            here[:, place] = here[:, place - 1]
            place -= 1
        here[0, place] = next_own
        here[1, place] = next_mask
        here[2, place] = next_threats
        here[3, place] = np.uint64(next_free)
        here[4, place] = score
        num_moves += 1
    for place in range(num_moves):
        next_free = np.int64(here[3, place])
        is_own_turn = (num_free - next_free) % 2 == 0
        if is_own_turn == _reaches(
            here[0, place],
            here[1, place],
            here[2, place],
            threshold if is_own_turn else 1 - threshold,
            next_free,
            search,
        ):
            _store(own, mask, threshold, True, search)
            return True
    _store(own, mask, threshold, False, search)
    return False


@_compiled
def _fill_keeping_moves(
    keys: UInt64[np.ndarray, " B"],
    order: Int8[np.ndarray, "B A"],
    actions: Int8[np.ndarray, " B"],
    threshold: int,
    search: _Search,
) -> None:
    """Fill in `actions`, see `Solver.keeping_moves`."""
    num_columns = len(search.digit_shifts)
    for index in range(len(keys)):
        first, mask = _ZERO, _ZERO
        for column in range(num_columns):
            digit = (keys[index] >> search.digit_shifts[column]) & (
                (_ONE << search.step) - _ONE
            )
            # Ones up to the highest 1, which is above the highest stone.
            filled = digit | (digit >> _ONE)
            filled |= filled >> _TWO
            filled |= filled >> np.uint64(4)
            filled >>= _ONE
            place = np.uint64(column) * search.step
            mask |= filled << place
            first |= (digit & filled) << place
        num_stones = _count(mask)
        own = first if num_stones % 2 == 0 else mask ^ first
        num_free = _count(search.cells) - num_stones
        actions[index] = -1
        for action in order[index]:
            column = ((_ONE << (search.step - _ONE)) - _ONE) << (
                np.uint64(action) * search.step
            )
            move = (mask + search.bottom) & column
            if move == _ZERO:
                continue
            if _has_four(own | move, search.step):
                actions[index] = action
                break
            other, after = own ^ mask, mask | move
            if _winning_cells(other, after, search) & (after + search.bottom):
                continue
            made = _winning_cells(own | move, after, search)
            next_own, next_mask, next_threats, next_free = _after_only_moves(
                other, after, made, num_free - 1, search
            )
            is_own_turn = (num_free - next_free) % 2 == 0
            next_threshold = threshold if is_own_turn else 1 - threshold
            answer = _answer(
                next_own,
                next_mask,
                next_threats,
                next_threshold,
                next_free,
                search,
            )
            if answer == _UNKNOWN:
                answer = _reaches(
                    next_own,
                    next_mask,
                    next_threats,
                    next_threshold,
                    next_free,
                    search,
                )
            if answer == is_own_turn:
                actions[index] = action
                break
