"""Results over all positions that a player reaches, as text: a table and a verdict."""

import time
from collections.abc import Callable, Mapping

import numpy as np

from jax_ttt.config.catalogue import GAMES, EnvId, Seat, seat_name
from jax_ttt.games.game import Game
from jax_ttt.grading.grade import Reached
from jax_ttt.grading.reached_grades import OnBatch
from jax_ttt.solver.reach import Reach
from jax_ttt.text import text_board


def reached_table(env_id: EnvId, grades: Mapping[Seat, Reached]) -> str:
    """Return the exact results by seat, and the measures of what was found."""
    head = "".join(f"{name:>10}" for name in ("wins", "draws", "losses", "open"))
    rows = [f"{'vs. random, exact':<24}{head}"]
    for seat, found in grades.items():
        rates = (*found.all_rates, found.open_rate)
        cells = "".join(f"{rate:>10.4%}" for rate in rates)
        rows.append(f"{f'as {seat_name(env_id, seat)}':<24}{cells}")
    for seat, found in grades.items():
        rows += ["", *_measures(f"as {seat_name(env_id, seat)}", found)]
    return "\n".join(rows)


def _measures(name: str, found: Reached) -> list[str]:
    lines = found.lines
    images = ", mirror images counted once" if found.merged else ""
    rows = {
        f"{name}: positions": f"{found.num_positions:,}{images}",
        "lines of play": f"{lines.won:,} won, {lines.drawn:,} drawn, {lines.lost:,} "
        "lost",
        "losing ends": f"{found.losing_ends:,}",
    }
    if found.losing_choices:
        rows["choices to lose"] = (
            f"{found.losing_choices:,} positions on losing lines with several moves"
        )
    if not found.is_complete:
        rows["open"] = (
            f"games that last more than {found.num_moves} moves; so the win rate is "
            f"{found.win_rate:.4%} to {found.win_rate + found.open_rate:.4%}"
        )
    return [f"{name:<24}{text}" for name, text in rows.items()]


def reached_verdict(env_id: EnvId, grades: Mapping[Seat, Reached]) -> str:
    """Return whether the player is unbeatable in its seats, or how it loses.

    If a seat is not decided, that is said and nothing is claimed.
    """
    lost: dict[Seat, tuple[int, ...]] = {
        seat: x.losing_line for seat, x in grades.items() if x.losing_line
    }
    if lost:
        seat, line = min(lost.items(), key=lambda pair: len(pair[1]))
        rows, columns = GAMES[env_id].shape
        places = {
            "cells": f"cells 0 to {rows * columns - 1}, row by row",
            "columns": f"columns 0 to {columns - 1}",
        }[GAMES[env_id].moves_on or "cells"]
        return (
            f"beatable: a shortest line that beats it, playing as "
            f"{seat_name(env_id, seat)} ({len(line)} moves; {places})\n"
            f"{drawn_line(env_id, line)}"
        )
    open_seats: dict[Seat, Reached] = {
        seat: x for seat, x in grades.items() if not x.is_complete
    }
    if open_seats:
        return "; ".join(
            f"not decided beyond move {x.num_moves} as {seat_name(env_id, seat)}: no "
            "shorter line beats it"
            for seat, x in open_seats.items()
        )
    where = " or ".join(f"as {seat_name(env_id, seat)}" for seat in grades)
    sizes = " and ".join(f"{x.num_positions:,}" for x in grades.values())
    return (
        f"unbeatable: no line of play by any opponent wins against it, {where} "
        f"({sizes} positions)"
    )


def progress(env_id: EnvId, name: str, say: Callable[[str], None]) -> OnBatch:
    """Return a function that shows how far each level is, a few times a second."""
    shown = 0.0

    def on_batch(found: Reach, level: int, done: int) -> None:
        nonlocal shown
        if (now := time.monotonic()) - shown < 0.2:
            return
        shown = now
        seat = seat_name(env_id, found.subject.seat)
        bar = "#" * round(20 * done / len(found.keys[level]))
        doing = "grading" if level == found.num_expanded else "losing lines of"
        say(
            f"{doing} {name} as {seat}: move {level + 1} |{bar:<20}| "
            f"{found.num_positions:,} positions"
        )

    return on_batch


def drawn_line(env_id: EnvId, line: tuple[int, ...], width: int = 80) -> str:
    """Return a game as boards side by side, in rows of at most `width` letters."""
    game, letters = Game.start(env_id, line), text_board.letters_of(env_id)
    after = [game.back_to(count) for count in range(len(line) + 1)]
    seats: list[Seat] = [there.to_move for there in after]
    boards = [
        text_board.grid(np.asarray(there.state.observation[0]), there.to_move, letters)
        for there in after
    ]
    columns = text_board.labelled(letters, seats[:-1], line, boards[1:])
    each = 3 + max(len(cell) for column in columns for cell in column)
    fit = max((width - 2) // each, 1)
    rows = [columns[begin : begin + fit] for begin in range(0, len(columns), fit)]
    return "\n\n".join(text_board.in_a_row(row) for row in rows)
