"""Training from Python: one agent, or agents of several seeds."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from tqdm import tqdm

from jax_ttt.api.agent import Agent
from jax_ttt.api.training_result import Run, Runs
from jax_ttt.config import presets
from jax_ttt.config.errors import ConflictError, Refused, SettingError, did_you_mean
from jax_ttt.config.game_facts import ENUMERABLE
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.ranges import SEED_RANGE, Setting
from jax_ttt.config.settings import PART_OF_FIELD, Config
from jax_ttt.files.metrics_rows import Row
from jax_ttt.grading import training_evaluation
from jax_ttt.grading.grade import Grade
from jax_ttt.training import loop, many_agents, run_state
from jax_ttt.training.layout import Layout, run_key
from jax_ttt.training.run_state import RunStep


def train(
    seed: int = 1,
    preset: str | Config | None = None,
    *,
    until_proven: bool = False,
    keep_agents: bool = False,
    progress: bool = False,
    **settings: Setting,
) -> Run:
    """Train an agent by self-play or against an opponent.

    On a CPU, the same seed and settings give the same agent on the same machine, with
    the same versions and number of threads. On a GPU they may not. No files are
    written; see `save`.

    Args:
        seed: The seed of all random numbers, 0 to 4,294,967,295.
        preset: The name of a preset of `PRESETS`, or a `Config`. The default is the
            same as of `python -m jax_ttt.train`: `plain` with an opponent, else the
            game's preset.
        until_proven: Stop at the first evaluation that proves the agent unbeatable.
        keep_agents: Keep a copy of the agent at each evaluation, in `Run.agents`.
        progress: Show a progress bar on stderr.
        **settings: Settings to change, by the fields of `Config`: for instance
            `env_id="connect_four"`, `learning_rate=5e-3` or `opponent="random"`.

    Returns:
        The run: the trained agent and the metrics of its training.

    Raises:
        Refused: a setting is unknown, outside its range, or incompatible with another.
        FloatingPointError: the loss is no longer finite.

    Example:
        >>> run = jax_ttt.train(seed=1, preset="table", tremble=0.6)
        >>> run.is_proven
        True
        >>> jax_ttt.train(learning_rate=-1.0)
        Traceback (most recent call last):
        ...
        jax_ttt.config.errors.SettingError: learning_rate must be a number above 0 \
and at most 1e+38, got -1.0
    """
    if isinstance(seed, str) and seed in PRESETS:
        rule = f'a whole number (did you mean preset="{seed}"?)'
        raise SettingError("seed", rule, seed)
    SEED_RANGE.check("seed", seed)
    config = make_config(preset, settings)
    if until_proven and not config.run.can_be_proven:
        rule = f"False, or the game one of {', '.join(ENUMERABLE)}, or start_share set"
        raise SettingError("until_proven", rule, config.env_id)
    with tqdm(total=config.run.num_updates, unit="update", disable=not progress) as bar:
        return _train_one(config, seed, until_proven, keep_agents, bar)


def train_many(
    seeds: Iterable[int],
    preset: str | Config | None = None,
    *,
    progress: bool = False,
    **settings: Setting,
) -> Runs:
    """Train one agent per seed with the same settings.

    On a CPU, agents train one after another with one compiled program; each is the
    agent of `train`. On an accelerator, as many agents train at once as fit in memory.

    Args:
        seeds: The seeds, for instance `range(8)`.
        preset: As in `train`.
        progress: Show a progress bar on stderr.
        **settings: As in `train`.

    Returns:
        The runs, in the order of the seeds. A seed that diverged has no run.

    Raises:
        Refused: as in `train`; or there are no seeds, or a seed is given twice.

    Example:
        >>> runs = jax_ttt.train_many([1, 2], preset="table")
        >>> runs.num_proven
        2
    """
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise SettingError("seeds", "several seeds, for instance range(8)", seeds)
    config, seed_list = make_config(preset, settings), list(seeds)
    for seed in seed_list:
        SEED_RANGE.check("seeds", seed)
    if not seed_list or len(set(seed_list)) < len(seed_list):
        raise SettingError("seeds", "one or more different seeds", seed_list)
    size = many_agents.agents_that_fit(config)
    groups = [seed_list[i : i + size] for i in range(0, len(seed_list), size)]
    runs_by_seed: dict[int, Run | None] = {}
    with tqdm(total=len(seed_list), unit="agent", disable=not progress) as bar:
        for group in groups:
            if len(group) > 1:
                runs_by_seed |= _train_together(config, group)
            else:
                runs_by_seed[group[0]] = _train_unless_diverged(config, group[0])
            bar.update(len(group))
    runs = tuple(run for run in runs_by_seed.values() if run is not None)
    diverged = tuple(seed for seed, run in runs_by_seed.items() if run is None)
    return Runs(config, runs, diverged)


def make_config(preset: str | Config | None, fields: Mapping[str, Setting]) -> Config:
    """Return the settings of a preset with these fields changed.

    Raises:
        Refused: a name is unknown, or a value is not allowed.
    """
    for name in fields:
        if name not in PART_OF_FIELD:
            hint = did_you_mean(name, PART_OF_FIELD)
            raise Refused(f"there is no setting {name}{hint}")
    if preset is None:
        preset = presets.default_preset(fields.get("env_id"), fields.get("opponent"))
    if not isinstance(preset, Config) and preset not in PRESETS:
        raise SettingError("preset", f"one of {', '.join(PRESETS)}", preset)
    before = preset if isinstance(preset, Config) else PRESETS[preset]
    try:
        config = before.replace(**fields)
        config.check_changes(before)
    except ConflictError as error:
        if isinstance(preset, Config):
            raise
        raise Refused(f"{error} (the others are those of preset {preset})") from None
    return config


def _train_one(
    config: Config,
    seed: int,
    until_proven: bool,
    keep_agents: bool,
    bar: tqdm | None = None,
) -> Run:
    """Train one agent; `bar` shows its updates."""
    rows: list[Row] = []
    agents: list[Agent] = []
    grade = run_state.initial_grade(config)

    def stop() -> bool:
        return until_proven and grade.unbeatable is True

    steps = loop.training_steps(
        loop.make_learner(config, seed), run_key(seed), stop=stop
    )
    graded = run_state.with_grades(config, steps, grade)
    latest, grade = start = next(graded)  # a run has at least its first evaluation
    for latest, grade in itertools.chain([start], graded):
        rows.append(run_state.metrics_row(latest, grade))
        if keep_agents and latest.evaluation is not None:
            agents.append(
                _copy_agent(config, latest.params, seed, latest.update, grade)
            )
        if bar is not None:
            bar.update(latest.update - bar.n)
    agent = _copy_agent(config, latest.params, seed, latest.update, grade)
    return Run(agent, tuple(rows), (*agents[:-1], agent))


def _copy_agent(
    config: Config, params: nnx.State, seed: int, update: int, grade: Grade
) -> Agent:
    """Return an agent with a copy of these parameters."""
    return Agent(config, jax.tree.map(jnp.array, params), seed, update, grade)


def _train_unless_diverged(config: Config, seed: int) -> Run | None:
    try:
        return _train_one(config, seed, until_proven=False, keep_agents=False)
    except FloatingPointError:
        return None


def _train_together(config: Config, seeds: Sequence[int]) -> dict[int, Run | None]:
    """Train the agents of these seeds in one program; None if an agent diverged."""
    ungraded = run_state.initial_grade(config)
    records = [AgentRecord(ungraded) for _ in seeds]
    learner = loop.make_learners([config] * len(seeds), seeds)
    keys = np.stack([run_key(seed) for seed in seeds])
    steps = loop.training_steps(learner, keys, layout=Layout(many=True))
    latest = start = next(steps)
    for latest in itertools.chain([start], steps):
        agent_steps = split_step(latest, len(seeds))
        for record, agent_step in zip(records, agent_steps, strict=True):
            record.add(config, agent_step)
    runs: dict[int, Run | None] = dict.fromkeys(seeds)
    for i, (seed, record) in enumerate(zip(seeds, records, strict=True)):
        if not record.diverged:
            params = jax.tree.map(lambda leaf, i=i: leaf[i], latest.params)
            agent = _copy_agent(config, params, seed, latest.update, record.grade)
            runs[seed] = Run(agent, tuple(record.rows), (agent,))
    return runs


@dataclasses.dataclass
class AgentRecord:
    """The rows of one of several agents that train at once, until it diverges."""

    grade: Grade
    rows: list[Row] = dataclasses.field(default_factory=list)
    diverged: bool = False

    def add(self, config: Config, step: RunStep) -> None:
        """Add a step of the agent's run."""
        self.diverged = self.diverged or bool(step.diverged)
        if self.diverged:
            return
        try:
            if step.evaluation is not None:
                self.grade = training_evaluation.grade_evaluation(
                    config, step.evaluation
                )
        except FloatingPointError:
            self.diverged = True
        else:
            self.rows.append(run_state.metrics_row(step, self.grade))


def split_step(step: RunStep, num_agents: int) -> Iterator[RunStep]:
    """Yield the step of each of the agents that train at once.

    The counts of its state are the agent's; its learner is still shared by all agents.
    """
    for i in range(num_agents):
        names = ("games", "wins", "losses", "env_steps", "diverged")
        counts = {name: getattr(step.state, name)[i, ...] for name in names}
        seconds = step.seconds / num_agents
        state = dataclasses.replace(step.state, seconds=seconds, **counts)
        results = (step.metrics, step.evaluation)
        yield RunStep(state, *jax.tree.map(lambda x, i=i: x[i], results))
