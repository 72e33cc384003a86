"""What a reader needs of a figure: no text is cut off or hides something else."""

import itertools

import pytest


def drawn(function, *args, **kwargs):
    """Call what draws a picture, and return its figure.

    It is laid out and drawn once, in memory: no file is made of it.
    """
    from matplotlib.figure import Figure

    figures = []

    def kept(figure, *args, **kwargs):
        figures.append(figure)
        draw(figure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", kept)
        function(*args, **kwargs)
    return figures.pop()


def draw(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)  # of the figure from now on
    figure.draw_without_rendering()


def tick_labels(axis):
    """Return the labels of an axis that are shown."""
    from matplotlib import rc_context

    low, high = sorted(axis.get_view_interval())
    (tick,) = axis.get_major_ticks(1)
    # How many ticks an axis has depends on the size of the style's letters.
    with rc_context({"font.size": tick.label1.get_size()}):
        ticks = axis.get_major_ticks()
    ticks = [tick for tick in ticks if low <= tick.get_loc() <= high]
    shown = [tick.label1 for tick in ticks if tick.label1.get_visible()]
    return [text for text in shown if text.get_text()]


def texts(figure):
    """Return every text of a figure that is shown."""
    found = list(figure.texts)
    for axes in figure.axes:
        if axes.axison:
            found += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
            found += [*tick_labels(axes.xaxis), *tick_labels(axes.yaxis)]
    for legend in legends(figure):
        found += legend.get_texts()
    return [text for text in found if text.get_text()]


def legends(figure):
    """Return the legends of a figure and of its axes."""
    found = [axes.get_legend() for axes in figure.axes]
    return [*figure.legends, *(legend for legend in found if legend)]


def overlap(one, other):
    """Return whether two boxes share more than a pixel."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return wide > 1 and high > 1


def assert_readable(figure):
    """Check that texts are inside, and that legends and tick labels hide nothing."""
    if figure.stale:  # not drawn since its last change
        draw(figure)
    edge = figure.bbox
    for text in texts(figure):
        box = text.get_window_extent()
        inside = box.x0 >= -1 and box.y0 >= -1
        inside = inside and box.x1 <= edge.x1 + 1 and box.y1 <= edge.y1 + 1
        assert inside, f"cut off: {text.get_text()!r}, {box} of {edge}"
    for legend, axes in itertools.product(legends(figure), figure.axes):
        box = legend.get_window_extent()
        assert not overlap(box, axes.bbox), f"a legend over {axes.get_title()!r}"
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            boxes = [text.get_window_extent() for text in level(tick_labels(axis))]
            pairs = itertools.pairwise(boxes)
            assert not any(overlap(*pair) for pair in pairs), axes.get_title()


def level(labels):
    """Return the labels that are not turned."""
    return [text for text in labels if text.get_rotation() == 0]
