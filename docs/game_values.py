"""Print the values of four in a row on small boards, under best play by both.

python docs/game_values.py [WxH ...]

Alpha-beta search in plain Python with rules of its own; it uses nothing of the package.
A board is two numbers, whose bits are the stones of the player to move and all stones,
column by column from below, with a free bit above each column.
"""

from __future__ import annotations

import sys
import time

BOARDS = "4x4", "5x4", "4x5", "5x5"
NAMES = {1: "the first player wins", 0: "draw", -1: "the second player wins"}


class Search:
    """The values of the positions of a board of `width` columns."""

    def __init__(self, width: int, height: int) -> None:
        self.high = height + 1  # bits of a column
        self.bottom = sum(1 << column * self.high for column in range(width))
        self.cells = self.bottom * ((1 << height) - 1)
        middle = (width - 1) / 2
        columns = sorted(range(width), key=lambda column: abs(column - middle))
        self.columns = [((1 << height) - 1) << c * self.high for c in columns]
        self.bounds: dict[int, tuple[int, int]] = {}

    def value(self) -> int:
        """Return the value of the empty board to the first player: -1, 0 or 1."""
        return self._value(0, 0, -1, 1)

    def _value(self, mine: int, stones: int, low: int, high: int) -> int:
        """Return the value to the player to move, exact between `low` and `high`."""
        legal = (stones + self.bottom) & self.cells
        if not legal:
            return 0
        if legal & self.completing(mine, stones):
            return 1
        threats = self.completing(stones ^ mine, stones)
        if forced := legal & threats:
            legal = forced
        legal &= ~(threats >> 1)  # else the opponent wins on top
        if not legal or forced & (forced - 1):
            return -1
        key = stones + mine + self.bottom
        least, most = self.bounds.get(key, (-1, 1))
        low, high = max(low, least), min(high, most)
        if low >= high:
            return low
        best = self._best(mine, stones, legal, low, high)
        if best > low:
            least = best
        if best < high:
            most = best
        self.bounds[key] = least, most
        return best

    def _best(self, mine: int, stones: int, legal: int, low: int, high: int) -> int:
        """Return the value of the best move; those with most threats come first."""
        moves = [legal & column for column in self.columns if legal & column]
        if len(moves) > 1:
            moves.sort(key=lambda move: -self._num_threats(mine | move, stones | move))
        for move in moves:
            after = stones | move
            low = max(low, -self._value(mine ^ stones, after, -high, -low))
            if low >= high:
                break
        return low

    def _num_threats(self, mine: int, stones: int) -> int:
        return bin(self.completing(mine, stones)).count("1")

    def completing(self, mine: int, stones: int) -> int:
        """Return the free cells, reachable or not, in which a stone makes a row."""
        cells = (mine << 1) & (mine << 2) & (mine << 3)  # on top of three
        for step in (self.high - 1, self.high, self.high + 1):
            up, down = mine << step, mine >> step
            two_up, two_down = up & (up << step), down & (down >> step)
            cells |= two_up & (mine << 3 * step) | two_down & (mine >> 3 * step)
            cells |= two_up & down | up & two_down
        return cells & self.cells & ~stones


def row(board: str) -> str:
    """Return a board's value as a row of a table in Markdown."""
    search = Search(*map(int, board.split("x")))
    begin = time.process_time()
    value = NAMES[search.value()]
    seconds = time.process_time() - begin
    return f"| {board} | {value} | {len(search.bounds):,} | {seconds:.1f} s |"


if __name__ == "__main__":
    for board in sys.argv[1:] or BOARDS:
        print(row(board), flush=True)
