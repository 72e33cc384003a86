"""A player's marks in an exam: how often its move keeps the position's value."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Array, Bool, Key

from jax_ttt.config.catalogue import EnvId
from jax_ttt.games import pgx_games
from jax_ttt.grading import questions
from jax_ttt.grading.grade import Exam, Mark, wilson_interval
from jax_ttt.grading.questions import Questions


def take_exam(
    env_id: EnvId, player: pgx_games.Player, asked: Questions, key: Key[Array, ""]
) -> Exam:
    """Return the marks of a player; `key` is consumed.

    Raises:
        UsageError: a question is no position of the game.
    """
    states = questions.asked_states(env_id, asked)
    action = np.asarray(jax.jit(player)(key, states))
    kept = asked.keeps[np.arange(len(action)), action]
    kinds, plies = np.array(asked.kinds), asked.plies
    return Exam(
        all=mark(kept),
        by_kind={kind: mark(kept[kinds == kind]) for kind in sorted({*asked.kinds})},
        by_ply={str(n): mark(kept[plies == n]) for n in sorted({*plies.tolist()})},
    )


def mark(kept: Bool[np.ndarray, " N"] | Sequence[bool]) -> Mark:
    """Return the share of value-keeping moves, with its 95 % interval."""
    count, number = int(np.sum(kept)), len(kept)
    return Mark(
        num_positions=number,
        share=count / number,
        interval=wilson_interval(count, number),
    )
