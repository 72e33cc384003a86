"""The results of training: a run, or runs of several seeds."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

import msgspec

from jax_ttt.config.errors import require_package
from jax_ttt.config.grade import wilson_interval
from jax_ttt.config.settings import Config
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.metrics_rows import Row
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.grading import agent_groups
from jax_ttt.pictures import curves
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text import grade_text, html

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Run:
    """A finished training run; a notebook shows its learning curves or its rounds.

    Attributes:
        agent: The trained agent.
        rows: The metrics as records, one per 50 updates and one per evaluation;
            the file `metrics.jsonl` has the same fields.
        agents: The agents at all evaluations if `keep_agents` was set, in their order;
            else only the last agent.

    Examples:
        >>> run = jax_ttt.train(seed=1, preset="table")
        >>> run.is_proven, run.proven_from < 400
        (True, True)
        >>> evaluations = [row for row in run.rows if row.event == "evaluation"]
        >>> [row.update for row in evaluations][:3]
        [0, 40, 80]
        >>> last = run.to_rows()[-1]
        >>> last["update"], last["unbeatable"], round(last["first_win_rate"], 3)
        (400, True, 0.995)
    """

    agent: Agent
    rows: tuple[Row, ...]
    agents: tuple[Agent, ...]

    @property
    def config(self) -> Config:
        """The settings of the run."""
        return self.agent.config

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.agent.seed

    @property
    def is_proven(self) -> bool:
        """Whether the agent is proven unbeatable in the seats that it learned."""
        return self.agent.grade.unbeatable is True

    @property
    def proven_from(self) -> int | None:
        """The update from which every evaluation proves it unbeatable, or None."""
        return curves.proven_from(self.rows)

    @property
    def seconds(self) -> float:
        """Seconds of training, excluding compilation and evaluation."""
        return self.rows[-1].seconds

    def to_rows(self) -> list[JsonObject]:
        """Return the metrics as rows of a table: a dict for each record of `rows`.

        The columns are the seed, the fields of the record and, in an evaluation,
        `unbeatable` and the rates against random of each seat, for instance
        `first_win_rate`. A row lacks the columns that it has no value for.
        """
        return [self._row(record) for record in self.rows]

    def _row(self, record: Row) -> JsonObject:
        fields = msgspec.structs.asdict(record)
        grade = fields.pop("grade", None)
        cells: JsonObject = {"seed": self.seed, "event": record.event, **fields}
        return cells | ({} if grade is None else agent_groups.grade_cells(grade))

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the rows of `to_rows` as a DataFrame; a missing value is NaN.

        `pandas.concat([run.to_pandas() for run in runs])` has the metrics of all runs.

        Raises:
            Refused: pandas is not installed, `pip install 'jax_ttt[pandas]'`.
        """
        return _data_frame(self.to_rows())

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the learning curves, or the rounds of a run with counterexamples."""
        title = f"{self.config.env_id}, seed {self.seed}"
        return curves.draw_run(self.rows, title, self.config, theme)

    def __repr__(self) -> str:
        return grade_text.summary_line(self.agent.num_updates, self.agent.grade)

    def _repr_html_(self) -> str:
        return html.with_picture(html.preformatted(repr(self)), self.picture)


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Runs(Sequence[Run]):
    """Runs of several seeds with the same settings; a notebook shows their curves.

    It is a sequence: `len(runs)`, `runs[0]`, `for run in runs`.

    Attributes:
        config: The settings of all runs.
        runs: The runs in the order of the given seeds.
        diverged: The seeds that diverged; they have no run.

    Examples:
        >>> runs = jax_ttt.train_many([1, 2], preset="table")
        >>> runs
        2 of 2 agents are proven unbeatable (95% interval of the rate: 34% to 100%)
        >>> [run.seed for run in runs]
        [1, 2]
        >>> [row["unbeatable"] for row in runs.to_rows()]
        [True, True]
    """

    config: Config
    runs: tuple[Run, ...]
    diverged: tuple[int, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def num_agents(self) -> int:
        """The number of trained agents, including those that diverged."""
        return len(self.runs) + len(self.diverged)

    @property
    def num_proven(self) -> int:
        """The number of agents that are proven unbeatable."""
        return sum(run.is_proven for run in self.runs)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the rate of proven agents, from 0 to 1."""
        return wilson_interval(self.num_proven, self.num_agents)

    def to_rows(self) -> list[JsonObject]:
        """Return the agents as rows of a table: a dict for each seed.

        The columns are `seed`, `diverged`, `num_updates`, `games`, `seconds`,
        `proven_from`, `unbeatable` and the rates against random of each seat, for
        instance `first_win_rate`. A seed that diverged has only the first two.
        """
        rows: list[JsonObject] = []
        for run in self.runs:
            cells: JsonObject = {
                "seed": run.seed,
                "diverged": False,
                "num_updates": run.agent.num_updates,
                "games": run.rows[-1].games,
                "seconds": run.seconds,
                "proven_from": run.proven_from,
            }
            rows.append(cells | agent_groups.grade_cells(run.agent.grade))
        return rows + [{"seed": seed, "diverged": True} for seed in self.diverged]

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the rows of `to_rows` as a DataFrame; a missing value is NaN.

        Raises:
            Refused: pandas is not installed, `pip install 'jax_ttt[pandas]'`.
        """
        return _data_frame(self.to_rows())

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw wins by seat, mean and range of the runs, and the share of proofs."""
        return draw_groups_of_runs({count_phrase(len(self), "run"): self}, theme)

    def __repr__(self) -> str:
        if self.config.can_be_proven:
            low, high = (f"{100 * end:.0f}" for end in self.interval)
            agents = count_phrase(self.num_agents, "agent")
            verb = "is" if self.num_agents == 1 else "are"
            text = (
                f"{self.num_proven:,} of {agents} {verb} proven unbeatable "
                f"(95% interval of the rate: {low}% to {high}%)"
            )
        else:
            text = f"{count_phrase(len(self), 'run')} of {self.config.env_id}"
        seeds = ", ".join(map(str, self.diverged))
        noun = "seed" if len(self.diverged) == 1 else "seeds"
        return f"{text}; diverged: {noun} {seeds}" if seeds else text

    def _repr_html_(self) -> str:
        text = html.preformatted("\n".join([repr(self), *self._by_seed()]))
        return html.with_picture(text, self.picture) if self.runs else text

    def _by_seed(self) -> list[str]:
        return [f"seed {run.seed}: {run!r}" for run in self.runs]


def _data_frame(rows: Sequence[JsonObject]) -> "pandas.DataFrame":
    require_package("pandas", "pandas", "a data frame")
    import pandas

    return pandas.DataFrame(rows)


def draw_groups_of_runs(groups: Mapping[str, Runs], theme: Theme = "light") -> Picture:
    """Draw groups of runs in one picture; see `curves.draw_groups`."""
    pairs = {
        name: [(run.config, run.rows) for run in runs] for name, runs in groups.items()
    }
    return curves.draw_groups(pairs, theme=theme)
