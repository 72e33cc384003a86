"""A learner as a run sees it: `init`, `update` and `policy`; and what all share.

`dqn.learner.DQN` is the learner of this package. A subclass of `Learner` is another
one, in the same runs: with evaluations, proofs, rows, checkpoints, exact resume, and
many seeds in one program.

Axes: `B` games, `A` actions, `S` agents that train at once.
"""

import dataclasses
import functools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from flax import nnx
from jax.tree_util import GetAttrKey
from jaxtyping import Array, Bool, Float, Int, Key, PyTree, Shaped, UInt64

from jax_ttt.config.errors import SettingError
from jax_ttt.config.settings import Config, setting_types, traced_names
from jax_ttt.dqn import metrics as training_metrics
from jax_ttt.dqn import random_numbers
from jax_ttt.dqn.equations import Transition
from jax_ttt.dqn.greedy_player import GreedyPlayer
from jax_ttt.dqn.metrics import GameCounts, Metrics
from jax_ttt.games import pgx_games, training_opponents
from jax_ttt.games.training_opponents import Opponent, SelfPlay
from jax_ttt.networks import q_network, table
from jax_ttt.networks.q_network import Network
from jax_ttt.networks.table import Positions

_STATIC = (*(name for name in setting_types() if name not in traced_names()), "own")


def _flatten(
    config: Config,
) -> tuple[list[tuple[object, object]], tuple[object, ...]]:
    """Return the traced numbers of settings, with their names, and the others."""
    numbers = [(GetAttrKey(name), getattr(config, name)) for name in traced_names()]
    return numbers, tuple(getattr(config, name) for name in _STATIC)


def _unflatten(static: tuple[object, ...], numbers: Iterable[object]) -> Config:
    """Return settings without their checks: JAX gives arrays and marks for numbers."""
    config = object.__new__(Config)
    vars(config).update(zip(_STATIC, static, strict=True))
    vars(config).update(zip(traced_names(), numbers, strict=True))
    return config


jax.tree_util.register_pytree_with_keys(Config, _flatten, _unflatten)


def static_settings(config: Config) -> Hashable:
    """Return the settings that a program is compiled for, without the traced numbers.

    Agents for which it is equal share a program.
    """
    return jax.tree.structure(config)


class Progress(NamedTuple):
    """A learner's state in a run, with what chunks need."""

    own: Any  # the learner's state: any pytree
    key: jax.Array  # () typed PRNG key, constant in a run
    update: jax.Array  # () int32, number of updates done


class MoveResults(NamedTuple):
    """The results of one move in every game."""

    after: pgx.State  # the games; where there is an opponent, after its reply
    transition: Transition
    counts: GameCounts  # () int32 each; the moves are those of both sides


LearnerT = TypeVar("LearnerT", bound="Learner")
_Carry: TypeAlias = tuple[Any, Metrics]
"""What an update passes on to the next one."""


@dataclasses.dataclass(frozen=True)
class Learner:
    """All that updates depend on and never change. Make it by `of`.

    A learner of your own is a subclass with three methods:

        init(key) -> state                    the state before the first update
        update(state, random) -> (state, metrics)    the next state
        policy(state) -> player               the agent that is graded and saved

    The state is any pytree of arrays. `random` is a key of this update alone, and the
    only source of chance: the same key must give the same update. `metrics` come from
    `self.metrics`, and the player from `self.player`. `self.config` has the settings
    and `self.settings` those of a dataclass `Settings` in the class. For games there
    are `start_games`, `move` and `replace_finished`; for the network `init_params` and
    `values`. Methods are traced by JAX, so they can't look at values.

    It is a pytree. So are its settings: programs are compiled for most of them, but
    the numbers of `traced_names` are leaves, so that learners that differ only in them
    share programs.
    """

    default_preset: ClassVar[str] = "plain"
    """The preset where a user names none; empty: the one of the game."""
    network_class: ClassVar[type[nnx.Module] | None] = None
    """The network of a learner of your own; None: that of the settings."""
    config: Config  # its leaves float32, () each; (S,) each for S agents
    opponent: Opponent
    positions: Positions | None  # for a table only

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Make a subclass a pytree."""
        super().__init_subclass__(**kwargs)
        jax.tree_util.register_dataclass(
            cls, data_fields=["config", "opponent", "positions"], meta_fields=[]
        )

    @classmethod
    def of(
        cls: type[LearnerT], config: Config, opponent: Opponent | None = None
    ) -> LearnerT:
        """Return the learner with these settings; without an opponent, in self-play.

        For a table it enumerates the game, so call it outside a trace.

        Raises:
            ValueError: `opponent` is None although the settings name an opponent, or
                they don't and it is not None.
        """
        if config.is_self_play != (opponent is None):
            raise ValueError(f"the settings name {config.opponent!r}")
        return cls(
            config=jax.tree.map(jnp.float32, config),
            opponent=opponent or SelfPlay(config.env_id, config.num_envs),
            positions=table.positions_for(config.architecture),
        )

    def for_agents(self: LearnerT, configs: Sequence[Config]) -> LearnerT:
        """Return the learner of `S` agents, whose numbers have an axis of agents.

        Opponent and positions are the same for all agents, so they have none.

        Raises:
            ValueError: the settings differ in more than the traced numbers.
        """
        # Equal settings are often one object, which is compared only once.
        different = {id(config): config for config in configs}.values()
        if len(set(map(static_settings, different))) > 1:
            raise ValueError("the settings differ in more than numbers that are data")
        numbers = jax.tree.map(lambda *leaves: np.array(leaves, np.float32), *configs)
        return dataclasses.replace(self, config=jax.device_put(numbers))

    def init(self, key: Key[Array, ""]) -> Any:  # noqa: ANN401  any pytree
        """Return the state before the first update; `key` is consumed."""
        raise NotImplementedError

    def update(self, state: Any, random: Any) -> tuple[Any, Metrics]:  # noqa: ANN401
        """Return the state after an update, and the update's metrics.

        `random` is a typed key of this update alone; it is consumed.
        """
        raise NotImplementedError

    def policy(self, state: Any) -> GreedyPlayer:  # noqa: ANN401
        """Return the player that the learner has learned so far; see `player`."""
        raise NotImplementedError

    def with_weights(self, state: Any, params: nnx.State) -> Any:  # noqa: ANN401
        """Return a run's state that begins with the weights of a saved agent.

        Both have an axis of agents.

        Raises:
            SettingError: the learner can't.
        """
        del state, params
        rule = f"left out with {type(self).__name__}, which is not a DQN"
        raise SettingError("start_agent", rule, self.config.start_agent)

    def with_positions(
        self,
        state: Any,  # noqa: ANN401
        positions: UInt64[np.ndarray, " C"],
        rng: np.random.Generator,
    ) -> Any:  # noqa: ANN401
        """Return a run's state that knows positions for games to start in.

        They are 64-bit keys: those on lines that beat the agent, after an evaluation
        with `start_share`, or those of another agent's corrections. A learner that has
        not this method of its own refuses `start_share`. The state has an axis of
        agents, and some arrays of the returned one are on the host.

        Raises:
            SettingError: the learner can't.
        """
        del state, positions, rng
        rule = f"left out with {type(self).__name__}, which is not a DQN"
        raise SettingError("start_share", rule, self.config.start_share)

    @property
    def network(self) -> Network:
        """The network without its weights."""
        return Network(self.config.architecture, self.positions)

    @property
    def settings(self) -> Any:  # noqa: ANN401  a dataclass of a user
        """The own settings, as the dataclass `Settings`; None for our learner."""
        own = self.config.own
        return None if own is None else own.settings_record

    def init_params(self, key: Key[Array, ""]) -> nnx.State:
        """Return initial weights of the network; `key` is consumed."""
        return q_network.init_params(self.network, key)

    def values(
        self, params: nnx.State, obs: Shaped[Array, "B *shape"]
    ) -> Float[Array, "B A"]:
        """Return the network's value of each action, including illegal actions."""
        return q_network.action_values(self.network, params, obs)

    def player(self, params: nnx.State) -> GreedyPlayer:
        """Return the player of the legal action with the highest value."""
        return GreedyPlayer(self.network, params)

    def start_games(self, key: Key[Array, ""]) -> pgx.State:
        """Return `num_envs` new games in which the agent moves; `key` is consumed."""
        return self.opponent.start(key)

    def move(
        self, before: pgx.State, action: Int[Array, " B"], key: Key[Array, ""]
    ) -> MoveResults:
        """Play a legal action in every game, and the opponent's reply.

        In self-play there is no reply: the agent plays both sides, and the transition
        ends on the opponent's turn. Against an opponent, it ends on the agent's next
        turn. Finished games stay as they are, and their transitions are not `live`.
        `key` is consumed.
        """
        config = self.config
        action = training_opponents.force_first_move(before, action, config.first_move)
        env = pgx_games.make_env(config.env_id)
        after, move = pgx_games.step(env, before, action, config.gamma)
        after, move = self.opponent.reply(key, before, after, move)
        ended = move.live & pgx_games.is_finished(after)
        result = self.opponent.result(before, move.reward)
        # Stacked, because one sum over a matrix compiles faster than sums of its rows.
        counted = ended, ended & (result > 0), ended & (result < 0)
        games, wins, losses = jnp.stack(counted).sum(axis=1)
        return MoveResults(
            after=after,
            transition=Transition(
                obs=before.observation,
                action=action,
                reward=self.scored_reward(move.reward, ended),
                discount=move.discount,
                next_obs=after.observation,
                next_legal_action_mask=after.legal_action_mask,
                live=move.live,
                legal_action_mask=before.legal_action_mask,
            ),
            counts=GameCounts(
                games=games,
                wins=wins,
                losses=losses,
                env_steps=self.opponent.moves_made(before, after),
            ),
        )

    def replace_finished(self, env_state: pgx.State, key: Key[Array, ""]) -> pgx.State:
        """Replace finished games by new ones; `key` is consumed."""
        new_games = self.opponent.start(key)
        return pgx_games.restart(new_games, env_state, self.config.lockstep)

    def scored_reward(
        self, reward: Float[Array, " B"], ended: Bool[Array, " B"]
    ) -> Float[Array, " B"]:
        """Return the reward of the settings for a win, a draw and a loss.

        PGX rewards a draw and a move in an unfinished game with 0 alike, so `ended`
        tells which games are over. With the settings 1, 0 and -1, it is PGX's reward.
        """
        config = self.config
        win, draw, loss = config.reward_win, config.reward_draw, config.reward_loss
        if (win, draw, loss) == (1, 0, -1):
            return reward
        value = jnp.where(reward > 0, win, jnp.where(reward < 0, loss, draw))
        return jnp.where(ended, value, 0.0)

    def metrics(
        self,
        counts: GameCounts,
        loss: Float[Array, ""],
        grad_norm: Float[Array, ""],
        **others: Float[Array, ""],
    ) -> Metrics:
        """Return the metrics of an update; those that are not given are 0.

        `others` are `mean_max_q`, `epsilon` and `learning_rate`. A loss or a gradient
        that is not finite ends the run.
        """
        return training_metrics.of_update(counts, loss, grad_norm, **others)

    def start(self, key: Key[Array, ""]) -> Any:  # noqa: ANN401
        """Return the first state of a run; `key` is consumed."""
        key, init_key = jax.random.split(key)
        own = jax.tree.map(jnp.asarray, self.init(init_key))  # numbers of Python, too
        return Progress(own, key, jnp.int32(0))

    def agent(self, state: Any) -> GreedyPlayer:  # noqa: ANN401
        """Return the player of a run's state."""
        return self.policy(state.own if isinstance(state, Progress) else state)

    def weights_of(self, state: Any) -> PyTree:  # noqa: ANN401
        """Return the weights in training, which are finite unless it diverged."""
        return self.agent(state).params

    def draw(self, key: Key[Array, ""], update: int | Int[Array, ""]) -> Any:  # noqa: ANN401
        """Return the random numbers of the update with this index: here a key."""
        return jax.random.fold_in(key, update)

    def chunk(
        self,
        state: Any,  # noqa: ANN401
        num_updates: int | Int[Array, ""],
        metrics: Metrics | None = None,
    ) -> tuple[Any, Metrics]:
        """Do `num_updates` updates; return the state and the metrics of the updates.

        `metrics` are those of earlier updates, which the returned ones include.

        The result does not depend on how a run is cut into chunks: `num_updates` is
        data of the compiled program, so that the same program does one update and many.
        """
        # XLA compiles a loop of a known length in another way, with other rounding.
        num_updates = jax.lax.optimization_barrier(jnp.int32(num_updates))
        length = random_numbers.block_length(self.config)
        begin = state.update
        draw = functools.partial(self.draw, state.key)

        def do_block(index: Int[Array, ""], carry: _Carry) -> _Carry:
            done = index * length
            drawn = jax.vmap(draw)(begin + done + jnp.arange(length))

            def do_update(index: Int[Array, ""], carry: _Carry) -> _Carry:
                state, metrics = carry
                of_update = jax.tree.map(lambda leaf: leaf[index], drawn)
                if isinstance(state, Progress):
                    own, new = self.update(state.own, of_update)
                    state = Progress(own, state.key, state.update + 1)
                else:  # the state of a DQN has a key and a number itself
                    state, new = self.update(state, of_update)
                return state, training_metrics.add_update(metrics, new)

            left = jnp.minimum(num_updates - done, length)
            return jax.lax.fori_loop(0, left, do_update, carry)

        num_blocks = (num_updates + length - 1) // length
        before = training_metrics.no_updates() if metrics is None else metrics
        state, after = jax.lax.fori_loop(
            0, num_blocks, do_block, (state, jax.tree.map(jnp.asarray, before))
        )
        weights = jnp.concatenate(
            [x.ravel() for x in jax.tree.leaves(self.weights_of(state))]
        )
        return state, after._replace(finite_weights=jnp.isfinite(weights).all())
