"""The compiled programs of a run: start, updates, a given game, and grades.

Each program serves one agent or, vmapped, many. Seeds and the numbers of `Hyper` are
data, so runs that differ only in these share programs. Programs are cached on disk for
the next process, which then imports neither `functions` nor its libraries.

Axes: `S` agents; the axis is absent for a single agent.
"""

import functools
import importlib
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from jax_ttt.config.catalogue import EnvId
from jax_ttt.config.hyper import Hyper
from jax_ttt.config.settings import Config
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.envs import positions
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import evaluation
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.runtime import compiling, lowering, named_arrays
from jax_ttt.runtime.compiling import Effort
from jax_ttt.runtime.named_arrays import Named
from jax_ttt.scaling import device_memory, mesh

Name = Literal["start_run", "run_updates", "learn_game", "grade_agent", "sample_games"]
"""The functions of the module `functions`."""
_AXES: dict[Name, tuple[int | None, ...]] = {
    "start_run": (0, 0, 0, None),
    "run_updates": (0, 0, 0, None),
    "learn_game": (0, 0, None, None),
    "grade_agent": (0, None, None),
    "sample_games": (0, 0, 0, None),
}
"""The `in_axes` of the data arguments with many agents: 0 for the axis S."""
_EFFORTS: dict[Name, Effort] = {"start_run": "least"}  # it runs once
_LONG = 1_000_000
"""Moves of a run from which full optimization pays off: some seconds of training."""
_FUNCTIONS = "jax_ttt.training.functions"
_WITH_OPPONENT: tuple[Name, ...] = ("start_run", "run_updates")
"""Functions whose last argument is the opponent."""


def import_functions(env_id: EnvId) -> None:
    """Import the programs' functions; meanwhile a thread makes the game.

    PGX compiles the constants of a game, which takes half as long as the imports. The
    thread has the global settings of JAX, not those of a context.
    """
    from jax_ttt.envs import pgx_games  # and PGX: two threads must not import it

    making = _pool().submit(pgx_games.make_env, env_id)
    importlib.import_module(_FUNCTIONS)
    making.result()


def hyper_arrays(config: Config) -> Hyper:
    """Return the hyperparameters as float32 arrays, which are data of the programs."""
    return Hyper(*map(np.float32, config.hyper))


class Programs:
    """The programs of runs with these settings, for one agent or `many` at once.

    Each is compiled once per process, at its first call or ahead by `prepare`. The
    opponent None means self-play. `key` is a run's key as its data, uint32 `(S, 2)`.
    """

    def __init__(self, config: Config, many: bool = False) -> None:
        """Prepare the settings; the game of a table is enumerated."""
        self._config, self._many = config.static, many
        self._positions = positions.of_network(config.architecture)

    def start(self, key: Any, hyper: Hyper, opponent: Any = None) -> Named:  # noqa: ANN401
        """Return the leaves of the learner's state before the first update."""
        return self._call("start_run", (self._config,), key, hyper, opponent)

    def updates(
        self,
        num_updates: int,
        state: Named,
        hyper: Hyper,
        opponent: Any = None,  # noqa: ANN401
    ) -> tuple[Named, Metrics]:
        """Return the state after `num_updates`, and metrics; `state` is donated."""
        static = self._config, num_updates
        return self._call("run_updates", static, state, hyper, opponent)

    def learn_game(self, state: Named, hyper: Hyper, game: Any) -> Named:  # noqa: ANN401
        """Return the state after learning from a `Game`; only in self-play."""
        return self._call("learn_game", (self._config,), state, hyper, game)

    def evaluate(
        self,
        params: Named,
        update: Any,  # noqa: ANN401
        key: Any,  # noqa: ANN401
        tree: Tree | None,
    ) -> Evaluation:
        """Grade agents exactly if a tree is given, and play the settings' match.

        `params` are leaves by name, `(S, ...)` each. `update` is `(S,)` int32; each
        update has different games.
        """
        found = Evaluation(None, None, None)
        if tree is not None:
            found = self._call("grade_agent", self._grade, params, tree)
        if static := self._match(tree):
            match = self._call("sample_games", static, params, update, key)
            found = found._replace(sampled=match)
        return found

    @property
    def _grade(self) -> tuple:
        return self._config.architecture, self._config.seats

    def _match(self, tree: Tree | None) -> tuple | None:
        """Return the static arguments of the sampled match, or None without one."""
        num_games = self._config.evaluation.num_games(is_exact=tree is not None)
        return (self._config.architecture, num_games) if num_games else None

    def prepare(
        self,
        lengths: Iterable[int],
        key: Any,  # noqa: ANN401
        hyper: Hyper,
        opponent: Any,  # noqa: ANN401
        tree: Tree | None,
    ) -> list[jax.stages.Compiled]:
        """Compile a run's programs in parallel, for chunks of these lengths."""
        start, *jobs = self.compile_training(lengths, key, hyper, opponent)
        jobs += [job for job in self._grading(start.result, key, tree) if job]
        return [job.compiled.result() for job in (start, *jobs)]

    def shapes(
        self,
        key: Any,  # noqa: ANN401
        hyper: Hyper,
        opponent: Any,  # noqa: ANN401
        tree: Tree | None,
    ) -> tuple[Named, Evaluation]:
        """Return the shapes and dtypes of a learner's leaves and of an evaluation."""
        (start,) = self.compile_training((), key, hyper, opponent)
        graded, match = self._grading(start.result, key, tree)
        found = Evaluation(None, None, None) if graded is None else graded.result
        return start.result, found._replace(sampled=match and match.result)

    def _grading(
        self,
        state: Named,
        key: Any,  # noqa: ANN401
        tree: Tree | None,
    ) -> tuple["_Program | None", "_Program | None"]:
        """Start to compile the exact grade and the sampled match, where needed."""
        params = named_arrays.part(state, "average_params")
        graded = match = None
        if tree is not None:
            graded = self._compiling("grade_agent", self._grade, params, tree)
        if static := self._match(tree):
            args = params, state["update"], key
            match = self._compiling("sample_games", static, *args)
        return graded, match

    def compile_training(
        self,
        lengths: Iterable[int],
        key: Any,  # noqa: ANN401
        hyper: Hyper,
        opponent: Any,  # noqa: ANN401
    ) -> list["_Program"]:
        """Start to compile the first state and the chunks of these lengths."""
        args = key, hyper, opponent
        start = self._compiling("start_run", (self._config,), *args)
        return [start] + [
            self._compiling("run_updates", (self._config, n), start.result, *args[1:])
            for n in sorted(lengths, reverse=True)
        ]

    def _call(self, name: Name, static: tuple, *args: Any) -> Any:  # noqa: ANN401
        program = self._compiling(name, static, *args).compiled.result()
        given = mesh.put((*args, self._positions), self._split(name))
        return program(*jax.tree.leaves(given))

    def _split(self, name: Name) -> mesh.Split:
        return tuple(axis == 0 for axis in _AXES[name]) if self._many else None

    def _compiling(self, name: Name, static: tuple, *args: Any) -> "_Program":  # noqa: ANN401
        shapes = mesh.argument_shapes((*args, self._positions), self._split(name))
        flat, structure = jax.tree.flatten(shapes)
        # An opponent's functions have no name that identifies them in other processes.
        keep = name not in _WITH_OPPONENT or args[-1] is None
        return _compiling(name, static, self._many, structure, tuple(flat), keep)


class _Program(NamedTuple):
    """A program under compilation, and the shapes of its results."""

    result: Any
    compiled: Future[jax.stages.Compiled]


@functools.cache
def _compiling(
    name: Name,
    static: tuple,
    many: bool,
    structure: Any,  # noqa: ANN401
    shapes: tuple[jax.ShapeDtypeStruct, ...],
    keep: bool,
) -> _Program:
    def make() -> Callable:
        functions = importlib.import_module(_FUNCTIONS)
        body = functools.partial(getattr(functions, name), *static)
        mapped = jax.vmap(body, in_axes=_AXES[name]) if many else body
        return lambda *flat: mapped(*jax.tree.unflatten(structure, flat))

    donated = ()
    if name == "run_updates":
        state, *_ = jax.tree.unflatten(structure, range(len(shapes)))
        donated = tuple(state.values())
    about = str((name, static, many, structure, shapes))
    # Traced here, not in the pool: concurrent traces don't always give the same
    # program, and a different program is not found in the cache.
    if mesh.in_use() is None:
        program = lowering.lowered(
            make, shapes, donated, about if keep else None, (Metrics, *evaluation.TYPES)
        )
    else:
        program = mesh.lowered_for_all(make(), shapes, donated, many)
    result = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), program.out_info
    )
    effort = _EFFORTS.get(name, "little")
    if name == "run_updates" and _moves(static[0]) > _LONG:
        effort = "full"
    return _Program(result, _pool().submit(_compiled, program, effort))


def _compiled(program: jax.stages.Lowered, effort: Effort) -> jax.stages.Compiled:
    made = compiling.compiled(program, effort)
    device_memory.num_bytes(made)  # cached; it takes some ms, here in parallel
    return made


def _moves(config: Config) -> int:
    """Return about how many moves a run learns from."""
    return config.run.num_updates * config.run.num_envs


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="compile")
