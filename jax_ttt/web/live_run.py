"""One live run: the training loop, a step at a time, with settings that change.

Only the training thread uses it. A change of settings starts the loop of `train` again
from the last state. Settings that change are arguments of the compiled programs, so
nothing is compiled again.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import jax
import numpy as np

from jax_ttt.config.game_facts import SEAT_OF_SIDE, SIDES
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Config
from jax_ttt.dqn.base_learner import Learner
from jax_ttt.dqn.finished_games import finished_game, learn_from_game
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.metrics_rows import Evaluated, Trained
from jax_ttt.games import tree as trees
from jax_ttt.grading import tree_grade
from jax_ttt.pictures import curves
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime.compiling import Program
from jax_ttt.training import agent_batch, loop, run_start, run_state
from jax_ttt.training.run_state import RunState, RunStep
from jax_ttt.web.agent_files import history_row

_learn_from_game = Program(
    agent_batch.each_agent(learn_from_game), static_argnames=["mesh"]
)
# The network's final tanh keeps the loss finite even with huge weights, so training
# that diverged shows in its gradient.
_SATURATED = (
    "training diverged: the network's outputs are saturated and its gradient is 0 by "
    "update {:,}; try a lower learning rate"
)


class LiveRun:
    """A run of one agent, and what the page shows after each step."""

    agent: bytes
    """The file of the agent after the last step."""
    row: JsonObject | None = None
    """The last step's row if it was an evaluation; see `agent_files.history_row`."""

    def __init__(
        self, config: Config, seed: int, stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Prepare the run; nothing is compiled before the first step.

        A search for counterexamples ends early once `stop()` is true.
        """
        self._config, self._seed, self._stop = config, seed, stop
        self._keys = agent_batch.run_keys([seed])
        self._grade = run_state.initial_grade(config)
        self._shown_grade = self._grade
        self._state: RunState | None = None
        self._trained: Trained | None = None
        self._evaluated: list[Evaluated] = []
        self._num_games = 0  # that people played and the agent learned from
        self._open(config, None, stop)

    @property
    def update(self) -> int:
        """Updates done."""
        return 0 if self._state is None else self._state.update

    @property
    def is_over(self) -> bool:
        """Whether all updates are done and graded, or no counterexample is left."""
        state = self._state
        if state is None or state.evaluated < state.update:
            return False
        is_proven = self._config.finds_counterexamples and self._grade.unbeatable
        return bool(is_proven) or self.update >= self._config.num_updates

    def step(self, config: Config) -> None:
        """Run a chunk of updates with these settings, or an evaluation.

        Raises:
            FloatingPointError: training diverged.
        """
        if self._state is not None and config != self._config:
            self._open(config, self._state, self._stop)
        self._record_step(next(self._steps))

    def learn(self, games: Sequence[Sequence[int]], config: Config) -> None:
        """Learn from finished games, each the moves of both players, and evaluate.

        The number of updates stays the same.

        Raises:
            ValueError: the run has not made its first step.
        """
        if self._state is None:
            raise ValueError("the run has not begun")
        learner = run_start.make_learner([config], [self._seed])
        train_state = self._state.train_state
        for moves in games:
            number, self._num_games = self._num_games, self._num_games + 1
            game = finished_game(config.env_id, moves, number)
            batch = jax.tree.map(lambda leaf: leaf[None], game)
            train_state = _learn_from_game(learner, train_state, batch, mesh=None)
        evaluated = self._state.updates_done - 1
        state = dataclasses.replace(
            self._state, train_state=train_state, evaluated=evaluated
        )
        # The loop evaluates what is not evaluated yet, and stops.
        self._open(config, state, lambda: True)
        self._record_step(next(self._steps))
        self._open(config, self._state, self._stop)

    def _open(
        self, config: Config, state: RunState | None, stop: Callable[[], bool]
    ) -> None:
        """Begin the loop, or continue from a state."""
        self._config = config
        learner = run_start.make_learner([config], [self._seed])
        self._network = learner.network
        self._steps = self._training_steps(learner, state, stop)

    def _training_steps(
        self, learner: Learner, state: RunState | None, stop: Callable[[], bool]
    ) -> Iterator[RunStep]:
        """Yield the steps from a state, or from the first one."""
        steps = loop.training_steps(
            learner,
            state or run_start.first_state(learner, self._keys),
            stop=stop,
        )
        del state  # else its memory would be held during the run
        yield from steps

    def _record_step(self, step: RunStep) -> None:
        """Keep a step's state, and make its row and its agent.

        Raises:
            FloatingPointError: training diverged.
        """
        self._state, self.row = step.state, None
        if step.evaluation is not None:
            self._grade = run_state.grade_of(self._config, step.evaluation)
        row = run_state.metrics_row(step, self._grade)
        if isinstance(row, Trained):
            if row.grad_norm == 0 and not row.rows:
                raise FloatingPointError(_SATURATED.format(row.update))
            self._trained = row
        else:
            self._shown_grade = self._detailed_grade(step)
            self._evaluated.append(row)
            self.row = history_row(row, self._shown_grade, self._loss)
        agent = Agent.of(
            config=self._config,
            params=step.params(),
            seed=self._seed,
            num_updates=step.update,
            grade=self._shown_grade,
        )
        self.agent = saved_agents.agent_bytes(agent)

    def _detailed_grade(self, step: RunStep) -> Grade:
        """Return the grade with exact figures of each seat, if the game has a tree."""
        env_id = self._config.env_id
        tree = trees.game_tree(env_id)
        if tree is None:
            return self._grade
        probs = saved_agents.greedy_policy(self._network, step.params(), tree)
        return tree_grade.grade_policy(
            env_id=env_id,
            tree=trees.enumerated(env_id),
            probs=np.asarray(probs, float),
            evidence="construction",
            seats=self._config.seats,
            with_details=False,
        )

    @property
    def _loss(self) -> float | None:
        return None if self._trained is None else self._trained.loss

    @property
    def scheduled(self) -> dict[str, float]:
        """The settings of the last row of updates that follow a schedule."""
        row = self._trained
        if row is None:
            return {}
        return {"learning_rate": row.learning_rate, "epsilon": row.epsilon}

    @property
    def figures(self) -> JsonObject:
        """The figures that the page shows, as `training_thread.INITIAL_FIGURES`.

        Raises:
            ValueError: the run has not made its first step.
        """
        state = self._state
        if state is None:
            raise ValueError("the run has not begun")
        counts = state.counts_of()
        visited = state.train_state.visited
        unbeatable = {
            side: self._grade.unbeatable_in(seat) for side, seat in SEAT_OF_SIDE.items()
        }
        return {
            "update": self.update,
            "games": counts.games,
            "wins": {SIDES["first"]: counts.wins, SIDES["second"]: counts.losses},
            "draws": counts.games - counts.wins - counts.losses,
            "loss": self._loss,
            "positions_learned": None if visited is None else int(visited.sum()),
            "unbeatable": unbeatable if self._evaluated else None,
            "people_games": self._num_games,
            "proven_at": curves.proven_from(self._evaluated),
        }
