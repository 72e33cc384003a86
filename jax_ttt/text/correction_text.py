"""Corrections as text: the table by level, the progress of a search, the sentence."""

import time
from collections.abc import Callable

from jax_ttt.config.game_facts import GAMES, EnvId, Goal
from jax_ttt.grading.correcting import CorrectionResult, OnSearch
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver.find_corrections import Search
from jax_ttt.text.grade_text import level_tables, seat_phrase

_AIMS: dict[Goal, str] = {"not-lose": "is unbeatable", "win": "wins every game"}


def report(result: CorrectionResult) -> str:
    """Return the corrections of each seat by level, and what is proven with them."""
    parts = []
    for seat in result.grade.seats:
        number = result.num_corrections_in(seat)
        parts.append(f"{seat_phrase(seat)} with {count_phrase(number, 'correction')}")
    proven = f"proven: it {_AIMS[result.goal]} {' and '.join(parts)}"
    rule = "it needs at most so many: one rule finds them, and fewer may suffice"
    return "\n\n".join([*level_tables(result.levels), f"{proven}\n{rule}"])


def correcting_progress(env_id: EnvId, say: Callable[[str], None]) -> OnSearch:
    """Return a function that shows the progress of a search, a few times a second.

    The time left is that of the level.
    """
    last_time = level_start = 0.0
    level = -1
    rows, columns = GAMES[env_id].shape

    def on_search(
        search: Search, num_stones: int, num_positions: int, num_done: int, nodes: int
    ) -> None:
        nonlocal last_time, level_start, level
        now = time.monotonic()
        if num_stones != level:
            level, level_start = num_stones, now
        if now - last_time < 0.2:
            return
        last_time = now
        left = (now - level_start) * (num_positions - num_done) / max(num_done, 1)
        say(
            f"correcting {seat_phrase(search.player.seat)}: {num_stones} of "
            f"{rows * columns} stones, {num_done:,} of {num_positions:,} positions, "
            f"{count_phrase(search.num_corrections, 'correction')}, exact play "
            f"searched {nodes:,}, {left:.0f} s left here"
        )

    return on_search
