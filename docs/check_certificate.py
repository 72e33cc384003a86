"""Check a certificate: moves of a small board game that no line of play beats.

python check_certificate.py FILE

FILE holds a player's move in every position that it can reach. This program plays all
games that an opponent can bring about against these moves. It needs Python 3.8 or later
and nothing else. Whose moves they are it can't know: `player` and `sha256` are words of
the file. Exit codes: 0 no line of play beats these moves; 1 the certificate does not
show that, and a line on stderr says why.
"""

from __future__ import annotations

import json
import os
import sys

# Columns, rows, stones in a row that win; and whether a move is a column, in which the
# stone falls, or a cell. Cells are numbered row by row from the top.
GAMES = {f"connect_{w}x{h}": (w, h, 4, True) for w in (4, 5) for h in (4, 5)}
GAMES["tic_tac_toe"] = (3, 3, 3, False)
STONES = {"first": "X", "second": "O"}  # by seat; X makes the first move
TYPES = {"version": int, "env_id": str, "player": str, "sha256": str}
TYPES.update({"result": str, "num_positions": int, "moves": dict})
MAX_BYTES = 10_000_000  # of a certificate; those of tic-tac-toe have about 8,000


def rows_of(width: int, height: int, length: int) -> list[list[int]]:
    """Return the cells of each row of this length: across, down and diagonally."""
    rows = []
    for start in range(width * height):
        for right, down in ((1, 0), (0, 1), (1, 1), (-1, 1)):
            last = start % width + (length - 1) * right
            if 0 <= last < width and start // width + (length - 1) * down < height:
                step = right + down * width
                rows.append([start + n * step for n in range(length)])
    return rows


def check_games(env_id: str, stone: str, moves: dict[str, object]) -> None:
    """Play all games against the player of the stones `stone`, the shortest first.

    A board is its cells: X, O, or - if free. A lost game, a missing or illegal move,
    and a move for a board that never comes up raise ValueError.
    """
    width, height, length, falls = GAMES[env_id]
    size, rows = width * height, rows_of(width, height, length)
    seen, decided = set(), set()
    games = [("-" * size, "")]  # boards and the moves before them; the loop adds to it
    for board, line in games:
        if board in seen:
            continue
        seen.add(board)
        where = f"as {stone} on {board} after{line or ' no move'}"
        mover, other = "XO" if board.count("X") == board.count("O") else "OX"
        if any(all(board[cell] == other for cell in row) for row in rows):
            if other != stone:
                raise ValueError(f"it has lost {where}")
            continue  # it has won
        free = [cell for cell in range(size) if board[cell] == "-"]
        cells = {cell % width if falls else cell: cell for cell in free}  # the lowest
        if mover == stone and cells:
            move = moves.get(board)
            if type(move) is not int or move not in cells:
                raise ValueError(f"it has no legal move {where}")
            decided.add(board)
            cells = {move: cells[move]}
        for move, cell in cells.items():
            after = board[:cell] + mover + board[cell + 1 :]
            games.append((after, f"{line} {mover}{move}"))
    for board in moves:
        if board not in decided:
            raise ValueError(f"it never has to move as {stone} on {board[:size]!r}")


def check(certificate: object) -> str:
    """Return what a certificate proves; raise ValueError if any claim is wrong."""
    if type(certificate) is not dict or certificate.keys() != TYPES.keys():
        raise ValueError(f"it must have exactly the fields {', '.join(TYPES)}")
    for name, kind in TYPES.items():
        if type(certificate[name]) is not kind:
            raise ValueError(f"{name} must be of the type {kind.__name__}")
    if certificate["version"] != 1:
        version = str(certificate["version"])[:20]
        raise ValueError(f"version {version}; only 1 can be checked")
    if certificate["env_id"] not in GAMES:
        raise ValueError(f"the game {certificate['env_id'][:20]!r} can't be checked")
    moves = certificate["moves"]
    if not moves or not moves.keys() <= STONES.keys():
        raise ValueError("moves must be those of the seats first, second or both")
    for seat, seat_moves in moves.items():
        if type(seat_moves) is not dict:
            raise ValueError(f"the moves of {seat} must be an object")
        check_games(certificate["env_id"], STONES[seat], seat_moves)
    number = sum(map(len, moves.values()))
    if (certificate["result"], certificate["num_positions"]) != ("never loses", number):
        raise ValueError(f"its claim must be: never loses, {number} positions")
    seats = " and ".join(f"as {STONES[seat]}" for seat in moves)
    where = f"in {certificate['env_id']}, {number:,} positions ({seats})"
    words = "player and sha256 are the file's words, not checked"
    return f"no line of play beats these moves {where}; {words}"


def unique(pairs: list) -> dict:
    """Return a JSON object; raise ValueError if it has a name twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("an object has a name twice")
    return dict(pairs)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python check_certificate.py FILE")
    try:
        if not os.path.isfile(sys.argv[1]) or os.path.getsize(sys.argv[1]) > MAX_BYTES:
            raise ValueError(f"not a file of at most {MAX_BYTES:,} bytes")
        with open(sys.argv[1], encoding="ascii") as file:
            certificate = json.load(file, object_pairs_hook=unique)
        print(f"checked: {check(certificate)}")
    except (OSError, ValueError, RecursionError) as error:
        sys.exit(f"{sys.argv[1]!r} is refused: {error}")
