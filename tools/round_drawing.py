"""Drawing of one round of counterexamples, on a small tree of moves.

A node is named by the moves that lead to it: "" is the position at the top, where the
opponent moves; "21" is the position after the opponent's move 2 and the agent's move 1.
Lengths are pixels of the picture at its own size; `y` grows downwards.
"""

import html
import itertools
from typing import Literal, NamedTuple

from jax_ttt.pictures import picture
from jax_ttt.pictures.picture import Picture, Theme

NUM_MOVES = (3, 2, 2)
"""Moves in a position, by the number of moves made: opponent, agent, opponent."""
LOSSES = frozenset({"211"})
"""The ends that the agent loses; the others are draws."""
BEFORE = {"0": 0, "1": 1, "2": 1}
"""The agent's move in each of its positions, before the round."""
AFTER = BEFORE | {"2": 0}
"""The agent's moves after the round."""
SELF_PLAY_LINE = ("0", "00", "000")
"""The line that the agent plays against itself."""

Edge = Literal["unreached", "reached", "played", "lost"]
"""How a move is drawn; a move is named by the node that it leads to."""

_PANEL = 225  # width
_MARGIN = 20
_TREE_TOP = 74
_LEVEL = 48  # height
_RADIUS = 7


class Panel(NamedTuple):
    """One step of a round."""

    title: str
    lines: tuple[str, str]
    edges: dict[str, Edge]
    """The moves that are reached, played or lost."""
    ringed: frozenset[str] = frozenset()
    """The counterexamples."""


def nodes() -> list[str]:
    """Return all nodes, the top one first."""
    moves = [[str(move) for move in range(number)] for number in NUM_MOVES]
    return [
        "".join(path)
        for level in range(len(moves) + 1)
        for path in itertools.product(*moves[:level])
    ]


def reached(agent_moves: dict[str, int]) -> list[str]:
    """Return the nodes that the agent reaches against every opponent."""
    return [
        node
        for node in nodes()
        if len(node) < 2 or int(node[1]) == agent_moves[node[0]]
    ]


def counterexamples(agent_moves: dict[str, int]) -> frozenset[str]:
    """Return the agent's positions on the lines that it loses."""
    return frozenset(end[0] for end in reached(agent_moves) if end in LOSSES)


def panels() -> list[Panel]:
    """Return the steps of a round, in their order."""
    lost: dict[str, Edge] = {
        end[:level]: "lost"
        for end in reached(BEFORE)
        if end in LOSSES
        for level in range(1, len(end) + 1)
    }
    from_counterexamples: dict[str, Edge] = {
        node: "played"
        for node in nodes()
        for start in counterexamples(BEFORE)
        if node.startswith(start) and node != start
    }
    changed: dict[str, Edge] = {
        f"{node}{move}": "played" for node, move in AFTER.items() - BEFORE.items()
    }
    return [
        Panel(
            "1. Self-play",
            ("The agent's games against itself", "follow one line, and draw it."),
            dict.fromkeys(SELF_PLAY_LINE, "played"),
        ),
        Panel(
            "2. Search",
            ("An opponent may move differently.", "One of these lines is lost."),
            {**_all_reached(BEFORE), **lost},
            counterexamples(BEFORE),
        ),
        Panel(
            "3. Training",
            ("New games start where the agent", "had a choice, and try all its moves."),
            from_counterexamples,
            counterexamples(BEFORE),
        ),
        Panel(
            "4. Search again",
            (
                "The agent moves differently there.",
                "No line is lost: a proof.",
            ),
            {**_all_reached(AFTER), **changed},
        ),
    ]


def _all_reached(agent_moves: dict[str, int]) -> dict[str, Edge]:
    return {node: "reached" for node in reached(agent_moves) if node}


def round_picture(theme: Theme = "light") -> Picture:
    """Draw why a round of counterexamples helps: four trees, side by side."""
    steps = panels()
    width = _PANEL * len(steps)
    tree_end = _TREE_TOP + _LEVEL * len(NUM_MOVES)
    height = tree_end + 64
    colour = picture.background_colour(theme)
    parts = [f'<rect width="{width}" height="{height}" fill="{colour}"/>']
    for place, panel in enumerate(steps):
        parts += _panel(panel, _PANEL * place, theme)
    parts += _legend(width, tree_end + 44, theme)
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">'
        "<title>One round of counterexamples: a line that self-play does not reach "
        "is found, trained on, and no longer lost</title>"
        f"{''.join(parts)}</svg>"
    )


def _panel(panel: Panel, left: float, theme: Theme) -> list[str]:
    middle = left + _PANEL / 2
    parts = [_text(panel.title, middle, 22, theme, weight="bold")]
    for row, line in enumerate(panel.lines):
        parts.append(_text(line, middle, 42 + 17 * row, theme))
    order: tuple[Edge, ...] = ("unreached", "reached", "played", "lost")
    edges: dict[str, Edge] = {
        node: panel.edges.get(node, "unreached") for node in nodes() if node
    }
    for node, edge in sorted(edges.items(), key=lambda pair: order.index(pair[1])):
        parts.append(_edge(_place(node[:-1], left), _place(node, left), edge, theme))
    for node in nodes():
        parts.append(_node(node, _place(node, left), theme))
        if node in panel.ringed:
            parts.append(_ring(_place(node, left), theme))
    return parts


def _place(node: str, left: float) -> tuple[float, float]:
    """Return where a node stands: in the middle of the ends below it."""
    ends = [end for end in nodes() if len(end) == len(NUM_MOVES)]
    below = [place for place, end in enumerate(ends) if end.startswith(node)]
    step = (_PANEL - 2 * _MARGIN) / (len(ends) - 1)
    x = left + _MARGIN + step * (below[0] + below[-1]) / 2
    return x, _TREE_TOP + _LEVEL * len(node) + _RADIUS


def _edge(
    start: tuple[float, float], end: tuple[float, float], edge: Edge, theme: Theme
) -> str:
    blue, grey, orange = picture.colours(theme)
    faint = picture.mix_colours(_hex_background(theme), grey, 0.3)
    colour, width = {
        "unreached": (faint, 1.5),
        "reached": (_ink(theme), 1.5),
        "played": (blue, 4),
        "lost": (orange, 4),
    }[edge]
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line class="{edge}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
        f'stroke="{colour}" stroke-width="{width:g}"/>'
    )


def _node(node: str, place: tuple[float, float], theme: Theme) -> str:
    """Draw whose turn it is, or the result of an ended game."""
    x, y = place
    _, _, orange = picture.colours(theme)
    line = f'stroke="{_ink(theme)}" stroke-width="1.5"'
    if node in LOSSES:
        r = _RADIUS - 1
        return (
            f'<path d="M{x - r:g} {y - r:g}l{2 * r} {2 * r}'
            f'm0 {-2 * r}l{-2 * r} {2 * r}" '
            f'stroke="{orange}" stroke-width="4" fill="none"/>'
        )
    if len(node) == len(NUM_MOVES):
        return f'<circle cx="{x:g}" cy="{y:g}" r="3" fill="{_ink(theme)}"/>'
    if len(node) == 1:  # the agent's turn
        return (
            f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS}" fill="{_ink(theme)}" {line}/>'
        )
    return (
        f'<rect x="{x - _RADIUS:g}" y="{y - _RADIUS:g}" width="{2 * _RADIUS}" '
        f'height="{2 * _RADIUS}" fill="{picture.tile_colour(theme)}" {line}/>'
    )


def _ring(place: tuple[float, float], theme: Theme) -> str:
    x, y = place
    _, _, orange = picture.colours(theme)
    return (
        f'<circle class="ring" cx="{x:g}" cy="{y:g}" r="{_RADIUS + 6}" fill="none" '
        f'stroke="{orange}" stroke-width="2.5"/>'
    )


def _legend(width: float, y: float, theme: Theme) -> list[str]:
    """Draw one of each mark, with its meaning on the right."""
    lost = next(iter(LOSSES))
    marks = (
        ("0", "the agent's turn"),
        ("", "the opponent's turn"),
        ("000", "a draw"),
        (lost, "the agent loses"),
        ("ring", "counterexample"),
    )
    step = width / len(marks)
    parts = []
    for place, (mark, meaning) in enumerate(marks):
        centre = _MARGIN + step * place + _RADIUS, y
        is_ring = mark == "ring"
        parts.append(_ring(centre, theme) if is_ring else _node(mark, centre, theme))
        x = centre[0] + _RADIUS + (12 if is_ring else 8)
        parts.append(_text(meaning, x, y + 5, theme, anchor="start"))
    return parts


def _text(
    text: str,
    x: float,
    base: float,
    theme: Theme,
    weight: str = "normal",
    anchor: str = "middle",
) -> str:
    return (
        f'<text x="{x:g}" y="{base:g}" fill="{_ink(theme)}" font-size="13" '
        f'font-family="sans-serif" font-weight="{weight}" text-anchor="{anchor}">'
        f"{html.escape(text)}</text>"
    )


def _ink(theme: Theme) -> str:
    """Return the colour of texts and lines."""
    return picture.text_colour(picture.tile_colour(theme))


def _hex_background(theme: Theme) -> str:
    return "#ffffff" if theme == "light" else picture.background_colour(theme)
