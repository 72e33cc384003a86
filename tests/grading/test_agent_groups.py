"""Results of several agents: the summary of a group, and rows as cells."""

import made
import pytest

from jax_ttt.config.grade import wilson_interval
from jax_ttt.config.settings import Config
from jax_ttt.grading import agent_groups

CONFIG = Config()
SAMPLE = made.sampled((0.5,), (0.25,))


def row(seed, wins, unbeatable):
    first, second = wins
    exact = made.exact((first,), (second,), unbeatable)
    return made.agent(seed, exact, seconds=seed / 10)


def test_a_summary_counts_proofs_and_has_the_range_of_the_win_rates():
    """The interval of 2 of 3 is Wilson's. The seconds are the median."""
    rows = (
        row(1, (1, 0.5), True),
        row(2, (0.5, 0.25), False),
        row(90, (0.75, 0.75), True),
    )
    summary = agent_groups.group_summary(rows, CONFIG, {"tau": 0.5})
    assert (summary.proven, summary.num_agents) == (2, 3)
    assert summary.interval == pytest.approx([0.20765, 0.93851], abs=1e-5)
    assert summary.not_proven == (2,)
    assert summary.win_rates == {
        "first": (0.75, 0.5, 1.0),
        "second": (0.5, 0.25, 0.75),
    }
    assert summary.seconds == 0.2
    assert (summary.settings, summary.agents) == ({"tau": 0.5}, rows)


def test_an_agent_that_diverged_is_not_proven():
    rows = [*(row(seed, (1, 1), True) for seed in (1, 2, 3)), made.agent(4)]
    summary = agent_groups.group_summary(rows, CONFIG)
    assert (summary.proven, summary.not_proven, summary.diverged) == (3, (4,), (4,))
    assert summary.interval == pytest.approx(wilson_interval(3, 4))


@pytest.mark.parametrize(
    ("grade", "rates", "unbeatable"),
    [
        (
            made.exact((0.5, 0.25), (0.25, 0.5), worst=(0, 1)),
            {"first": (0.5, 0.25, 0.25, 0), "second": (0.25, 0.5, 0.25, 1)},
            False,
        ),
        (
            made.grade({"first": made.reached()}, SAMPLE, seats=("first",)),
            {"first": (0.75, 0.25, 0, 0), "second": (0.25, 0, 0.75)},
            True,
        ),
        (None, {}, None),
    ],
)
def test_cells_are_the_best_known_rates(grade, rates, unbeatable):
    """The worst case of a sampled seat is not known."""
    cells = agent_groups.csv_row(made.agent(3, grade))
    names = ("win_rate", "draw_rate", "loss_rate", "worst_loss_rate")
    assert cells == {
        f"{seat}_{name}": rate
        for seat, seat_rates in rates.items()
        for name, rate in zip(names, seat_rates, strict=False)
    } | {
        "seed": 3,
        "games": 7,
        "seconds": 0.5,
        "diverged": grade is None,
        "unbeatable": unbeatable,
    }


def test_searches_count_as_proofs():
    """In Connect Four, an evaluation searches all positions that the agent reaches."""
    config = Config.of(env_id="connect_4x4", start_share=0.5)
    searches = [made.searched(), made.searched(second=False), made.searched()]
    rows = [made.agent(i, made.grade(x, SAMPLE)) for i, x in enumerate(searches)]
    summary = agent_groups.group_summary(rows, config)
    assert (summary.proven, summary.not_proven) == (2, (1,))
    assert summary.win_rates["first"] == (0.75, 0.75, 0.75)
    unsearched = config.replace(start_share=0.0)
    rows = [made.agent(0, made.grade(None, SAMPLE))]
    assert agent_groups.group_summary(rows, unsearched).proven is None
