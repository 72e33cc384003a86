"""The marks of an exam as text."""

from jax_ttt.grading.exam import Exam, Mark

_PLIES = 4
"""Numbers of moves in a row of the table."""


def exam_table(exam: Exam) -> str:
    """Return the share of value-keeping moves: all, by kind, and by moves made."""
    rows = [f"{'moves that keep the value':<28}{'share':>8}{'95 % interval':>20}"]
    rows.append(_row("all", exam.all))
    rows += [_row(kind, mark) for kind, mark in exam.by_kind.items()]
    plies = list(exam.by_ply.items())
    for begin in range(0, len(plies), _PLIES):
        part = plies[begin : begin + _PLIES]
        first, last = part[0][0], part[-1][0]
        name = f"after {first} to {last} moves" if len(part) > 1 else f"after {first}"
        rows.append(f"{name:<28}" + "".join(f"{x.share:>8.1%}" for _, x in part))
    return "\n".join(rows)


def _row(name: str, mark: Mark) -> str:
    low, high = mark.interval
    label = f"{name} ({mark.num_positions:,} positions)"
    return f"{label:<28}{mark.share:>8.1%}{f'{low:.1%} to {high:.1%}':>20}"
