"""Learning curves of runs, from the rows of their metrics; need the extra `plots`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float, Shaped

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import Seat
from jax_ttt.config.grade import SeatGrade, by_file_note
from jax_ttt.config.settings import Config
from jax_ttt.files.metrics_rows import (
    Evaluated,
    Row,
    Trained,
    evaluated_rows,
    searched_rows,
    source_of_rates,
)
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import (
    add_legend_below,
    break_name,
    new_figure,
    point_marker,
    set_whole_ticks,
)
from jax_ttt.text.grade_text import seat_phrase

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = Sequence[Row]
"""A run's metrics, as `metrics.jsonl` has them."""

_ENDS = ("wins", "draws", "losses")
_SCHEDULES = ("loss", "epsilon", "learning_rate")
_DASHES = ("-", "--", ":", "-.")
_DEFAULT_CONFIG = Config()  # tic-tac-toe, self-play, both seats


def draw_run(
    rows: Rows, title: str, config: Config = _DEFAULT_CONFIG, theme: Theme = "light"
) -> Picture:
    """Draw one run: its rounds if it finds counterexamples, else learning curves."""
    draw = round_curves if config.finds_counterexamples else learning_curves
    return draw(rows, title, config, theme)


def learning_curves(
    rows: Rows, title: str, config: Config = _DEFAULT_CONFIG, theme: Theme = "light"
) -> Picture:
    """Draw one run: its results against random by seat, its loss and its schedules.

    The titles say whether results are exact or sampled. A vertical line marks the
    update from which on the agent is proven unbeatable. Only the game, the opponent and
    the seats of `config` are used; a seat that the agent does not learn is not drawn.
    """
    trained = [row for row in rows if isinstance(row, Trained)]
    seats = config.seats
    above = "AABB" if len(seats) > 1 else "AAAA"
    with pictures.theme_style(theme):
        figure = new_figure(10, 7)
        panels = figure.subplot_mosaic(";".join((above, above, "CDEF")))
        results = [panels[name] for name in "AB"[: len(seats)]]
        for axes, seat in zip(results, seats, strict=True):
            _plot_results(axes, rows, seat, theme)
        results[0].set_ylabel("% against random")
        _plot_training_games(panels["C"], trained, theme)
        player = config.counted_player
        panels["C"].set_title(f"training games, %:\n{player}", fontsize=11)
        for name, field in zip("DEF", _SCHEDULES, strict=True):
            _plot_metric(panels[name], trained, field)
        for axes in panels.values():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
            inches = 8.5 / len(seats) if axes in results else 1.8
            set_whole_ticks(axes.xaxis, rows[-1].update, inches)
            last = max(rows[-1].update, 1)
            axes.set_xlim(-0.04 * last, 1.04 * last)
        add_legend_below(figure, results[0])
        figure.suptitle(break_name(title, 80))
        return pictures.figure_picture(figure, theme)


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


def _plot_results(axes: "Axes", rows: Rows, seat: Seat, theme: Theme) -> None:
    """Plot a seat's wins, draws and losses by update, and mark the proof."""
    graded = evaluated_rows(rows, [seat])
    updates = [row.update for row in graded]
    rates = [row.grade.rates[seat].rates for row in graded]
    shares = 100 * np.reshape(rates, (-1, 3))
    _plot_ends(axes, np.array(updates), shares, theme, marker="o")
    if (since := proven_from(rows)) is not None:
        note = by_file_note([row.grade for row in graded])
        label = f"proven from update {since:,} on{note}"
        axes.axvline(since, color=pictures.colours(theme)[1], lw=1, label=label)
    source = source_of_rates([row.grade for row in graded], [seat])
    axes.set_title(f"{seat_phrase(seat)}, {source}")


def _plot_ends(
    axes: "Axes",
    x: Shaped[np.ndarray, " T"],
    shares: Float[np.ndarray, "T 3"],
    theme: Theme,
    marker: str,
) -> None:
    """Plot the shares of wins, draws and losses in %."""
    lines = zip(_ENDS, shares.T, pictures.colours(theme), _DASHES, strict=False)
    for name, share, colour, dashes in lines:
        axes.plot(x, share, label=name, color=colour, ls=dashes, marker=marker, ms=3)
    axes.set_ylim(-2, 102)


def _plot_training_games(axes: "Axes", rows: Sequence[Trained], theme: Theme) -> None:
    """Plot the shares of wins, draws and losses in blocks of training games."""
    counts = ([row.update, row.games, row.wins, row.losses] for row in rows)
    totals = np.array([[0] * 4, *counts])
    # At most 50 blocks: shares of smaller blocks would be too noisy.
    totals = totals[np.unique(np.linspace(0, len(totals) - 1, 51).astype(int))]
    played, wins, losses = np.diff(totals[:, 1:], axis=0).T
    has_games = played > 0
    counts = np.stack([wins, played - wins - losses, losses], axis=1)[has_games]
    shares = 100 * counts / played[has_games][:, None]
    updates = totals[1:, 0][has_games]
    _plot_ends(axes, updates, shares, theme, marker=point_marker(updates))


def _plot_metric(axes: "Axes", rows: Sequence[Trained], field: str) -> None:
    """Plot a metric of the rows by update."""
    updates = [row.update for row in rows]
    values = [getattr(row, field) for row in rows]
    axes.plot(updates, values, marker=point_marker(values), ms=3)
    axes.set_title(field.replace("_", " "), fontsize=11)
    if field != "loss":
        axes.set_ylim(0, 1.05 * max([*values, 1e-30]))
        axes.yaxis.set_major_formatter("{x:g}")
    elif any(value > 0 for value in values):
        axes.set_yscale("log")


def round_curves(
    rows: Rows, title: str, config: Config, theme: Theme = "light"
) -> Picture:
    """Draw the positions that the agent reaches and winning replies, by round and seat.

    A triangle marks a search that reached its limit: there may be more of them. A
    vertical line marks the first round that proves the agent unbeatable.
    """
    grades = [row.grade for row in searched_rows(rows)]
    proofs = [place for place, grade in enumerate(grades) if grade.unbeatable]
    with pictures.theme_style(theme):
        figure = new_figure(10, 4)
        positions, ends = figure.subplots(1, 2)
        for number, seat in enumerate(config.seats):
            searched = {
                place: grade.searched[seat]
                for place, grade in enumerate(grades)
                if seat in grade.searched
            }
            colour = pictures.colours(theme)[2 * number]
            _plot_by_round(
                positions, searched, "num_positions", seat_phrase(seat), colour
            )
            _plot_by_round(ends, searched, "losing_ends", seat_phrase(seat), colour)
        if proofs:
            grey = pictures.colours(theme)[1]
            label = f"proven in round {proofs[0]}{by_file_note(grades)}"
            ends.axvline(proofs[0], color=grey, lw=1, label=label)
        positions.set(title="positions reached", ylim=(0, None))
        ends.set_title("winning replies")
        ends.set_yscale("symlog", linthresh=1)  # linear from 0 to 1
        counts = [
            seat.losing_ends or 0
            for grade in grades
            for seat in grade.searched.values()
        ]
        ends.set_ylim(-0.3, 2 * max(counts, default=1) + 1)
        for axis in (positions.yaxis, ends.yaxis):
            axis.set_major_formatter("{x:,.0f}")
        for axes in (positions, ends):
            axes.grid(visible=True)
            axes.set_xlabel("round")
            set_whole_ticks(axes.xaxis, max(len(grades) - 1, 1), 4.2)
        add_legend_below(figure, ends)
        figure.suptitle(break_name(title, 80))
        return pictures.figure_picture(figure, theme)


def _plot_by_round(
    axes: "Axes",
    searched: Mapping[int, SeatGrade],
    field: Literal["num_positions", "losing_ends"],
    label: str,
    colour: str,
) -> None:
    """Plot a field by round, with a triangle where the search reached its limit."""
    numbers = {place: getattr(seat, field) for place, seat in searched.items()}
    axes.plot(
        [*numbers], [*numbers.values()], label=label, color=colour, marker="o", ms=3
    )
    cut = [place for place, seat in searched.items() if not seat.complete]
    heights = [numbers[place] for place in cut]
    axes.plot(cut, heights, ls="", marker="^", ms=6, color=colour)


def draw_groups(
    groups: Mapping[str, Sequence[tuple[Config, Rows]]],
    title: str = "",
    theme: Theme = "light",
) -> Picture:
    """Draw groups of runs in one picture, each as its mean and range.

    A run is its settings and its rows. The title is by default the game.

    Raises:
        Refused: a group has no run, the groups are of different games, or a run has no
            rates against random.
    """
    if not groups or not all(groups.values()):
        raise Refused("there is no run to draw")
    configs = [config for runs in groups.values() for config, _ in runs]
    games = {config.env_id for config in configs}
    if len(games) > 1:
        raise Refused(f"runs of different games: {', '.join(sorted(games))}")
    for name, runs in groups.items():
        for config, rows in runs:
            check_rates(name, rows, config)
    rows_of = {name: [rows for _, rows in runs] for name, runs in groups.items()}
    return mean_curves(rows_of, title or configs[0].env_id, configs[0], theme)


def check_rates(name: str, rows: Rows, config: Config) -> None:
    """Raise `Refused` if a run, named `name`, has no rates in the seats it learns."""
    if not evaluated_rows(rows, config.seats):
        raise Refused(f"{name}: no results against random to draw")


def mean_curves(
    runs: Mapping[str, Sequence[Rows]],
    title: str,
    config: Config = _DEFAULT_CONFIG,
    theme: Theme = "light",
) -> Picture:
    """Draw for each label the mean of its runs, and a band from the least to the most.

    The upper panels show the wins against random by seat; the lower one the share of
    runs that are proven unbeatable, if proofs were tried. An update is drawn if every
    run of the label has rates there. Only the game and the seats of `config` are used.

    Raises:
        Refused: there is no such update for a label.
    """
    common = {
        label: common_evaluations(group, config.seats) for label, group in runs.items()
    }
    for label, rows in common.items():
        if not rows:
            raise Refused(f"{label}: no update at which all its runs have win rates")
    evaluations = [row for group in common.values() for rows in group for row in rows]
    source = source_of_rates([row.grade for row in evaluations], config.seats)
    note = "" if source == "exact" else f", {source}"
    searched = any(row.grade.unbeatable is not None for row in evaluations)
    above = "AB" if len(config.seats) > 1 else "AA"
    with pictures.theme_style(theme):
        figure = new_figure(9, 6.5 if searched else 4)
        panels = figure.subplot_mosaic(f"{above};CC" if searched else above)
        for panel, seat in zip("AB", config.seats, strict=False):
            panels[panel].set_title(f"% wins {seat_phrase(seat)}{note}")
            for number, (label, rows) in enumerate(common.items()):
                band_label = f"{label}: mean and range of {len(runs[label])}"
                updates = np.array([row[0].update for row in rows])
                plot_range(
                    panels[panel],
                    updates,
                    win_percents(rows, seat),
                    band_label,
                    number,
                )
        if "B" in panels:
            panels["B"].sharey(panels["A"])
        if searched:
            _plot_proofs(panels["C"], common)
        last = max(rows[-1][0].update for rows in common.values())
        for name, axes in panels.items():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
            whole = name == "C" or len(config.seats) == 1
            set_whole_ticks(axes.xaxis, last, 8 if whole else 3.7)
        add_legend_below(figure, panels["A"])
        figure.suptitle(break_name(title, 70))
        return pictures.figure_picture(figure, theme)


def _plot_proofs(axes: "Axes", common: Mapping[str, list[list[Evaluated]]]) -> None:
    """Plot the share of the runs that are proven, by label."""
    note = by_file_note(
        row.grade for rows in common.values() for runs in rows for row in runs
    )
    for number, rows in enumerate(common.values()):
        shares = [
            100 * np.mean([row.grade.unbeatable is True for row in runs])
            for runs in rows
        ]
        updates = [row[0].update for row in rows]
        dashes = _DASHES[number % len(_DASHES)]
        axes.plot(updates, shares, ls=dashes, marker="o", ms=3)
    axes.set(title=f"% of the runs proven unbeatable{note}", ylim=(-4, 104))


def common_evaluations(
    group: Sequence[Rows], seats: Sequence[Seat]
) -> list[list[Evaluated]]:
    """Return the evaluations of the updates that all runs have: a list per update.

    A list has the evaluation of each run; only evaluations of all `seats` count.
    """
    graded = (evaluated_rows(rows, seats) for rows in group)
    by_update = [{row.update: row for row in rows} for rows in graded]
    updates = sorted(set.intersection(*map(set, by_update)))
    return [[rows[update] for rows in by_update] for update in updates]


def win_percents(common: list[list[Evaluated]], seat: Seat) -> np.ndarray:
    """Return a seat's wins in %, by evaluation and run."""
    shares = [[row.grade.rates[seat].win_rate for row in rows] for rows in common]
    return 100 * np.array(shares)


def plot_range(
    axes: "Axes",
    x: Shaped[np.ndarray, " T"],
    shares: Float[np.ndarray, "T N"],
    label: str,
    number: int,
) -> None:
    """Plot the mean of several runs, and their whole range."""
    colour, dashes = f"C{number}", _DASHES[number % len(_DASHES)]
    axes.plot(
        x,
        shares.mean(axis=1),
        label=label,
        color=colour,
        ls=dashes,
        marker=point_marker(shares),
        ms=3,
    )
    low, high = shares.min(axis=1), shares.max(axis=1)
    axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
