"""Charts of many agents and players show what was measured."""

import layout
import made
import numpy as np

from jax_ttt.config.grade import wilson_interval
from jax_ttt.config.settings import Config
from jax_ttt.grading import agent_groups
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
    table = made.cross_table(names, rates)
    figure = drawn(table.picture)
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


def test_a_setting_with_one_value_is_no_second_setting_of_a_grid(drawn):
    """So the picture is that of one setting, not a heat map with one row."""
    points = [{"tau": 0.1, "gamma": 0.8}, {"tau": 0.1, "gamma": 1}]
    groups = [group(point, 2) for point in points]
    axes = drawn(group_charts.grid_chart, groups, "mine").axes[0]
    assert not axes.images
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.8", "1"]


def test_a_grid_in_which_some_agents_cant_be_proven_shows_their_wins(drawn):
    config = Config.of(env_id="connect_4x4")
    sample = made.sampled((0.5,), (0.25,))
    groups = [
        agent_groups.group_summary(
            [made.agent(1, made.grade(searches, sample))],
            config.replace(start_share=share),
            {"tau": tau, "start_share": share},
        )
        for tau in (0.1, 0.2)
        for share, searches in ((0.0, None), (0.5, made.searched()))
    ]
    axes, bar = drawn(group_charts.grid_chart, groups, "mine").axes
    assert axes.images[0].get_array().tolist() == [[0.375, 0.75]] * 2
    assert bar.get_ylabel() == "partly sampled"


def points_of(axes):
    """Return the middles of the points, and their low and high ends, rounded."""
    (bars,) = axes.containers
    middles, _, (lines,) = bars.lines
    ends = [segment[:, 1].round(4).tolist() for segment in lines.get_segments()]
    return middles.get_xdata().tolist(), middles.get_ydata().tolist(), ends


def test_one_setting_has_the_wins_of_each_seat_and_the_proofs_over_its_values(drawn):
    wins = {0.25: (0.5, 0.7), 0.5: (0.75, 0.85)}
    groups = [
        agent_groups.group_summary(
            [
                made.agent(n, made.exact((1,), (rate,), unbeatable=n == 0))
                for n, rate in enumerate(rates)
            ],
            Config(),
            {"tremble": value},
        )
        for value, rates in wins.items()
    ]
    groups.append(
        agent_groups.group_summary([made.agent(9)], Config(), {"tremble": 0.9})
    )
    figure = drawn(group_charts.grid_chart, groups, "mine")
    layout.assert_readable(figure)
    first, second, proven = figure.axes
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["% wins as X, exact", "% wins as O, exact", "% proven unbeatable"]
    assert all(ticks(axes.xaxis) == ["0.25", "0.5", "0.9"] for axes in figure.axes)
    assert points_of(first) == ([0, 1], [100, 100], [[100, 100], [100, 100]])
    assert points_of(second) == ([0, 1], [60, 80], [[50, 70], [75, 85]])
    assert all(axes.get_ylim()[1] <= 103 for axes in figure.axes), "no rate above 100%"
    places, shares, ends = points_of(proven)
    assert (places, shares) == ([0, 1, 2], [50, 50, 0])
    assert ends[0] == [round(100 * end, 4) for end in wilson_interval(1, 2)]


def test_one_setting_without_proofs_has_no_panel_of_proofs(drawn):
    config = Config.of(env_id="connect_four", opponent="random", seat="second")
    agents = [made.agent(1, made.grade(sampled=made.sampled((0.5,), (0.25,))))]
    groups = [agent_groups.group_summary(agents, config, {"network": PATH})]
    (axes,) = drawn(group_charts.grid_chart, groups, PATH).axes
    assert axes.get_ylabel() == "% wins as O, sampled"
    assert points_of(axes) == ([0], [25], [[25, 25]])
