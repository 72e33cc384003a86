"""Results of several agents: the summary of a group, and rows as cells."""

import made
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.grading import agent_groups
from jax_ttt.grading.agent_groups import MeanAndRange
from jax_ttt.grading.grade import wilson_interval

CONFIG = Config()


def graded(seed, wins, unbeatable):
    first, second = wins
    exact = made.exact((first,), (second,), unbeatable)
    return made.agent(seed, exact, seconds=seed / 10)


def test_what_is_said_of_many_agents():
    rows = [graded(1, (1, 0.5), True), graded(2, (0.5, 0.25), False)]
    rows += [graded(3, (0.75, 0.75), True)]
    found = agent_groups.group_summary(rows, CONFIG, {"tau": 0.5})
    assert (found.proven, found.num_agents) == (2, 3)
    assert found.interval == pytest.approx([0.20765, 0.93851], abs=1e-5)  # Wilson
    assert found.not_proven == (2,)
    assert found.win_rates["first"] == MeanAndRange(mean=0.75, min=0.5, max=1.0)
    assert found.win_rates["second"] == MeanAndRange(mean=0.5, min=0.25, max=0.75)
    assert found.seconds == 0.2
    assert (found.settings, found.agents) == ({"tau": 0.5}, tuple(rows))
    second = CONFIG.replace(opponent="random", seat="second")
    assert list(agent_groups.group_summary(rows, second).win_rates) == ["second"]


def test_cells_are_of_the_best_known_grades():
    one = made.agent(3, made.exact((0.5, 0.25), (0.25, 0.5), worst=(0, 1)))
    assert agent_groups.csv_row(one) == {
        **{"seed": 3, "games": 7, "seconds": 0.5, "diverged": False},
        **{"first_win_rate": 0.5, "first_draw_rate": 0.25, "first_loss_rate": 0.25},
        **{"first_worst_loss_rate": 0, "second_win_rate": 0.25},
        **{"second_draw_rate": 0.5, "second_loss_rate": 0.25},
        **{"second_worst_loss_rate": 1, "unbeatable": False},
    }
    other = made.agent(3, made.grade(sampled=made.sampled((0.5,), (0.25,))))
    cells = agent_groups.csv_row(other)
    assert (cells["second_win_rate"], cells["unbeatable"]) == (0.25, None)
    assert not [name for name in cells if "interval" in name]


def test_an_agent_that_diverged_is_one_that_is_not_proven():
    rows = [graded(seed, (1, 1), True) for seed in (1, 2, 3)] + [made.agent(4)]
    found = agent_groups.group_summary(rows, CONFIG)
    assert (found.proven, found.not_proven, found.diverged) == (3, (4,), (4,))
    assert found.interval == pytest.approx(wilson_interval(3, 4))


def test_searches_count_as_proofs():
    """In Connect Four, an evaluation searches all positions that the agent reaches."""
    config = Config.of(env_id="connect_4x4", start_share=0.5)
    sample = made.sampled((0.5,), (0.5,))
    searches = [made.searched(), made.searched(second=False), made.searched()]
    rows = [made.agent(i, made.grade(x, sample)) for i, x in enumerate(searches)]
    found = agent_groups.group_summary(rows, config)
    assert (found.proven, found.not_proven) == (2, (1,))
    assert found.interval == pytest.approx(wilson_interval(2, 3))
    assert found.win_rates["first"] == MeanAndRange(mean=0.75, min=0.75, max=0.75)
    cells = [agent_groups.csv_row(row) for row in rows]
    assert [cell["unbeatable"] for cell in cells] == [True, False, True]
    assert {cell["first_win_rate"] for cell in cells} == {0.75}
    only_sampled = made.agent(0, made.grade(None, sample))
    unsearched = config.replace(start_share=0.0)
    sampled = agent_groups.group_summary([only_sampled], unsearched)
    assert sampled.proven is None


def test_a_search_of_the_only_seat_that_is_learned_has_exact_cells():
    sample = made.sampled((0.5,), (0.25,))
    grade = made.grade({"first": made.reached()}, sample, seats=("first",))
    row = made.agent(0, grade)
    cells = agent_groups.csv_row(row)
    assert (cells["first_win_rate"], cells["first_worst_loss_rate"]) == (0.75, 0)
    assert cells["second_win_rate"] == 0.25
    assert "second_worst_loss_rate" not in cells
    config = Config.of(env_id="connect_4x4", opponent="random", seat="first")
    found = agent_groups.group_summary([row], config)
    assert found.win_rates == {"first": MeanAndRange(mean=0.75, min=0.75, max=0.75)}
