"""Exact grades of a policy, computed from the game's tree. NumPy, float64.

Axes: `P` positions, `A` actions, `D` decisions (positions with a move to choose), `N`
opponents, `S` seats.
"""

import itertools
from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float

from jax_ttt.config.game_facts import SEATS, EnvId, Seat
from jax_ttt.config.grade import Details, Evidence, Grade, Match, Rates, SeatGrade
from jax_ttt.games import position_keys
from jax_ttt.games.tree import Tree
from jax_ttt.solver import outcomes, policies, proof
from jax_ttt.solver.corrections import Corrections


def grade_policy(
    env_id: EnvId,
    tree: Tree[np.ndarray],
    probs: Float[np.ndarray, "P A"],
    evidence: Evidence,
    seats: tuple[Seat, ...] = SEATS,
    corrections: Corrections | None = None,
    mean_abs_q_error: float | None = None,
    with_details: bool = True,
) -> Grade:
    """Return the grade of a policy that learned these seats.

    `evidence` says how sure it is that the player plays this policy, which follows the
    player's `corrections` already. `mean_abs_q_error` is the result of `q_error`, None
    for a player without action values. Without details, the grade takes about half the
    time.
    """
    can_be_beaten = proof.can_be_beaten(tree, probs)  # first, as it checks the policy
    opponents = {
        "random": policies.uniform_policy(tree),
        "worst case": policies.best_response(tree, probs, draw=-1.0),
    }
    if with_details:
        opponents |= {
            "minimax": policies.minimax_policy(tree),
            "minimax-first": policies.minimax_policy(tree, first_best=True),
            "best response": policies.best_response(tree, probs),
        }
    matches = exact_matches(tree, probs, opponents, evidence)
    worst = matches.pop("worst case")
    optimal_rate = policies.optimal_moves(tree, probs)
    details = None
    if with_details:
        details = _details(tree, probs, matches, optimal_rate, mean_abs_q_error)
    first, second = _seat_grades(
        env_id=env_id,
        tree=tree,
        probs=probs,
        random=matches["random"],
        worst=worst,
        optimal_rate=optimal_rate,
        can_be_beaten=can_be_beaten,
        corrections=corrections,
    )
    return Grade(
        env_id=env_id, seats=seats, first=first, second=second, details=details
    )


def _details(
    tree: Tree[np.ndarray],
    probs: Float[np.ndarray, "P A"],
    matches: dict[str, Match],
    optimal_rate: Float[np.ndarray, " P"],
    mean_abs_q_error: float | None,
) -> Details:
    """Return what is known only of a policy over the whole tree."""
    decisions = {seat: proof.own_decisions(tree, probs, seat) for seat in SEATS}
    is_reached = decisions["first"] | decisions["second"]
    response = matches["best response"]
    gain = (response.second.loss_rate - response.second.win_rate) + (
        response.first.loss_rate - response.first.win_rate
    )
    return Details(
        opponents=matches,
        exploitability=gain / 2,
        optimal_move_rate=float(optimal_rate[~tree.terminal].mean()),
        reachable_optimal_move_rate=float(optimal_rate[is_reached].mean()),
        num_reachable=int(is_reached.sum()),
        mean_abs_q_error=mean_abs_q_error,
    )


def exact_matches(
    tree: Tree[np.ndarray],
    probs: Float[np.ndarray, "P A"],
    opponents: Mapping[str, Float[np.ndarray, "P A"]],
    evidence: Evidence,
) -> dict[str, Match]:
    """Return a policy's results against each of the opponents, by their names."""
    others = np.stack([*opponents.values()])
    as_first = outcomes.pairwise_outcomes(tree, probs[None], others)  # (1, N, 3)
    opponent_first = outcomes.pairwise_outcomes(tree, others, probs[None])  # (N, 1, 3)
    return {
        name: Match(
            first=Rates.of(as_first[0, place], evidence=evidence),
            second=Rates.of(opponent_first[place, 0], evidence=evidence).of_opponent(),
        )
        for place, name in enumerate(opponents)
    }


def _seat_grades(
    env_id: EnvId,
    tree: Tree[np.ndarray],
    probs: Float[np.ndarray, "P A"],
    random: Match,
    worst: Match,
    optimal_rate: Float[np.ndarray, " P"],
    can_be_beaten: Bool[np.ndarray, " S"],
    corrections: Corrections | None,
) -> list[SeatGrade]:
    """Return the grade of a policy in each seat.

    `random` and `worst` are its results against a random opponent and in the worst
    case, `optimal_rate` are its chances of a best move in each position, and
    `can_be_beaten` is the proof's result for both seats.
    """
    grades = []
    for place, seat in enumerate(SEATS):
        is_beaten, losing_line = bool(can_be_beaten[place]), None
        if is_beaten:
            losing_line = proof.losing_line(tree, probs, seat)
        decisions = tree.turns_of(seat) & ~tree.terminal
        grades.append(
            SeatGrade(
                **vars(random.seat(seat)),
                worst_loss_rate=worst.seat(seat).loss_rate,
                complete=True,
                beaten=is_beaten,
                losing_line=losing_line,
                lines=outcomes.count_lines(tree, probs, seat),
                optimal_move_rate=float(optimal_rate[decisions].mean()),
                corrections=None
                if corrections is None
                else _num_played(env_id, tree, probs, seat, corrections),
            )
        )
    return grades


def _num_played(
    env_id: EnvId,
    tree: Tree[np.ndarray],
    probs: Float[np.ndarray, "P A"],
    seat: Seat,
    corrections: Corrections,
) -> tuple[int, ...]:
    """Return the number of corrections that a policy plays at each level."""
    keys = position_keys.numbers_of(env_id, tree.env_state)
    is_played = np.isin(keys, corrections.keys) & proof.own_decisions(tree, probs, seat)
    levels = itertools.pairwise(tree.level_start)
    return tuple(int(is_played[begin:end].sum()) for begin, end in levels)


def q_error(tree: Tree[np.ndarray], q_values: Float[np.ndarray, "D A"]) -> float:
    """Return the mean of `|Q - minimax|` over the legal moves of all positions."""
    worth = policies.values_to_mover(tree, policies.minimax_values(tree))
    worth = worth[tree.decisions]
    legal = tree.legal_action_mask[tree.decisions]
    return float(np.abs(q_values - worth)[legal].mean())
