"""What is drawn is what was measured."""

import numpy as np

from jax_ttt.config.settings import Config
from jax_ttt.reports import charts


def test_each_agents_wins_stand_at_its_seed(drawn):
    def agent(seed, first, second, unbeatable):
        grades = {"as_first": {"win_rate": first}, "as_second": {"win_rate": second}}
        exact = grades | {"unbeatable": unbeatable}
        return {"seed": seed, "diverged": False, "exact": exact}

    rows = [agent(7, 0.75, 0.5, True), agent(8, 0.25, 0.125, False)]
    rows.append({"seed": 9, "diverged": True})
    (axes,) = drawn(charts.agents, Config(), rows, "mine").axes
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


def test_each_field_of_a_grid_is_its_combinations_share(drawn):
    points = [{"tau": tau, "gamma": gamma} for tau in (0.1, 0.2) for gamma in (0.8, 1)]
    found = [{"proven": n, "num_agents": 4} for n in (0, 1, 2, 4)]
    axes, _ = drawn(charts.grid, points, found, "mine").axes
    assert axes.images[0].get_array().tolist() == [[0, 0.25], [0.5, 1]]
    labels = [
        [text.get_text() for text in side]
        for side in (axes.get_xticklabels(), axes.get_yticklabels())
    ]
    assert labels == [["0.8", "1"], ["0.1", "0.2"]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gamma", "tau")
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    assert texts[(1, 0)] == "1 of 4"
    (axes, _) = drawn(charts.grid, [{"tau": 0.1}], found[1:2], "mine").axes
    assert axes.images[0].get_array().tolist() == [[0.25]]


def test_growth_is_drawn_with_a_panel_for_each_size(growth_figures):
    text = charts.growth(growth_figures, "on a machine").svg
    labels = ("games in the batch", "neurons in a hidden layer", "agents")
    for words in (*labels, "one after another", "in one program", "on a machine"):
        assert f">{words}<" in text
