"""Two groups of runs compared: the pairs, the differences and their intervals."""

import dataclasses
import re

import numpy as np
import pytest
import scipy  # `scipy.stats` takes long to import, and one test needs it

import jax_ttt
from jax_ttt.api.compare import compare, difference_of_means, difference_of_shares
from jax_ttt.api.training_result import Run, Runs

GROUPS = ["first group", "second group"]


@pytest.fixture(scope="module")
def runs_of(run):
    """Return a function that makes runs from evaluations of one run, by their seeds."""

    def make(by_seed, diverged=(), config=run.config):
        runs = []
        for seed, index in by_seed.items():
            agent = run.agents[index]
            described = dataclasses.replace(agent.description, seed=seed)
            agent = dataclasses.replace(agent, description=described)
            runs.append(Run(agent, run.rows, (agent,)))
        return Runs(config, tuple(runs), tuple(diverged))

    return make


def test_agents_with_the_same_seed_are_pairs(runs_of, run):
    others = runs_of({4: 0, 3: 0, 1: -1, 9: -1})
    result = compare(runs_of({1: -1, 3: -1, 4: -1}), others)
    assert result.seeds == (1, 3, 4)
    assert result.proven is not None
    assert (result.proven.first, result.proven.second) == (1, pytest.approx(1 / 3))
    untrained, trained = (run.agents[i].grade.second.win_rate for i in (0, -1))
    wins = result.win_rates["second"]
    assert wins.first == pytest.approx(trained)
    assert wins.second == pytest.approx((trained + 2 * untrained) / 3)
    assert wins.low < wins.difference < wins.high
    assert result.loss_rates["second"].difference < 0
    lines = repr(result).splitlines()
    assert lines[0] == "3 pairs of agents with the same seed, 95% intervals"
    names = ["proven", "wins as X", "wins as O", "losses as X", "losses as O"]
    assert [line.split("  ")[0] for line in lines[2:]] == names
    assert lines[2].split()[1:3] == ["100.00%", "33.33%"]
    assert lines[2].split()[3] == "+66.67"
    assert "<td>wins as O</td>" in result._repr_html_()
    svg = jax_ttt.draw(result).svg
    assert all(name in svg for name in GROUPS)


def test_pairs_that_all_agree_claim_no_certainty(runs_of):
    """Neither by an interval without width, nor by columns that are named as seats."""
    runs = runs_of(dict.fromkeys(range(8), -1))
    result = compare(runs, runs)
    title, head, proven, *rates = repr(result).splitlines()
    assert title.startswith("8 pairs of agents")
    assert re.split(" {2,}", head.strip()) == [*GROUPS, "difference, in points"]
    assert result.proven is not None
    assert result.proven.low < -0.3
    assert result.proven.high > 0.3
    assert "(-32.44 to +32.44)" in proven
    assert len(rates) == 4
    assert all(row.endswith("  +0.00 (all 8 pairs agree)") for row in rates)


@pytest.mark.parametrize("rounding", [0.0, 6e-8])
def test_equal_differences_have_no_interval(rounding):
    values = np.array([0.5, 0.75, 0.5, 0.25])
    result = difference_of_means(values + 0.25 + [rounding, 0, 0, 0], values)
    assert (result.low, result.high) == (-1, 1)
    assert str(result) == "+25.00 (all 4 pairs agree)"


def test_an_agent_that_diverged_is_not_proven_and_has_no_rates(runs_of):
    runs, others = runs_of({1: -1, 2: -1}, diverged=[3]), runs_of({1: 0, 2: 0, 3: 0})
    result, swapped = compare(runs, others), compare(others, runs)
    assert result.proven is not None
    assert result.proven.first == pytest.approx(2 / 3)
    assert swapped.proven is not None
    assert swapped.proven.second == pytest.approx(2 / 3)
    same = compare(runs_of({1: -1, 2: -1}), runs_of({1: 0, 2: 0}))
    assert str(result.win_rates) == str(same.win_rates)
    assert result.win_rates["first"].num_pairs == 2


def test_where_no_proof_is_possible_only_rates_are_compared(runs_of):
    group = runs_of({1: -1, 2: -1}, config=jax_ttt.Config.of(env_id="connect_four"))
    result = compare(group, group)
    assert result.proven is None
    assert [one.difference for one in result.win_rates.values()] == [0, 0]


@pytest.mark.usefixtures("any_types")
def test_what_has_no_pairs_is_refused(runs_of, run):
    runs = runs_of({1: -1, 2: -1})
    with pytest.raises(jax_ttt.Refused, match="groups of runs"):
        jax_ttt.compare(run, runs)
    with pytest.raises(jax_ttt.Refused, match="two or more seeds"):
        compare(runs, runs_of({2: -1, 3: -1}))
    other = jax_ttt.Config.of(env_id="connect_four")
    with pytest.raises(jax_ttt.Refused, match="different games: connect_four, tic_"):
        compare(runs, runs_of({1: -1, 2: -1}, config=other))


@pytest.mark.slow
def test_the_interval_of_a_mean_is_the_paired_t_test_s():
    first, second = np.random.default_rng(0).normal(size=(2, 12))
    result = difference_of_means(first, second)
    test = scipy.stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx((test.low, test.high))
    one = difference_of_means(np.array([0.5]), np.array([0.25]))
    assert one.difference == 0.25
    assert (one.low, one.high) == (-1, 1)
    assert str(one) == "+25.00 (one pair)"


def pairs(both, only_first, only_second, neither):
    """Return the results of pairs with these numbers."""
    numbers = np.array([both, only_first, only_second, neither])
    return (np.repeat([1, 1, 0, 0], numbers) > 0, np.repeat([1, 0, 1, 0], numbers) > 0)


@pytest.mark.parametrize(
    ("counts", "interval"),
    [
        # The first two are examples of Newcombe's article.
        ((36, 12, 2, 0), (0.0569, 0.3404)),
        ((43, 0, 0, 7), (-0.0638, 0.0638)),
        ((0, 30, 0, 0), (0.8395, 1)),
    ],
)
def test_the_interval_of_shares_is_newcombe_s(counts, interval):
    first, second = pairs(*counts)
    result = difference_of_shares(first, second)
    assert (result.low, result.high) == pytest.approx(interval, abs=5e-5)
    swapped = difference_of_shares(second, first)
    assert (-swapped.high, -swapped.low) == pytest.approx(interval, abs=5e-5)


def test_the_interval_of_shares_contains_the_truth_in_95_of_100_samples():
    rng, probs = np.random.default_rng(0), [0.5, 0.25, 0.05, 0.2]
    contained = 0
    for _ in range(2000):
        result = difference_of_shares(*pairs(*rng.multinomial(24, probs)))
        contained += result.low <= 0.2 <= result.high
    assert 0.93 < contained / 2000 < 0.98
