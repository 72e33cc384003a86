"""Curves of runs, from the rows of their metrics; they need the extra `plots`.

Axes of the figures: updates or games across; shares in % upwards.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jax_ttt import games, grading, pictures, systems
from jax_ttt.config import LEARNED, RATES, EnvId
from jax_ttt.pictures import Picture, Theme
from jax_ttt.presets import PRESETS, Preset

Rows = Sequence[dict[str, Any]]
"""A run's metrics, as `metrics.jsonl` has them."""

_ENDS = ("wins", "draws", "losses")
_DASHES = ("-", "--", ":")


def learning(
    rows: Rows, title: str, env_id: EnvId = "tic_tac_toe", theme: Theme = "light"
) -> Picture:
    """Draw one run: its results against random by seat, its loss and its schedules.

    The results are exact where the game can be walked; a line marks the moment from
    which on the agent is proven unbeatable.
    """
    from matplotlib.figure import Figure

    with pictures.style(theme):
        figure = Figure(figsize=(9, 6.5), layout="constrained")
        panels = figure.subplot_mosaic("AAABBB;AAABBB;CCDDEE")
        seats = zip("AB", grading.SEATS, games.seat_names(env_id), strict=True)
        for panel, seat, name in seats:
            _results(panels[panel], rows, seat, f"as {name}", theme)
        panels["A"].set_ylabel("% against random")
        panels["B"].legend(loc="center right")
        chunks = [row for row in rows if row["event"] == "chunk"]
        updates = [row["update"] for row in chunks]
        _shares(panels["C"], chunks, theme)
        panels["D"].plot(updates, [row["loss"] for row in chunks])
        panels["D"].set(title="loss", yscale="log")
        _schedules(panels["E"], updates, chunks, theme)
        for axes in panels.values():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
        figure.suptitle(title)
        return pictures.of(figure)


def proven_from(rows: Rows) -> int | None:
    """Return the update from which on every evaluation proves the agent unbeatable."""
    since = None
    for row in _evaluations(rows):
        first = row["update"] if since is None else since
        since = first if _proven(row) else None
    return since


def _proven(row: dict[str, Any]) -> bool:
    return row.get("exact", {}).get("unbeatable", False)


def _evaluations(rows: Rows) -> list[dict[str, Any]]:
    graded = [row for row in rows if row["event"] == "evaluation"]
    return [row for row in graded if "exact" in row or "sampled" in row]


def _results(axes: Any, rows: Rows, seat: str, title: str, theme: Theme) -> None:  # noqa: ANN401
    """Draw a seat's wins, draws and losses by update, and the moment of proof."""
    graded = _evaluations(rows)
    lines = zip(_ENDS, RATES, pictures.colours(theme), _DASHES, strict=True)
    for name, rate, colour, dashes in lines:
        shares = [100 * grading.best_known(row)[seat][rate] for row in graded]
        updates = [row["update"] for row in graded]
        style = {"color": colour, "ls": dashes, "marker": "o", "ms": 3}
        axes.plot(updates, shares, label=name, **style)
    if (since := proven_from(rows)) is not None:
        axes.axvline(since, color="#808080", lw=1)
        late = since > graded[-1]["update"] / 2  # then there is more room before it
        style = {"ha": "right" if late else "left", "color": "#808080"}
        axes.annotate(f" proven from {since:,} on ", (since, 70), **style)
    exact = all("exact" in row for row in graded)
    axes.set_title(f"{title}, {'exact' if exact else 'sampled'}")
    axes.set_ylim(-2, 102)


def _shares(axes: Any, chunks: Rows, theme: Theme) -> None:  # noqa: ANN401
    """Draw how the games of the training ended, in blocks of them."""
    fields = ("update", "games", "wins", "losses")
    ends = np.array([[0] * 4, *([row[name] for name in fields] for row in chunks)])
    # In at most 50 blocks, so that a block holds enough games.
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, 51).astype(int))]
    played, wins, losses = np.diff(ends[:, 1:], axis=0).T
    some = played > 0
    counts = np.stack([wins, played - wins - losses, losses])[:, some]
    lines = zip(_ENDS, counts, pictures.colours(theme), _DASHES, strict=True)
    for name, count, colour, dashes in lines:
        shares = 100 * count / played[some]
        axes.plot(ends[1:, 0][some], shares, color=colour, ls=dashes, label=name)
    axes.set(title="% of the training games", ylim=(-2, 102))


def _schedules(axes: Any, updates: list[int], chunks: Rows, theme: Theme) -> None:  # noqa: ANN401
    """Draw epsilon, and the learning rate as a share of its greatest."""
    rates = np.array([row["learning_rate"] for row in chunks])
    epsilon, _, rate = pictures.colours(theme)
    axes.plot(updates, [row["epsilon"] for row in chunks], color=epsilon)
    axes.plot(updates, rates / max(rates.max(), 1e-30), color=rate, ls="--")
    axes.set(title="schedules", ylim=(-0.02, 1.02))
    axes.legend(["epsilon", f"learning rate / {rates.max():.2g}"], fontsize=9)


def several(
    runs: Mapping[str, Sequence[Rows]],
    title: str,
    env_id: EnvId = "tic_tac_toe",
    theme: Theme = "light",
) -> Picture:
    """Draw runs that belong together as their mean, and a band from least to most.

    Above their wins against random by seat; below how many are proven unbeatable. An
    update counts where every run of the label was evaluated.
    """
    from matplotlib.figure import Figure

    with pictures.style(theme):
        figure = Figure(figsize=(9, 6), layout="constrained")
        panels = figure.subplot_mosaic("AB;CC")
        panels["A"].set_title(f"% wins as {games.seat_names(env_id)[0]}")
        panels["B"].set_title(f"% wins as {games.seat_names(env_id)[1]}")
        panels["C"].set(title="% of the runs proven unbeatable", ylim=(-2, 102))
        for number, (label, group) in enumerate(runs.items()):
            name = f"{label}: mean and range of {len(group)}"
            common = _common(group)
            updates = [rows[0]["update"] for rows in common]
            for panel, seat in zip("AB", grading.SEATS, strict=True):
                _band(panels[panel], updates, _wins(common, seat), name, number)
            proven = [[_proven(row) for row in rows] for rows in common]
            shares = 100 * np.mean(proven, axis=1)
            dashes = _DASHES[number % len(_DASHES)]
            (line,) = panels["C"].plot(updates, shares, color=f"C{number}", ls=dashes)
            line.set_drawstyle("steps-post")
        for axes in panels.values():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
        panels["A"].legend(loc="lower right", fontsize=9)
        figure.suptitle(title)
        return pictures.of(figure)


def _common(group: Sequence[Rows]) -> list[list[dict[str, Any]]]:
    """Return the evaluations that all runs have, each a row of every run."""
    by_update = [{row["update"]: row for row in _evaluations(rows)} for rows in group]
    updates = sorted(set.intersection(*map(set, by_update)))
    return [[rows[update] for rows in by_update] for update in updates]


def _wins(common: list[list[dict[str, Any]]], seat: str) -> np.ndarray:
    """Return a seat's wins in %, by evaluation and run."""
    shares = [
        [grading.best_known(row)[seat]["win_rate"] for row in rows] for rows in common
    ]
    return 100 * np.array(shares)


def _band(axes: Any, at: Any, shares: np.ndarray, label: str, number: int) -> None:  # noqa: ANN401
    """Draw the mean of several runs, and the range of them all."""
    dashes = _DASHES[number % len(_DASHES)]
    colour = f"C{number}"
    axes.plot(at, shares.mean(axis=1), color=colour, ls=dashes, label=label)
    low, high = shares.min(axis=1), shares.max(axis=1)
    axes.fill_between(at, low, high, color=colour, alpha=0.2, lw=0)


def growth(runs: Mapping[Preset, Sequence[Rows]], theme: Theme = "light") -> Picture:
    """Draw how the published systems' wins against random grow with the games played.

    A field a system: our agents' exact wins by seat, mean and range of the runs, and
    as points what its authors published or its code gave.
    """
    from matplotlib.figure import Figure

    with pictures.style(theme):
        across = 4
        down = -(-len(runs) // across)
        figure = Figure(figsize=(3 * across, 2.4 * down + 0.5), layout="constrained")
        every = np.ravel(figure.subplots(down, across, sharex=True, sharey=True))
        for axes, (preset, group) in zip(every, runs.items(), strict=False):
            _grown(axes, preset, group)
        for axes in every[len(runs) :]:
            axes.set_axis_off()
        every[0].legend(loc="lower right", fontsize=8)
        figure.supxlabel("games played")
        figure.supylabel("% wins against random")
        return pictures.of(figure)


def _grown(axes: Any, preset: Preset, group: Sequence[Rows]) -> None:  # noqa: ANN401
    """Draw one system's field."""
    # Not where no game has ended yet: the axis is logarithmic.
    common = [rows for rows in _common(group) if all(row["games"] for row in rows)]
    played = np.array([[row["games"] for row in rows] for rows in common]).mean(axis=1)
    names = games.seat_names(PRESETS[preset].env_id)
    for number, (seat, name) in enumerate(zip(grading.SEATS, names, strict=True)):
        if seat in LEARNED[PRESETS[preset].seat]:
            _band(axes, played, _wins(common, seat), f"ours as {name}", number)
    if points := systems.SYSTEMS[preset].curve:
        axes.plot(*zip(*points, strict=True), ".", color="#808080", label="theirs")
    axes.set(title=preset, xscale="log", ylim=(20, 102))
    axes.grid(visible=True)
