"""The full exact report of a policy, computed from the game's tree.

Rates are fractions, 0 to 1. Axes: `P` positions, `A` actions, `D` positions to decide.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.games.tree import Tree
from jax_ttt.grading.grade import (
    RATES,
    Disagreement,
    Exact,
    FullExact,
    Lines,
    OptimalMoveRate,
    Rates,
    Sampled,
    SeatExact,
    mean_rates,
)
from jax_ttt.solver import best_response, minimax, outcomes, policies, proof


def exactly(
    tree: Tree,
    probs: Float[np.ndarray, "P A"],
    seats: Sequence[Seat],
    mean_abs_q_error: float | None = None,
) -> FullExact:
    """Return the full report of a policy; `tree` holds NumPy arrays.

    `unbeatable` is for `seats`, which the player learned. `mean_abs_q_error` is the
    result of `q_error`, None for a player without action values.
    """
    opponents = {
        "random": policies.uniform(tree),
        "minimax": minimax.policy(tree),
        "minimax-first": minimax.policy(tree, first_best=True),
        "best response": best_response.best_response(tree, probs),
    }
    rows = {
        name: rates_by_seat(tree, probs, other) for name, other in opponents.items()
    }
    worst = rates_by_seat(
        tree, probs, best_response.best_response(tree, probs, draw=-1.0)
    )
    exact = {
        seat: SeatExact(**vars(rates), worst_loss_rate=worst[seat].loss_rate)
        for seat, rates in rows["random"].items()
    }
    lines: dict[Seat, Lines] = {
        seat: Lines(**proof.lines(tree, probs, seat)._asdict()) for seat in SEATS
    }
    return FullExact(
        **vars(mean_rates(exact["first"], exact["second"])),
        first=exact["first"],
        second=exact["second"],
        unbeatable=bool(proof.unbeatable(tree, probs, seats)),
        opponents=rows,
        lines=lines,
        exploitability=best_response.exploitability(tree, probs),
        optimal_move_rate=optimal_move_rate(tree, probs),
        mean_abs_q_error=mean_abs_q_error,
    )


def rates_by_seat(
    tree: Tree, probs: Float[np.ndarray, "P A"], opponent: Float[np.ndarray, "P A"]
) -> dict[Seat, Rates]:
    """Return the exact rates of a policy in both seats against an opponent's."""
    first = outcomes.outcome(tree, probs, opponent)
    second = outcomes.Outcome(*outcomes.outcome(tree, opponent, probs)[::-1])
    return {"first": _rates(first), "second": _rates(second)}


def _rates(outcome: outcomes.Outcome) -> Rates:
    # Rounding can make a sum of float64 slightly negative.
    found = outcome._asdict().items()
    return Rates(**{name: max(float(rate), 0.0) for name, rate in found})


def optimal_move_rate(
    tree: Tree, probs: Float[np.ndarray, "P A"], seats: Sequence[Seat] = SEATS
) -> OptimalMoveRate:
    """Return how often the policy plays a move that is optimal by minimax.

    Only the decisions of `seats` count.
    """
    good = minimax.optimal_moves(tree, probs)
    decided = np.zeros(tree.num_positions, bool)
    reached = np.zeros(tree.num_positions, bool)
    for seat in seats:
        decided |= tree.moves_of(seat) & ~tree.terminal
        reached |= proof.decided(tree, probs, seat)
    return OptimalMoveRate(
        all=float(good[decided].mean()),
        reachable=float(good[reached].mean()),
        num_reachable=int(reached.sum()),
    )


def q_error(tree: Tree, q_values: Float[np.ndarray, "D A"]) -> float:
    """Return the mean of `|Q - minimax|` over the legal moves of all positions."""
    worth = minimax.to_mover(tree, minimax.values(tree))[tree.decisions]
    legal = tree.legal_action_mask[tree.decisions]
    return float(np.abs(q_values - worth)[legal].mean())


def disagreements(exact: Exact, sampled: Sampled) -> tuple[Disagreement, ...]:
    """Return the seats and rates whose exact value is outside the sampled interval."""
    found = []
    for seat in SEATS:
        for rate in RATES:
            low, high = sampled.seat(seat).interval(rate)
            if not low <= exact.seat(seat).rate(rate) <= high:
                found.append(Disagreement(seat=seat, rate=rate))
    return tuple(found)
