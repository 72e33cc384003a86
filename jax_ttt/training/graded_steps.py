"""The steps of a run with their grades, and as rows of metrics."""

from collections.abc import Iterator

from jax_ttt.files.rows import Chunk, Evaluated, Row
from jax_ttt.grading import evaluation
from jax_ttt.grading.grade import Grades
from jax_ttt.training.run_state import Progress

UNGRADED = Grades()


def with_grades(
    steps: Iterator[Progress], grades: Grades = UNGRADED
) -> Iterator[tuple[Progress, Grades]]:
    """Yield the steps of an agent's run, each with the grades of its last evaluation.

    `grades` are those before the first step.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    for progress in steps:
        if progress.evaluation is not None:
            grades = evaluation.summary(progress.evaluation)
        yield progress, grades


def row(progress: Progress, grades: Grades) -> Row:
    """Return a step as a row of metrics, for a chunk or an evaluation."""
    counts = vars(progress.counts())
    if (metrics := progress.metrics) is None:
        return Evaluated(**counts, **vars(grades))
    return Chunk(
        **counts,
        loss=float(metrics.loss),
        grad_norm=float(metrics.grad_norm),
        mean_max_q=float(metrics.mean_max_q),
        epsilon=float(metrics.epsilon),
        learning_rate=float(metrics.learning_rate),
        rows=int(metrics.rows),
    )
