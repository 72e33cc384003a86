"""Games as SVG: positions, games as they go, and what an agent thinks of a position.

PGX draws the boards, of every game it has; values on boards need the extra `plots`.
"""

import math
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jaxtyping import Float, Shaped

from jax_ttt.config.catalogue import GAMES, EnvId
from jax_ttt.envs import pgx_games, positions, stones
from jax_ttt.envs import tree as trees
from jax_ttt.players import network, players
from jax_ttt.players.agents import Agent
from jax_ttt.reports import pictures, result_text, text_board
from jax_ttt.reports.pictures import Picture, Theme
from jax_ttt.solver import minimax, proof


def position_picture(env_state: pgx.State, theme: Theme = "light") -> Picture:
    """Draw a state, or a batch of them in a square."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "board.svg"
        env_state.save_svg(path, color_theme=theme)
        return Picture(path.read_text("utf-8"))


def animation(
    env_states: Sequence[pgx.State], theme: Theme = "light", seconds: float = 0.8
) -> Picture:
    """Draw states, or batches of them, one after another for `seconds` each.

    It begins anew after the last one, which stays for three times as long.
    """
    frames = [*env_states, env_states[-1], env_states[-1]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.svg"
        pgx.save_svg_animation(
            frames, path, color_theme=theme, frame_duration_seconds=seconds
        )
        text = path.read_text("utf-8")
    # PGX names the frames alike in all its files: two on one page would mix.
    tag = f"g{zlib.crc32(text.encode()):x}"
    for name, own in (
        ("_fr", f"{tag}_"),
        (".frame{", f".{tag}{{"),
        ('class="frame"', f'class="{tag}"'),
        ("linear _k ", f"linear k{tag} "),
        ("@keyframes _k{", f"@keyframes k{tag}{{"),
    ):
        text = text.replace(name, own)
    return Picture(text)


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
        ValueError: the game's tree is too large to walk.
    """
    game = agent.config.env_id
    tree = trees.enumerated(game)
    probs = network.greedy_policy(agent.network, agent.params, tree)
    line = proof.self_play_line(tree, np.asarray(probs))
    return replay(game, [action for _, action in line])


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

    `position` is one to decide of a game that can be walked; exact is the minimax
    value. -1 is a loss and 1 a win.
    """
    tree = trees.enumerated(agent.config.env_id)
    row = int(np.searchsorted(tree.decisions, position))
    learned = network.decision_values(agent.network, agent.params, tree)[row]
    exact = minimax.to_mover(tree, minimax.values(tree))[position]
    letters = text_board.letters_of(agent.config.env_id)
    cells = text_board.tree_grid(tree, position, letters)
    seats = agent.config.seats
    return on_board(
        cells,
        {"learned": np.asarray(learned), "exact": exact},
        theme,
        title=result_text.learned_seat(agent.config.env_id, seats),
    )


def on_board(
    cells: Shaped[np.ndarray, "H W"],
    worth: dict[str, Float[np.ndarray, " A"]],
    theme: Theme = "light",
    title: str = "",
) -> Picture:
    """Draw the cells of `text_board.grid` with values on the free ones."""
    from matplotlib.figure import Figure

    free = cells == text_board.FREE
    with pictures.style(theme):
        figure = Figure(figsize=(3.4 * len(worth) + 0.8, 3.6), layout="constrained")
        every = np.atleast_1d(figure.subplots(1, len(worth)))
        for axes, (name, row) in zip(every, worth.items(), strict=True):
            board = np.where(free, row.reshape(cells.shape), np.nan)
            axes.imshow(board, cmap="PuOr", vmin=-1, vmax=1)
            for (y, x), value in np.ndenumerate(board):
                _mark(axes, x, y, str(cells[y, x]), float(value))
            axes.set_title(name)
            rows, columns = (np.arange(size + 1) - 0.5 for size in cells.shape)
            axes.set_xticks(columns, [""] * len(columns))
            axes.set_yticks(rows, [""] * len(rows))
            axes.tick_params(length=0)
            axes.grid(visible=True, color="#808080", alpha=1)
        if title:
            figure.suptitle(title)
        last = every[-1].images[0]
        figure.colorbar(last, ax=every, label="worth to the mover", shrink=0.8)
        return pictures.figure_picture(figure)


def _mark(axes: Any, x: int, y: int, cell: str, value: float) -> None:  # noqa: ANN401
    """Write a free cell's value, if it has one, or whose mark is there."""
    style: dict[str, Any] = {"ha": "center", "va": "center"}
    if cell != text_board.FREE:
        axes.text(x, y, cell, fontsize=34, **style)
        return
    if math.isnan(value):  # a free cell where no move is legal
        return
    colour = "white" if abs(value) > 0.6 else "black"
    text = f"{round(value, 2) + 0.0:+.2f}"  # + 0.0: no minus before a zero
    axes.text(x, y, text, fontsize=13, color=colour, **style)
