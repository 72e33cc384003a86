"""A run's curves show what its metrics say."""

import layout
import made
import numpy as np
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.grade import SeatGrade
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.pictures import curves

PATH = "runs/20261122-084301-default-seed-1000/a-name-that-is-long/agent.safetensors"
SMALL = Config.of(env_id="connect_4x4")
IN_ROUNDS = SMALL.replace(start_share=0.5)


def evaluation(update, first, second, unbeatable=False, games=0):
    """Return a row of metrics; `first` and `second` are wins, draws, losses."""
    return made.evaluated(update, made.exact(first, second, unbeatable), games=games)


def chunk(update, games, wins, losses):
    metrics = {"loss": 0.5 / update, "epsilon": 1 / update, "learning_rate": 0.1}
    return made.chunk(update, games, wins, losses, **metrics)


RUN = [
    evaluation(0, (0.5, 0.25, 0.25), (0.25, 0.25, 0.5)),
    chunk(10, 10, 4, 5),
    evaluation(10, (0.75, 0.25, 0.0), (0.5, 0.5, 0.0), unbeatable=True),
    chunk(20, 30, 16, 7),
    evaluation(20, (0.75, 0.125, 0.125), (0.5, 0.375, 0.125)),
    evaluation(30, (1.0, 0.0, 0.0), (0.75, 0.25, 0.0), unbeatable=True),
    evaluation(40, (1.0, 0.0, 0.0), (0.75, 0.25, 0.0), unbeatable=True),
]


def searched(update, first, second, **changes):
    """Return a row of metrics; of each seat, the positions and the winning replies."""
    seats: dict[Seat, SeatGrade] = {
        seat: made.reached(num_positions=positions, losing_ends=ends, **changes)
        for seat, (positions, ends) in zip(SEATS, (first, second), strict=True)
    }
    return made.evaluated(update, made.grade(reached=seats))


ROUNDS = [
    searched(0, (1928, 203), (2270, 360)),
    made.chunk(1500),
    searched(1500, (3373, 0), (3257, 5)),
    made.chunk(3000),
    searched(3000, (1532, 0), (2594, 0)),
]


@pytest.fixture(scope="module")
def figure():
    return layout.drawn(curves.learning_curves, RUN, "a run")


def lines(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def legend_texts(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_runs_results_stand_at_their_updates_by_seat(figure):
    first, second, *_ = figure.axes
    wins, draws, losses = (
        np.stack([(0, 10, 20, 30, 40), shares], axis=1).tolist()
        for shares in (
            (50, 75, 75, 100, 100),
            (25, 25, 12.5, 0, 0),
            (25, 0, 12.5, 0, 0),
        )
    )
    results = lines(first)
    assert [results[name] for name in ("wins", "draws", "losses")] == [
        wins,
        draws,
        losses,
    ]
    assert lines(second)["losses"][0] == [0, 50]
    assert titles(figure)[:2] == ["as X, exact", "as O, exact"]
    assert legend_texts(figure) == [*results]
    assert first.lines[-1].get_label() == "proven from update 30 on"
    assert first.lines[-1].get_xdata() == [30, 30]


@pytest.mark.parametrize(
    ("rows", "update"),
    [
        (RUN, 30),
        (RUN[:5], None),
        (RUN[:3], 10),
        (ROUNDS, 3000),
        ([*ROUNDS, ROUNDS[2]], None),
        ([made.evaluated(5)], None),
    ],
)
def test_a_run_is_proven_from_the_update_after_which_all_evaluations_prove_it(
    rows, update
):
    assert curves.proven_from(rows) == update


def test_a_runs_games_loss_and_schedules_are_those_of_its_chunks(figure):
    _, _, games, loss, epsilon, rate = figure.axes
    assert lines(games) == {
        "wins": [[10, 40], [20, 60]],
        "draws": [[10, 10], [20, 30]],
        "losses": [[10, 50], [20, 10]],
    }
    assert loss.lines[0].get_xydata().tolist() == [[10, 0.05], [20, 0.025]]
    assert epsilon.lines[0].get_ydata().tolist() == [0.1, 0.05]
    assert rate.lines[0].get_ydata().tolist() == [0.1, 0.1]
    assert titles(figure)[3:] == ["loss", "epsilon", "learning rate"]


def test_several_runs_are_their_mean_and_range_at_common_updates(drawn):
    other = [
        evaluation(0, (0.0, 0.5, 0.5), (0.25, 0.25, 0.5)),
        evaluation(15, (0.0, 0.5, 0.5), (0.25, 0.25, 0.5)),
        evaluation(20, (0.25, 0.5, 0.25), (0.5, 0.25, 0.25)),
        evaluation(40, (0.5, 0.5, 0.0), (0.25, 0.25, 0.5), unbeatable=True),
    ]
    runs = {"mine": [RUN, other], "theirs": [RUN[:1]]}
    first, second, proven = drawn(curves.mean_curves, runs, "runs").axes
    assert lines(first) == {
        "mine: mean and range of 2": [[0, 25], [20, 50], [40, 75]],
        "theirs: mean and range of 1": [[0, 50]],
    }
    assert lines(second)["mine: mean and range of 2"] == [[0, 25], [20, 50], [40, 50]]
    low, high = np.sort(first.collections[0].get_paths()[0].vertices[:, 1])[[0, -1]]
    assert (low, high) == (0, 100)
    assert proven.lines[0].get_xydata().tolist() == [[0, 0], [20, 0], [40, 100]]
    with pytest.raises(Refused, match="mine: no update"):
        curves.mean_curves({"mine": [RUN[:1], other[1:2]]}, "runs")


def test_a_seat_that_is_not_learned_is_not_drawn(drawn):
    first, second = PRESETS["go-first"], PRESETS["go-second"]
    one = drawn(curves.learning_curves, RUN, "a run", first)
    assert titles(one)[:2] == ["as X, exact", "training games, %:\nthe agent"]
    several = drawn(curves.mean_curves, {"mine": [RUN]}, "runs", second)
    assert titles(several) == ["% wins as O", "% of the runs proven unbeatable"]


def test_long_names_are_broken_so_that_no_text_is_cut_off(drawn):
    one = drawn(curves.learning_curves, RUN, 5 * PATH)
    layout.assert_readable(one)
    first, second = one.axes[:2]
    assert first.get_ylim() == second.get_ylim(), "both seats have one scale"
    middle = " ".join(f"setting_{number}=0.5" for number in range(12))
    runs = {f"{middle[:66]} {tau} {middle[66:]}": [RUN] for tau in (0.1, 0.2)}
    several = drawn(curves.mean_curves, runs, PATH)
    layout.assert_readable(several)
    assert len(set(legend_texts(several))) == 2, "they differ in the middle"


def test_a_loss_of_zero_has_a_linear_axis(drawn):
    rows = [made.chunk(10, 10, 4, 5, loss=0.0), RUN[0]]
    loss = drawn(curves.learning_curves, rows, "a run").axes[3]
    assert loss.get_yscale() == "linear"
    assert loss.lines[0].get_ydata().tolist() == [0.0]


def test_the_rates_of_a_search_are_exact_beside_a_sample(drawn):
    sample = made.sampled((0.5,), (0.5,))
    rows = [
        made.evaluated(0, made.grade(sampled=sample)),
        chunk(5, 10, 4, 5),
        made.evaluated(5, made.grade(made.searched(), sample)),
    ]
    one = drawn(curves.learning_curves, rows, "one", IN_ROUNDS)
    assert one.axes[0].get_title() == "as X, partly sampled"
    assert lines(one.axes[0])["wins"] == [[0, 50], [5, 75]]
    search: dict[Seat, SeatGrade] = {"first": made.reached()}
    row = made.evaluated(5, made.grade(search, sample, seats=("first",)))
    config = SMALL.replace(opponent="random", seat="first")
    first, proven = drawn(curves.mean_curves, {"x": [[row]]}, "runs", config).axes
    assert first.get_title() == "% wins as X"
    assert lines(first) == {"x: mean and range of 1": [[5, 75]]}
    assert proven.lines[0].get_xydata().tolist() == [[5, 100]]


def test_a_run_with_counterexamples_is_drawn_by_round_and_another_by_update(drawn):
    figure = drawn(curves.draw_run, ROUNDS, "a run", IN_ROUNDS)
    positions, ends = figure.axes
    points = lines(positions)
    assert points["as X"] == [[0, 1928], [1, 3373], [2, 1532]]
    assert points["as O"] == [[0, 2270], [1, 3257], [2, 2594]]
    points = lines(ends)
    assert points["as X"] == [[0, 203], [1, 0], [2, 0]]
    assert points["as O"] == [[0, 360], [1, 5], [2, 0]]
    assert legend_texts(figure) == ["as X", "as O", "proven in round 2"]
    assert ends.get_ylim()[0] < 0 < 360 < ends.get_ylim()[1]

    by_update = drawn(curves.draw_run, ROUNDS, "a run", SMALL).axes[0]
    assert by_update.get_xlabel() == "updates"
    assert by_update.lines[0].get_xdata().tolist() == [0, 1500, 3000]


def test_triangles_mark_the_searches_that_reached_their_limit(drawn):
    cut = searched(1500, (2000, 7), (2000, 0), complete=False)
    figure = drawn(curves.round_curves, [*ROUNDS[:2], cut], "cut", IN_ROUNDS)
    triangles = [line for line in figure.axes[1].lines if line.get_marker() == "^"]
    assert [line.get_xydata().tolist() for line in triangles] == [[[1, 7]], [[1, 0]]]
    assert len(legend_texts(figure)) == 2, "nothing is proven"
