"""One live run: the training loop, a step at a time, with settings that change.

Only the training thread uses it. A change of settings closes the loop and continues
from its state, so there is one loop, and nothing is compiled again.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from jax_ttt.config.catalogue import SEAT_OF, SIDES, EnvId, Side
from jax_ttt.config.errors import MoveError
from jax_ttt.config.settings import Config
from jax_ttt.dqn.finished_games import finished_game, learn_from_game
from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.files.rows import Chunk, Evaluated
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game
from jax_ttt.grading import exact
from jax_ttt.grading.grade import Grade
from jax_ttt.pictures import curves
from jax_ttt.players.agents import Agent
from jax_ttt.runtime.compiling import Program
from jax_ttt.solver import policies
from jax_ttt.training import graded_steps, loop
from jax_ttt.training.run_state import Progress, RunState, run_key

_learn_from_game = Program(learn_from_game)


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """An agent at one moment of a run; `params` are NumPy copies."""

    config: Config
    params: nnx.State
    seed: int
    update: int
    grade: Grade

    def agent(self) -> Agent:
        """Return the agent."""
        return Agent(
            config=self.config,
            params=jax.tree.map(jnp.asarray, self.params),
            seed=self.seed,
            num_updates=self.update,
            score=self.grade,
        )


class HistoryRow(TypedDict):
    """An agent's grade after an update; what is unknown is None."""

    update: int
    games: int | None  # training games that have ended
    loss: float | None  # of the chunk of updates before
    seconds: float | None  # spent training
    grade: JsonObject  # of a `Grade`


def history_row(
    update: int,
    grade: Grade,
    *,
    games: int | None = None,
    loss: float | None = None,
    seconds: float | None = None,
) -> HistoryRow:
    """Return a grade as a row of an agent's history."""
    return {
        "update": update,
        "games": games,
        "loss": loss,
        "seconds": seconds,
        "grade": records.to_dict(grade),
    }


def unbeatable_by_side(grade: Grade) -> dict[Side, bool | None]:
    """Return by side whether no line of play beats the agent; None: not known."""
    return {side: grade.unbeatable_in(seat) for side, seat in SEAT_OF.items()}


class Figures(TypedDict):
    """What is shown of a run."""

    update: int
    games: int
    wins: dict[Side, int]
    draws: int
    loss: float | None
    positions_learned: int | None  # None for a network
    unbeatable: dict[Side, bool | None] | None
    people_games: int
    proven_at: int | None


NOTHING: Figures = {
    "update": 0,
    "games": 0,
    "wins": {"x": 0, "o": 0},
    "draws": 0,
    "loss": None,
    "positions_learned": None,
    "unbeatable": None,
    "people_games": 0,
    "proven_at": None,
}
"""What is shown of a run before its first step."""
_SATURATED = (
    "training diverged: the network's outputs are saturated and its gradient is 0 by "
    "update {:,}; try a lower learning rate"
)
# Its final tanh keeps the loss finite, whatever the weights are.
Step = tuple[Snapshot, HistoryRow | None]
"""An agent and, after an evaluation, its row of the history."""


class LiveRun:
    """A run of one agent. Before the first step there is nothing to show of it."""

    def __init__(self, config: Config, seed: int) -> None:
        """Prepare the run; nothing is compiled before the first step."""
        self._config, self._seed = config, seed
        self._key = run_key(seed)
        learner = loop.make_learner(config, seed)
        self._grade = graded_steps.ungraded(config)
        self._steps = graded_steps.with_grades(
            config, loop.train(learner, self._key), self._grade
        )
        self._num_games = 0  # of people
        self._state: RunState | None = None
        self._chunk: Chunk | None = None
        self._evaluated: list[Evaluated] = []

    @property
    def is_over(self) -> bool:
        """Whether all updates are done and the last one is evaluated."""
        state = self._state
        if state is None or state.evaluated < state.update:
            return False
        return int(state.update) >= self._config.run.num_updates

    def step(self, config: Config) -> Step:
        """Run a chunk of updates with these settings, or an evaluation.

        Raises:
            FloatingPointError: training diverged.
        """
        if self._state is not None and config != self._config:
            self._continue(config, self._state)
        return self._taken(*next(self._steps))

    def learn(self, games: Sequence[Sequence[int]], config: Config) -> Step:
        """Learn from finished games of both players' moves, and evaluate the agent.

        The run goes on at the same update. Before the first step it can't learn.
        """
        if self._state is None:
            raise ValueError("the run has not begun")
        learner = loop.make_learner(config, self._seed)
        learned = self._state.train_state
        for moves in games:
            number, self._num_games = self._num_games, self._num_games + 1
            game = finished_game(config.env_id, moves, number)
            learned = _learn_from_game(learner, learned, game)
        state = dataclasses.replace(
            self._state, train_state=learned, evaluated=self._state.update - 1
        )
        # The loop evaluates what is not evaluated yet, and stops.
        self._continue(config, state, lambda: True)
        step = self._taken(*next(self._steps))
        self._continue(config, self._state)
        return step

    def _continue(
        self, config: Config, state: RunState, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._config = config
        learner = loop.make_learner(config, self._seed)
        steps = loop.train(learner, self._key, state, stop=stop)
        self._steps = graded_steps.with_grades(config, steps, self._grade)

    def _taken(self, progress: Progress, grade: Grade) -> Step:
        self._grade = grade
        return self._snapshot(progress), self._noted(progress)

    def _snapshot(self, progress: Progress) -> Snapshot:
        return Snapshot(
            config=self._config,
            # Copies, because the next chunk donates these arrays.
            params=jax.tree.map(np.array, progress.params),
            seed=self._seed,
            update=progress.update,
            grade=self._grade,
        )

    def _noted(self, progress: Progress) -> HistoryRow | None:
        self._state = progress.state
        row = graded_steps.row(progress, self._grade)
        if isinstance(row, Chunk):
            if row.grad_norm == 0 and not row.rows:
                raise FloatingPointError(_SATURATED.format(row.update))
            self._chunk = row
            return None
        if progress.evaluation is None or progress.evaluation.exact is None:
            raise ValueError("a step is a chunk or an exact evaluation")
        if self._evaluated and self._evaluated[-1].update == row.update:
            self._evaluated.pop()  # from before the games of people
        self._evaluated.append(row)
        tree = trees.enumerated(self._config.env_id)
        moves = np.asarray(progress.evaluation.exact.moves)
        graded = exact.grade_seats(
            env_id=self._config.env_id,
            tree=tree,
            probs=policies.deterministic(tree, moves),
            seats=self._config.seats,
        )
        return history_row(
            row.update,
            graded,
            games=row.games,
            loss=None if self._chunk is None else self._chunk.loss,
            seconds=row.seconds,
        )

    @property
    def scheduled(self) -> dict[str, float]:
        """The settings of the last chunk that follow a schedule."""
        chunk = self._chunk
        if chunk is None:
            return {}
        return {"learning_rate": chunk.learning_rate, "epsilon": chunk.epsilon}

    @property
    def figures(self) -> Figures:
        """What is shown of the run, as plain data."""
        state = self._state
        if state is None:
            return NOTHING
        games, wins, losses = map(int, (state.games, state.wins, state.losses))
        visited = state.train_state.visited
        return {
            "update": int(state.update),
            "games": games,
            "wins": {SIDES["first"]: wins, SIDES["second"]: losses},
            "draws": games - wins - losses,
            "loss": None if self._chunk is None else self._chunk.loss,
            "positions_learned": None if visited is None else int(visited.sum()),
            "unbeatable": unbeatable_by_side(self._grade) if self._evaluated else None,
            "people_games": self._num_games,
            "proven_at": curves.proven_from(self._evaluated),
        }


def check_over(env_id: EnvId, moves: Sequence[int]) -> None:
    """Raise `MoveError` unless these are the moves of a finished game."""
    if not Game.start(env_id, moves).is_over:
        raise MoveError(f"the game {[*moves]} is not over")
