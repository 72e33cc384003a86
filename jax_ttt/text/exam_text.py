"""The marks of an exam as text."""

from jax_ttt.grading.exam import Exam, Mark
from jax_ttt.text.tables import aligned

_PLIES = 4
"""Numbers of moves in a row of the table."""


def exam_table(exam: Exam) -> str:
    """Return the share of value-keeping moves: all, by kind, and by moves made."""
    rows = [("moves that keep the value", "share", "95 % interval")]
    rows.append(_row("all", exam.all))
    rows += [_row(kind, mark) for kind, mark in exam.by_kind.items()]
    by_ply = []
    plies = list(exam.by_ply.items())
    for begin in range(0, len(plies), _PLIES):
        part = plies[begin : begin + _PLIES]
        first, last = part[0][0], part[-1][0]
        name = f"after {first} to {last} moves" if len(part) > 1 else f"after {first}"
        shares = [f"{mark.share:.1%}" for _, mark in part]
        by_ply.append([name, *shares, *[""] * (_PLIES - len(part))])
    return "\n".join(aligned(rows) + (aligned(by_ply) if by_ply else []))


def _row(name: str, mark: Mark) -> tuple[str, str, str]:
    low, high = mark.interval
    label = f"{name} ({mark.num_positions:,} positions)"
    return label, f"{mark.share:.1%}", f"{low:.1%} to {high:.1%}"
