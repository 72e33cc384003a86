"""Learning curves of runs, from the rows of their metrics; need the extra `plots`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Shaped

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS, Seat, seat_name
from jax_ttt.config.presets import PRESETS, SYSTEMS, Preset
from jax_ttt.config.settings import Config
from jax_ttt.files.rows import (
    Chunk,
    Evaluated,
    Row,
    evaluations,
    searches,
    source_of_rates,
)
from jax_ttt.grading.grade import SeatGrade
from jax_ttt.pictures import picture
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import (
    band,
    legend_below,
    marker,
    new_figure,
    shortened,
    whole_numbers,
)
from jax_ttt.pictures.picture import Picture, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = Sequence[Row]
"""A run's metrics, as `metrics.jsonl` has them."""

_ENDS = ("wins", "draws", "losses")
_SCHEDULES = ("loss", "epsilon", "learning_rate")
_DASHES = ("-", "--", ":", "-.")
_USUAL = Config()  # tic-tac-toe, against itself, in both seats


def draw_run(
    rows: Rows, title: str, config: Config = _USUAL, theme: Theme = "light"
) -> Picture:
    """Draw one run: its rounds if it finds counterexamples, else its learning."""
    draw = round_curves if config.finds_counterexamples else learning_curves
    return draw(rows, title, config, theme)


def learning_curves(
    rows: Rows, title: str, config: Config = _USUAL, theme: Theme = "light"
) -> Picture:
    """Draw one run: its results against random by seat, its loss and its schedules.

    The titles say whether results are exact or sampled; a line marks the update from
    which on the agent is proven unbeatable. Of `config` count the game, the opponent
    and the seats that are learned: others are not drawn.
    """
    chunks = [row for row in rows if isinstance(row, Chunk)]
    seats = _seats(config)
    above = "AABB" if len(seats) > 1 else "AAAA"
    with picture.style(theme):
        figure = new_figure(10, 7)
        panels = figure.subplot_mosaic(";".join((above, above, "CDEF")))
        results = [panels[name] for name in "AB"[: len(seats)]]
        for axes, (seat, name) in zip(results, seats.items(), strict=True):
            _results(axes, rows, seat, name, theme)
        results[0].set_ylabel("% against random")
        _shares(panels["C"], chunks, theme)
        player = config.opponent.counted_player
        panels["C"].set_title(f"training games, %:\n{player}", fontsize=11)
        for name, field in zip("DEF", _SCHEDULES, strict=True):
            _schedule(panels[name], chunks, field)
        for axes in panels.values():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
            inches = 8.5 / len(seats) if axes in results else 1.8
            whole_numbers(axes.xaxis, rows[-1].update, inches)
            last = max(rows[-1].update, 1)
            axes.set_xlim(-0.04 * last, 1.04 * last)
        legend_below(figure, results[0])
        figure.suptitle(shortened(title, 80))
        return pictures.figure_picture(figure, theme)


def _seats(config: Config) -> dict[Seat, str]:
    """Return what the seats that are learned are called."""
    return {seat: f"as {seat_name(config.env_id, seat)}" for seat in config.seats}


def proven_from(rows: Rows) -> int | None:
    """Return the update from which on every evaluation proves the agent unbeatable."""
    since = None
    graded = (row for row in rows if isinstance(row, Evaluated))
    for row in graded:
        if not (row.grade.rates or row.grade.followed):
            continue
        first = row.update if since is None else since
        since = first if row.grade.unbeatable else None
    return since


def _results(axes: "Axes", rows: Rows, seat: Seat, title: str, theme: Theme) -> None:
    """Draw a seat's wins, draws and losses by update, and the moment of proof."""
    graded = evaluations(rows, [seat])
    updates = [row.update for row in graded]
    rates = zip(*(row.grade.rates[seat].rates for row in graded), strict=True)
    lines = zip(_ENDS, rates, picture.colours(theme), _DASHES, strict=False)
    for name, of_end, colour, dashes in lines:
        shares = [100 * rate.value for rate in of_end]
        axes.plot(
            updates, shares, label=name, color=colour, ls=dashes, marker="o", ms=3
        )
    if (since := proven_from(rows)) is not None:
        label = f"proven from update {since:,} on"
        axes.axvline(since, color=picture.colours(theme)[1], lw=1, label=label)
    axes.set_title(f"{title}, {source_of_rates([row.grade for row in graded], [seat])}")
    axes.set_ylim(-2, 102)


def _shares(axes: "Axes", chunks: Sequence[Chunk], theme: Theme) -> None:
    """Draw the results of the training games, in blocks of games."""
    counts = ([row.update, row.games, row.wins, row.losses] for row in chunks)
    ends = np.array([[0] * 4, *counts])
    # In at most 50 blocks, so that a block holds enough games.
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, 51).astype(int))]
    played, wins, losses = np.diff(ends[:, 1:], axis=0).T
    some = played > 0
    counts = np.stack([wins, played - wins - losses, losses])[:, some]
    lines = zip(_ENDS, counts, picture.colours(theme), _DASHES, strict=False)
    for name, count, colour, dashes in lines:
        shares = 100 * count / played[some]
        axes.plot(
            ends[1:, 0][some],
            shares,
            label=name,
            color=colour,
            ls=dashes,
            marker=marker(shares),
            ms=3,
        )
    axes.set_ylim(-2, 102)


def _schedule(axes: "Axes", chunks: Sequence[Chunk], field: str) -> None:
    """Draw a number of the chunks by update, as it is."""
    updates = [chunk.update for chunk in chunks]
    values = [getattr(chunk, field) for chunk in chunks]
    axes.plot(updates, values, marker=marker(values), ms=3)
    axes.set_title(field.replace("_", " "), fontsize=11)
    if field != "loss":
        axes.set_ylim(0, 1.05 * max([*values, 1e-30]))
        axes.yaxis.set_major_formatter("{x:g}")
    elif any(value > 0 for value in values):
        axes.set_yscale("log")


def round_curves(
    rows: Rows, title: str, config: Config, theme: Theme = "light"
) -> Picture:
    """Draw by round and seat the positions that the agent reaches, and its losing ends.

    A triangle marks a search that was cut: there may be more. A line marks the first
    round that proves the agent unbeatable.
    """
    grades = [row.grade for row in searches(rows)]
    proofs = [place for place, grade in enumerate(grades) if grade.unbeatable]
    with picture.style(theme):
        figure = new_figure(10, 4)
        positions, ends = figure.subplots(1, 2)
        for number, (seat, name) in enumerate(_seats(config).items()):
            searched = {
                place: grade.searched[seat]
                for place, grade in enumerate(grades)
                if seat in grade.searched
            }
            colour = picture.colours(theme)[2 * number]
            _by_round(positions, searched, _num_positions, name, colour)
            _by_round(ends, searched, _losing_ends, name, colour)
        if proofs:
            grey = picture.colours(theme)[1]
            label = f"proven in round {proofs[0]}"
            ends.axvline(proofs[0], color=grey, lw=1, label=label)
        positions.set(title="positions reached", ylim=(0, None))
        ends.set_title("losing ends")
        ends.set_yscale("symlog", linthresh=1)  # linear from 0 to 1
        counts = [
            _losing_ends(seat) for grade in grades for seat in grade.searched.values()
        ]
        ends.set_ylim(-0.3, 2 * max(counts, default=1) + 1)
        for axis in (positions.yaxis, ends.yaxis):
            axis.set_major_formatter("{x:,.0f}")
        for axes in (positions, ends):
            axes.grid(visible=True)
            axes.set_xlabel("round")
            whole_numbers(axes.xaxis, max(len(grades) - 1, 1), 4.2)
        legend_below(figure, ends)
        figure.suptitle(shortened(title, 80))
        return pictures.figure_picture(figure, theme)


def _by_round(
    axes: "Axes",
    searched: Mapping[int, SeatGrade],
    number: Callable[[SeatGrade], int],
    label: str,
    colour: str,
) -> None:
    """Draw a number by round, with a triangle where the search was cut."""
    numbers = [number(seat) for seat in searched.values()]
    axes.plot([*searched], numbers, label=label, color=colour, marker="o", ms=3)
    cut = {n: number(seat) for n, seat in searched.items() if not seat.complete}
    axes.plot([*cut], [*cut.values()], ls="", marker="^", ms=6, color=colour)


def _num_positions(searched: SeatGrade) -> int:
    return searched.num_positions or 0


def _losing_ends(searched: SeatGrade) -> int:
    return searched.losing_ends or 0


def mean_curves(
    runs: Mapping[str, Sequence[Rows]],
    title: str,
    config: Config = _USUAL,
    theme: Theme = "light",
) -> Picture:
    """Draw the mean of the runs of each label, and a band from least to most.

    Above are their wins against random by seat; below, where proofs were tried, the
    share of runs that are proven unbeatable. An update counts where every run of the
    label has rates. Of `config` count the game and the seats.

    Raises:
        Refused: a label has no such update.
    """
    common = {label: _common(group, config.seats) for label, group in runs.items()}
    for label, rows in common.items():
        if not rows:
            raise Refused(f"{label}: no update at which all its runs have win rates")
    every = [row for group in common.values() for rows in group for row in rows]
    source = source_of_rates([row.grade for row in every], config.seats)
    note = "" if source == "exact" else f", {source}"
    searched = any(row.grade.unbeatable is not None for row in every)
    seats = _seats(config)
    above = "AB" if len(seats) > 1 else "AA"
    with picture.style(theme):
        figure = new_figure(9, 6.5 if searched else 4)
        panels = figure.subplot_mosaic(f"{above};CC" if searched else above)
        for panel, (seat, name) in zip("AB", seats.items(), strict=False):
            panels[panel].set_title(f"% wins {name}{note}")
            for number, (label, rows) in enumerate(common.items()):
                of_runs = f"{label}: mean and range of {len(runs[label])}"
                updates = np.array([row[0].update for row in rows])
                _band(panels[panel], updates, _wins(rows, seat), of_runs, number)
        if "B" in panels:
            panels["B"].sharey(panels["A"])
        if searched:
            _proofs(panels["C"], common)
        last = max(rows[-1][0].update for rows in common.values())
        for name, axes in panels.items():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
            whole = name == "C" or len(seats) == 1
            whole_numbers(axes.xaxis, last, 8 if whole else 3.7)
        legend_below(figure, panels["A"])
        figure.suptitle(shortened(title, 70))
        return pictures.figure_picture(figure, theme)


def _proofs(axes: "Axes", common: Mapping[str, list[list[Evaluated]]]) -> None:
    """Draw the share of the runs that are proven, by label."""
    for number, rows in enumerate(common.values()):
        shares = [
            100 * np.mean([row.grade.unbeatable is True for row in runs])
            for runs in rows
        ]
        updates = [row[0].update for row in rows]
        dashes = _DASHES[number % len(_DASHES)]
        axes.plot(updates, shares, ls=dashes, marker="o", ms=3)
    axes.set(title="% of the runs proven unbeatable", ylim=(-4, 104))


def _common(group: Sequence[Rows], seats: Sequence[Seat]) -> list[list[Evaluated]]:
    """Return the evaluations of these seats that all runs have, a row of each run."""
    graded = (evaluations(rows, seats) for rows in group)
    by_update = [{row.update: row for row in rows} for rows in graded]
    updates = sorted(set.intersection(*map(set, by_update)))
    return [[rows[update] for rows in by_update] for update in updates]


def _wins(common: list[list[Evaluated]], seat: Seat) -> np.ndarray:
    """Return a seat's wins in %, by evaluation and run."""
    shares = [[row.grade.rates[seat].win_rate for row in rows] for rows in common]
    return 100 * np.array(shares)


def _band(
    axes: "Axes",
    across: Shaped[np.ndarray, " T"],
    shares: Float[np.ndarray, "T N"],
    label: str,
    number: int,
) -> None:
    """Draw the mean of several runs, and the range of them all."""
    band(
        axes,
        across,
        low=shares.min(axis=1),
        middle=shares.mean(axis=1),
        high=shares.max(axis=1),
        label=label,
        color=f"C{number}",
        linestyle=_DASHES[number % len(_DASHES)],
        marker=marker(shares),
        markersize=3,
    )


def growth_curves(
    runs: Mapping[Preset, Sequence[Rows]], theme: Theme = "light"
) -> Picture:
    """Draw how the published systems' wins against random grow with the games played.

    Each system has a panel: the exact wins of our agents by seat, mean and range of the
    runs, and as points what its authors published or its original code printed.
    """
    with picture.style(theme):
        across = 4
        down = -(-len(runs) // across)
        figure = new_figure(3 * across, 2.4 * down + 0.5)
        every = np.ravel(figure.subplots(down, across, sharex=True, sharey=True))
        for axes, (preset, group) in zip(every, runs.items(), strict=False):
            _grown(axes, preset, group, picture.colours(theme)[1])
        for axes in every[len(runs) :]:
            axes.set_axis_off()
        labels = {str(x.get_label()): x for axes in every for x in axes.lines}
        figure.legend(
            labels.values(),
            labels.keys(),
            loc="outside upper center",
            ncols=len(labels),
        )
        figure.supxlabel("games played")
        figure.supylabel("% wins against random")
        return pictures.figure_picture(figure, theme)


def _grown(axes: "Axes", preset: Preset, group: Sequence[Rows], grey: str) -> None:
    """Draw one system's panel."""
    # Not where no game has ended yet: the axis is logarithmic.
    common = _common(group, PRESETS[preset].seats)
    common = [rows for rows in common if all(row.games for row in rows)]
    played = np.array([[row.games for row in rows] for rows in common]).mean(axis=1)
    for seat, name in _seats(PRESETS[preset]).items():
        wins, number = _wins(common, seat), SEATS.index(seat)
        _band(axes, played, wins, f"jax_ttt {name}", number)
    if points := SYSTEMS[preset].curve:
        axes.plot(*zip(*points, strict=True), "o", ms=4, color=grey, label="original")
    axes.set(title=preset, xscale="log", ylim=(20, 102))
    axes.grid(visible=True)
