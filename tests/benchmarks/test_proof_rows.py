"""When a proof counts, and how often there is one."""

import made
import numpy as np
import pytest

from jax_ttt.benchmarks import proof_rows
from jax_ttt.benchmarks.proof_rows import ProofRow, Spent


@pytest.mark.parametrize(
    ("proofs", "first", "kept"),
    [
        ([False, True, True], 1, 1),
        ([True, False, True], 0, 2),
        ([False, True, False], 1, None),
        ([False, False, False], None, None),
    ],
)
def test_a_proof_counts_from_where_it_stays(proofs, first, kept):
    costs = [Spent(10.0 * i, 15.0 * i, 25 * i, 99 * i) for i in range(3)]
    grades = [
        made.exact((spent.updates / 100,), (0.4,), proven)
        for spent, proven in zip(costs, proofs, strict=True)
    ]
    evaluations = zip(costs, grades, strict=True)
    assert proof_rows.proven_when(7, evaluations) == ProofRow(
        seed=7,
        first_proven=None if first is None else costs[first],
        proven_from=None if kept is None else costs[kept],
        end=costs[2],
        exact=grades[2],
    )


def test_an_agent_that_was_never_evaluated_is_refused():
    with pytest.raises(ValueError, match="seed 7: no evaluation"):
        proof_rows.proven_when(7, [])


def test_seeds_that_fail_are_named_and_the_rate_has_its_interval(capsys):
    spent, exact = Spent(1.0, 1.0, 25, 99), made.exact((1,), (1,), unbeatable=True)
    rows = [
        ProofRow(
            seed=seed,
            first_proven=spent,
            proven_from=None if seed in (5, 8) else spent,
            end=spent,
            exact=exact,
        )
        for seed in range(1, 11)
    ]
    figures = proof_rows.pass_rate("article", rows)
    assert figures["proven"] == 8
    # Wilson's interval for 8 of 10, as the textbooks have it.
    np.testing.assert_allclose(figures["interval"], [49.0, 94.3], atol=0.05)
    out = capsys.readouterr().out
    assert "article: 8 of 10 seeds (1 to 10)" in out
    assert "(95 % interval: 49.0 to 94.3 %); not proven: 5, 8\n" in out
