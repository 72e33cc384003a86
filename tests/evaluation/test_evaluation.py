"""The criteria that compare agents."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.evaluation.match_counts import Counts, Match


def test_a_sampled_match_ranks_an_agent_by_the_seats_that_it_learned():
    counts = [Counts(*map(jnp.int32, row)) for row in ((2, 1, 1), (0, 1, 3))]
    sampled = Evaluation(None, None, Match(*counts))
    sampled = jax.device_get(sampled)
    found = evaluation.criteria(sampled, "second")
    assert (found.proven, found.loss_rate, found.win_rate) == (False, 0.75, 0)
    found = evaluation.criteria(sampled, "both")
    assert (found.proven, found.loss_rate, found.win_rate) == (False, 0.5, 0.25)
    nothing = evaluation.criteria(Evaluation(None, None, None), "both")
    assert not nothing.proven
    assert np.isnan([nothing.loss_rate, nothing.win_rate]).all()
