"""What is drawn is what was measured."""

import made
import numpy as np

from jax_ttt.config.settings import Config
from jax_ttt.reports import charts
from jax_ttt.training import many_agents


def test_each_agents_wins_stand_at_its_seed(drawn):
    rows = [
        made.agent(7, made.exact((0.75,), (0.5,), unbeatable=True)),
        made.agent(8, made.exact((0.25,), (0.125,))),
        made.agent(9),
    ]
    (axes,) = drawn(charts.agents_chart, Config(), rows, "mine").axes
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
    assert axes.get_title() == "mine: 1 of 3 proven unbeatable"


def group(settings, proven):
    agents = [made.agent(n, made.exact((1,), (1,), n < proven)) for n in range(4)]
    return many_agents.group_summary(agents, Config(), settings)


def test_each_field_of_a_grid_is_its_combinations_share(drawn):
    points = [{"tau": tau, "gamma": gamma} for tau in (0.1, 0.2) for gamma in (0.8, 1)]
    found = [group(*pair) for pair in zip(points, (0, 1, 2, 4), strict=True)]
    axes, _ = drawn(charts.grid_chart, found, "mine").axes
    assert axes.images[0].get_array().tolist() == [[0, 0.25], [0.5, 1]]
    labels = [
        [text.get_text() for text in side]
        for side in (axes.get_xticklabels(), axes.get_yticklabels())
    ]
    assert labels == [["0.8", "1"], ["0.1", "0.2"]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gamma", "tau")
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    assert texts[(1, 0)] == "1 of 4"
    (axes, _) = drawn(charts.grid_chart, [group({"tau": 0.1}, 1)], "mine").axes
    assert axes.images[0].get_array().tolist() == [[0.25]]


def test_growth_is_drawn_with_a_panel_for_each_size(growth_figures):
    text = charts.growth_chart(growth_figures, "on a machine").svg
    labels = ("games in the batch", "neurons in a hidden layer", "agents")
    for words in (*labels, "one after another", "in one program", "on a machine"):
        assert f">{words}<" in text
