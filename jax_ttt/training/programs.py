"""The compiled programs of a run: its start, its updates and its evaluations.

Each program serves one agent, or many at once by `vmap`. Seeds and the hyperparameters
in `Hyper` are arguments, so runs that differ only in these share compiled programs.

Axes: `S` agents; the axis is absent for a single agent.
"""

import jax
from flax import nnx
from jaxtyping import Array, Int

from jax_ttt.dqn.learner import Learner, TrainState
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.games.tree import Tree
from jax_ttt.grading import training_evaluation
from jax_ttt.grading.sampled_match import MatchCounts
from jax_ttt.grading.training_evaluation import Exact
from jax_ttt.networks.q_network import Network
from jax_ttt.runtime.compiling import Program
from jax_ttt.training.layout import KeyData, Layout, stream_keys


def _start(learner: Learner, key: KeyData, layout: Layout) -> TrainState:
    def start(learner: Learner, key: KeyData) -> TrainState:
        return learner.init(stream_keys(key).training)

    if layout.many:
        start = jax.vmap(start, in_axes=(learner.axes, 0))
    return layout.constrain(start(learner, key))


def _advance(
    learner: Learner, state: TrainState, num_updates: int, layout: Layout
) -> tuple[TrainState, Metrics]:
    def chunk(learner: Learner, state: TrainState) -> tuple[TrainState, Metrics]:
        return learner.chunk(state, num_updates)

    if layout.many:
        chunk = jax.vmap(chunk, in_axes=(learner.axes, 0))
    state, metrics = chunk(learner, state)
    return layout.constrain(state), layout.replicate(metrics)


def _grade(
    network: Network,
    params: nnx.State,
    tree: Tree,
    layout: Layout,
) -> Exact:
    def grade(params: nnx.State) -> Exact:
        return training_evaluation.grade_exactly(network, params, tree)

    if layout.many:
        grade = jax.vmap(grade)
    return layout.replicate(grade(params))


def _sample(
    network: Network,
    params: nnx.State,
    update: Int[Array, "*S"],
    key: KeyData,
    num_games: int,
    layout: Layout,
) -> MatchCounts:
    def sample(params: nnx.State, update: Int[Array, ""], key: KeyData) -> MatchCounts:
        match_key = jax.random.fold_in(stream_keys(key).grading, update)
        return training_evaluation.play_random(network, params, match_key, num_games)

    if layout.many:
        sample = jax.vmap(sample)
    return layout.replicate(sample(params, update, key))


start_program = Program(_start, static_argnames=["layout"], level="0")
"""Program of the state before the first update.

It runs once, so it is compiled without optimizations (`level="0"`).
"""
advance_program = Program(
    _advance, static_argnames=["num_updates", "layout"], donate_argnames=["state"]
)
"""Program of a chunk of updates and their metrics; `state` is donated."""
grade_program = Program(_grade, static_argnames=["layout"])
"""Program of exact results against all opponents, in an enumerable game."""
match_program = Program(_sample, static_argnames=["num_games", "layout"])
"""Program of a match against random; its games depend on the key and the update."""
