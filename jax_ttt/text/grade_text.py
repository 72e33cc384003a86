"""A grade as text: one line, tables, the verdict, the whole report."""

import time
from collections.abc import Callable, Sequence

from jax_ttt.config.game_facts import GAMES, SEATS, EnvId, Seat, seat_name
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game
from jax_ttt.grading.grade import (
    Details,
    Exam,
    ExamScore,
    Grade,
    Match,
    Rate,
    SeatGrade,
)
from jax_ttt.runtime.words import counted
from jax_ttt.solver.reach import OnBatch, Reach
from jax_ttt.text.board_text import game_boards
from jax_ttt.text.tables import aligned_lines

_PLIES = 4
"""Numbers of moves in a row of the exam's table."""
_RATES = ("win_rate", "draw_rate", "loss_rate")


def learned_seat(env_id: EnvId, seats: Sequence[Seat]) -> str:
    """Return the only seat that a player learned, in words; empty if both."""
    if len(seats) != 1:
        return ""
    (seat,) = seats
    return f"learned to move {seat} only, as {seat_name(env_id, seat)}"


def seat_phrase(env_id: EnvId, seat: Seat) -> str:
    """Return a seat's name in words, for instance `as X`."""
    return f"as {seat_name(env_id, seat)}"


def step_line(update: int, grade: Grade) -> str:
    """Return an evaluation in one line, in the format of Antognini's article.

    For instance `Step 200: Wins: 92.19%  Ties: 4.59%  Losses: 3.22%  | as X
    97.1/2.4/0.5  as O 87.3/6.8/5.9  | beatable`. A seat's results are exact if
    available, else sampled and marked as sampled. A search of what the agent reaches
    adds its losing ends.
    """
    marks = []
    if (mean := grade.mean_rates()) is not None:
        wins, draws, losses = (f"{rate:.2%}" for rate in mean)
        marks.append(f"Wins: {wins}  Ties: {draws}  Losses: {losses}")
        marks.append(
            "  ".join(
                f"{seat_phrase(grade.env_id, seat)} "
                + "/".join(f"{100 * rate.value:.1f}" for rate in rates.rates)
                for seat, rates in grade.rates.items()
            )
        )
    sampled: list[Seat] = [
        seat for seat, rates in grade.rates.items() if not rates.is_exact
    ]
    if mean is not None and sampled:
        games = sum(grade.rates[seat].num_games for seat in sampled)
        where = _only(grade.env_id, sampled)
        marks.append(f"{counted(games, 'game')} sampled{where}")
    if grade.searched:
        ends = ", ".join(
            f"{searched.losing_ends:,} {seat_phrase(grade.env_id, seat)}"
            for seat, searched in grade.searched.items()
        )
        marks.append(f"losing ends: {ends}")
    if grade.followed:
        marks.append(verdict_word(grade) + _only(grade.env_id, grade.seats))
    return f"Step {update}: {'  | '.join(marks) or 'not evaluated'}"


def _only(env_id: EnvId, seats: Sequence[Seat]) -> str:
    """Return ` as X` if that is the only seat, else nothing."""
    return f" {seat_phrase(env_id, seats[0])}" if len(seats) == 1 else ""


def verdict_word(grade: Grade) -> str:
    """Return in a word or two whether the player can be beaten."""
    return {True: "unbeatable", False: "beatable", None: "not decided"}[
        grade.unbeatable
    ]


def verdict(grade: Grade) -> str:
    """Return whether a player is unbeatable, or a shortest line that beats it.

    Where that is not decided, nothing is claimed.
    """
    if grade.unbeatable:
        where = " or ".join(seat_phrase(grade.env_id, seat) for seat in grade.seats)
        return (
            f"unbeatable: no line of play by any opponent wins against it, {where} "
            f"({_num_positions(grade)} positions)"
        )
    if grade.unbeatable is False:
        return _beatable(grade)
    if grade.searched:
        return "; ".join(
            f"not decided {_how_far(grade.seat(seat))} "
            f"{seat_phrase(grade.env_id, seat)}: no shorter line beats it"
            for seat in grade.seats
            if not _is_decided(grade.seat(seat))
        )
    if grade.sampled is not None:
        games, loss = grade.sampled.num_games, grade.sampled.both.loss
        return (
            f"nothing is proven: it lost {round(loss.value * games):,} of "
            f"{counted(games, 'sampled game')} against random, a loss rate of "
            f"{loss.low:.2%} to {loss.high:.2%} (95 % interval)"
        )
    if grade.exam is not None:
        return "nothing is proven: an exam only"
    return "not evaluated: nothing is proven"


def _is_decided(followed: SeatGrade | None) -> bool:
    return followed is not None and followed.unbeatable is not None


def _how_far(followed: SeatGrade | None) -> str:
    return f"beyond move {0 if followed is None else followed.num_moves}"


def _num_positions(grade: Grade) -> str:
    """Return the number of positions that a proof has followed, by seat or in all."""
    if grade.searched:
        sizes = [grade.searched[seat].num_positions for seat in grade.seats]
        return " and ".join(f"{size:,}" for size in sizes)
    return f"{trees.enumerated(grade.env_id).num_positions:,}"


def _beatable(grade: Grade) -> str:
    if grade.shortest_loss is None:
        return "beatable: a line of play by an opponent wins against it"
    seat, line = grade.shortest_loss
    rows, columns = GAMES[grade.env_id].shape
    places = {
        "cells": f"cells 0 to {rows * columns - 1}, row by row",
        "columns": f"columns 0 to {columns - 1}",
    }[GAMES[grade.env_id].moves_on or "cells"]
    return (
        "beatable: a shortest line that beats it, playing "
        f"{seat_phrase(grade.env_id, seat)} ({len(line)} moves; {places})\n"
        f"{game_boards(Game.start(grade.env_id, line))}"
    )


def full_report(grade: Grade, verdict: str, likeliest_game: Sequence[int] = ()) -> str:
    """Return the full report of a player, with its `verdict` as it is shown.

    `likeliest_game` are the moves of a game against itself.
    """
    parts = []
    if grade.followed:
        if grade.details is None:
            parts.append(rates_table(grade))
        else:
            parts.append(opponents_table(grade.env_id, grade.details))
    if grade.exam is not None:
        parts.append(exam_table(grade.exam))
    parts += [measures_table(grade), verdict]
    if likeliest_game:
        drawn = game_boards(Game.start(grade.env_id, likeliest_game))
        parts.append(f"its likeliest moves against itself\n{drawn}")
    if grade.sampled is not None:
        parts.append(match_table(grade, grade.sampled))
    return "\n\n".join(part for part in parts if part)


def rates_table(grade: Grade) -> str:
    """Return the results against random by seat, as percentages.

    They are exact where lines of play were followed, up to the games that are open,
    else sampled. Where games are open, sampled rates are left out. The last column is
    the rate of open games, the worst case of exact results, or the number of games.
    """
    rows: dict[Seat, SeatGrade] = {}
    is_open = any(followed.open_rate for followed in grade.followed.values())
    for seat in SEATS:
        rates = grade.seat(seat)
        if rates is None and not is_open:
            rates = grade.rates.get(seat)
        if rates is not None:
            rows[seat] = rates
    if not rows:
        return "not evaluated"
    digits = 4 if grade.searched else 3
    sampled = [rates for rates in rows.values() if rates.num_games]
    source = ""
    if not sampled:
        source = ", exact"
    elif len(sampled) == len(rows):
        source = ", sampled"
    name, last = _last_column([*rows.values()], digits)
    lines = [[f"vs. random{source}", "wins", "draws", "losses", name]]
    for (seat, rates), cell in zip(rows.items(), last, strict=True):
        cells = _percentages(rates.rates, digits)
        lines.append([seat_phrase(grade.env_id, seat), *cells, cell])
    mean = grade.mean_rates()
    if source == ", sampled" and grade.sampled is not None:
        both = grade.sampled.both
        cells = _percentages(both.rates, digits)
        lines.append(["all", *cells, f"{both.num_games:,}"])
    elif mean is not None and name != "open":
        lines.append(["mean", *(f"{rate:.{digits}%}" for rate in mean), ""])
    return "\n".join(aligned_lines(lines))


def _last_column(rows: Sequence[SeatGrade], digits: int) -> tuple[str, list[str]]:
    """Return what says how well the rates of the rows are known, or the worst case."""
    if any(rates.open_rate for rates in rows):
        return "open", [f"{rates.open_rate or 0:.{digits}%}" for rates in rows]
    if any(rates.num_games for rates in rows):
        games = [rates.num_games for rates in rows]
        return "games", [f"{number:,}" if number else "exact" for number in games]
    lost = [rates.worst_loss_rate for rates in rows]
    return "worst case", [
        "never loses" if rate == 0 else f"loses {rate:.0%}" for rate in lost
    ]


def _percentages(rates: Sequence[Rate], digits: int) -> list[str]:
    return [f"{rate.value:.{digits}%}" for rate in rates]


def opponents_table(env_id: EnvId, details: Details) -> str:
    """Return the exact results against each opponent as a table of percentages."""
    head = ["exact"]
    for seat in SEATS:
        head += [f"{seat_phrase(env_id, seat)}: wins", "draws", "losses"]
    lines = [
        [
            f"vs. {opponent}",
            *(
                f"{100 * rate.value:.3f}"
                for seat in SEATS
                for rate in match.seat(seat).rates
            ),
        ]
        for opponent, match in details.opponents.items()
    ]
    return "\n".join(aligned_lines([head, *lines]))


def measures_table(grade: Grade) -> str:
    """Return the other measures of a player, one per line; empty if there are none."""
    rows: list[list[str]] = []
    for seat, followed in grade.followed.items():
        rows += _seat_measures(seat_phrase(grade.env_id, seat), followed)
    if (details := grade.details) is not None:
        tree = trees.enumerated(grade.env_id)
        rows.append(
            [
                "optimal_move_rate",
                f"{details.optimal_move_rate:.3%} of all {len(tree.decisions):,} "
                f"positions, {details.reachable_optimal_move_rate:.3%} of the "
                f"{details.num_reachable:,} it can reach",
            ]
        )
        gain = f"{details.exploitability:.6f} (0: optimal, 1: always beaten)"
        rows.append(["exploitability", gain])
        if (error := details.mean_abs_q_error) is not None:
            moves = int(tree.legal_action_mask.sum())
            text = f"{error:.4f} on average over {moves:,} legal moves"
            rows.append(["|Q - minimax|", text])
    return "\n".join(aligned_lines(rows, left=(0, 1))) if rows else ""


def _seat_measures(name: str, followed: SeatGrade) -> list[list[str]]:
    rows = []
    if (num_positions := followed.num_positions) is not None:
        images = ", mirror images counted once" if followed.merged else ""
        rows.append([f"{name}: positions", f"{num_positions:,}{images}"])
    if (lines := followed.lines) is not None:
        text = f"{lines.won:,} won, {lines.drawn:,} drawn, {lines.lost:,} lost"
        rows.append([f"{name}: lines of play", text])
    if (losing_ends := followed.losing_ends) is not None:
        rows.append([f"{name}: losing ends", f"{losing_ends:,}"])
    if choices := followed.losing_choices:
        text = f"{choices:,} positions on losing lines with several moves"
        rows.append([f"{name}: choices to lose", text])
    if followed.open_rate:
        text = (
            f"games that last more than {followed.num_moves} moves; so the win rate is "
            f"{followed.win.low:.4%} to {followed.win.high:.4%}"
        )
        rows.append([f"{name}: open", text])
    return rows


def match_table(grade: Grade, match: Match) -> str:
    """Return a sampled match with its intervals, compared with the exact results."""
    seats = {seat_phrase(grade.env_id, seat): match.seat(seat) for seat in SEATS}
    rows = [["vs. random, sampled", "wins", "draws", "losses", "games"]]
    for name, rates in (seats | {"all": match.both}).items():
        cells = [
            f"{rate.value:.2%} ({rate.low:.2%} to {rate.high:.2%})"
            for rate in rates.rates
        ]
        rows.append([name, *cells, f"{rates.num_games:,}"])
    lines = [*aligned_lines(rows), "(in brackets: 95 % intervals)"]
    exact: dict[Seat, SeatGrade] = {
        seat: rates for seat, rates in grade.rates.items() if rates.is_exact
    }
    if exact:
        differences = [
            f"{seat_phrase(grade.env_id, seat)}, the exact {name} of {known.value:.3%} "
            "is outside the interval of the sample"
            for seat, rates in exact.items()
            for name, known, measured in zip(
                _RATES, rates.rates, match.seat(seat).rates, strict=True
            )
            if not measured.low <= known.value <= measured.high
        ]
        lines += differences or ["the sample agrees with the exact values"]
        if differences:
            lines.append(
                "1 in 20 intervals misses the exact value by chance; check with "
                "another --seed or more --games"
            )
    return "\n".join(lines)


def exam_table(exam: Exam) -> str:
    """Return the share of value-keeping moves: all, by kind, and by moves made."""
    rows = [["moves that keep the value", "share", "95 % interval"]]
    for name, mark in {"all": exam.all, **exam.by_kind}.items():
        low, high = mark.interval
        label = f"{name} ({mark.num_positions:,} positions)"
        rows.append([label, f"{mark.share:.1%}", f"{low:.1%} to {high:.1%}"])
    return "\n".join([*aligned_lines(rows), *_by_ply(exam.by_ply)])


def _by_ply(marks: dict[str, ExamScore]) -> list[str]:
    plies = list(marks.items())
    rows = []
    for begin in range(0, len(plies), _PLIES):
        part = plies[begin : begin + _PLIES]
        first, last = part[0][0], part[-1][0]
        name = f"after {first} to {last} moves" if len(part) > 1 else f"after {first}"
        shares = [f"{mark.share:.1%}" for _, mark in part]
        rows.append([name, *shares, *[""] * (_PLIES - len(part))])
    return aligned_lines(rows) if rows else []


def search_progress(env_id: EnvId, name: str, say: Callable[[str], None]) -> OnBatch:
    """Return a function that shows how far each level is, a few times a second."""
    shown = 0.0

    def on_batch(reached: Reach, level: int, done: int) -> None:
        nonlocal shown
        if (now := time.monotonic()) - shown < 0.2:
            return
        shown = now
        bar = "#" * round(20 * done / len(reached.keys[level]))
        doing = "grading" if level == reached.num_expanded else "losing lines of"
        say(
            f"{doing} {name} {seat_phrase(env_id, reached.player.seat)}: "
            f"move {level + 1} |{bar:<20}| {reached.num_positions:,} positions"
        )

    return on_batch
