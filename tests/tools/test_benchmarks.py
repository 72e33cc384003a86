"""The figures of the benchmark, computed by hand."""

import made
import pytest

from tools.benchmarks import time_to_proof
from tools.benchmarks.time_to_proof import ProofRow, Spent


@pytest.mark.parametrize(
    ("proofs", "first", "lasting"),
    [([True, False, True], 0, 2), ([False, True, False], 1, None)],
)
def test_the_costs_are_those_at_the_first_and_the_lasting_proof(proofs, first, lasting):
    costs = [Spent(10.0 * i, 15.0 * i, 25 * i, 99 * i) for i in range(3)]
    grades = [
        made.exact((spent.updates / 100,), (0.4,), proven)
        for spent, proven in zip(costs, proofs, strict=True)
    ]
    evaluations = zip(costs, grades, strict=True)
    assert time_to_proof.train_until_end(7, evaluations) == ProofRow(
        seed=7,
        first_proven=None if first is None else costs[first],
        proven_from=None if lasting is None else costs[lasting],
        end=costs[2],
        grade=grades[2],
    )


def test_an_agent_at_the_ceiling_reaches_it_in_both_seats(capsys):
    first, second = (191 / 192, 1 / 192), (866 / 945, 79 / 945)
    worse = (first[0] - 1 / 384, first[1] + 1 / 384)  # by one game in 384
    exact = {
        1: made.exact(first, second, unbeatable=True),
        2: made.exact(worse, second, unbeatable=True),
        3: made.exact(first, (865 / 945, 80 / 945), unbeatable=True),
        4: made.exact(first, second, unbeatable=False),
    }
    figures = time_to_proof.show_ceiling("default", exact)
    assert figures["ceiling"] == pytest.approx(95.5597, abs=1e-4)
    assert (figures["at_ceiling"], list(figures["below_ceiling"])) == (1, [2, 3, 4])
    assert figures["wins"]["min"] == pytest.approx(95.4295, abs=1e-4)
    named = "2 (95.429), 3 (95.507), 4 (95.560)"
    assert f"1 of 4; below it: {named}\n" in capsys.readouterr().out
