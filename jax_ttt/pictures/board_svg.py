"""Boards as SVG: positions, games move by move, and the values of moves.

Stones are drawn as crosses and rings; PGX draws the boards of other games. Lengths are
pixels of the picture at its own size; `y` grows downwards.

Axes: `B` boards, `H` rows, `W` columns.
"""

import html
import itertools
import math
import re
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jax
import numpy as np
import pgx
from jaxtyping import Int, Shaped

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, LETTERS, Seat, seat_name
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games import pgx_games
from jax_ttt.pictures import picture
from jax_ttt.text.board_text import FREE_SIGN, board_cells

Number = int | float
Size = tuple[Number, Number]
"""Width and height."""
Boards = Shaped[np.ndarray, "B H W"]

_LAST_FRAME_STEPS = 3  # the last frame stays as long as this many others


def position_picture(env_state: pgx.State, theme: Theme = "light") -> Picture:
    """Draw a state, or a batch of them in a square."""
    return _draw_states([env_state], theme, 0.0, largest=180)


def animation(
    env_states: Sequence[pgx.State], theme: Theme = "light", seconds: float = 0.8
) -> Picture:
    """Draw states, or batches of them, one after another for `seconds` each.

    The last state comes first and stays three times as long: PNG, PDF, print and
    viewers without animation show this frame. A stone has the number of its move, and
    the last one a border.
    """
    return _draw_states(env_states, theme, seconds, largest=360)


def mover_text(seat: Seat) -> str:
    """Return the text that names the player to move, for instance `O to move`."""
    return f"{seat_name(seat)} to move"


def values_board(
    cells: Shaped[np.ndarray, "H W"],
    values_by_board: Mapping[str, Mapping[int, float]],
    title: str,
    theme: Theme = "light",
) -> Picture:
    """Draw boards side by side, with the value of a move on each free cell.

    `cells` come from `board_text.board_cells`. `values_by_board` has the name of each
    board, and its values by move, from -1 to 1. A move that is not a cell, such as
    passing, is not drawn.
    """
    cell = 80 if max(cells.shape) <= 4 else 48
    width, height = _board_size(cells.shape, cell)
    size = (width * len(values_by_board), height + 96)
    grey = picture.colours(theme)[1]
    no_numbers = np.zeros(cells.shape, int)
    parts = [_background(size, theme), _text(size[0] / 2, 26, title, grey, 17)]
    for place, (name, values) in enumerate(values_by_board.items()):
        left = place * width
        parts.append(_text(left + width / 2, 54, name, grey, 15))
        parts += _board(cells, (left, 60), cell, theme, no_numbers, values)
    scale = "worth to the mover: -1 a loss, +1 a win"
    parts.append(_text(size[0] / 2, height + 80, scale, grey, 13))
    return Picture(_page(size, parts, title))


def _draw_states(
    env_states: Sequence[pgx.State], theme: Theme, seconds: float, largest: int
) -> Picture:
    """Draw states of one game; a single board is at most `largest` pixels wide."""
    name: str = env_states[0].env_id
    game = GAMES.get(name)
    if name not in pgx.available_envs() and (game is None or not game.stones):
        raise Refused(f"{name}: a game of your own is not drawn as a picture")
    title = f"{name}, move by move" if len(env_states) > 1 else name
    title = title.replace("_", " ")
    if game is None or not game.stones:
        return _draw_with_pgx(env_states, theme, seconds, title)
    boards = [_state_cells(state) for state in env_states]
    num_boards = len(boards[0])
    cell = max((largest if num_boards == 1 else 180) // max(3, *game.shape), 30)
    across = math.ceil(math.sqrt(num_boards))
    width, height = _board_size(game.shape, cell)
    size = across * width, math.ceil(num_boards / across) * height
    frames = []
    for cells, numbers in zip(boards, move_numbers(boards), strict=True):
        frame = [_background(size, theme)]
        for place, board in enumerate(cells):
            corner = place % across * width, place // across * height
            frame += _board(board, corner, cell, theme, numbers[place])
        frames.append("".join(frame))
    return Picture(_animated(frames, size, seconds, title))


def _state_cells(env_state: pgx.State) -> Boards:
    """Return the cells of a state, or of a batch of them, as letters."""
    env_state = jax.device_get(env_state)
    if env_state.terminated.ndim == 0:
        env_state = jax.tree.map(lambda x: x[None], env_state)
    first = np.asarray(pgx_games.first_to_move(env_state))
    pairs = zip(np.asarray(env_state.observation), first, strict=True)
    return np.stack(
        [board_cells(obs, "first" if is_first else "second") for obs, is_first in pairs]
    )


def move_numbers(boards: Sequence[Boards]) -> list[Int[np.ndarray, "B H W"]]:
    """Return for each board the number of the move that set each stone, from 1 on.

    The boards follow each other in a game. A free cell and a stone of the first board
    have the number 0.
    """
    numbers = [np.zeros(boards[0].shape, int)]
    for before, after in itertools.pairwise(boards):
        old = np.where(after == FREE_SIGN, 0, numbers[-1])
        added = (before == FREE_SIGN) & (after != FREE_SIGN)
        numbers.append(np.where(added, len(numbers), old))
    return numbers


def _board_size(shape: tuple[int, ...], cell: int) -> Size:
    """Return the width and height of a board and the space around it."""
    rows, columns = shape
    return columns * cell + cell / 3, rows * cell + cell / 3


def _board(
    cells: Shaped[np.ndarray, "H W"],
    corner: Size,
    cell: int,
    theme: Theme,
    numbers: Int[np.ndarray, "H W"],
    values: Mapping[int, float] | None = None,
) -> list[str]:
    """Draw a board: for each cell a tile, with a stone, a number or a value on it.

    The first player's stones are crosses, the second player's are rings. Numbers above
    0 are written beside their stones, and the tile with the greatest number, the last
    move, has a border. `values` stand on their cells, coloured as wins or losses.
    """
    blue, grey, orange = picture.colours(theme)
    last = max(int(numbers.max()), 1)
    parts = []
    for place, stone in enumerate(cells.flat):
        row, column = divmod(place, cells.shape[1])
        x = corner[0] + cell / 6 + column * cell
        y = corner[1] + cell / 6 + row * cell
        number = int(numbers[row, column])
        fill, colour = picture.TILES[theme], blue if stone == LETTERS[0] else orange
        if stone == FREE_SIGN and values is not None and place in values:
            value = values[place]
            share = min(abs(value), 1.0)
            fill = picture.mix_colours(fill, blue if value > 0 else orange, share)
            text_colour = picture.text_colour(fill)
            text = f"{round(value, 2) + 0.0:+.2f}"  # + 0.0: no minus before a zero
            middle, base = x + cell / 2, y + 0.58 * cell
            parts += [
                _tile(x, y, cell, fill),
                _text(middle, base, text, text_colour, cell / 4),
            ]
            continue
        parts.append(_tile(x, y, cell, fill, colour if number == last else ""))
        if stone == LETTERS[0]:
            parts.append(_cross(x, y, cell, colour))
        elif stone == LETTERS[1]:
            parts.append(_ring(x, y, cell, colour))
        if number:
            parts.append(_number(x, y, cell, number, grey))
    return parts


def _tile(x: Number, y: Number, cell: int, fill: str, border: str = "") -> str:
    """Draw the square of a cell, with a border of this colour."""
    width = cell / 20 if border else 0
    gap = cell / 30 + width / 2
    size = cell - 2 * gap
    return (
        f'<rect x="{x + gap:g}" y="{y + gap:g}" width="{size:g}" height="{size:g}" '
        f'rx="{cell / 12:g}" fill="{fill}" stroke="{border or "none"}" '
        f'stroke-width="{width:g}"/>'
    )


def _cross(x: Number, y: Number, cell: int, colour: str) -> str:
    """Draw two lines with round ends."""
    x1, x2, y1, y2 = (c + part * cell for c in (x, y) for part in (0.29, 0.71))
    style = f'stroke="{colour}" stroke-width="{cell / 10:g}" stroke-linecap="round"'
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" {style}/>'
        f'<line x1="{x1:g}" y1="{y2:g}" x2="{x2:g}" y2="{y1:g}" {style}/>'
    )


def _ring(x: Number, y: Number, cell: int, colour: str) -> str:
    return (
        f'<circle cx="{x + cell / 2:g}" cy="{y + cell / 2:g}" r="{cell / 4:g}" '
        f'fill="none" stroke="{colour}" stroke-width="{cell / 10:g}"/>'
    )


def _number(x: Number, y: Number, cell: int, number: int, colour: str) -> str:
    """Write the number of a move into the cell's corner."""
    size = max(0.13 * cell, 8)  # pixels: smaller text is hard to read
    return (
        f'<text x="{x + 0.12 * cell:g}" y="{y + 0.1 * cell + 0.85 * size:g}" '
        f'fill="{colour}" font-size="{size:g}" font-family="sans-serif">{number}</text>'
    )


def _text(middle: Number, base: Number, text: str, colour: str, size: Number) -> str:
    """Write a text around a middle, on a base line."""
    return (
        f'<text x="{middle:g}" y="{base:g}" fill="{colour}" font-size="{size:g}" '
        f'font-family="sans-serif" text-anchor="middle">{html.escape(text)}</text>'
    )


def _background(size: Size, theme: Theme) -> str:
    """Fill a picture with its background."""
    colour = picture.BACKGROUND[theme]
    return f'<rect width="{size[0]:g}" height="{size[1]:g}" fill="{colour}"/>'


def _page(size: Size, elements: Iterable[str], title: str) -> str:
    """Return a whole SVG file.

    A viewer may scale it; a screen reader reads `title`.
    """
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img">'
        f"<title>{html.escape(title)}</title>{''.join(elements)}</svg>"
    )


def _animated(frames: Sequence[str], size: Size, seconds: Number, title: str) -> str:
    """Return an SVG file that repeats frames, each for `seconds`.

    A frame is SVG text and covers the frames before it, so it needs a background. The
    last frame is the only one that is never hidden: it comes first, stays three times
    as long, and is shown in print, by viewers without animation and to readers who
    prefer reduced motion.
    """
    # CSS names are global in a page, and a page may have two animations.
    tag = f"g{zlib.crc32(''.join(frames).encode()):08x}"
    groups = [
        f'<g class="{tag} {tag}-{number}">{frame}</g>'
        for number, frame in enumerate(frames)
    ]
    if len(frames) > 1:
        style = _style(tag, len(frames), seconds)
        groups.insert(0, f'<style type="text/css">{style}</style>')
    return _page(size, groups, title)


def _style(tag: str, num_frames: int, seconds: Number) -> str:
    """Return the CSS that hides a frame from the end of the last one to its time."""
    steps = num_frames - 1 + _LAST_FRAME_STEPS
    rules, key_frames = [], []
    for number in range(1, num_frames):
        name = f"{tag}-{number}"
        begin, end = (
            100 * n / steps for n in (_LAST_FRAME_STEPS, _LAST_FRAME_STEPS + number)
        )
        rules.append(
            f".{name}{{animation:{name} {steps * seconds:g}s step-end infinite}}"
        )
        key_frames.append(
            f"@keyframes {name}{{0%{{visibility:visible}}"
            f"{begin:.4f}%{{visibility:hidden}}{end:.4f}%{{visibility:visible}}}}"
        )
    media = "@media screen and (prefers-reduced-motion:no-preference)"
    return f"{''.join(key_frames)}{media}{{{''.join(rules)}}}"


def _draw_with_pgx(
    env_states: Sequence[pgx.State], theme: Theme, seconds: float, title: str
) -> Picture:
    """Draw states of a game without stones with PGX's own pictures."""
    frames, size = [], (0.0, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "board.svg"
        for state in env_states:
            if state.terminated.shape == (1,):  # PGX draws another frame around these
                state = jax.tree.map(lambda x: x[0], state)
            state.save_svg(path, color_theme=theme)
            text = path.read_text("utf-8")
            if len(env_states) == 1:
                return Picture(text)
            head, frame = re.findall(r"(<svg.*?>)(.*)</svg>", text, re.DOTALL)[0]
            (width,), (height,) = (
                re.findall(rf'{side}="([\d.]+)', head) for side in ("width", "height")
            )
            size = float(width), float(height)
            frames.append(frame)
    return Picture(_animated(frames, size, seconds, title))
