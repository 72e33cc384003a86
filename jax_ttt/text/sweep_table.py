"""The results of a sweep as text."""

from collections.abc import Sequence

from jax_ttt.config import grid
from jax_ttt.config.catalogue import GAMES, SEATS, EnvId
from jax_ttt.files.outputs import GroupResult, Spread
from jax_ttt.runtime.words import counted
from jax_ttt.text.tables import aligned, wrapped


def groups_table(groups: Sequence[GroupResult], env_id: EnvId, name: str) -> str:
    """Return what came of each combination, a line each, and which seeds failed.

    `name` stands for the combination of a sweep without a grid.
    """
    labels = [grid.point_text(group.settings) or name for group in groups]
    wins = (f"wins as {seat}, %: mean (range)" for seat in GAMES[env_id].seats)
    head = "proven unbeatable (95 %)", *wins, "seconds"
    pairs = list(zip(labels, groups, strict=True))
    rows = [(label, *_cells(group)) for label, group in pairs]
    lines = aligned([("", *head), *rows], labels_above=True)
    faults = [("not proven", label, group.not_proven or ()) for label, group in pairs]
    faults += [("diverged", label, group.diverged) for label, group in pairs]
    for text, label, seeds in (fault for fault in faults if fault[2]):
        lines += wrapped(f"{text}, {label}: {', '.join(map(str, seeds))}")
    return "\n".join(lines)


def time_taken(groups: Sequence[GroupResult], num_new: int, seconds: float) -> str:
    """Return how many agents there are, and what the `num_new` trained now took."""
    num_agents = sum(group.num_agents for group in groups)
    now = f", {num_new:,} of them trained now" if num_new < num_agents else ""
    now += f" in {seconds:.1f} s, {seconds / num_new:.2f} s each" if num_new else ""
    end = "the seconds above are of training one, in the median"
    return f"{counted(num_agents, 'agent')}{now}; {end}"


def _cells(group: GroupResult) -> tuple[str, ...]:
    wins = map(_wins, map(group.win_rates.get, SEATS))
    return _proven(group), *wins, f"{group.seconds:.2f}"


def _proven(group: GroupResult) -> str:
    if group.proven is None or group.interval is None:
        return "by sampling"
    low, high = (f"{100 * end:.1f}" for end in group.interval)
    return f"{group.proven} of {group.num_agents} ({low} to {high} %)"


def _wins(wins: Spread | None) -> str:
    if wins is None:
        return "-"
    mean, low, high = (100 * rate for rate in (wins.mean, wins.min, wins.max))
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"
