"""Pictures of boards: positions, games move by move, and the values of moves.

Boards of stones are drawn as crosses and rings, those of other games by PGX; values on
boards need the extra `plots`.
"""

import functools
import math
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Float, Shaped

from jax_ttt.config.catalogue import GAMES, EnvId, Game, Seat, seat_name
from jax_ttt.games import pgx_games, positions, stones
from jax_ttt.games import tree as trees
from jax_ttt.pictures import animation as animations
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures import shapes, stone_board, themes
from jax_ttt.pictures.axes import new_figure, shortened
from jax_ttt.pictures.picture import Picture
from jax_ttt.pictures.themes import Theme
from jax_ttt.players import network, players
from jax_ttt.players.agents import Agent
from jax_ttt.solver import minimax, proof
from jax_ttt.text import grade_text, text_board

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def _picture(
    env_states: Sequence[pgx.State], theme: Theme, seconds: float, largest: int
) -> Picture:
    """Draw states of one game; a board has at most `largest` pixels, alone."""
    name: str = env_states[0].env_id
    game = GAMES.get(name)
    if game is None or not game.stones:
        return _drawn_by_pgx(env_states, theme, seconds)
    blue, grey, orange = themes.colours(theme)
    boards = [_cells(game, state) for state in env_states]
    cell = (largest if len(boards[0]) == 1 else 180) // max(3, *game.shape)
    look = stone_board.Look(blue, orange, themes.tile(theme), grey, max(cell, 30))
    numbers = stone_board.move_numbers(boards, text_board.FREE)
    size = stone_board.boards_size(boards[0], look)
    colour = themes.background(theme)
    frames = [
        stone_board.board_shapes(cells, game.letters, of_cells, look)
        for cells, of_cells in zip(boards, numbers, strict=True)
    ]
    behind = shapes.filled(size, colour)
    drawn = [behind + "".join(map(shapes.svg_element, frame)) for frame in frames]
    title = f"{name}, move by move" if len(drawn) > 1 else name
    svg = animations.animated(drawn, size, seconds, title.replace("_", " "))
    return Picture(svg, functools.partial(shapes.rendered, frames[-1], size, colour))


def _cells(game: Game, env_state: pgx.State) -> Shaped[np.ndarray, "B H W"]:
    """Return the cells of a state, or of a batch of them, as letters."""
    one = env_state.terminated.ndim == 0
    batch = (lambda x: jnp.asarray(x)[None]) if one else jnp.asarray
    env_state = jax.tree.map(batch, env_state)
    first = np.asarray(pgx_games.first_to_move(env_state))
    boards = [
        text_board.grid(board, "first" if is_first else "second", game.letters)
        for board, is_first in zip(
            np.asarray(env_state.observation), first, strict=True
        )
    ]
    return np.stack(boards)


def _drawn_by_pgx(
    env_states: Sequence[pgx.State], theme: Theme, seconds: float
) -> Picture:
    """Draw states of a game whose pieces only PGX can draw."""
    frames, size = [], (0.0, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "board.svg"
        for state in env_states:
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
    title = f"{env_states[0].env_id}, move by move".replace("_", " ")
    return Picture(animations.animated(frames, size, seconds, title))


def random_games(env_id: EnvId, num_games: int, seed: int = 0) -> list[pgx.State]:
    """Play random games until all are over; return the states after every move.

    Each is a batch of `num_games`, the first one of games not begun.
    """
    env = pgx_games.make_env(env_id)
    init_key, key = jax.random.split(jax.random.key(seed))
    states = [pgx_games.init(env, init_key, num_games)]
    while not pgx_games.finished(states[-1]).all():
        key, move_key = jax.random.split(key)
        moves = players.random_player(move_key, states[-1])
        states.append(pgx_games.play_moves(env, states[-1], moves))
    return states


def replay(env_id: EnvId, actions: Sequence[int], seed: int = 0) -> list[pgx.State]:
    """Return the states of one game, from before the first move to after the last.

    `seed` decides who has which of PGX's player numbers; boards don't show it.
    """
    env = pgx_games.make_env(env_id)
    states = [pgx_games.init(env, jax.random.key(seed), 1)]
    for action in actions:
        states.append(
            pgx_games.play_moves(env, states[-1], jnp.array([action], jnp.int32))
        )
    return [jax.tree.map(lambda x: x[0], state) for state in states]


def self_play_states(agent: Agent) -> list[pgx.State]:
    """Return the states of the agent's likeliest game against itself.

    Raises:
        ValueError: the game is too large to enumerate.
    """
    game = agent.config.env_id
    tree = trees.enumerated(game)
    probs = network.greedy_policy(agent.network, agent.params, tree)
    line = proof.self_play_line(tree, np.asarray(probs))
    return replay(game, line)


def find(env_id: EnvId, cells: str) -> int:
    """Return the position that `text_board.cells_as_text` writes as `cells`.

    Raises:
        ValueError: there is no such board, no play reaches it, or its game is over.
    """
    tree = trees.enumerated(env_id)
    size = math.prod(GAMES[env_id].shape)
    first, second = text_board.letters_of(env_id)
    worth = {first: 1, second: -1, text_board.FREE: 0}
    if len(cells) != size or not worth.keys() >= set(cells):
        raise ValueError(f"not {size} of {first}, {second} and what is free")
    mover = 1 if cells.count(first) == cells.count(second) else -1
    features = [mover * worth[cell] for cell in cells]
    number = stones.number(jnp.array([features], jnp.float32))
    position = int(positions.index(env_id)[number][0])
    if text_board.cells_as_text(tree, position, (first, second)) != cells:
        raise ValueError("no play leads to this board")
    if position not in tree.decisions:
        raise ValueError("the game is over")
    return position


def values_picture(agent: Agent, position: int, theme: Theme = "light") -> Picture:
    """Draw what each move of a position is worth to its mover: learned, and exact.

    `position` is one to decide of an enumerable game; exact is the minimax value. -1 is
    a loss and 1 a win.
    """
    env_id, seats = agent.config.env_id, agent.config.seats
    tree = trees.enumerated(env_id)
    row = int(np.searchsorted(tree.decisions, position))
    learned = network.decision_values(agent.network, agent.params, tree)[row]
    exact = minimax.to_mover(tree, minimax.values(tree))[position]
    cells = text_board.tree_grid(tree, position, text_board.letters_of(env_id))
    worth = {"learned": np.asarray(learned), "exact": exact}
    notes = (mover_text(env_id, tree.to_move(position)),)
    if note := grade_text.learned_seat(env_id, seats):
        notes += (f"the agent {note}",)
    return on_board(cells, worth, ": ".join(notes), theme)


def mover_text(env_id: EnvId, seat: Seat) -> str:
    """Return who is to move, for instance `O to move`."""
    return f"{seat_name(env_id, seat)} to move"


def on_board(
    cells: Shaped[np.ndarray, "H W"],
    worth: dict[str, Float[np.ndarray, " A"]],
    title: str,
    theme: Theme = "light",
) -> Picture:
    """Draw the cells of `text_board.grid` with values on the free ones."""
    free = cells == text_board.FREE
    side = 3.4 * max(1, cells.shape[1] / 6)  # inches of a board
    with themes.style(theme):
        width = side * len(worth) + 1.2
        height = side * cells.shape[0] / cells.shape[1] + 0.6
        figure = new_figure(width, height)
        every = np.atleast_1d(figure.subplots(1, len(worth)))
        for axes, (name, row) in zip(every, worth.items(), strict=True):
            board = np.where(free, row.reshape(cells.shape), np.nan)
            axes.imshow(board, cmap="PuOr", vmin=-1, vmax=1)
            for (y, x), value in np.ndenumerate(board):
                _mark(axes, x, y, str(cells[y, x]), float(value), len(board) > 3)
            axes.set_title(name)
            rows, columns = (np.arange(n + 1) - 0.5 for n in cells.shape)
            axes.set_xticks(columns, [""] * len(columns))
            axes.set_yticks(rows, [""] * len(rows))
            axes.tick_params(length=0)
            axes.grid(visible=True, color="#808080", alpha=1)
        figure.suptitle(shortened(title, int(width / 0.13)))
        last = every[-1].images[0]
        figure.colorbar(last, ax=every, label="worth to the mover", shrink=0.8)
        return pictures.figure_picture(figure, theme)


def _mark(axes: "Axes", x: int, y: int, cell: str, value: float, small: bool) -> None:
    """Write a free cell's value, if it has one, or whose mark is there.

    The cells of `small` boards have little space.
    """
    if cell != text_board.FREE:
        size = 20 if small else 34
        axes.text(x, y, cell, fontsize=size, ha="center", va="center")
        return
    if math.isnan(value):  # a free cell where no move is legal
        return
    colour = "white" if abs(value) > 0.6 else "black"
    text = f"{round(value, 2) + 0.0:+.2f}"  # + 0.0: no minus before a zero
    size = 9 if small else 13
    axes.text(x, y, text, fontsize=size, color=colour, ha="center", va="center")
