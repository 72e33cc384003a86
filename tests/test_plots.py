"""What is drawn is what was measured."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from jax_ttt import plots
from jax_ttt.config import Config


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a function that draws and returns the figure."""
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: figures.append(self))

    def draw(function, *args):
        function(*args, tmp_path / "x.svg")
        return figures.pop()

    return draw


def test_a_runs_curve_has_the_shares_of_its_games_and_its_grades(drawn):
    chunks = [(10, 4, 5), (30, 16, 7)]  # games, wins, losses so far
    rows = [
        {"event": "chunk", "games": g, "wins": w, "losses": lost}
        for g, w, lost in chunks
    ]
    grades = {"win_rate": 0.5, "draw_rate": 0.3, "loss_rate": 0.2}
    rows.append({"event": "evaluation", "games": 30, "exact": grades})
    above, below = drawn(plots.training, rows, "a run").axes
    shares = {line.get_label(): line.get_xydata().tolist() for line in above.lines}
    assert shares == {
        "wins": [[10, 40], [30, 60]],
        "draws": [[10, 10], [30, 30]],
        "losses": [[10, 50], [30, 10]],
    }
    rates = {line.get_label(): line.get_xydata().tolist() for line in below.lines}
    assert rates == {"wins": [[30, 50]], "draws": [[30, 30]], "losses": [[30, 20]]}


def test_each_agents_wins_stand_at_its_seed(drawn):
    def agent(seed, first, second, unbeatable):
        grades = {"as_first": {"win_rate": first}, "as_second": {"win_rate": second}}
        exact = grades | {"unbeatable": unbeatable}
        return {"seed": seed, "diverged": False, "exact": exact}

    rows = [agent(7, 0.75, 0.5, True), agent(8, 0.25, 0.125, False)]
    rows.append({"seed": 9, "diverged": True})
    (axes,) = drawn(plots.agents, Config(), rows, "mine").axes
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
    axes, _ = drawn(plots.grid, points, found, "mine").axes
    assert axes.images[0].get_array().tolist() == [[0, 0.25], [0.5, 1]]
    labels = [
        [text.get_text() for text in side]
        for side in (axes.get_xticklabels(), axes.get_yticklabels())
    ]
    assert labels == [["0.8", "1"], ["0.1", "0.2"]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gamma", "tau")
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    assert texts[(1, 0)] == "1 of 4"
    (axes, _) = drawn(plots.grid, [{"tau": 0.1}], found[1:2], "mine").axes
    assert axes.images[0].get_array().tolist() == [[0.25]]
