"""Picture of the architecture: from the command to the proof, in one direction.

Lengths are pixels of the picture at its own size; `y` grows downwards.
"""

import html
from typing import NamedTuple

from jax_ttt.config.presets import PRESETS
from jax_ttt.pictures import picture
from jax_ttt.pictures.picture import Picture, Theme

_WIDTH = 900
_LEFT = 14  # of the widest boxes; also their distance from the right edge
_GAP = 20  # between boxes side by side
_ARROW = 34  # length of an arrow from one row to the next
_LINE = 18  # from one line of text to the next
_FRAME = 14  # from the frame of an update to its boxes
_HEADING = 26  # height of that frame's heading


class Box(NamedTuple):
    """One part of the program."""

    title: str
    lines: tuple[str, ...]
    """What it does."""
    folders: tuple[str, ...]
    """The folders of the package that have its code."""


Row = tuple[Box, ...]

START: Row = (
    Box("Start", ("python -m jax_ttt.train --preset default --seed 1",), ("config",)),
)
UPDATE: Row = (
    Box("Boards", ("one of each", "game"), ("games",)),
    Box("Network", ("a value for", "each move"), ("networks",)),
    Box("Moves", ("the best one,", "or a random one"), ("dqn",)),
    Box("Game", ("rewards and", "next boards"), ("games",)),
    Box("Targets", ("reward plus", "the next value"), ("dqn",)),
    Box("Gradient step", ("values closer", "to the targets"), ("dqn",)),
)
"""The steps of one update, in their order."""
AGENT: Row = (
    Box("Agent", ("the trained network and its settings",), ("training", "files")),
)
USES: Row = (
    Box(
        "Proof",
        ("against every move of an opponent:", "unbeatable, or a line that beats it"),
        ("solver", "grading"),
    ),
    Box(
        "Play",
        ("in the terminal, on the web page,", "against other players"),
        ("players", "text", "web"),
    ),
    Box(
        "Python",
        ("matches, pictures, analyses", "in your own code"),
        ("api", "pictures"),
    ),
)
"""What a trained agent is used for."""


def architecture_picture(theme: Theme = "light") -> Picture:
    """Draw the parts of the program; arrows lead right or down, from `START`.

    The numbers come from the preset `default`.
    """
    run = PRESETS["default"].run
    heading = (
        f"One update of {run.num_envs} games at once, "
        f"repeated {run.num_updates:,} times in compiled programs"
    )
    update_left = _LEFT + _FRAME

    start_top = _LEFT
    frame_top = start_top + _height(START) + _ARROW
    update_top = frame_top + _HEADING + _FRAME
    frame_end = update_top + _height(UPDATE) + _FRAME
    agent_top = frame_end + _ARROW
    uses_top = agent_top + _height(AGENT) + _ARROW
    size = _WIDTH, uses_top + _height(USES) + _LEFT

    parts = [
        _rectangle(0, 0, *size, fill=picture.background_colour(theme), border="none"),
        *_row(START, _LEFT, start_top, theme),
        _arrow(_WIDTH / 2, frame_top - _ARROW, _WIDTH / 2, frame_top, theme),
        _rectangle(
            _LEFT,
            frame_top,
            _WIDTH - 2 * _LEFT,
            frame_end - frame_top,
            fill="none",
            border=picture.colours(theme)[2],
        ),
        _text(heading, _WIDTH / 2, frame_top + _HEADING, _ink(theme), weight="bold"),
        *_row(UPDATE, update_left, update_top, theme),
        *_arrows_between(UPDATE, update_left, update_top, theme),
        _arrow(_WIDTH / 2, frame_end, _WIDTH / 2, agent_top, theme),
        *_row(AGENT, _LEFT, agent_top, theme),
        *_row(USES, _LEFT, uses_top, theme),
        *_arrows_down_to(USES, _LEFT, uses_top, theme),
    ]
    return Picture(_page(size, parts, theme))


def _height(row: Row) -> int:
    """Return the height of a row: a title, its lines, the folders."""
    return _LINE * (len(row[0].lines) + 2) + 16


def _box_width(row: Row, left: float) -> float:
    return (_WIDTH - 2 * left - (len(row) - 1) * _GAP) / len(row)


def _row(row: Row, left: float, top: float, theme: Theme) -> list[str]:
    """Draw boxes side by side, as far from the right edge as from the left one."""
    width = _box_width(row, left)
    blue, grey, _ = picture.colours(theme)
    parts = []
    for place, box in enumerate(row):
        x = left + place * (width + _GAP)
        middle = x + width / 2
        parts.append(
            _rectangle(
                x,
                top,
                width,
                _height(row),
                fill=picture.tile_colour(theme),
                border=grey,
            )
        )
        base = top + _LINE + 2
        parts.append(_text(box.title, middle, base, _ink(theme), weight="bold"))
        for line in box.lines:
            base += _LINE
            parts.append(_text(line, middle, base, _ink(theme)))
        folders = " ".join(f"{folder}/" for folder in box.folders)
        base += _LINE + 2
        parts.append(_text(folders, middle, base, blue, family="monospace"))
    return parts


def _arrows_between(row: Row, left: float, top: float, theme: Theme) -> list[str]:
    """Draw an arrow from each box of a row to the next one."""
    width = _box_width(row, left)
    y = top + _height(row) / 2
    ends = [left + place * (width + _GAP) for place in range(1, len(row))]
    return [_arrow(end - _GAP, y, end, y, theme) for end in ends]


def _arrows_down_to(row: Row, left: float, top: float, theme: Theme) -> list[str]:
    """Draw an arrow to each box of a row, from the row above it."""
    width = _box_width(row, left)
    middles = [left + place * (width + _GAP) + width / 2 for place in range(len(row))]
    return [_arrow(middle, top - _ARROW, middle, top, theme) for middle in middles]


def _rectangle(
    x: float, y: float, width: float, height: float, fill: str, border: str
) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" '
        f'fill="{fill}" stroke="{border}" stroke-width="1.5"/>'
    )


def _text(
    text: str,
    middle: float,
    base: float,
    colour: str,
    family: str = "sans-serif",
    weight: str = "normal",
) -> str:
    """Write a text around a middle, on a base line."""
    return (
        f'<text x="{middle:g}" y="{base:g}" fill="{colour}" font-size="14" '
        f'font-family="{family}" font-weight="{weight}" text-anchor="middle">'
        f"{html.escape(text)}</text>"
    )


def _arrow(x1: float, y1: float, x2: float, y2: float, theme: Theme) -> str:
    """Draw an arrow from one point to another."""
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
        f'stroke="{_ink(theme)}" stroke-width="1.5" marker-end="url(#head)"/>'
    )


def _ink(theme: Theme) -> str:
    """Return the colour of texts and arrows."""
    return picture.text_colour(picture.tile_colour(theme))


def _page(size: tuple[float, float], parts: list[str], theme: Theme) -> str:
    """Return a whole SVG file; a screen reader says its title."""
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img">'
        "<title>From the command to the proof of the agent</title>"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" '
        'markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{_ink(theme)}"/></marker></defs>'
        f"{''.join(parts)}</svg>"
    )
