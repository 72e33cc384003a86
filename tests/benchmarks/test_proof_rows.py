"""The update from which an agent stays proven, pass rates and the ceiling."""

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
def test_the_costs_are_those_at_the_first_and_the_lasting_proof(proofs, first, kept):
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
    figures = proof_rows.pass_rate("article", range(1, 11), [5, 8])
    assert (figures["proven"], figures["not_proven"]) == (8, [5, 8])
    # The Wilson interval for 8 of 10 in textbooks.
    np.testing.assert_allclose(figures["interval"], [49.0, 94.3], atol=0.05)
    out = capsys.readouterr().out
    assert "article: 8 of 10 seeds (1 to 10)" in out
    assert "(95 % interval: 49.0 to 94.3 %); not proven: 5, 8\n" in out
    proof_rows.pass_rate("article", [7], [])
    assert "article: 1 of 1 seed (7 to 7)" in capsys.readouterr().out


def test_an_agent_at_the_ceiling_reaches_it_in_both_seats(capsys):
    first, second = (191 / 192, 1 / 192), (866 / 945, 79 / 945)
    worse = (first[0] - 1 / 384, first[1] + 1 / 384)  # by one game in 384
    found = {
        1: made.exact(first, second, unbeatable=True),
        2: made.exact(worse, second, unbeatable=True),
        3: made.exact(first, (865 / 945, 80 / 945), unbeatable=True),
        4: made.exact(first, second, unbeatable=False),
    }
    figures = proof_rows.at_ceiling("default", found)
    assert (figures["at_ceiling"], list(figures["below_ceiling"])) == (1, [2, 3, 4])
    assert figures["below_ceiling"][2] == pytest.approx(95.4295, abs=1e-4)
    assert figures["wins"]["min"] == pytest.approx(95.4295, abs=1e-4)
    out = capsys.readouterr().out
    named = "2 (95.429), 3 (95.507), 4 (95.560)"
    assert f"at the ceiling of 95.5597 %: 1 of 4; below it: {named}\n" in out
    del found[1]
    proof_rows.at_ceiling("article", found)
    assert "95.5597 %: 0 of 3; below it: all\n" in capsys.readouterr().out
