"""Markdown of the pages that tools write: tables, and the scores of an exam."""

from collections.abc import Iterable, Sequence

from jax_ttt.config.grade import Exam


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def exam_cells(exam: Exam) -> list[str]:
    """Return the scores of all, random and tactical positions with their intervals."""
    scores = [exam.all, *(exam.by_kind[kind] for kind in ("random", "tactical"))]
    return [
        f"{score.share:.1%} ({score.interval[0]:.1%} to {score.interval[1]:.1%})"
        for score in scores
    ]
