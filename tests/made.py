"""Invented data for tests: moves, rates, grades, rows of metrics and steps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jax_ttt.api.cross_table import CrossTable
from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.config.grade import (
    Evidence,
    Grade,
    Lines,
    Match,
    Pair,
    Rates,
    SeatGrade,
)
from jax_ttt.dqn import metrics as training_metrics
from jax_ttt.dqn.equations import Transition
from jax_ttt.dqn.metrics import GameCounts
from jax_ttt.files.metrics_rows import AgentResult, Evaluated, Trained
from jax_ttt.training.run_state import RunState, RunStep

COUNTS: dict[str, Any] = {"wins": 0, "losses": 0, "env_steps": 0, "seconds": 0.0}


def rates(wins, draws=0.0, losses=None, evidence: Evidence = "none"):
    """Return exact rates; losses are by default all other games."""
    losses = 1 - wins - draws if losses is None else losses
    return Rates.of((wins, draws, losses), evidence=evidence)


def exact(first, second, unbeatable=False, worst=(0.0, 0.0), **fields):
    """Return a grade from a tree; `first` and `second` are wins, draws and losses.

    If it is unbeatable, all games that it does not win are draws.
    """
    if unbeatable:
        first, second = ((wins, 1 - wins, 0) for wins, *_ in (first, second))
    seats = [
        SeatGrade(
            **vars(rates(*seat_rates, evidence="construction")),
            worst_loss_rate=float(worst_rate),
            complete=True,
            beaten=not unbeatable,
        )
        for seat_rates, worst_rate in zip((first, second), worst, strict=True)
    ]
    defaults: dict[str, Any] = {"env_id": "tic_tac_toe"}
    return Grade(**(defaults | fields), first=seats[0], second=seats[1])


def sampled(first, second, num_games=4):
    """Return a match with `num_games` in each seat; the seats are shares of them."""
    seats = [
        Rates.sampled(round(rate * num_games) for rate in rates(*seat_rates).rates)
        for seat_rates in (first, second)
    ]
    return Match(first=seats[0], second=seats[1])


def reached(**changes):
    """Return the results in a seat over all positions reached, by default a proof."""
    defaults: dict[str, Any] = {
        "win_rate": 0.75,
        "draw_rate": 0.25,
        "loss_rate": 0.0,
        "open_rate": 0.0,
        "complete": True,
        "num_moves": 16,
        "num_positions": 1234,
        "positions": (1, 4),
        "merged": True,
        "losing_ends": 0,
        "evidence": "construction",
        "lines": Lines(won=1000, drawn=20, lost=0),
    }
    fields = defaults | changes
    beaten, complete = fields["losing_ends"] > 0, fields["complete"]
    low = fields["win_rate"], fields["draw_rate"], fields["loss_rate"]
    high = low if complete else tuple(rate + fields["open_rate"] for rate in low)
    fields = {"low": low, "high": high} | fields
    worst = 1.0 if beaten else 0.0 if complete else None
    return SeatGrade(**({"beaten": beaten, "worst_loss_rate": worst} | fields))


def searched(first=True, second=True, **changes) -> dict[Seat, SeatGrade]:
    """Return searches of both seats; whether each is a proof, or one winning reply."""
    seats: dict[Seat, bool] = {"first": first, "second": second}
    return {
        seat: reached(losing_ends=0 if proven else 1, **changes)
        for seat, proven in seats.items()
    }


def grade(
    reached: Mapping[Seat, SeatGrade] | None = None,
    sampled: Match | None = None,
    env_id: EnvId = "connect_4x4",
    seats: tuple[Seat, ...] = SEATS,
):
    """Return a grade with these searches by seat and this match."""
    searches = reached or {}
    return Grade(
        env_id=env_id,
        seats=seats,
        first=searches.get("first"),
        second=searches.get("second"),
        sampled=sampled,
    )


def evaluated(update, graded=None, games=0):
    """Return a row of metrics at an evaluation, by default one that knows nothing."""
    return Evaluated(**COUNTS, update=update, games=games, grade=graded or grade())


def chunk(update, games=0, wins=0, losses=0, **metrics):
    """Return a row of metrics after a chunk of updates."""
    counts = COUNTS | {"games": games, "wins": wins, "losses": losses}
    values: dict[str, Any] = {
        "loss": 0.5,
        "grad_norm": 1.0,
        "mean_max_q": 0.0,
        "epsilon": 0.5,
    }
    values |= {"learning_rate": 0.1, "rows": 0}
    return Trained(**counts, update=update, **(values | metrics))


def agent(seed, graded=None, **fields):
    """Return the results of one agent, which diverged if it has no grade."""
    counts = COUNTS | {"update": 6, "games": 7, "seconds": 0.5} | fields
    return AgentResult(**counts, grade=graded, seed=seed, diverged=graded is None)


def cross_table(names, rates_of, sampled=()):
    """Return a cross table of exact rates, by row and column, and of counts of games.

    `sampled` are pairs of the place of a row and column and of the counts there.
    """
    pairs = [[rates(*of_pair) for of_pair in of_row] for of_row in rates_of]
    for (row, column), counts in sampled:
        pairs[row][column] = Rates.sampled(counts)
    return CrossTable(
        env_id="tic_tac_toe",
        names=tuple(names),
        pairs=tuple(
            Pair(first=first, second=second, **vars(pair))
            for first, row in zip(names, pairs, strict=True)
            for second, pair in zip(names, row, strict=True)
        ),
    )


def transition(**arrays: Any) -> Transition:
    """Return moves of NumPy arrays, which compiled functions also take."""
    return Transition(**arrays)


def progress(update, seconds=0.5, evaluation=None, num_agents=1):
    """Return a step of a batch of agents without the learner's arrays."""
    no_arrays: Any = None
    state = RunState(
        train_state=no_arrays,
        keys=np.zeros((num_agents, 2), np.uint32),
        updates_done=np.int64(update),
        evaluated=np.int64(-1 if evaluation is None else update),
        seconds=np.float64(seconds),
        counts=GameCounts(*[np.full(num_agents, 7)] * 4),
        metrics=training_metrics.no_updates((num_agents,)),
        diverged=np.zeros(num_agents, bool),
    )
    return RunStep(state, None, evaluation)
