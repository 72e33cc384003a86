"""Invented data for tests: moves, rates, grades, rows of metrics and steps."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np

from jax_ttt.config.catalogue import Seat
from jax_ttt.dqn.equations import Transition
from jax_ttt.files.rows import AgentResult, Chunk, Evaluated
from jax_ttt.grading.grade import (
    Exact,
    Lines,
    Rates,
    Reached,
    Sampled,
    SampledRates,
    SeatExact,
)
from jax_ttt.grading.grade import mean_rates as mean
from jax_ttt.training.run_state import Progress

COUNTS: dict[str, Any] = {"wins": 0, "losses": 0, "env_steps": 0, "seconds": 0.0}


def rates(wins, draws=0.0, losses=None):
    """Return rates; losses are by default all other games."""
    losses = 1 - wins - draws if losses is None else losses
    parts = map(float, (wins, draws, losses))
    return Rates(
        **dict(zip(("win_rate", "draw_rate", "loss_rate"), parts, strict=True))
    )


def exact(first, second, unbeatable=False, worst=(0.0, 0.0)):
    """Return exact grades; `first` and `second` are wins, draws and losses."""
    seats = [
        SeatExact(**vars(rates(*found)), worst_loss_rate=float(most))
        for found, most in zip((first, second), worst, strict=True)
    ]
    return Exact(
        **vars(mean(*seats)), first=seats[0], second=seats[1], unbeatable=unbeatable
    )


def sampled_rates(found, num_games, intervals=((0.0, 1.0),) * 3):
    """Return sampled rates; `found` are wins, draws and losses."""
    names = ("win_rate_interval", "draw_rate_interval", "loss_rate_interval")
    ends = dict(zip(names, intervals, strict=True))
    return SampledRates(**vars(rates(*found)), num_games=num_games, **ends)


def sampled(first, second, num_games=4):
    """Return sampled grades with `num_games` in each seat."""
    seats = [sampled_rates(found, num_games) for found in (first, second)]
    both = sampled_rates(mean(*seats).all_rates, 2 * num_games)
    return Sampled(**vars(both), first=seats[0], second=seats[1])


def reached(**changes):
    """Return the results in a seat over all positions reached, by default a proof."""
    usual: dict[str, Any] = {
        **{"win_rate": 0.75, "draw_rate": 0.25, "loss_rate": 0.0, "open_rate": 0.0},
        **{"is_complete": True, "num_moves": 16, "num_positions": 1234},
        **{"positions": (1, 4), "merged": True, "losing_ends": 0},
        "lines": Lines(won=1000, drawn=20, lost=0),
    }
    return Reached(**(usual | changes))


def searched(first=True, second=True, **changes) -> dict[Seat, Reached]:
    """Return searches of both seats; whether each is a proof, or one losing end."""
    seats: dict[Seat, bool] = {"first": first, "second": second}
    return {
        seat: reached(losing_ends=0 if proven else 1, **changes)
        for seat, proven in seats.items()
    }


def evaluated(update, games=0, **grades):
    """Return a row of metrics at an evaluation."""
    return Evaluated(**COUNTS, update=update, games=games, **grades)


def chunk(update, games=0, wins=0, losses=0, **metrics):
    """Return a row of metrics after a chunk of updates."""
    counts = COUNTS | {"games": games, "wins": wins, "losses": losses}
    other: dict[str, Any] = {
        "loss": 0.5,
        "grad_norm": 1.0,
        "mean_max_q": 0.0,
        "epsilon": 0.5,
    }
    other |= {"learning_rate": 0.1, "rows": 0}
    return Chunk(**counts, update=update, **(other | metrics))


def agent(seed, exact=None, sampled=None, reached=None, **fields):
    """Return the results of one agent, which diverged if it has no grades."""
    grades: dict[str, Any] = {
        "exact": exact,
        "sampled": sampled,
        "reached": reached,
    }
    diverged = all(part is None for part in grades.values())
    about = COUNTS | {"update": 6, "games": 7, "seconds": 0.5} | fields
    return AgentResult(**about, **grades, seed=seed, diverged=diverged)


def with_seat(grades, seat, **changes):
    """Return grades with other results in one seat."""
    changed = dataclasses.replace(grades.seat(seat), **changes)
    return dataclasses.replace(grades, **{seat: changed})


def transition(**arrays: Any) -> Transition:
    """Return moves of NumPy arrays, which compiled functions also take."""
    return Transition(**arrays)


def progress(update, seconds=0.5, evaluation=None, num_agents=None):
    """Return a step of a run without a learner, of one or several agents."""
    shape = () if num_agents is None else (num_agents,)
    counts = dict.fromkeys(("games", "wins", "losses", "env_steps"), np.full(shape, 7))
    diverged = np.zeros(shape, bool)
    state: Any = SimpleNamespace(
        update=update, seconds=seconds, diverged=diverged, **counts
    )
    return Progress(state, None, evaluation)
