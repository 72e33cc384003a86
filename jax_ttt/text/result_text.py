"""Results as text: the line of an evaluation, tables and the verdict."""

from collections.abc import Sequence

import numpy as np

from jax_ttt.config.catalogue import SEATS, EnvId, Seat, seat_name
from jax_ttt.games.tree import Tree
from jax_ttt.grading.grade import (
    RATES,
    Exact,
    FullExact,
    FullGrades,
    Grades,
    Rate,
    Rates,
    Sampled,
    SampledRates,
)
from jax_ttt.grading.statistics import wilson_interval
from jax_ttt.runtime.words import counted
from jax_ttt.solver import proof
from jax_ttt.text import board, exam_text, reached_text


def step_line(
    env_id: EnvId, update: int, grades: Grades, seats: Sequence[Seat] = SEATS
) -> str:
    """Return an evaluation in one line, in the format of Antognini's article.

    For instance `Step 200: Wins: 92.19%  Ties: 4.59%  Losses: 3.22%  | as X
    97.1/2.4/0.5  as O 87.3/6.8/5.9  | beatable`. A seat's results are exact if
    available, else sampled and marked as sampled. `seats` are those that the agent
    learns. A search of what the agent reaches adds its losing ends.
    """
    mean = grades.mean()
    if mean is None:
        found = _searched(env_id, grades) if grades.reached else "not evaluated"
        return f"Step {update}: {found}"
    wins, draws, losses = (f"{rate:.2%}" for rate in mean.all_rates)
    by_seat = "  ".join(
        f"as {seat_name(env_id, seat)} "
        + "/".join(f"{100 * rate:.1f}" for rate in rates.all_rates)
        for seat, rates in grades.rates.items()
    )
    marks = []
    if sampled := _sampled_seats(grades):
        games = sum(rates.num_games for rates in sampled.values())
        marks.append(f"{counted(games, 'game')} sampled{_only(env_id, [*sampled])}")
    if grades.reached:
        marks.append(_searched(env_id, grades))
    elif grades.exact:
        mark = "unbeatable" if grades.exact.unbeatable else "beatable"
        marks.append(mark + _only(env_id, seats))
    rates = f"Wins: {wins}  Ties: {draws}  Losses: {losses}"
    return "  | ".join([f"Step {update}: {rates}", by_seat, *marks])


def _sampled_seats(grades: Grades) -> dict[Seat, SampledRates]:
    """Return the best known rates of the seats in which they are sampled."""
    found = grades.rates.items()
    return {seat: rates for seat, rates in found if isinstance(rates, SampledRates)}


def _only(env_id: EnvId, seats: Sequence[Seat]) -> str:
    """Return ` as X` if that is the only seat, else nothing."""
    return f" as {seat_name(env_id, *seats)}" if len(seats) == 1 else ""


def _searched(env_id: EnvId, grades: Grades) -> str:
    """Return the losing ends by seat, and whether the player is unbeatable."""
    seats = (grades.reached or {}).items()
    ends = ", ".join(
        f"{found.losing_ends:,} as {seat_name(env_id, seat)}" for seat, found in seats
    )
    mark = "beatable" if grades.has_verdict else "not decided"
    return f"losing ends: {ends}  | {'unbeatable' if grades.is_proven else mark}"


def evaluation_table(env_id: EnvId, grades: Grades) -> str:
    """Return an evaluation as a table of percentages by seat.

    Its last column is the worst case of exact results, or, if a seat's are sampled, the
    number of games.
    """
    mean = grades.mean()
    if mean is None:
        return "not evaluated"
    all_exact = not _sampled_seats(grades)
    if all_exact:
        title, last = "vs. random, exact", "  worst case"
    else:
        all_sampled = isinstance(mean, Sampled)
        title = "vs. random, sampled" if all_sampled else "vs. random"
        last = "     games"
    lines = [f"{title:<20}{'wins':>9}{'draws':>9}{'losses':>9}{last}"]
    for seat, rates in grades.rates.items():
        if isinstance(rates, SampledRates):
            last = f"{rates.num_games:>10,}"
        elif all_exact:
            lost = rates.worst_loss_rate
            last = f"{'never loses' if lost == 0 else f'loses {lost:.0%}':>13}"
        else:
            last = f"{'exact':>10}"
        lines.append(_row(f"as {seat_name(env_id, seat)}", rates) + last)
    if isinstance(mean, Sampled):
        lines.append(_row("all", mean) + f"{mean.num_games:>10,}")
    else:
        lines.append(_row("mean", mean))
    return "\n".join(lines)


def _row(name: str, rates: Rates) -> str:
    cells = "".join(f"{rate:>9.3%}" for rate in rates.all_rates)
    return f"{name:<20}{cells}"


def verdict(
    env_id: EnvId,
    grades: Grades,
    tree: Tree | None,
    probs: np.ndarray | None,
    seats: Sequence[Seat],
) -> str:
    """Return whether a policy is unbeatable, or the shortest line that beats it.

    `seats` are those that the player learned. `tree` and `probs` hold NumPy arrays;
    without them, the verdict is that of the sampled match.
    """
    if grades.reached:
        return reached_text.reached_verdict(env_id, grades.reached)
    if isinstance(grades, FullGrades) and grades.exam and not grades.rates:
        return "nothing is proven: an exam only"
    if tree is None or probs is None:
        return sampled_verdict(grades)
    learned: dict[Seat, str] = {seat: seat_name(env_id, seat) for seat in seats}
    if proof.unbeatable(tree, probs, seats):
        where = " or ".join(f"as {name}" for name in learned.values())
        return (
            "unbeatable: no line of play by any opponent wins against it, "
            f"{where} ({tree.num_positions:,} positions)"
        )
    lines = [
        (line, name)
        for seat, name in learned.items()
        if (line := proof.losing_line(tree, probs, seat)) is not None
    ]
    line, name = min(lines, key=lambda pair: len(pair[0]))
    last_cell = tree.legal_action_mask.shape[1] - 1
    drawn = board.side_by_side(tree, line)
    return (
        f"beatable: the shortest line that beats it, playing as {name} "
        f"({len(line)} moves; cells 0 to {last_cell}, row by row)\n{drawn}"
    )


def grades_text(
    env_id: EnvId,
    grades: FullGrades,
    tree: Tree | None,
    probs: np.ndarray | None,
    verdict: str,
) -> str:
    """Return the full report of a player; `tree` and `probs` hold NumPy arrays."""
    parts = [verdict]
    if grades.exact is not None and tree is not None and probs is not None:
        parts.insert(0, strength(env_id, grades.exact))
        parts.append(measures(env_id, grades.exact, tree))
        pictures = likeliest_game(env_id, tree, probs)
        parts.append(f"its likeliest moves against itself\n{pictures}")
    if grades.exam:
        parts.insert(0, exam_text.exam_table(grades.exam))
    if grades.reached:
        parts.insert(0, reached_text.reached_table(env_id, grades.reached))
    if grades.sampled is not None:
        parts.append(sampled_match_text(env_id, grades.sampled, grades.exact))
    return "\n\n".join(parts)


def likeliest_game(env_id: EnvId, tree: Tree, probs: np.ndarray) -> str:
    """Return the policy's likeliest game against itself, board by board."""
    line = proof.self_play_line(tree, probs)
    return board.side_by_side(tree, line)


def strength(env_id: EnvId, exact: FullExact) -> str:
    """Return the results against each opponent as a table of percentages."""
    head = "".join(
        f"{f'as {seat_name(env_id, seat)}: wins':>15}{'draws':>8}{'losses':>8}"
        for seat in SEATS
    )
    lines = [f"{'exact':<18}{head}"]
    for opponent, rows in exact.opponents.items():
        cells = "".join(
            f"{100 * rate:>{width}.3f}"
            for seat in SEATS
            for rate, width in zip(rows[seat].all_rates, (15, 8, 8), strict=True)
        )
        lines.append(f"{'vs. ' + opponent:<18}{cells}")
    return "\n".join(lines)


def measures(env_id: EnvId, exact: FullExact, tree: Tree) -> str:
    """Return the other exact measures of a player, one per line."""
    optimal = exact.optimal_move_rate
    played = "; ".join(
        f"as {seat_name(env_id, seat)} "
        f"{found.won:,} won, {found.drawn:,} drawn, {found.lost:,} lost"
        for seat, found in exact.lines.items()
    )
    rows = {
        "lines of play": played,
        "optimal_move_rate": f"{optimal.all:.3%} of all {len(tree.decisions):,} "
        f"positions, {optimal.reachable:.3%} of the "
        f"{optimal.num_reachable:,} it can reach",
        "exploitability": f"{exact.exploitability:.6f} (0: optimal, 1: always beaten)",
    }
    if (error := exact.mean_abs_q_error) is not None:
        moves = int(tree.legal_action_mask.sum())
        rows["|Q - minimax|"] = f"{error:.4f} on average over {moves:,} legal moves"
    return "\n".join(f"{name:<20}{text}" for name, text in rows.items())


def sampled_match_text(env_id: EnvId, sampled: Sampled, exact: Exact | None) -> str:
    """Return a sampled match with its intervals, compared with the exact results."""
    head = "".join(f"{name:>29}" for name in ("wins", "draws", "losses"))
    lines = [f"{'vs. random, sampled':<20}{head}{'games':>9}"]
    rows: dict[str, SampledRates] = {
        f"as {seat_name(env_id, seat)}": sampled.seat(seat) for seat in SEATS
    }
    for name, row in (rows | {"all": sampled}).items():
        cells = "".join(_with_interval(row, rate) for rate in RATES)
        lines.append(f"{name:<20}{cells}{row.num_games:>9,}")
    lines.append("(in brackets: 95 % intervals)")
    if exact is not None and sampled.disagreements is not None:
        lines += [
            f"as {seat_name(env_id, found.seat)}, the exact {found.rate} of "
            f"{exact.seat(found.seat).rate(found.rate):.3%} is outside the interval of "
            "the sample"
            for found in sampled.disagreements
        ] or ["the sample agrees with the exact values"]
    if sampled.disagreements:
        lines.append(
            "1 in 20 intervals misses the exact value by chance; check with another "
            "--seed or more --games"
        )
    return "\n".join(lines)


def _with_interval(row: SampledRates, rate: Rate) -> str:
    low, high = row.interval(rate)
    return f"{f'{row.rate(rate):.2%} ({low:.2%} to {high:.2%})':>29}"


def sampled_verdict(grades: Grades) -> str:
    """Return the loss rate of a sampled match with its interval."""
    result = grades.sampled
    if result is None:
        return "not evaluated: nothing is proven"
    lost = round(result.loss_rate * result.num_games)
    low, high = wilson_interval(lost, result.num_games)
    return (
        f"nothing is proven: it lost {lost:,} of "
        f"{counted(result.num_games, 'sampled game')} against random, "
        f"a loss rate of {low:.2%} to {high:.2%} (95 % interval)"
    )


def learned_seat(env_id: EnvId, seats: Sequence[Seat]) -> str:
    """Return the only seat that a player learned, in words; empty if both."""
    if len(seats) != 1:
        return ""
    (seat,) = seats
    return f"learned to move {seat} only, as {seat_name(env_id, seat)}"
