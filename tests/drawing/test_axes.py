"""Names, ticks, legends, bands and heat maps of charts."""

import layout
import numpy as np
import pytest
from matplotlib.figure import Figure

from jax_ttt.drawing import axes as parts

PATH = "./runs/20261122-084301-default-seed-1000/of-a-long-name/agent.safetensors"


def test_a_short_name_stays_as_it_is():
    for name in ("", "random", "runs/seed-1/agent"):
        assert parts.shortened(name) == name


@pytest.mark.parametrize("name", [PATH, 5 * PATH, 100 * "x", "x " * 100, "/" * 90])
def test_a_long_name_has_few_lines_of_some_width(name):
    lines = parts.shortened(name).split("\n")
    assert len(lines) <= 3
    assert max(map(len, lines)) <= 25
    assert name.startswith(lines[0])
    assert name.strip().endswith(lines[-1])


def test_a_names_lines_end_at_its_parts():
    assert parts.shortened(PATH, 40) == (
        "./runs/20261122-084301-default-seed-\n1000/of-a-long-name/agent.safetensors"
    )
    assert parts.shortened(PATH, 20, 6).replace("\n", "") == PATH
    assert parts.shortened(PATH, 20).split("\n") == [
        *("./runs/20261122-", "…1000/of-a-long-name/", "agent.safetensors")
    ]


@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (0, 1), (0, 2), (7, 7), (7, 9), (0, 1500), (0, 10**6)]
)
def test_ticks_are_whole_numbers_that_can_be_read(low, high):
    figure = Figure(figsize=(2.4, 2), layout="constrained")
    axes = figure.subplots()
    axes.plot([low, high], [0, 1])
    parts.whole_numbers(axes.xaxis, high, 1.8)
    layout.assert_readable(figure)
    texts = [label.get_text() for label in layout.tick_labels(axes.xaxis)]
    assert texts
    assert texts == [f"{int(text.replace(',', '')):,}" for text in texts]


def test_a_line_of_few_points_is_marked():
    assert parts.marks([1])["marker"] == "o"
    assert not parts.marks(range(100))["marker"]


@pytest.mark.parametrize("labels", [["a", "b"], [PATH], [PATH, 2 * PATH, "c"]])
def test_a_legend_below_hides_nothing(labels):
    figure = Figure(figsize=(6, 5), layout="constrained")
    first, second = figure.subplots(1, 2)
    for number, label in enumerate(labels):
        first.plot([0, 1], [number, 0], label=label)
    second.set_xlabel("below")
    parts.legend_below(figure, first)
    layout.assert_readable(figure)
    (legend,) = layout.legends(figure)
    shown = [text.get_text().replace("\n", "") for text in legend.get_texts()]
    assert shown == labels


def test_a_band_reaches_from_the_lowest_to_the_highest():
    axes = Figure().subplots()
    low, middle, high = [0, 1], [1, 3], [2, 6]
    parts.band(axes, [5, 6], (low, middle, high), "label")
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == middle
    (path,) = axes.collections[0].get_paths()
    corners = set(map(tuple, np.asarray(path.vertices).tolist()))
    assert corners == {(5, 0), (6, 1), (5, 2), (6, 6)}


def test_a_heat_map_has_a_text_in_each_field_that_stands_out():
    share = np.array([[0.0, 1.0], [0.49, 0.5]])
    axes = parts.heat_map(Figure(), share, ["ab", "cd"], ["one", "two"], ["x", "y"])
    found = {text.get_text(): text for text in axes.texts}
    assert [found[name].get_color() for name in "abcd"] == [
        *("white", "black", "white", "black")
    ]
    assert found["c"].get_position() == (0, 1)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
