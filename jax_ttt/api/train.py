"""Training from Python: one agent, or agents of several seeds."""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import TypeAlias, Unpack, overload

from tqdm import tqdm

from jax_ttt.api.keywords import Settings
from jax_ttt.api.training_result import Run, Runs
from jax_ttt.config import presets, ranges
from jax_ttt.config.errors import (
    ConflictError,
    Refused,
    SettingError,
    choice_error,
    did_you_mean,
    similar_words,
)
from jax_ttt.config.game_facts import enumerable_games
from jax_ttt.config.own_code import OwnCode
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.ranges import Seed, check_value
from jax_ttt.config.settings import Config, setting_types
from jax_ttt.config.settings_list import with_settings_listed
from jax_ttt.dqn.base_learner import Learner
from jax_ttt.files.metrics_rows import Row
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import compiling, standard_streams
from jax_ttt.training import (
    agent_batch,
    loop,
    many_agents,
    own_learner,
    run_start,
    run_state,
    user_files,
)
from jax_ttt.training.many_agents import Job

OwnLearner: TypeAlias = type[Learner] | str | os.PathLike[str]
"""A learner of a user, or the file that defines it."""


@overload
def train(
    seed: int = 1,
    preset: str | Config | None = None,
    *,
    until_proven: bool = False,
    keep_agents: bool = False,
    learner: None = None,
    progress: bool | None = None,
    **settings: Unpack[Settings],
) -> Run: ...
@overload
def train(
    seed: int = 1,
    preset: str | Config | None = None,
    *,
    until_proven: bool = False,
    keep_agents: bool = False,
    learner: OwnLearner,  # whose own settings no type checker knows
    progress: bool | None = None,
    **settings: object,
) -> Run: ...
@with_settings_listed
def train(
    seed: int = 1,
    preset: str | Config | None = None,
    *,
    until_proven: bool = False,
    keep_agents: bool = False,
    learner: OwnLearner | None = None,
    progress: bool | None = None,
    **settings: object,
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
        learner: A learner of your own, or the file that defines it: see
            docs/use/own_learner.md. By default deep Q-learning, `DQN`.
        progress: Show a progress bar on stderr; by default in a terminal and in a
            notebook.
        **settings: Settings to change, by the fields of `Config`: for instance
            `env_id="connect_four"`, `learning_rate=5e-3` or `opponent="random"`; and
            by those of the learner's `Settings`. `network` may also be a class of your
            own, a `flax.nnx.Module`. `help(jax_ttt.train)` lists all settings.

    Returns:
        The run: the trained agent and the metrics of its training.

    Raises:
        Refused: a setting is unknown, outside its range, or incompatible with another.
        FloatingPointError: the loss is no longer finite.

    Examples:
        >>> run = jax_ttt.train(seed=1, preset="table", tremble=0.6)
        >>> run.is_proven
        True
        >>> jax_ttt.train(learning_rate=-1.0)
        Traceback (most recent call last):
        ...
        jax_ttt.config.errors.SettingError: learning_rate must be a number above 0 \
and at most 1e+38, got -1.0
    """
    _check_seed(seed)
    check_value("until_proven", bool, until_proven)
    check_value("keep_agents", bool, keep_agents)
    check_value("progress", bool | None, progress)
    compiling.use_user_cache()
    own_names = ("seed", "preset", "until_proven", "keep_agents", "progress", "learner")
    config = make_config(preset, settings, own_names, learner)
    if until_proven and not config.can_be_proven:
        games = ", ".join(enumerable_games())
        rule = f"False, or the game one of {games}, or start_share set"
        raise SettingError("until_proven", rule, config.env_id)
    with standard_streams.updates_bar(config.num_updates, progress) as bar:
        return _train_one(config, seed, until_proven, keep_agents, bar)


@overload
def train_many(
    seeds: Iterable[int],
    preset: str | Config | None = None,
    *,
    learner: None = None,
    progress: bool | None = None,
    **settings: Unpack[Settings],
) -> Runs: ...
@overload
def train_many(
    seeds: Iterable[int],
    preset: str | Config | None = None,
    *,
    learner: OwnLearner,
    progress: bool | None = None,
    **settings: object,
) -> Runs: ...
@with_settings_listed
def train_many(
    seeds: Iterable[int],
    preset: str | Config | None = None,
    *,
    learner: OwnLearner | None = None,
    progress: bool | None = None,
    **settings: object,
) -> Runs:
    """Train one agent per seed with the same settings.

    On a CPU, agents train one after another with one compiled program; each is the
    agent of `train`. On an accelerator, 1,024 agents train at once, or fewer if they
    don't fit into its memory.

    Args:
        seeds: The seeds, for instance `range(8)`.
        preset: As in `train`.
        learner: As in `train`.
        progress: Show a progress bar on stderr; by default in a terminal and in a
            notebook.
        **settings: As in `train`.

    Returns:
        The runs, in the order of the seeds. A seed that diverged has no run.

    Raises:
        Refused: as in `train`; or there are no seeds, or a seed is given twice.

    Examples:
        >>> runs = jax_ttt.train_many([1, 2], preset="table")
        >>> runs.num_proven
        2
    """
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise SettingError("seeds", "several seeds, for instance range(8)", seeds)
    check_value("progress", bool | None, progress)
    own_names = ("seeds", "preset", "learner", "progress")
    for name in ("until_proven", "keep_agents"):
        if name in settings:
            raise Refused(f"{name} must be left out of train_many; train has it")
    config = make_config(preset, settings, own_names, learner)
    seed_list = list(seeds)
    for seed in seed_list:
        check_value("seeds", Seed, seed)
    if not seed_list or len(set(seed_list)) < len(seed_list):
        raise SettingError("seeds", "one or more different seeds", seed_list)
    compiling.use_user_cache()
    jobs = [Job(config, seed) for seed in seed_list]
    runs: list[Run] = []
    diverged: list[int] = []
    for block, results in many_agents.train_agents(jobs, progress=progress):
        all_params = block.params()
        for index, (result, params) in enumerate(zip(results, all_params, strict=True)):
            if result.grade is None:
                diverged.append(result.seed)
                continue
            agent = Agent.of(config, params, result.seed, result.update, result.grade)
            runs.append(Run(agent, tuple(block.rows(index)), (agent,)))
    return Runs(config, tuple(runs), tuple(diverged))


def make_config(
    preset: str | Config | None,
    fields: Mapping[str, object],
    own_names: tuple[str, ...] = (),  # of the caller's other arguments
    learner: OwnLearner | None = None,
) -> Config:
    """Return the settings of a preset with these fields changed.

    Raises:
        Refused: a name is unknown, or a value is not allowed.
    """
    fields = dict(fields)
    network = fields.get("network")
    words = ranges.choices(setting_types()["network"])
    if isinstance(network, str) and network not in words:
        note = "A network of your own is a class; that of a file comes by learner=FILE."
        raise choice_error("network", words, network, note)
    own_network = None if isinstance(network, str) else fields.pop("network", None)
    saved = preset.own if isinstance(preset, Config) else None
    if saved is None or learner is not None:
        own = own_code(learner, own_network)
    elif own_network is None:
        own = saved
    else:  # another network for the same learner
        own = own_code(saved.learner_class, own_network)
        assert own is not None  # since there is a network
        own = dataclasses.replace(own, settings=saved.settings)
    of_own = {} if own is None else own.setting_types
    for name in own_names:
        if name in of_own:
            rule = "there is an argument of this name"
            raise Refused(f"the setting {name} of the learner: {rule}")
    known = [*setting_types(), *of_own]
    for name in fields:
        if name not in known:
            hint = did_you_mean(name, [*known, *own_names])
            raise Refused(f"there is no setting {name}{hint}")
    if preset is None:
        preset = presets.default_preset(fields.get("env_id"), fields.get("opponent"))
        if own is not None and own.default_preset:
            preset = own.default_preset
    if not isinstance(preset, Config) and preset not in [*PRESETS]:
        raise choice_error("preset", PRESETS, preset)
    before = preset if isinstance(preset, Config) else PRESETS[preset]
    try:
        config = before.replace(own=own, **fields)
        config.check_changes(before)
    except ConflictError as error:
        if isinstance(preset, Config):
            raise
        note = f"; the other values come from preset {preset}"
        raise Refused(f"{error}{note}") from None
    return config


def own_code(learner: OwnLearner | None, network: object = None) -> OwnCode | None:
    """Return the record of a user's classes, or of those of a file; None without any.

    Raises:
        Refused: they can't be used.
    """
    if not isinstance(learner, str | os.PathLike):
        return own_learner.own_code_of(learner, network)
    if network is not None:
        raise Refused("network must be left out with a learner's file, which has it")
    path = os.fspath(learner)
    return user_files.run_learner(path, keeps_programs=True, name="learner")


def _check_seed(seed: object) -> None:
    """Raise `SettingError` unless this is a seed; it may be a preset without a name."""
    words = similar_words(seed, PRESETS) if isinstance(seed, str) else []
    if words or isinstance(seed, Config):
        shown = f'"{words[0]}"' if words else "..."
        rule = f"a whole number (did you mean preset={shown}?)"
        raise SettingError("seed", rule, seed)
    check_value("seed", Seed, seed)


def _train_one(
    config: Config, seed: int, until_proven: bool, keep_agents: bool, bar: tqdm
) -> Run:
    """Train one agent; `bar` shows its updates."""
    rows: list[Row] = []
    agents: list[Agent] = []
    grade = run_state.initial_grade(config)

    def stop() -> bool:
        return until_proven and grade.unbeatable is True

    learner = run_start.make_learner([config], [seed])
    steps = loop.training_steps(
        learner,
        # No variable has it: else its memory would be held during the run.
        run_start.first_state(learner, agent_batch.run_keys([seed])),
        stop=stop,
    )
    for step in steps:
        if step.evaluation is not None:
            grade = run_state.grade_of(config, step.evaluation)
            # A run ends with an evaluation.
            agents = [
                *(agents if keep_agents else []),
                Agent.of(config, step.params(), seed, step.update, grade),
            ]
        if step.is_row:
            rows.append(run_state.metrics_row(step, grade))
        standard_streams.show_updates(bar, step.update)
    return Run(agents[-1], tuple(rows), tuple(agents))
