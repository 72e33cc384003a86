"""The functions that a run compiles into programs.

Their arguments and results are plain arrays by name, so a cached program can be called
without the libraries that these functions import. `key` is a run's key as its data.
`state` holds the leaves of a `learner.TrainState`.
"""

import functools
from typing import Any

import jax
from jaxtyping import Array, Int, UInt32

from jax_ttt.config.architecture import Architecture
from jax_ttt.config.catalogue import Seat
from jax_ttt.config.hyper import Hyper
from jax_ttt.config.settings import Config
from jax_ttt.dqn import finished_games, learner
from jax_ttt.dqn.finished_games import Game
from jax_ttt.dqn.metrics import Metrics
from jax_ttt.envs.opponents import Opponent, SelfPlay
from jax_ttt.envs.stones import Positions
from jax_ttt.envs.tree import Tree
from jax_ttt.evaluation import network_grades
from jax_ttt.evaluation.evaluation import Evaluation
from jax_ttt.evaluation.match_counts import Match
from jax_ttt.players.network import Network, params_from
from jax_ttt.runtime import named_arrays
from jax_ttt.runtime.named_arrays import Named
from jax_ttt.training.keys import keys

KeyData = UInt32[Array, " words"]


def start_run(
    config: Config,
    key: KeyData,
    hyper: Hyper,
    opponent: Opponent | None,
    positions: Positions | None,
) -> Named:
    """Return the leaves of the state before the first update, by name.

    Without an opponent, the agent plays against itself. `positions` are for a table.
    """
    return named_arrays.flat(_start(config, key, hyper, opponent, positions))


def _start(
    config: Config,
    key: KeyData,
    hyper: Hyper,
    opponent: Opponent | None,
    positions: Positions | None,
) -> learner.TrainState:
    network = Network(config.architecture, positions)
    training = keys(jax.random.wrap_key_data(key)).training
    return learner.init(config, hyper, network, training, opponent or SelfPlay())


def run_updates(
    config: Config,
    num_updates: int,
    state: Named,
    hyper: Hyper,
    opponent: Opponent | None,
    positions: Positions | None,
) -> tuple[Named, Metrics]:
    """Return the state after `num_updates` and their metrics; `state` is donated."""
    network = Network(config.architecture, positions)
    before = _typed(config, state, hyper, opponent, positions)
    args = config, hyper, network, before, num_updates, opponent or SelfPlay()
    after, metrics = learner.train_chunk(*args)
    return named_arrays.flat(after), metrics


def learn_game(
    config: Config, state: Named, hyper: Hyper, game: Game, positions: Positions | None
) -> Named:
    """Return the state of a run in self-play after it has learned from a game."""
    before = _typed(config, state, hyper, None, positions)
    args = config, hyper, Network(config.architecture, positions), before, game
    return named_arrays.flat(finished_games.learn_from_game(*args))


def _typed(config: Config, state: Named, *args: Any) -> learner.TrainState:  # noqa: ANN401
    """Return the learner's state of these leaves; `args` are the last of `_start`."""
    key = jax.ShapeDtypeStruct(state["key"].shape, "uint32")
    like = jax.eval_shape(functools.partial(_start, config), key, *args)
    return named_arrays.unflat(state, like)


def grade_agent(
    architecture: Architecture,
    seats: tuple[Seat, ...],
    params: Named,
    tree: Tree,
    positions: Positions | None,
) -> Evaluation:
    """Return the exact evaluation of an agent that learned these seats."""
    network = Network(architecture, positions)
    weights = params_from(network, params)
    return network_grades.grade_exactly(network, weights, tree, seats)


def sample_games(
    architecture: Architecture,
    num_games: int,
    params: Named,
    update: Int[Array, ""],
    key: KeyData,
    positions: Positions | None,
) -> Match:
    """Play a match of an agent against random; each update has different games."""
    grading = keys(jax.random.wrap_key_data(key)).grading
    match_key = jax.random.fold_in(grading, update)
    network = Network(architecture, positions)
    weights = params_from(network, params)
    return network_grades.play_random(network, weights, match_key, num_games)
