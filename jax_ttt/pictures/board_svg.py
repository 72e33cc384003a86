"""Boards as SVG: positions, games move by move, and the values of moves.

Boards of stones are drawn as crosses and rings, those of other games by PGX. Lengths
are pixels of a picture at its own size; `y` grows downwards.

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
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Int, Shaped

from jax_ttt.config.game_facts import GAMES, LETTERS, EnvId, Seat, seat_name
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.pictures import picture
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.players import network_player
from jax_ttt.players.saved_agents import SavedAgent
from jax_ttt.solver import minimax
from jax_ttt.text import grade_text
from jax_ttt.text.board_text import FREE_SIGN, grid, tree_grid

Number = int | float
Size = tuple[Number, Number]
"""Width and height."""
Boards = Shaped[np.ndarray, "B H W"]

_LAST_STAYS = 3  # times as long as another frame


def position_picture(env_state: pgx.State, theme: Theme = "light") -> Picture:
    """Draw a state, or a batch of them in a square."""
    return _picture([env_state], theme, 0.0, largest=180)


def animation(
    env_states: Sequence[pgx.State], theme: Theme = "light", seconds: float = 0.8
) -> Picture:
    """Draw states, or batches of them, one after another for `seconds` each.

    It begins with the last one, which stays for three times as long and is what PNG,
    PDF, print and viewers without animation show. Stones are numbered by the moves that
    set them, and the last move has a border.
    """
    return _picture(env_states, theme, seconds, largest=360)


def values_picture(agent: SavedAgent, position: int, theme: Theme = "light") -> Picture:
    """Draw what each move of a position is worth to its mover: learned, and exact.

    `position` is one to decide of an enumerable game; exact is the minimax value. -1 is
    a loss and 1 a win.
    """
    env_id = agent.config.env_id
    tree = trees.enumerated(env_id)
    row = int(np.searchsorted(tree.decisions, position))
    learned = network_player.decision_values(agent.network, agent.params, tree)[row]
    exact = minimax.to_mover(tree, minimax.values(tree))[position]
    moves = np.flatnonzero(tree.legal_action_mask[position]).tolist()
    worth = {
        name: {move: float(values[move]) for move in moves}
        for name, values in (("learned", np.asarray(learned)), ("exact", exact))
    }
    title = mover_text(env_id, tree.to_move(position))
    if note := grade_text.learned_seat(env_id, agent.config.seats):
        title += f": the agent {note}"
    return values_board(tree_grid(tree, position), worth, title, theme)


def mover_text(env_id: EnvId, seat: Seat) -> str:
    """Return who is to move, for instance `O to move`."""
    return f"{seat_name(env_id, seat)} to move"


def values_board(
    cells: Shaped[np.ndarray, "H W"],
    worth: Mapping[str, Mapping[int, float]],
    title: str,
    theme: Theme = "light",
) -> Picture:
    """Draw boards side by side, whose cells show what a move there is worth.

    `cells` are those of `text.board.grid`. `worth` has a board's name and its values by
    move, from -1 to 1; a move that is no cell, to pass, is not drawn.
    """
    cell = 80 if max(cells.shape) <= 4 else 48
    width, height = _board_size(cells.shape, cell)
    size = (width * len(worth), height + 96)
    grey = picture.colours(theme)[1]
    no_numbers = np.zeros(cells.shape, int)
    parts = [_filled(size, theme), _text(size[0] / 2, 26, title, grey, 17)]
    for place, (name, values) in enumerate(worth.items()):
        left = place * width
        parts.append(_text(left + width / 2, 54, name, grey, 15))
        parts += _board(cells, (left, 60), cell, theme, no_numbers, values)
    scale = "worth to the mover: -1 a loss, +1 a win"
    parts.append(_text(size[0] / 2, height + 80, scale, grey, 13))
    return Picture(_page(size, parts, title))


def _picture(
    env_states: Sequence[pgx.State], theme: Theme, seconds: float, largest: int
) -> Picture:
    """Draw states of one game; a board has at most `largest` pixels, alone."""
    name: str = env_states[0].env_id
    game = GAMES.get(name)
    title = f"{name}, move by move" if len(env_states) > 1 else name
    title = title.replace("_", " ")
    if game is None or not game.stones:
        return _drawn_by_pgx(env_states, theme, seconds, title)
    boards = [_cells(state) for state in env_states]
    num_boards = len(boards[0])
    cell = max((largest if num_boards == 1 else 180) // max(3, *game.shape), 30)
    across = math.ceil(math.sqrt(num_boards))
    width, height = _board_size(game.shape, cell)
    size = across * width, math.ceil(num_boards / across) * height
    frames = []
    for cells, numbers in zip(boards, move_numbers(boards), strict=True):
        frame = [_filled(size, theme)]
        for place, board in enumerate(cells):
            corner = place % across * width, place // across * height
            frame += _board(board, corner, cell, theme, numbers[place])
        frames.append("".join(frame))
    return Picture(_animated(frames, size, seconds, title))


def _cells(env_state: pgx.State) -> Boards:
    """Return the cells of a state, or of a batch of them, as letters."""
    one = env_state.terminated.ndim == 0
    env_state = jax.tree.map(lambda x: jnp.asarray(x)[None if one else ...], env_state)
    first = np.asarray(pgx_games.first_to_move(env_state))
    pairs = zip(np.asarray(env_state.observation), first, strict=True)
    return np.stack([grid(obs, "first" if own else "second") for obs, own in pairs])


def move_numbers(boards: Sequence[Boards]) -> list[Int[np.ndarray, "B H W"]]:
    """Return for each of the boards in turn which move set each stone, from 1 on.

    0 is a free cell, and a stone that was there before the first move.
    """
    numbers = [np.zeros(boards[0].shape, int)]
    for before, after in itertools.pairwise(boards):
        kept = np.where(after == FREE_SIGN, 0, numbers[-1])
        added = (before == FREE_SIGN) & (after != FREE_SIGN)
        numbers.append(np.where(added, len(numbers), kept))
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
    """Draw a board: a tile, and what lies on it, for each cell.

    The first player's stones are crosses, the second's are rings. A stone with a number
    shows it, and the greatest number has a border: it is the last move. `values` are
    written on their cells, in the colours of wins and losses.
    """
    blue, grey, orange = picture.colours(theme)
    last = max(int(numbers.max()), 1)
    parts = []
    for place, stone in enumerate(cells.flat):
        row, column = divmod(place, cells.shape[1])
        x = corner[0] + cell / 6 + column * cell
        y = corner[1] + cell / 6 + row * cell
        number = int(numbers[row, column])
        fill, colour = picture.tile(theme), blue if stone == LETTERS[0] else orange
        if stone == FREE_SIGN and values is not None and place in values:
            value = values[place]
            share = min(abs(value), 1.0)
            fill = picture.mix_colours(fill, blue if value > 0 else orange, share)
            ink = picture.ink(fill)
            text = f"{round(value, 2) + 0.0:+.2f}"  # + 0.0: no minus before a zero
            middle, base = x + cell / 2, y + 0.58 * cell
            parts += [_tile(x, y, cell, fill), _text(middle, base, text, ink, cell / 4)]
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
    size = max(0.13 * cell, 8)  # that can still be read
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


def _filled(size: Size, theme: Theme) -> str:
    """Fill a picture with its background."""
    colour = picture.background(theme)
    return f'<rect width="{size[0]:g}" height="{size[1]:g}" fill="{colour}"/>'


def _page(size: Size, elements: Iterable[str], title: str) -> str:
    """Return a whole SVG file.

    A viewer may show it larger or smaller; a screen reader says `title`.
    """
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img">'
        f"<title>{html.escape(title)}</title>{''.join(elements)}</svg>"
    )


def _animated(frames: Sequence[str], size: Size, seconds: Number, title: str) -> str:
    """Return frames one after another, for `seconds` each, again and again.

    Frames are elements of SVG; each has a background, since it lies upon those before
    it. The animation begins with the last frame, which stays for three times as long. A
    viewer that does not animate, a print and a reader who asks for less motion show
    this frame.
    """
    # Names of our own: two animations may stand on one page.
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
    """Hide each frame from the end of the last one to the frame's own time."""
    steps = num_frames - 1 + _LAST_STAYS
    rules, key_frames = [], []
    for number in range(1, num_frames):
        name = f"{tag}-{number}"
        begin, end = (100 * n / steps for n in (_LAST_STAYS, _LAST_STAYS + number))
        rules.append(
            f".{name}{{animation:{name} {steps * seconds:g}s step-end infinite}}"
        )
        key_frames.append(
            f"@keyframes {name}{{0%{{visibility:visible}}"
            f"{begin:.4f}%{{visibility:hidden}}{end:.4f}%{{visibility:visible}}}}"
        )
    moving = "@media screen and (prefers-reduced-motion:no-preference)"
    return f"{''.join(key_frames)}{moving}{{{''.join(rules)}}}"


def _drawn_by_pgx(
    env_states: Sequence[pgx.State], theme: Theme, seconds: float, title: str
) -> Picture:
    """Draw states of a game whose pieces only PGX can draw."""
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
