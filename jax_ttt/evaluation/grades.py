"""How strong a player is, in plain numbers: against whom, how often, how provably.

Rates are fractions, 0 to 1. Axes: `P` positions, `A` actions.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.config.choices import LEARNED, RATES
from jax_ttt.envs.tree import Tree
from jax_ttt.solver import best_response, minimax, outcomes, policies, proof

_BOTH = LEARNED["both"]


def exactly(
    tree: Tree, probs: Float[np.ndarray, "P A"], seats: Sequence[Seat]
) -> dict[str, Any]:
    """Return everything that the tree, of NumPy arrays, proves of a policy.

    The rates outside `opponents` are against random, by seat and their mean;
    `unbeatable` holds for `seats`, those that the player learned.
    """
    opponents = {
        "random": policies.uniform(tree),
        "minimax": minimax.policy(tree),
        "minimax-first": minimax.policy(tree, first_best=True),
        "best response": best_response.best_response(tree, probs),
    }
    rows = {name: _both(tree, probs, other) for name, other in opponents.items()}
    worst = _both(tree, probs, best_response.best_response(tree, probs, draw=-1.0))
    v_random = rows["random"]
    lines = [proof.lines(tree, probs, seat) for seat in SEATS]
    return {
        **{s: v_random[s] | {"worst_loss_rate": worst[s]["loss_rate"]} for s in _BOTH},
        **{r: sum(v_random[seat][r] for seat in _BOTH) / 2 for r in RATES},
        "unbeatable": bool(proof.unbeatable(tree, probs, seats)),
        "opponents": rows,
        "lines": {s: x._asdict() for s, x in zip(_BOTH, lines, strict=True)},
        "exploitability": best_response.exploitability(tree, probs),
        "optimal_move_rate": optimal_move_rate(tree, probs),
    }


def _both(
    tree: Tree, probs: Float[np.ndarray, "P A"], opponent: Float[np.ndarray, "P A"]
) -> dict[str, dict[str, float]]:
    first = outcomes.outcome(tree, probs, opponent)
    second = outcomes.Outcome(*outcomes.outcome(tree, opponent, probs)[::-1])
    rows = ([max(float(rate), 0.0) for rate in seat] for seat in (first, second))
    return {
        s: dict(zip(RATES, r, strict=True)) for s, r in zip(_BOTH, rows, strict=True)
    }


def optimal_move_rate(tree: Tree, probs: Float[np.ndarray, "P A"]) -> dict[str, Any]:
    """Return how often the policy plays a move that minimax might.

    `all`: over the positions to decide; `reachable`: over those among them that come
    up on its own turn against some opponent, `num_reachable` in all.
    """
    good = minimax.optimal_moves(tree, probs)
    reached = np.zeros(tree.num_positions, bool)
    for seat in SEATS:
        own = tree.moves_of(seat) & ~tree.terminal
        reached |= proof.reachable(tree, probs, seat) & own
    return {
        "all": float(good[tree.decisions].mean()),
        "reachable": float(good[reached].mean()),
        "num_reachable": int(reached.sum()),
    }


def q_error(tree: Tree, q_values: Float[np.ndarray, "D A"]) -> float:
    """Return the mean of |Q - minimax| over the legal moves of all positions."""
    worth = minimax.to_mover(tree, minimax.values(tree))[tree.decisions]
    legal = tree.legal_action_mask[tree.decisions]
    return float(np.abs(q_values - worth)[legal].mean())


def best_known(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row's exact grades, or else its sampled ones; {} if it has neither.

    `row` is what `evaluation.summary` gives, or holds it.
    """
    return row.get("exact") or row.get("sampled") or {}


def is_proven(row: dict[str, Any]) -> bool:
    """Return whether a row's exact grades prove the agent unbeatable; not without any.

    `row` is as for `best_known`.
    """
    return row.get("exact", {}).get("unbeatable", False)


def disagreements(
    exact_rows: dict[str, dict[str, float]], sampled_rows: dict[str, dict[str, Any]]
) -> list[tuple[str, str]]:
    """Return the seats and rates whose exact value is outside the sample's interval."""
    found = []
    for seat in _BOTH:
        for rate in RATES:
            low, high = sampled_rows[seat][f"{rate}_interval"]
            if not low <= exact_rows[seat][rate] <= high:
                found.append((seat, rate))
    return found
