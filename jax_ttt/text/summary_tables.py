"""Tables of many runs: the results of a sweep, saved runs."""

from collections.abc import Sequence

from jax_ttt.config import settings_grid
from jax_ttt.config.game_facts import LETTERS, SEATS
from jax_ttt.config.grade import by_file_note
from jax_ttt.files.run_folder import RunSummary
from jax_ttt.grading.agent_groups import GroupResult, MeanAndRange
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text.tables import table_lines, wrapped_lines


def groups_table(groups: Sequence[GroupResult], name: str) -> str:
    """Return the results of a sweep: a row for each combination, and failed seeds.

    `name` stands for the only combination of a sweep without a grid.
    """
    labels = [settings_grid.point_text(group.settings) or name for group in groups]
    wins = [f"wins as {seat}, %: mean (range)" for seat in LETTERS]
    rows = [["", "proven unbeatable (95%)", *wins, "seconds"]]
    for label, group in zip(labels, groups, strict=True):
        win_cells = [_win_rate_cell(group.win_rates.get(seat)) for seat in SEATS]
        rows.append([label, _proven_cell(group), *win_cells, f"{group.seconds:.2f}"])
    lines = table_lines(rows)
    for label, group in zip(labels, groups, strict=True):
        lines += _seeds_lines("not proven", label, group.not_proven or ())
    for label, group in zip(labels, groups, strict=True):
        lines += _seeds_lines("diverged", label, group.diverged)
    return "\n".join(lines)


def _proven_cell(group: GroupResult) -> str:
    note = by_file_note([agent.grade for agent in group.agents])
    if group.proven is None or group.interval is None:
        return f"by sampling{note}"
    low, high = (f"{100 * end:.1f}" for end in group.interval)
    return f"{group.proven} of {group.num_agents} ({low}% to {high}%){note}"


def _win_rate_cell(wins: MeanAndRange | None) -> str:
    if wins is None:
        return "-"
    mean, lowest, highest = (100 * rate for rate in wins)
    return f"{mean:.3f} ({lowest:.3f} to {highest:.3f})"


def _seeds_lines(fault: str, label: str, seeds: Sequence[int]) -> list[str]:
    """Return the seeds of a combination that have this fault; none if no seed has."""
    if not seeds:
        return []
    return wrapped_lines(f"{fault}, {label}: {', '.join(map(str, seeds))}")


def training_time_text(
    groups: Sequence[GroupResult], num_new: int, seconds: float
) -> str:
    """Return the number of agents and the time for the `num_new` that are new.

    `seconds` is the time that their training took in all.
    """
    num_agents = sum(group.num_agents for group in groups)
    new = f", {num_new:,} of them trained now" if num_new < num_agents else ""
    time = f" in {seconds:.1f} s, {seconds / num_new:.2f} s each" if num_new else ""
    end = "the seconds above are of training one, in the median"
    text = f"{count_phrase(num_agents, 'agent')}{new}{time}; {end}"
    return "\n".join(wrapped_lines(text))


def runs_table(summaries: Sequence[RunSummary]) -> str:
    """Return a row for each run, with the game if the runs are of several games."""
    heads = ["run", "seed", "preset", "game", "proven", "wins %", "seconds"]
    rows = [heads, *(_run_cells(run) for run in summaries)]
    if all(run.env_id == summaries[0].env_id for run in summaries):
        rows = [[*row[:3], *row[4:]] for row in rows]
    text_columns = {"run", "preset", "game", "proven"}
    left = [place for place, head in enumerate(rows[0]) if head in text_columns]
    note = "each result is by its file; evaluate RUN computes it again"
    return "\n".join([*table_lines(rows, left), "", *wrapped_lines(note)])


def _run_cells(run: RunSummary) -> list[str]:
    grade = run.grade
    proven = {True: "yes", False: "no", None: "-"}[grade and grade.unbeatable]
    wins = "-" if run.win_rate is None else f"{100 * run.win_rate:.3f}"
    seconds = "-" if run.seconds is None else f"{run.seconds:.2f}"
    name = run.run_dir if run.saved else f"{run.run_dir} (no agent saved)"
    return [name, str(run.seed), run.preset, run.env_id, proven, wins, seconds]
