"""Trained agents: a network's weights with everything needed to use them.

An agent plays greedily, by a function and, in an enumerable game, by a policy over its
tree.

Axes: `B` games, `P` positions, `D` positions to decide, `A` actions.
"""

import dataclasses
import functools
import hashlib
import importlib
import types
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from flax import nnx
from jax.tree_util import Partial
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from jax_ttt.config.errors import AgentError, Refused
from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import Architecture, Config
from jax_ttt.dqn import equations, greedy_player
from jax_ttt.dqn.greedy_player import GreedyPlayer, action_places, is_symmetric
from jax_ttt.files import tensor_file
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.files.run_folder import agent_path
from jax_ttt.files.tensor_file import AgentDescription, Tensors
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game, choose_in_blocks, game_against_itself
from jax_ttt.games.tree import Tree
from jax_ttt.networks import integer_network, q_network, table
from jax_ttt.networks.q_network import Network
from jax_ttt.players.player import policy_player
from jax_ttt.runtime import atomic_files, pytrees
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver import corrections as corrected
from jax_ttt.solver import policies
from jax_ttt.solver.corrections import Corrections


def network_from(architecture: Architecture) -> Network:
    """Return the network of this architecture, with the positions of a table.

    The first call for a table enumerates its game by compiled programs, so it must not
    be inside a trace.
    """
    return Network(architecture, table.positions_for(architecture))


_BLOCK = 128
"""Boards that a network of floats computes at a time to play."""


@jax.jit
def board_values(
    network: Network, params: nnx.State, obs: Shaped[Array, "B *shape"]
) -> Float[Array, "B A"]:
    """Return the action values of boards.

    It is compiled, since a network would otherwise run as one program per operation.
    """
    return q_network.action_values(network, params, obs)


def largest_sum(params: nnx.State) -> float:
    """Return a bound of all sums that a network computes on any board of stones.

    Such boards have planes of 0 and 1. Sums of integers are checked when they are read.
    """
    largest = 1.0
    if integer_network.is_integer(params):
        return largest
    for name, leaf in pytrees.leaves_by_name(params).items():
        sizes = np.abs(np.asarray(leaf, float))
        is_kernel = name.endswith("kernel")
        # |kernel @ x + bias| <= max(1, sum(|kernel|)) * (1 + |bias|) * max(1, |x|)
        largest *= float(
            max(1, sizes.sum(axis=1).max()) if is_kernel else 1 + sizes.max()
        )
    return largest


def first_move_values(architecture: Architecture, params: nnx.State) -> np.ndarray:
    """Return a network's values of the moves on the empty board, `(A,)`."""
    env = pgx_games.make_env(architecture.env_id)
    start = pgx_games.init(env, jax.random.key(0), 1)
    network = network_from(architecture)
    return np.asarray(board_values(network, params, start.observation))[0]


def steady_player(network: Network, params: nnx.State) -> Partial:
    """Return the greedy player whose move on a board is the same among any others.

    Sums of integers are exact, so only a network of floats plays in blocks.
    """
    greedy = GreedyPlayer(network, params)
    if integer_network.is_integer(params):
        return Partial(GreedyPlayer.__call__, greedy)
    return Partial(_actions_in_blocks, greedy)


def _actions_in_blocks(
    greedy: GreedyPlayer, key: Key[Array, ""], env_state: pgx.State
) -> Int[Array, " B"]:
    return choose_in_blocks(greedy, _BLOCK, key, env_state)


ValuesFn = Callable[[nnx.State, pgx.State], jax.Array]
"""A function `(params, env_state) -> action values (B, A)`."""
NEAR = 2.0**-18
"""The least margin of `near_best_moves`, 3.8e-6; values are from -1 to 1."""


def near_best_moves(
    values_fn: ValuesFn, params: nnx.State, env_state: pgx.State
) -> Bool[Array, "B A"]:
    """Return the legal moves whose values are the highest one but for rounding.

    The last bits of a sum of floats depend on its order: on the device, the version,
    and how many boards a program computes. So the player may play any of these moves
    elsewhere. Their values are at most a margin below the highest: `NEAR`, or more
    where the values change by more if the weights change by `2**-19` of themselves, up
    or down at random. Integers have no such margin.
    """
    values = values_fn(params, env_state)
    margin = jnp.full(len(values), NEAR)
    is_integer = integer_network.is_integer(params)
    for key in () if is_integer else jax.random.split(jax.random.key(0)):
        # Both signs, since a unit that is 0 below a threshold could hide a change.
        for size in (2.0**-19, -(2.0**-19)):
            nearby = jax.tree.map(functools.partial(_changed, key, size), params)
            changes = abs(values_fn(nearby, env_state) - values)
            margin = jnp.maximum(margin, changes.max(axis=1))
    legal = env_state.legal_action_mask
    highest = jnp.where(legal, values, -jnp.inf).max(axis=1)
    return legal & (values >= (highest - margin)[:, None])


def _changed(
    key: Key[Array, ""], size: float, weights: Float[Array, "*n"]
) -> Float[Array, "*n"]:
    signs = jax.random.rademacher(key, weights.shape, weights.dtype)
    return weights * (1 + size * signs)


def near_best_player(network: Network, params: nnx.State) -> Partial | None:
    """Return the near-best moves of the greedy player, for `Player.near_best`.

    It is None for a network of integers, and in enumerable games, in which the moves
    are computed once.
    """
    is_enumerable = GAMES[network.env_id].enumerable
    if is_enumerable or integer_network.is_integer(params):
        return None
    return Partial(near_best_moves, Partial(_network_values, network), params)


def _network_values(
    network: Network, params: nnx.State, env_state: pgx.State
) -> Float[Array, "B A"]:
    return q_network.action_values(network, params, env_state.observation)


def ordered_actions(
    network: Network, params: nnx.State, env_state: pgx.State
) -> Int[Array, "B A"]:
    """Return all actions, the best one first and the illegal ones last.

    The first one is the move of the greedy player, and equal ones have the order in
    which `greedy_actions` prefers them.
    """
    scores = q_network.action_scores(network, params, env_state.observation)
    worse_first = jnp.where(env_state.legal_action_mask, scores, -jnp.inf)
    places = jnp.broadcast_to(jnp.arange(scores.shape[1]), scores.shape)
    if is_symmetric(network):
        places = action_places(network.env_id, env_state.observation)
    return jnp.lexsort((places, -worse_first), axis=-1).astype(jnp.int32)


@jax.jit
def greedy_policy(
    network: Network, params: nnx.State, tree: Tree
) -> Float[Array, "P A"]:
    """Return the greedy player's policy over the tree.

    All entries are NaN if any action value is not finite.
    """
    scores = _of_decisions(q_network.action_scores, network, params, tree)
    moves = equations.greedy(scores, tree.legal_action_mask[tree.decisions])
    probs = policies.deterministic_policy(tree, moves)
    return jnp.where(jnp.isfinite(scores).all(), probs, jnp.nan)


@jax.jit
def decision_values(
    network: Network, params: nnx.State, tree: Tree
) -> Float[Array, "D A"]:
    """Return the action values in the positions in which a move must be chosen."""
    return _of_decisions(q_network.action_values, network, params, tree)


def _of_decisions(
    values_fn: Callable[..., jax.Array], network: Network, params: nnx.State, tree: Tree
) -> Float[Array, "D A"]:
    """Return the values or scores in the positions in which a move must be chosen.

    With canonical boards, only one board of each symmetry class is evaluated: 627
    instead of 4,520 in tic-tac-toe, which halves the time of an exact evaluation.
    """
    if tree.classes is None or not network.architecture.canonical:
        return values_fn(network, params, tree.obs[tree.decisions])
    classes = tree.classes
    values = values_fn(network, params, tree.obs[classes.boards])
    return jnp.take_along_axis(values[classes.row], classes.actions, axis=1)


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Agent:
    """A trained agent; a notebook shows its results and a game against itself.

    Attributes:
        config: The settings of its training.
        params: The weights of its network, a pytree.
        network: The network without its weights, for `jax_ttt.networks.q_network`.
        seed: The seed of its training.
        num_updates: The number of updates that it learned from.
        grade: The grade of its last evaluation.
        precision: `"float32"`, or `"int8"` for a network of integers.
        corrections: The positions with a move to play in place of the network's, and
            these moves; None without any. See `correct`.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> agent
        <agent of tic_tac_toe: table, seed 1, 400 updates>
        >>> agent.config.env_id, agent.config.seats
        ('tic_tac_toe', ('first', 'second'))
    """

    description: AgentDescription
    params: nnx.State
    corrections: Corrections | None = None

    @classmethod
    def of(
        cls,
        config: Config,
        params: nnx.State,
        seed: int = 0,
        num_updates: int = 0,
        grade: Grade | None = None,
    ) -> "Agent":
        """Return the agent of these weights, by default without results."""
        grade = grade or Grade(env_id=config.env_id, seats=config.seats)
        description = AgentDescription(
            config=config, seed=seed, num_updates=num_updates, grade=grade
        )
        return cls(description, params)

    @property
    def config(self) -> Config:
        """The settings of its training."""
        return self.description.config

    @property
    def seed(self) -> int:
        """The seed of its training."""
        return self.description.seed

    @property
    def num_updates(self) -> int:
        """The number of updates that it learned from."""
        return self.description.num_updates

    @property
    def grade(self) -> Grade:
        """The grade of its last evaluation."""
        return self.description.grade

    def with_grade(self, grade: Grade) -> "Agent":
        """Return the agent with another grade."""
        description = dataclasses.replace(self.description, grade=grade)
        return dataclasses.replace(self, description=description)

    @property
    def network(self) -> Network:
        """The network that computes action values from `params`."""
        return network_from(self.config.architecture)

    @functools.cached_property
    def player(self) -> Partial:
        """The agent's play, as a function `(key, env_state) -> actions`.

        It is greedy, except in positions with a correction. The last bits of a value
        depend on how many boards a program computes, and what plays is what was proven.
        So in an enumerable game the moves are computed once, in all positions; in
        others, a network of floats computes as many boards at a time in each program.

        Raises:
            AgentError: in an enumerable game, an action value is not finite.
        """
        env_id, network = self.config.env_id, self.network
        tree = trees.game_tree(env_id)
        if tree is None:
            greedy = steady_player(network, self.params)
        else:
            policy = greedy_policy(network, self.params, tree)
            # With NaN values, the greedy move would be any legal one.
            if not np.isfinite(policy).all():
                raise AgentError("its action values are not finite")
            index = trees.position_index(env_id)
            greedy = policy_player(index, np.asarray(policy))
        if self.corrections is None:
            return greedy
        is_symmetric = greedy_player.is_symmetric(network)
        return corrected.corrected_player(
            env_id, greedy, self.corrections, is_symmetric
        )

    @property
    def near_best(self) -> Partial | None:
        """Its near-best moves, for `Player.near_best`."""
        network = self.network
        near_best = near_best_player(network, self.params)
        if near_best is None or self.corrections is None:
            return near_best
        return corrected.corrected_near_best(
            env_id=self.config.env_id,
            near_best=near_best,
            corrections=self.corrections,
            is_symmetric=greedy_player.is_symmetric(network),
        )

    @property
    def precision(self) -> str:
        """The dtype of the weights: float32, or int8 for a network of integers."""
        return "int8" if integer_network.is_integer(self.params) else "float32"

    def game_against_itself(self) -> Game:
        """Return the game in which the agent plays both sides."""
        return game_against_itself(self.config.env_id, self.player)

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the agent's likeliest game against itself, move by move.

        Raises:
            Refused: the game is too large to enumerate.
        """
        return _pictures().agent_picture(self, theme)

    def __repr__(self) -> str:
        own = self.config.own
        parts = [
            "" if own is None else own.learner,
            self.config.network_name,
            f"seed {self.seed}",
            count_phrase(self.num_updates, "update"),
        ]
        if self.precision != "float32":
            parts.append(self.precision)
        if self.corrections is not None:
            parts.append(count_phrase(len(self.corrections), "correction"))
        return f"<agent of {self.config.env_id}: {', '.join(filter(None, parts))}>"

    def _repr_html_(self) -> str:
        return _pictures().agent_html(self)


def _pictures() -> types.ModuleType:
    """Return the module that draws agents: it is in a higher folder than this one."""
    return importlib.import_module("jax_ttt.api.agent")


def agent_bytes(agent: Agent) -> bytes:
    """Return the contents of an agent's file.

    The same agent gives the same bytes: they hold no time and no path.

    Raises:
        FloatingPointError: a weight is not finite.
        Refused: nothing has the source of its own learner or network.
    """
    if (own := agent.config.own) is not None and not own.sha256:
        names = " and ".join(filter(None, (own.learner, own.network)))
        raise Refused(f"{names} must be in a file, so that the saved agent can be used")
    tensors = params_as_tensors(agent.params)
    if (corrections := agent.corrections) is not None:
        columns = corrections.keys, corrections.actions
        tensors |= zip(tensor_file.CORRECTIONS, columns, strict=True)
    return tensor_file.encode_tensors(agent.description, tensors)


def save_agent(agent: Agent, path: Path) -> None:
    """Write the agent to a file, completely or not at all.

    Raises:
        FloatingPointError: a weight is not finite.
        OSError: the file can't be written.
    """
    atomic_files.write_atomic(path, agent_bytes(agent))


def load_agent(path: Path) -> Agent:
    """Return the agent of a file or of a run's folder.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    path = agent_path(path)
    description, tensors = tensor_file.read_tensors(path, AgentDescription)
    columns = tensor_file.take_corrections(path, tensors)
    return Agent(
        description=description,
        corrections=_corrections(path, description.config.env_id, columns),
        params=_params(path, description.config, tensors),
    )


def read_env_id(path: Path) -> EnvId:
    """Return the game of a file's agent; its weights are not read.

    Raises:
        AgentError: the file is missing or damaged, or another program or version wrote
            it.
    """
    return tensor_file.read_description(path, AgentDescription).config.env_id


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of an agent's file, in hexadecimal digits.

    Raises:
        AgentError: the file can't be read.
    """
    with tensor_file.errors_naming(path):
        content = atomic_files.read_bounded(path, tensor_file.MAX_BYTES)
    return hashlib.sha256(content).hexdigest()


def _params(path: Path, config: Config, tensors: Tensors) -> nnx.State:
    """Return the weights of a file as the network's pytree.

    Raises:
        AgentError: the name, the shape or the dtype of a tensor is not the network's.
    """
    network = network_from(config.architecture)
    shapes = q_network.param_shapes(network)
    is_integer = any(tensor.dtype.kind == "i" for tensor in tensors.values())
    if is_integer:
        with tensor_file.errors_naming(path):
            shapes = _integer_shapes(network, shapes)
    try:
        params = jax.device_put(pytrees.with_leaves(shapes, tensors))
    except ValueError as error:
        rule = f"its weights don't fit a network for {config.env_id}: {error}"
        raise AgentError(f"{path}: {rule}") from None
    if is_integer:
        with tensor_file.errors_naming(path):
            integer_network.check_integers(params)
    return params


def _integer_shapes(network: Network, float_shapes: nnx.State) -> nnx.State:
    """Return the shapes of the network's integers; `ValueError` if it has none."""
    if reason := integer_network.reason_not_possible(network.architecture):
        raise ValueError(reason)
    return integer_network.integer_shapes(float_shapes)


def _corrections(path: Path, env_id: EnvId, columns: Tensors) -> Corrections | None:
    """Return the corrections of a file; None without any.

    Raises:
        AgentError: they are not boards of the game with legal moves, in order.
    """
    if not columns:
        return None
    with tensor_file.errors_naming(path):
        corrections = Corrections(*columns.values())
        corrected.check_corrections(env_id, corrections)
    return corrections


def params_as_tensors(params: nnx.State) -> Tensors:
    """Return a network's weights as arrays by name, as they are stored in a file."""
    leaves = pytrees.leaves_by_name(params)
    return {name: np.asarray(leaf) for name, leaf in leaves.items()}
