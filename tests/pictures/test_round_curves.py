"""The curves of rounds show what the searches found, seat by seat."""

import layout
import made

from jax_ttt.config.catalogue import Seat
from jax_ttt.config.settings import Config
from jax_ttt.grading.grade import SeatGrade
from jax_ttt.pictures import curves, round_curves

CONFIG = Config.of(env_id="connect_4x4", start_share=0.5)
SMALL = Config.of(env_id="connect_4x4")


def searched(update, first, second, **changes):
    """Return a row of metrics; of each seat, the positions and the losing ends."""
    pairs: dict[Seat, tuple[int, int]] = {"first": first, "second": second}
    seats: dict[Seat, SeatGrade] = {
        seat: made.reached(num_positions=positions, losing_ends=ends, **changes)
        for seat, (positions, ends) in pairs.items()
    }
    return made.evaluated(update, made.grade(seats))


RUN = [
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
    figure = layout.drawn(curves.of_run, RUN, "a run", CONFIG)
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
    figure = layout.drawn(round_curves.round_curves, [*RUN[:2], cut], "cut", CONFIG)
    triangles = [line for line in figure.axes[1].lines if line.get_marker() == "^"]
    assert [line.get_xydata().tolist() for line in triangles] == [[[1, 7]], [[1, 0]]]
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 2, "nothing is proven"


def test_the_moment_of_proof_needs_no_sampled_games():
    assert curves.proven_from(RUN) == 3000
    assert curves.proven_from([*RUN, RUN[2]]) is None
    assert curves.proven_from([made.evaluated(5)]) is None


def test_a_run_without_counterexamples_is_drawn_by_update():
    sample = made.sampled((0.5, 0.25, 0.25), (1.0,))
    rows = [made.evaluated(0, made.grade(sampled=sample)), *RUN]
    figure = layout.drawn(curves.of_run, rows, "a run", SMALL)
    assert figure.axes[0].get_xlabel() == "updates"
    assert figure.axes[0].get_title() == "as first, exact"
    assert figure.axes[0].lines[0].get_xdata().tolist() == [0, 1500, 3000]
