"""What a run starts with: its learner, and its first state.

The players and the agents that the settings name are read here, before the training.

Axes: `S` agents, `C` positions.
"""

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import jax
import numpy as np
from jax.sharding import Mesh
from jaxtyping import UInt32, UInt64

from jax_ttt.config.errors import AgentError, SettingError
from jax_ttt.config.game_facts import EnvId
from jax_ttt.config.settings import COUNTEREXAMPLES, NO_AGENT, Config
from jax_ttt.dqn.base_learner import Learner
from jax_ttt.dqn.learner import DQN
from jax_ttt.files.checkpoint import LatestCheckpoint
from jax_ttt.games import pgx_games
from jax_ttt.games.training_opponents import Opponent, Versus
from jax_ttt.players import registry
from jax_ttt.players.registry import AgentPlayer
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import pytrees, standard_streams
from jax_ttt.training import agent_batch, own_learner, run_state
from jax_ttt.training.run_state import RunState, RunStep

TreeT = TypeVar("TreeT")
_stream_keys = jax.jit(agent_batch.stream_keys)


def make_learner(configs: Sequence[Config], seeds: Sequence[int]) -> Learner:
    """Return the learner of a batch of agents, one for each of the settings and seeds.

    An opponent that draws random numbers before its games gets those of the first seed
    (see `registry.PlayerSpec.draws_before_games`).

    Raises:
        Refused: the opponent is unknown.
        SettingError: the first move is illegal in this game.
        ValueError: the settings differ in more than traced numbers.
    """
    # PGX builds arrays when a game is imported. Within a program that devices share,
    # they would belong to its mesh, and no other mesh could use them.
    pgx_games.make_env(configs[0].env_id)
    check_first_move(configs[0])
    own = configs[0].own
    opponent = make_opponent(configs[0], seeds[0])
    kind = DQN
    if own is not None and own.learner:
        kind = own.learner_class
    learner = kind.of(configs[0], opponent)
    own_learner.check_learner(learner)
    return learner.for_agents(configs)


def make_opponent(config: Config, seed: int) -> Opponent | None:
    """Return the opponent that the agent trains against; None in self-play.

    Raises:
        Refused: the opponent is unknown, of another game, or a program.
    """
    spec = registry.read_opponent(config.opponent)
    if spec is None:
        return None
    (key,) = agent_batch.run_keys([seed])
    opponent_key = _stream_keys(key).opponent
    return Versus(
        env_id=config.env_id,
        num_envs=config.num_envs,
        seat=config.seat,
        first_move=config.first_move,
        player=registry.training_opponent(spec, config.env_id, opponent_key),
    )


def check_first_move(config: Config) -> None:
    """Raise `SettingError` if the setting `first_move` is an illegal first move."""
    if config.first_move is None:
        return
    start = pgx_games.init(pgx_games.make_env(config.env_id), jax.random.key(0), 1)
    legal = np.flatnonzero(start.legal_action_mask[0]).tolist()
    if config.first_move not in legal:
        rule = f"one of {legal} in {config.env_id}"
        raise SettingError("first_move", rule, config.first_move)


def first_state(
    learner: Learner, keys: UInt32[np.ndarray, "S words"], mesh: Mesh | None = None
) -> RunState:
    """Return the state before the first update.

    Its weights and its pool of positions are those of the agents that the settings
    name, if they name any. `keys` are the data of the agents' keys. On the devices of a
    mesh, the agents are split if there are several.

    Raises:
        AgentError: a file does not hold a usable agent of this game.
        SettingError: the weights are those of another network, or the agent for the
            pool has no corrections.
    """
    config = learner.config
    if config.start_share and type(learner).with_positions is Learner.with_positions:
        rule = f"left out with {type(learner).__name__}, which is not a DQN"
        raise SettingError("start_share", rule, config.start_share)
    # Read before a program is compiled, since a file may not fit.
    agent = start_agent(config)
    positions = pool_positions(config)
    mesh = agent_batch.mesh_of_agents(mesh, len(keys))
    learner, device_keys = agent_batch.put_agents_on_devices((learner, keys), mesh)
    train_state = agent_batch.start_program(learner, device_keys, mesh=mesh)
    if agent is not None:
        weights = agent_batch.agent_weights(learner, train_state, mesh)
        params = jax.tree.map(
            lambda leaf, like: np.broadcast_to(leaf, like.shape), agent.params, weights
        )
        train_state = learner.with_weights(train_state, params)
    if positions is not None:
        rng = np.random.default_rng(0)
        train_state = learner.with_positions(train_state, positions, rng)
    train_state = jax.tree.map(
        lambda leaf: (
            agent_batch.put_agents_on_devices(leaf, mesh)
            if isinstance(leaf, np.ndarray)
            else leaf
        ),
        train_state,
    )
    return run_state.initial_state(train_state, keys)


def start_agent(config: Config) -> Agent | None:
    """Return the agent whose weights the run starts from; None without one.

    Raises:
        AgentError: the file does not hold a usable agent of this game.
        SettingError: its network is another one, or can't be trained.
    """
    if config.start_agent == NO_AGENT:
        return None
    agent = _read_agent(config.start_agent, config.env_id)
    if agent.config.architecture != config.architecture:
        rule = "an agent with the same network"
        raise SettingError("start_agent", rule, config.start_agent)
    if agent.precision != "float32":
        rule = "an agent of float32: a network of integers can't be trained"
        raise SettingError("start_agent", rule, config.start_agent)
    if agent.corrections is not None:
        rule = "the training begins with its weights, without its corrections"
        standard_streams.print_stderr(f"note: {config.start_agent}: {rule}")
    return agent


def pool_positions(config: Config) -> UInt64[np.ndarray, " C"] | None:
    """Return the numbers of the positions that an agent's corrections are for.

    None if the settings name no agent for the pool.

    Raises:
        AgentError: the file does not hold a usable agent of this game.
        SettingError: the agent has no corrections.
    """
    if not config.start_share or config.start_positions == COUNTEREXAMPLES:
        return None
    agent = _read_agent(config.start_positions, config.env_id)
    if agent.corrections is None:
        rule = "an agent with corrections"
        raise SettingError("start_positions", rule, config.start_positions)
    return agent.corrections.keys


def _read_agent(name: str, env_id: EnvId) -> Agent:
    """Return the saved agent of a setting, whose action values are finite."""
    spec = registry.read_start_agent(name)
    player = registry.make_player(spec, env_id, jax.random.key(0))
    assert isinstance(player, AgentPlayer)  # as it is a saved agent
    return player.agent


def restored_step(learner: Learner, state: RunState) -> RunStep:
    """Return the step that led to a restored state, without its results."""
    weights = agent_batch.agent_weights(learner, state.train_state, mesh=None)
    return RunStep(state, metrics=None, evaluation=None, weights=weights)


def restored_state(
    latest: LatestCheckpoint, learner: Learner, keys: np.ndarray
) -> RunState:
    """Return the state of a checkpoint, with the learner's arrays on the device.

    Raises:
        AgentError: its leaves do not fit a run with these settings.
    """
    started = (
        agent_batch.start_program.jitted().trace(learner, keys, mesh=None).out_info
    )
    shapes = run_state.initial_state(started, keys)
    try:
        state = pytrees.with_leaves(shapes, latest.tensors)
    except ValueError as error:
        rule = f"not a state of such a run: {error}"
        raise AgentError(f"{latest.path}: {rule}") from None
    return dataclasses.replace(state, train_state=jax.device_put(state.train_state))
