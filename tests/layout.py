"""What a reader needs of a figure: no text is cut off or hides something else."""

import itertools

import pytest


def drawn(function, *args, **kwargs):
    """Call a function that draws a picture, and return the figure, drawn in memory."""
    from matplotlib.figure import Figure

    figures = []

    def keep_figure(figure, *args, **kwargs):
        figures.append(figure)
        draw(figure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", keep_figure)
        function(*args, **kwargs)
    return figures.pop()


def draw(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)  # makes itself the figure's canvas
    figure.draw_without_rendering()


def tick_labels(axis):
    """Return the labels of an axis that are shown."""
    from matplotlib import rc_context

    low, high = sorted(axis.get_view_interval())
    (tick,) = axis.get_major_ticks(1)
    # How many ticks an axis has depends on the size of the style's letters.
    with rc_context({"font.size": tick.label1.get_size()}):
        ticks = axis.get_major_ticks()
    labels = [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
    return [label for label in labels if label.get_visible() and label.get_text()]


def legends(figure):
    """Return the legends of a figure and of its axes."""
    own_legends = [axes.get_legend() for axes in figure.axes]
    return [*figure.legends, *(legend for legend in own_legends if legend)]


def texts(figure):
    """Return every text of a figure that is shown."""
    all_texts = list(figure.texts)
    for axes in figure.axes:
        if axes.axison:
            all_texts += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
            all_texts += [*tick_labels(axes.xaxis), *tick_labels(axes.yaxis)]
    for legend in legends(figure):
        all_texts += legend.get_texts()
    return [text for text in all_texts if text.get_text()]


def overlap(box, other):
    """Return whether two boxes share more than a pixel."""
    width = min(box.x1, other.x1) - max(box.x0, other.x0)
    height = min(box.y1, other.y1) - max(box.y0, other.y0)
    return width > 1 and height > 1


def assert_readable(figure):
    """Check that texts are inside, and that legends and tick labels hide nothing."""
    if figure.stale:  # not drawn since its last change
        draw(figure)
    for text in texts(figure):
        box = text.get_window_extent()
        low, high = figure.bbox.min - 1, figure.bbox.max + 1
        is_inside = (box.min >= low).all() and (box.max <= high).all()
        assert is_inside, f"cut off: {text.get_text()!r}, {box} of {figure.bbox}"
    for legend, axes in itertools.product(legends(figure), figure.axes):
        hides = overlap(legend.get_window_extent(), axes.bbox)
        assert not hides, f"a legend over {axes.get_title()!r}"
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            level = [text for text in tick_labels(axis) if text.get_rotation() == 0]
            boxes = [text.get_window_extent() for text in level]
            pairs = itertools.pairwise(boxes)
            assert not any(overlap(*pair) for pair in pairs), axes.get_title()
