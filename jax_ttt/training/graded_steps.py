"""The steps of a run with their grades, and as rows of metrics."""

from collections.abc import Iterator

from jax_ttt.evaluation import evaluation
from jax_ttt.results.grades import Grades
from jax_ttt.results.rows import Chunk, Evaluated, Row
from jax_ttt.training.run_state import Progress


def with_grades(steps: Iterator[Progress]) -> Iterator[tuple[Progress, Grades]]:
    """Yield the steps of an agent's run, each with the grades of its last evaluation.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    last, grades = None, Grades()
    for progress in steps:
        if progress.state.last is not None and progress.state.last is not last:
            last = progress.state.last
            grades = evaluation.summary(last)
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
