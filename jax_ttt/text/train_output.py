"""The output of `train`: before a run, at each evaluation, and at the end."""

import contextlib
import dataclasses
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from flax import nnx
from tqdm import tqdm

from jax_ttt import __version__
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.files import json_records
from jax_ttt.files.metrics_rows import TrainingCounts
from jax_ttt.files.run_folder import Plan, RunFolder
from jax_ttt.games import tree as trees
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import standard_streams
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import proof
from jax_ttt.solver.reached_positions import OnBatch
from jax_ttt.text import board_text, grade_text, screen
from jax_ttt.text.progress_table import (
    ProgressTable,
    RoundTable,
    report_for_stdout,
)
from jax_ttt.text.tables import fitted_text
from jax_ttt.training.run_state import RunStep

Stopped = Literal["end", "proven", "interrupted"]
"""Why a run ended."""


class TrainResult(TrainingCounts, frozen=True, kw_only=True):
    """The output of `train --json`: how the run ended, and its last grade."""

    preset: str
    """The preset that the settings started from."""
    seed: int
    """Seed of all random numbers."""
    run_dir: str
    """The run's folder."""
    agent: str
    """The agent's file."""
    stopped: Stopped
    """Why the run ended: its last update, the first proof with `--until-proven`, or a
    signal."""
    verdict: str
    """The proof, or a line that beats the agent."""
    grade: Grade
    """Its last grade."""


_NO_GAMES = TrainingCounts(
    update=0, games=0, wins=0, losses=0, env_steps=0, seconds=0.0
)


def shares_since(
    before: TrainingCounts, counts: TrainingCounts
) -> tuple[float, float] | None:
    """Return the shares of games won and lost since `before`; None without games."""
    played = counts.games - before.games
    if not played:
        return None
    wins, losses = counts.wins - before.wins, counts.losses - before.losses
    return wins / played, losses / played


class Console:
    """Shows a run on the terminal: a bar, and a table of the evaluations."""

    def __init__(
        self,
        config: Config,
        loud: bool,
        details: bool,
        before: TrainingCounts | None = None,
    ) -> None:
        """Begin the output of a run.

        Without `loud`, nothing is shown; with `details`, each evaluation has more
        lines. `before` has the counts at the update from which the run continues.
        """
        self._config = config
        self._loud = loud
        self._details = details
        self._has_head = False
        self._evaluated = before or _NO_GAMES  # the counts at the last evaluation
        self._best = 0.0  # highest share of games won between two evaluations
        self._metrics: Metrics | None = None  # of the last chunk
        table = RoundTable if config.finds_counterexamples else ProgressTable
        self._table = table(config, screen.is_coloured(sys.stdout))
        # With `disable=None`, tqdm shows a bar on a terminal only.
        self._bar = tqdm(
            total=config.num_updates,
            desc="compiling, or reading compiled programs",
            bar_format="{percentage:3.0f}% |{bar}| {desc}",
            leave=False,
            dynamic_ncols=True,
            disable=None if loud else True,
        )

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()

    def show(self, progress: RunStep, grade: Grade) -> None:
        """Show a step of the run: updates in the bar, an evaluation in the table.

        `grade` is the grade of the last evaluation.
        """
        if (metrics := progress.metrics) is not None:
            self._metrics = metrics
            total = self._config.num_updates
            text = bar_text(total, progress, float(metrics.loss[0]))
            self._bar.set_description_str(text, refresh=False)
            self._bar.update(progress.update - self._bar.n)
            return
        counts, before = progress.state.counts_of(), self._evaluated
        self._evaluated = counts
        if self._loud:
            lines = [] if self._has_head else [self._table.head()]
            self._has_head = True
            lines.append(self._table.row(progress.update, grade))
            if self._details:
                lines += self._game_lines(counts, shares_since(before, counts))
                if "first" in self._config.seats:  # else it never sees the empty board
                    lines += start_values(self._config, progress.params())
            self._bar.write("\n".join(lines), file=sys.stdout)
            sys.stdout.flush()

    def _game_lines(
        self, counts: TrainingCounts, shares: tuple[float, float] | None
    ) -> list[str]:
        """Return the games so far and the shares since the last evaluation, if any."""
        if shares is None or self._metrics is None:
            return []
        wins, losses = shares
        self._best = max(self._best, wins)
        learned = int(self._metrics.rows[0])
        rows = f"; {learned:,} positions learned" if learned else ""
        player = self._config.counted_player
        return [
            f"  {count_phrase(counts.games, 'game')}; of the latest "
            f"{wins:.1%} won by {player} (best {self._best:.1%}),",
            f"  {1 - wins - losses:.1%} drawn, {losses:.1%} lost; "
            f"epsilon {float(self._metrics.epsilon[0]):.3f}{rows}",
        ]


def bar_text(num_updates: int, progress: RunStep, loss: float) -> str:
    """Return the text beside the bar; its rate excludes compilation and evaluation."""
    rate = progress.update / max(float(progress.state.seconds), 1e-9)
    left = tqdm.format_interval((num_updates - progress.update) / rate)
    width = len(f"{num_updates:,}")
    return (
        f"{progress.update:>{width},} of {num_updates:,} updates"
        f"  {rate:>7,.0f}/s  {left:>5} left  loss {loss:.4f}"
    )


def start_values(config: Config, params: nnx.State) -> list[str]:
    """Return the values of the first moves, row by row where moves are cells."""
    values = saved_agents.first_move_values(config.architecture, params)
    game = GAMES[config.env_id]
    width = game.shape[1] if game.moves_on == "cells" else len(values)
    rows = [values[begin : begin + width] for begin in range(0, len(values), width)]
    heads = ["  Q(start) ", *[" " * 11] * (len(rows) - 1)]
    return [
        head + " ".join(f"{value:+.3f}" for value in row)
        for head, row in zip(heads, rows, strict=True)
    ]


def banner(plan: Plan, device: str, folder: Path) -> str:
    """Return the lines before a run: the device, the game, the size, the folder."""
    config = plan.config
    updates = count_phrase(config.num_updates, "update")
    games = f"{count_phrase(config.num_envs, 'game')} at once"
    return fitted_text(
        f"jax_ttt {__version__} on {device}: {config.env_id}, preset {plan.preset}, "
        f"seed {plan.seed}\n"
        f"{updates} of {games} {config.pairing}; writing to {folder}"
    )


@contextlib.contextmanager
def search_display() -> Iterator[OnBatch]:
    """Show on a terminal the progress of a search of the agent, until the block ends.

    The search calls the yielded function; see `grade_text.search_progress`.
    """
    with standard_streams.status_line("grading the agent") as status:
        yield grade_text.search_progress("the agent", status.set_description_str)


def end_text(
    *,
    run: RunFolder,
    preset: str,
    agent: Agent,
    progress: RunStep,
    stopped: Stopped,
    as_json: bool,
    quiet: bool,
    details: bool,
) -> str:
    """Return the text at the end of a run: a report, the verdict alone, or JSON."""
    if as_json:
        return run_as_json(
            run=run,
            preset=preset,
            agent=agent,
            progress=progress,
            stopped=stopped,
        )
    verdict = grade_text.verdict(_with_losing_lines(agent))
    if quiet:
        return verdict
    text = end_report(
        run=run, agent=agent, progress=progress, verdict=verdict, stopped=stopped
    )
    if details and GAMES[agent.config.env_id].enumerable:
        boards = board_text.game_boards(agent.game_against_itself())
        text += f"\n\nan example game\n{boards}"
    return text


def _with_losing_lines(agent: Agent) -> Grade:
    """Return the agent's grade with a shortest line that beats it, by seat.

    The evaluations of a run do not search for these lines.
    """
    grade, env_id = agent.grade, agent.config.env_id
    if not GAMES[env_id].enumerable or grade.unbeatable is not False:
        return grade
    tree = trees.enumerated(env_id)
    probs = np.asarray(
        saved_agents.greedy_policy(agent.network, agent.params, trees.game_tree(env_id))
    )
    seats = {
        seat: dataclasses.replace(
            followed, losing_line=proof.losing_line(tree, probs, seat)
        )
        for seat, followed in grade.followed.items()
    }
    return dataclasses.replace(grade, **seats)


def end_report(
    run: RunFolder, agent: Agent, progress: RunStep, verdict: str, stopped: str
) -> str:
    """Return the result of the run, its files and the next command."""
    files = ", ".join(run.files())
    counts = progress.state.counts_of()
    updates, games = count_phrase(counts.update, "update"), counts.games
    reason = ""
    if stopped == "proven":
        reason = (
            f"stopped at update {agent.num_updates:,}, at the first proof, as "
            "--until-proven asks\n"
        )
    more = f"{run.how_to_continue()}\n" if stopped == "interrupted" else ""
    report = (
        f"{reason}"
        f"\n{_results(agent.grade)}\n\n{verdict}\n\n"
        f"{updates} and {count_phrase(games, 'game')} in {counts.seconds:.2f} s "
        "(excluding compilation and evaluation)\n"
        f"saved in {run.path}: {files}\n"
    )
    return (  # the lines to copy stay whole
        f"{report_for_stdout(report)}{more}"
        f"next: python -m jax_ttt.evaluate {shlex.quote(str(run.path))}"
        f"{agent.config.file_flags}"
    )


def _results(grade: Grade) -> str:
    """Return the results as tables, with the sampled match if a search is not final."""
    parts = [grade_text.rates_table(grade), grade_text.measures_table(grade)]
    if grade.searched and grade.sampled is not None and grade.unbeatable is None:
        parts.append(grade_text.match_table(grade, grade.sampled))
    return "\n\n".join(part for part in parts if part)


def run_as_json(
    run: RunFolder, preset: str, agent: Agent, progress: RunStep, stopped: Stopped
) -> str:
    """Return a run's result as one JSON object."""
    grade = _with_losing_lines(agent)
    result = TrainResult(
        **msgspec.structs.asdict(progress.state.counts_of()),
        grade=grade,
        preset=preset,
        seed=agent.seed,
        run_dir=str(run.path),
        agent=str(run.agent),
        stopped=stopped,
        verdict=grade_text.verdict(grade),
    )
    return json_records.to_json(result)
