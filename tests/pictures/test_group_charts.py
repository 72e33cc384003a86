"""Charts of many agents and players show what was measured."""

import layout
import made
import numpy as np

from jax_ttt.config.settings import Config
from jax_ttt.grading import agent_groups
from jax_ttt.grading.round_robin import RoundRobinTable
from jax_ttt.pictures import group_charts

PATH = "./runs/20261122-084301-default-seed-1000/of-a-long-name/agent.safetensors"


def ticks(axis):
    return [label.get_text() for label in layout.tick_labels(axis)]


def test_each_agents_wins_stand_at_its_seed(drawn):
    rows = [
        made.agent(7, made.exact((0.75,), (0.5,), unbeatable=True)),
        made.agent(8, made.exact((0.25,), (0.125,))),
        made.agent(9),
    ]
    figure = drawn(group_charts.agents_chart, Config(), rows, "mine")
    (axes,) = figure.axes
    points = {
        dots.get_label(): np.asarray(dots.get_offsets()).tolist()
        for dots in axes.collections
    }
    assert points == {
        "as X": [[7, 75]],
        "as X, not proven": [[8, 25]],
        "as O": [[7, 50]],
        "as O, not proven": [[8, 12.5]],
    }
    assert "1 of 3 proven" in figure.get_suptitle()
    assert ticks(axes.xaxis) == ["7", "8", "9"]


def test_long_names_of_players_stay_inside_a_cross_table(drawn):
    names = ["random", "minimax", PATH]
    size = len(names)
    rates = np.full((size, size, 3), 1 / 3)
    table = RoundRobinTable(tuple(names), made.pairs(rates))
    figure = drawn(group_charts.cross_table_chart, table)
    layout.assert_readable(figure)
    axes = figure.axes[0]
    assert axes.bbox.width > 0.3 * figure.bbox.width
    assert axes.bbox.height > 0.3 * figure.bbox.height


def group(settings, proven):
    agents = [made.agent(n, made.exact((1,), (1,), n < proven)) for n in range(4)]
    return agent_groups.group_summary(agents, Config(), settings)


def test_each_field_of_a_grid_is_its_combinations_share(drawn):
    points = [{"tau": tau, "gamma": gamma} for tau in (0.1, 0.2) for gamma in (0.8, 1)]
    groups = [
        group(point, num_proven)
        for point, num_proven in zip(points, (0, 1, 2, 4), strict=True)
    ]
    axes, _ = drawn(group_charts.grid_chart, groups, "mine").axes
    assert axes.images[0].get_array().tolist() == [[0, 0.25], [0.5, 1]]
    labels = [
        [text.get_text() for text in side]
        for side in (axes.get_xticklabels(), axes.get_yticklabels())
    ]
    assert labels == [["0.8", "1"], ["0.1", "0.2"]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gamma", "tau")
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    assert texts[(1, 0)] == "1 of 4"
    axes, _ = drawn(group_charts.grid_chart, [group({"tau": 0.1}, 1)], PATH).axes
    assert axes.images[0].get_array().tolist() == [[0.25]]


def test_a_grid_in_which_some_agents_cant_be_proven_shows_their_wins(drawn):
    config = Config.of(env_id="connect_4x4")
    sample = made.sampled((0.5,), (0.25,))
    groups = [
        agent_groups.group_summary(
            [made.agent(1, made.grade(searches, sample))],
            config.replace(start_share=share),
            {"start_share": share},
        )
        for share, searches in ((0.0, None), (0.5, made.searched()))
    ]
    axes, bar = drawn(group_charts.grid_chart, groups, "mine").axes
    assert axes.images[0].get_array().tolist() == [[0.375, 0.75]]
    assert bar.get_ylabel() == "partly sampled"
