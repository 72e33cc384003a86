"""A run's curves show what its metrics say."""

import layout
import made
import numpy as np
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.presets import PRESETS, SYSTEMS
from jax_ttt.config.settings import Config
from jax_ttt.files.rows import evaluated_rows
from jax_ttt.grading.grade import SeatGrade
from jax_ttt.pictures import curves


def evaluation(update, first, second, unbeatable=False, played=0):
    """Return a row of metrics; `first` and `second` are wins, draws, losses."""
    graded = made.exact(first, second, unbeatable)
    return made.evaluated(update, graded, games=played)


def chunk(update, played, wins, losses):
    about = {"loss": 0.5 / update, "epsilon": 1 / update, "learning_rate": 0.1}
    return made.chunk(update, played, wins, losses, **about)


def as_sampled(rows):
    """Return the evaluations with their results as those of a match."""
    return [
        made.evaluated(row.update, made.grade(sampled=match_of(row.grade)))
        for row in evaluated_rows(rows)
    ]


def match_of(grade):
    seats = grade.followed.values()
    rates = [[rate.value for rate in seat.rates] for seat in seats]
    return made.sampled(*rates, num_games=1000)


LARGE = Config.of(env_id="connect_four")

RUN = [
    evaluation(0, (0.5, 0.25, 0.25), (0.25, 0.25, 0.5)),
    chunk(10, 10, 4, 5),
    evaluation(10, (0.75, 0.25, 0.0), (0.5, 0.5, 0.0), unbeatable=True),
    chunk(20, 30, 16, 7),
    evaluation(20, (0.75, 0.125, 0.125), (0.5, 0.375, 0.125)),
    evaluation(30, (1.0, 0.0, 0.0), (0.75, 0.25, 0.0), unbeatable=True),
    evaluation(40, (1.0, 0.0, 0.0), (0.75, 0.25, 0.0), unbeatable=True),
]


PATH = "runs/20261122-084301-default-seed-1000/a-name-that-is-long/agent.safetensors"


@pytest.fixture(scope="module")
def figure():
    """Return the curves of the run."""
    return layout.drawn(curves.learning_curves, RUN, "a run")


def lines(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def test_a_runs_results_stand_at_their_updates_seat_by_seat(figure):
    first, second, *_ = figure.axes
    updates = [0, 10, 20, 30, 40]
    at = lambda *shares: np.stack([updates, shares], axis=1).tolist()  # noqa: E731
    drawn_first = lines(first)
    assert drawn_first["wins"] == at(50, 75, 75, 100, 100)
    assert drawn_first["draws"] == at(25, 25, 12.5, 0, 0)
    assert drawn_first["losses"] == at(25, 0, 12.5, 0, 0)
    assert lines(second)["losses"] == at(50, 0, 12.5, 0, 0)
    assert [axes.get_title() for axes in (first, second)] == [
        "as X, exact",
        "as O, exact",
    ]


def test_the_moment_of_proof_is_the_one_that_lasts(figure):
    assert curves.proven_from(RUN) == 30
    assert curves.proven_from(RUN[:5]) is None
    assert curves.proven_from(RUN[:3]) == 10
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("wins", "draws", "losses", "proven from update 30 on")
    ]
    assert figure.axes[0].lines[-1].get_xdata() == [30, 30]
    assert not figure.axes[0].texts, "nothing is written over the curves"


def test_a_runs_games_loss_and_schedules_are_those_of_its_chunks(figure):
    _, _, games, loss, epsilon, rate = figure.axes
    assert lines(games) == {
        "wins": [[10, 40], [20, 60]],
        "draws": [[10, 10], [20, 30]],
        "losses": [[10, 50], [20, 10]],
    }
    assert loss.lines[0].get_xydata().tolist() == [[10, 0.05], [20, 0.025]]
    assert epsilon.lines[0].get_ydata().tolist() == [0.1, 0.05]
    assert rate.lines[0].get_ydata().tolist() == [0.1, 0.1], "as it is"
    titles = [axes.get_title() for axes in (loss, epsilon, rate)]
    assert titles == ["loss", "epsilon", "learning rate"]


def test_several_runs_are_their_mean_and_range(drawn):
    """An update that one run lacks is left out."""
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


def test_a_systems_wins_stand_at_the_games_played_beside_its_own(drawn):
    start = evaluation(0, (0, 1, 0), (0, 1, 0))
    ends = (((0.5, 0.5, 0), 1000), ((1.0, 0, 0), 3000))
    runs = [[start, evaluation(5, end, end, played=n)] for end, n in ends]
    go, table, *rest = drawn(
        curves.growth_curves, {"go-first": runs, "table": runs}
    ).axes
    assert lines(go)["jax_ttt as X"] == [[2000, 75]]
    assert "jax_ttt as O" not in lines(go), "go-first learns to move first only"
    theirs = SYSTEMS["go-first"].curve
    assert lines(go)["original"] == [list(point) for point in theirs]
    assert set(lines(table)) == {"jax_ttt as X", "jax_ttt as O"}
    assert not any(axes.axison for axes in rest)


def test_a_seat_that_is_not_learned_is_not_drawn(drawn):
    """What is proven holds for the other one."""
    first, second = PRESETS["go-first"], PRESETS["go-second"]
    one = drawn(curves.learning_curves, RUN, "a run", first).axes
    assert [axes.get_title() for axes in one[:2]] == [
        "as X, exact",
        "training games, %:\nthe agent",
    ]
    many = drawn(curves.mean_curves, {"mine": [RUN]}, "runs", second).axes
    titles = [axes.get_title() for axes in many]
    assert titles == ["% wins as O", "% of the runs proven unbeatable"]


def test_of_games_that_are_sampled_no_proof_is_drawn(drawn):
    rows = as_sampled(RUN)
    figure = drawn(curves.mean_curves, {"mine": [rows, rows]}, "runs", LARGE)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["% wins as first, sampled", "% wins as second, sampled"]


def test_seven_labels_can_be_told_apart(drawn):
    runs = {f"run {number}": [RUN] for number in range(7)}
    first, *_ = drawn(curves.mean_curves, runs, "runs").axes
    looks = {(line.get_color(), line.get_linestyle()) for line in first.lines}
    assert len(looks) == 7


def test_a_run_can_be_read(drawn):
    """No text is cut off, and no legend lies over a curve, however long the name is."""
    one = drawn(curves.learning_curves, RUN, 5 * PATH)
    layout.assert_readable(one)
    first, second = one.axes[:2]
    assert first.get_ylim() == second.get_ylim(), "both seats have one scale"
    layout.assert_readable(drawn(curves.mean_curves, {PATH: [RUN]}, PATH))


def test_a_loss_of_zero_has_an_axis(drawn):
    rows = [made.chunk(10, 10, 4, 5, loss=0.0), *as_sampled(RUN[:1])]
    one = drawn(curves.learning_curves, rows, "a run", LARGE)
    assert one.axes[0].get_title() == "as first, sampled"
    loss = one.axes[3]
    assert loss.get_yscale() == "linear"
    assert loss.lines[0].get_ydata().tolist() == [0.0]


def test_labels_that_differ_in_the_middle_can_be_told_apart(drawn):
    middle = " ".join(f"setting_{number}=0.5" for number in range(12))
    runs = {f"{middle[:66]} {tau} {middle[66:]}": [RUN] for tau in (0.1, 0.2)}
    (legend,) = drawn(curves.mean_curves, runs, "runs").legends
    assert len({text.get_text() for text in legend.get_texts()}) == 2


def test_a_search_is_drawn_as_exact_and_its_proofs_are_counted(drawn):
    """A sample that was not searched is called one."""
    sample = made.sampled((0.5,), (0.5,))
    rows = [
        made.evaluated(0, made.grade(sampled=sample)),
        chunk(5, 10, 4, 5),
        made.evaluated(5, made.grade(made.searched(), sample)),
    ]
    config = Config.of(env_id="connect_4x4", start_share=0.5)
    one = drawn(curves.learning_curves, rows, "one", config)
    assert one.axes[0].get_title() == "as first, partly sampled"
    assert lines(one.axes[0])["wins"] == [[0, 50], [5, 75]]
    first, _, proven = drawn(curves.mean_curves, {"x": [rows[2:]]}, "runs").axes
    assert first.get_title() == "% wins as X"
    assert proven.lines[0].get_xydata().tolist() == [[5, 100]]


def test_a_search_of_the_only_seat_that_is_learned_is_drawn_as_exact(drawn):
    sample = made.sampled((0.5,), (0.5,))
    search: dict[Seat, SeatGrade] = {"first": made.reached()}
    graded = made.grade(search, sample, seats=("first",))
    rows = [chunk(5, 10, 4, 5), made.evaluated(5, graded)]
    config = Config.of(env_id="connect_4x4", opponent="random", seat="first")
    (axes, *_) = drawn(curves.learning_curves, rows, "one", config).axes
    assert axes.get_title() == "as first, exact"
    assert lines(axes)["wins"] == [[5, 75]]
    (axes, *_) = drawn(curves.mean_curves, {"x": [rows]}, "runs", config).axes
    assert axes.get_title() == "% wins as first"
    assert lines(axes) == {"x: mean and range of 1": [[5, 75]]}


def test_runs_that_were_never_graded_together_are_refused():
    runs = [[evaluation(n, (1, 0, 0), (1, 0, 0))] for n in (1, 2)]
    with pytest.raises(Refused, match="mine: no update"):
        curves.mean_curves({"mine": runs}, "runs")


IN_ROUNDS = Config.of(env_id="connect_4x4", start_share=0.5)
SMALL = Config.of(env_id="connect_4x4")


def searched(update, first, second, **changes):
    """Return a row of metrics; of each seat, the positions and the losing ends."""
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


def drawn_lines(axes):
    return {
        line.get_label(): line.get_xydata().tolist()
        for line in axes.lines
        if len(line.get_xdata()) == 3
    }


def test_a_run_in_rounds_is_drawn_by_round_and_seat():
    figure = layout.drawn(curves.draw_run, ROUNDS, "a run", IN_ROUNDS)
    positions, ends = figure.axes
    assert drawn_lines(positions) == {
        "as first": [[0, 1928], [1, 3373], [2, 1532]],
        "as second": [[0, 2270], [1, 3257], [2, 2594]],
    }
    assert drawn_lines(ends) == {
        "as first": [[0, 203], [1, 0], [2, 0]],
        "as second": [[0, 360], [1, 5], [2, 0]],
    }
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["as first", "as second", "proven in round 2"]
    assert ends.get_ylim()[0] < 0 < 360 < ends.get_ylim()[1], "all points are seen"


def test_triangles_mark_the_searches_that_were_cut():
    cut = searched(1500, (2000, 7), (2000, 0), complete=False)
    figure = layout.drawn(curves.round_curves, [*ROUNDS[:2], cut], "cut", IN_ROUNDS)
    triangles = [line for line in figure.axes[1].lines if line.get_marker() == "^"]
    assert [line.get_xydata().tolist() for line in triangles] == [[[1, 7]], [[1, 0]]]
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 2, "nothing is proven"


def test_the_moment_of_proof_needs_no_sampled_games():
    assert curves.proven_from(ROUNDS) == 3000
    assert curves.proven_from([*ROUNDS, ROUNDS[2]]) is None
    assert curves.proven_from([made.evaluated(5)]) is None


def test_a_run_without_counterexamples_is_drawn_by_update():
    rows = [
        made.evaluated(0, made.grade(sampled=made.sampled((0.5, 0.25, 0.25), (1.0,)))),
        *ROUNDS,
    ]
    figure = layout.drawn(curves.draw_run, rows, "a run", SMALL)
    assert figure.axes[0].get_xlabel() == "updates"
    assert figure.axes[0].get_title() == "as first, exact"
    assert figure.axes[0].lines[0].get_xdata().tolist() == [0, 1500, 3000]
