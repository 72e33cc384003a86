"""The steps of a run with their grades, and as rows of metrics."""

from collections.abc import Iterator

from jax_ttt.config.settings import Config
from jax_ttt.files.rows import Chunk, Evaluated, Row
from jax_ttt.grading import evaluation
from jax_ttt.grading.grade import Grade
from jax_ttt.training.run_state import Progress


def ungraded(config: Config) -> Grade:
    """Return the grade of an agent with these settings before its first evaluation."""
    return Grade(env_id=config.env_id, seats=config.seats)


def with_grades(
    config: Config, steps: Iterator[Progress], grade: Grade
) -> Iterator[tuple[Progress, Grade]]:
    """Yield the steps of an agent's run, each with the grade of its last evaluation.

    `grade` is that before the first step.

    Raises:
        FloatingPointError: an action value is not finite.
    """
    for progress in steps:
        if progress.evaluation is not None:
            grade = evaluation.grade_of(config, progress.evaluation)
        yield progress, grade


def row(progress: Progress, grade: Grade) -> Row:
    """Return a step as a row of metrics, for a chunk or an evaluation."""
    counts = vars(progress.counts())
    if (metrics := progress.metrics) is None:
        return Evaluated(**counts, grade=grade)
    return Chunk(
        **counts,
        loss=float(metrics.loss),
        grad_norm=float(metrics.grad_norm),
        mean_max_q=float(metrics.mean_max_q),
        epsilon=float(metrics.epsilon),
        learning_rate=float(metrics.learning_rate),
        rows=int(metrics.rows),
    )
