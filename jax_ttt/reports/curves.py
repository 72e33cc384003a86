"""Curves of runs, from the rows of their metrics; they need the extra `plots`.

Axes of the figures: updates or games across; shares in % upwards.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jax_ttt.config.catalogue import GAMES
from jax_ttt.config.choices import LEARNED, RATES
from jax_ttt.config.presets import PRESETS, SYSTEMS, Preset
from jax_ttt.config.settings import Config
from jax_ttt.evaluation import grades
from jax_ttt.reports import pictures
from jax_ttt.reports.pictures import Picture, Theme

Rows = Sequence[dict[str, Any]]
"""A run's metrics, as `metrics.jsonl` has them."""

_ENDS = ("wins", "draws", "losses")
_DASHES = ("-", "--", ":", "-.")
_USUAL = Config()  # tic-tac-toe, against itself, in both seats


def learning(
    rows: Rows, title: str, config: Config = _USUAL, theme: Theme = "light"
) -> Picture:
    """Draw one run: its results against random by seat, its loss and its schedules.

    The results are exact where the game can be walked; a line marks the moment from
    which on the agent is proven unbeatable. Of `config` count the game, the opponent
    and the seats that are learned: others are not drawn.
    """
    from matplotlib.figure import Figure

    chunks = [row for row in rows if row["event"] == "chunk"]
    updates = [row["update"] for row in chunks]
    seats = _seats(config)
    above = "AAABBB" if len(seats) > 1 else "AAAAAA"
    with pictures.style(theme):
        figure = Figure(figsize=(9, 6.5), layout="constrained")
        panels = figure.subplot_mosaic(";".join((above, above, "CCDDEE")))
        for panel, (seat, name) in zip("AB", seats.items(), strict=False):
            _results(panels[panel], rows, seat, name, theme)
        panels["A"].set_ylabel("% against random")
        panels["A"].legend(loc="center right")
        _shares(panels["C"], chunks, theme)
        player = config.opponent.counted_player
        panels["C"].set_title(f"training games, %: {player}", fontsize=11)
        panels["D"].plot(updates, [row["loss"] for row in chunks])
        panels["D"].set(title="loss", yscale="log")
        _schedules(panels["E"], updates, chunks)
        for axes in panels.values():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
        figure.suptitle(title)
        return pictures.of(figure)


def _seats(config: Config) -> dict[str, str]:
    """Return what the seats that are learned are called."""
    names = dict(zip(LEARNED["both"], GAMES[config.env_id].seats, strict=True))
    return {seat: f"as {names[seat]}" for seat in LEARNED[config.opponent.seat]}


def proven_from(rows: Rows) -> int | None:
    """Return the update from which on every evaluation proves the agent unbeatable."""
    since = None
    for row in _evaluations(rows):
        first = row["update"] if since is None else since
        since = first if grades.is_proven(row) else None
    return since


def _exact(graded: Rows) -> bool:
    return all("exact" in row for row in graded)


def _evaluations(rows: Rows) -> list[dict[str, Any]]:
    graded = [row for row in rows if row["event"] == "evaluation"]
    return [row for row in graded if "exact" in row or "sampled" in row]


def _results(axes: Any, rows: Rows, seat: str, title: str, theme: Theme) -> None:  # noqa: ANN401
    """Draw a seat's wins, draws and losses by update, and the moment of proof."""
    graded = _evaluations(rows)
    lines = zip(_ENDS, RATES, pictures.colours(theme), _DASHES, strict=False)
    for name, rate, colour, dashes in lines:
        shares = [100 * grades.best_known(row)[seat][rate] for row in graded]
        updates = [row["update"] for row in graded]
        style = {"color": colour, "ls": dashes, "marker": "o", "ms": 3}
        axes.plot(updates, shares, label=name, **style)
    if (since := proven_from(rows)) is not None:
        grey = pictures.colours(theme)[1]
        axes.axvline(since, color=grey, lw=1)
        late = since > graded[-1]["update"] / 2  # then there is more room before it
        style = {"ha": "right" if late else "left", "color": grey}
        axes.annotate(f" proven from {since:,} on ", (since, 70), **style)
    axes.set_title(f"{title}, {'exact' if _exact(graded) else 'sampled'}")
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
    lines = zip(_ENDS, counts, pictures.colours(theme), _DASHES, strict=False)
    for name, count, colour, dashes in lines:
        shares = 100 * count / played[some]
        axes.plot(ends[1:, 0][some], shares, color=colour, ls=dashes, label=name)
    axes.set_ylim(-2, 102)


def _schedules(axes: Any, updates: list[int], chunks: Rows) -> None:  # noqa: ANN401
    """Draw epsilon, and the learning rate as a share of its greatest."""
    rates = np.array([row["learning_rate"] for row in chunks])
    most = max([*rates, 1e-30])
    axes.plot(updates, [row["epsilon"] for row in chunks], label="epsilon")
    axes.plot(updates, rates / most, ls="--", label=f"step size / {most:.2g}")
    axes.set(title="schedules", ylim=(-0.02, 1.6), yticks=(0, 0.5, 1))
    axes.legend(loc="upper right")


def several(
    runs: Mapping[str, Sequence[Rows]],
    title: str,
    config: Config = _USUAL,
    theme: Theme = "light",
) -> Picture:
    """Draw runs that belong together as their mean, and a band from least to most.

    Above their wins against random by seat; below, in games that can be walked, how
    many are proven unbeatable. An update counts where every run of the label was
    evaluated; each run is, once at least. Of `config` count the game and the seats.
    """
    from matplotlib.figure import Figure

    common = {label: _common(group) for label, group in runs.items()}
    exact = _exact([row for group in common.values() for rows in group for row in rows])
    seats = _seats(config)
    above = "AB" if len(seats) > 1 else "AA"
    with pictures.style(theme):
        figure = Figure(figsize=(9, 6 if exact else 3.5), layout="constrained")
        panels = figure.subplot_mosaic(f"{above};CC" if exact else above)
        for panel, (seat, name) in zip("AB", seats.items(), strict=False):
            panels[panel].set_title(f"% wins {name}{'' if exact else ', sampled'}")
            for number, (label, rows) in enumerate(common.items()):
                told = f"{label}: mean and range of {len(runs[label])}"
                updates = [row[0]["update"] for row in rows]
                _band(panels[panel], updates, _wins(rows, seat), told, number)
        if exact:
            _proofs(panels["C"], common)
        for axes in panels.values():
            axes.grid(visible=True)
            axes.set_xlabel("updates")
        panels["A"].legend(loc="lower right")
        figure.suptitle(title)
        return pictures.of(figure)


def _proofs(axes: Any, common: Mapping[str, list[list[dict[str, Any]]]]) -> None:  # noqa: ANN401
    """Draw the share of the runs that are proven, by label."""
    for number, rows in enumerate(common.values()):
        shares = [
            100 * np.mean([grades.is_proven(row) for row in runs]) for runs in rows
        ]
        updates = [row[0]["update"] for row in rows]
        dashes = _DASHES[number % len(_DASHES)]
        axes.plot(updates, shares, ls=dashes, marker="o", ms=3)
    axes.set(title="% of the runs proven unbeatable", ylim=(-4, 104))


def _common(group: Sequence[Rows]) -> list[list[dict[str, Any]]]:
    """Return the evaluations that all runs have, each a row of every run."""
    by_update = [{row["update"]: row for row in _evaluations(rows)} for rows in group]
    updates = sorted(set.intersection(*map(set, by_update)))
    return [[rows[update] for rows in by_update] for update in updates]


def _wins(common: list[list[dict[str, Any]]], seat: str) -> np.ndarray:
    """Return a seat's wins in %, by evaluation and run."""
    shares = [
        [grades.best_known(row)[seat]["win_rate"] for row in rows] for rows in common
    ]
    return 100 * np.array(shares)


def _band(axes: Any, at: Any, shares: np.ndarray, label: str, number: int) -> None:  # noqa: ANN401
    """Draw the mean of several runs, and the range of them all."""
    spread = (shares.min(axis=1), shares.mean(axis=1), shares.max(axis=1))
    style = {"color": f"C{number}", "ls": _DASHES[number % len(_DASHES)]}
    pictures.band(axes, at, spread, label, **style)


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
            _grown(axes, preset, group, pictures.colours(theme)[1])
        for axes in every[len(runs) :]:
            axes.set_axis_off()
        told: dict[str, Any] = {}
        for axes in every:
            told |= {line.get_label(): line for line in axes.lines}
        style = {"loc": "outside upper center", "ncols": len(told)}
        figure.legend(told.values(), told.keys(), **style)
        figure.supxlabel("games played")
        figure.supylabel("% wins against random")
        return pictures.of(figure)


def _grown(axes: Any, preset: Preset, group: Sequence[Rows], grey: str) -> None:  # noqa: ANN401
    """Draw one system's field."""
    # Not where no game has ended yet: the axis is logarithmic.
    common = [rows for rows in _common(group) if all(row["games"] for row in rows)]
    played = np.array([[row["games"] for row in rows] for rows in common]).mean(axis=1)
    names = GAMES[PRESETS[preset].env_id].seats
    for number, (seat, name) in enumerate(zip(LEARNED["both"], names, strict=True)):
        if seat in LEARNED[PRESETS[preset].opponent.seat]:
            _band(axes, played, _wins(common, seat), f"ours as {name}", number)
    if points := SYSTEMS[preset].curve:
        axes.plot(*zip(*points, strict=True), "o", ms=4, color=grey, label="theirs")
    axes.set(title=preset, xscale="log", ylim=(20, 102))
    axes.grid(visible=True)
