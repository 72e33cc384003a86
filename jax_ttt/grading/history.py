"""Rows of an agent's history as plain data: its exact results after an update.

Axes: `P` positions, `A` actions.
"""

from collections.abc import Mapping
from typing import TypedDict

import numpy as np
from jaxtyping import Float

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.games.tree import Tree
from jax_ttt.grading import exact as grades
from jax_ttt.grading.grade import Rates
from jax_ttt.solver import policies, proof


class SideResults(TypedDict):
    """What an agent achieves with one side against a random player."""

    wins: float
    draws: float
    losses: float
    optimal: float | None  # how often it plays a best move


class HistoryRow(TypedDict):
    """The results after an update; what is unknown is None."""

    update: int
    games: int | None
    x: SideResults
    o: SideResults
    loss: float | None
    unbeatable: bool
    seconds: float | None


def history_row(
    update: int,
    rates: Mapping[Seat, Rates],
    unbeatable: bool,
    optimal: Mapping[Seat, float] | None = None,
    *,
    games: int | None = None,
    loss: float | None = None,
    seconds: float | None = None,
) -> HistoryRow:
    """Return a row; what is unknown is None.

    `rates` are those against a random player. `optimal` is of `optimal_by_seat`.
    """

    def results(seat: Seat) -> SideResults:
        wins, draws, losses = rates[seat].all_rates
        return {
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "optimal": None if optimal is None else optimal[seat],
        }

    return {
        "update": update,
        "games": games,
        "x": results("first"),
        "o": results("second"),
        "loss": loss,
        "unbeatable": unbeatable,
        "seconds": seconds,
    }


def measured_row(
    tree: Tree, update: int, probs: Float[np.ndarray, "P A"]
) -> HistoryRow:
    """Return the row of a policy, measured exactly."""
    rates = grades.rates_by_seat(tree, probs, policies.uniform(tree))
    proven = bool(proof.unbeatable(tree, probs, SEATS))
    return history_row(update, rates, proven, optimal_by_seat(tree, probs))


def optimal_by_seat(tree: Tree, probs: Float[np.ndarray, "P A"]) -> dict[Seat, float]:
    """Return how often a policy plays a best move, over all positions of each seat."""
    return {seat: grades.optimal_move_rate(tree, probs, (seat,)).all for seat in SEATS}
