"""Deep Q-learning by self-play: the whole algorithm.

A `Learner` holds what no update changes, a `TrainState` what every update changes:
`init` makes the first state, `update` the next one, and `chunk` runs many updates.
The opponent is the agent itself (self-play) or another player.

    learner = Learner.of(config)
    state = jax.jit(Learner.init)(learner, jax.random.key(1))
    chunk = jax.jit(Learner.chunk, static_argnames="num_updates")
    state, metrics = chunk(learner, state, num_updates=50)

`jax.vmap` over learners trains many agents at once.

Axes: `B` games, `T` turns of whole games, `S` agents that train at once.
"""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
import pgx
from flax import nnx
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Bool, Float, Key, PyTree, Shaped

from jax_ttt.config.settings import Config, Hyper
from jax_ttt.dqn import (
    equations,
    exploration,
    losses,
    random_numbers,
    replay,
    start_positions,
)
from jax_ttt.dqn.equations import ScalarLike, Transition
from jax_ttt.dqn.metrics import Metrics, chunk_metrics
from jax_ttt.dqn.random_numbers import RandomNumbers, Turn
from jax_ttt.games import opponents, pgx_games, positions
from jax_ttt.games.opponents import Opponent, SelfPlay
from jax_ttt.games.stones import Positions
from jax_ttt.networks import q_network
from jax_ttt.networks.q_network import Network


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TrainState:
    """The state of training on the device; an update returns the next one."""

    params: nnx.State
    target_params: nnx.State
    average_params: nnx.State  # used for grades, saved agents and play
    opt_state: optax.OptState
    env_state: pgx.State  # B games
    new_game: pgx.State  # one game before its first move
    key: jax.Array  # () typed PRNG key, constant in a run (see `random_numbers`)
    update: jax.Array  # () int32, updates done
    games: jax.Array  # () int32, games that have ended
    buffer: replay.Buffer | None  # only with replay
    pool: start_positions.Pool | None  # only where games start in it
    visited: jax.Array | None  # (rows,) bool, rows visited; only for a table


class Played(NamedTuple):
    """The transitions of one step in every game, and scalar figures.

    Wins and losses are the agent's; in self-play they are the first player's.
    """

    transition: Transition
    max_q: jax.Array  # float32, sum of the best legal values in unfinished games
    moves: jax.Array  # int32, like the rest: the agent's moves in unfinished games
    games: jax.Array  # games that ended
    wins: jax.Array
    losses: jax.Array
    env_steps: jax.Array  # moves of both sides in unfinished games


class StepMetrics(NamedTuple):
    """Metrics of one or more gradient steps, `()` or `(T,)` float32."""

    loss: jax.Array
    grad_norm: jax.Array


class _CompiledFor:
    """Settings that are equal if they differ only in the numbers of `Hyper`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._fields = config.compiled_for

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CompiledFor) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(self._fields)


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(frozen=True)
class Learner:
    """All that updates depend on and never change.

    It is a pytree. `config` is static: programs are compiled for it. Its numbers are
    leaves, `hyper`, so learners that differ only in them share programs. In a program
    the numbers of `config` are those of the learner that it was compiled for: use
    those of `hyper`. Make it by `Learner.of`.
    """

    config: Config
    hyper: Hyper  # float32, () each
    opponent: Opponent
    positions: Positions | None  # for a table only

    def tree_flatten(self) -> tuple[tuple[object, ...], _CompiledFor]:
        """Return the children and the static part, for JAX."""
        children = (self.hyper, self.opponent, self.positions)
        return children, _CompiledFor(self.config)

    @classmethod
    def tree_unflatten(cls, static: _CompiledFor, children: tuple) -> "Learner":
        """Return the learner of these parts, for JAX, which also passes axes in it."""
        hyper, opponent, positions = children
        return cls(static.config, hyper, opponent, positions)

    @classmethod
    def of(cls, config: Config, opponent: Opponent | None = None) -> "Learner":
        """Return the learner of these settings; without an opponent, in self-play.

        For a table it enumerates the game, so call it outside a trace.

        Raises:
            ValueError: the settings name an opponent and none is given, or the other
                way round.
        """
        if config.opponent.is_self != (opponent is None):
            raise ValueError(f"the settings name {config.opponent.opponent!r}")
        return cls(
            config=config,
            hyper=Hyper(*map(jnp.float32, config.hyper)),
            opponent=opponent or SelfPlay(config.env_id, config.run.num_envs),
            positions=positions.positions_for(config.architecture),
        )

    @property
    def axes(self) -> "Learner":
        """The `in_axes` of `jax.vmap` over learners that are stacked, `(S,)`.

        They differ in numbers and in the opponent's leaves.
        """
        return dataclasses.replace(self, hyper=0, opponent=0, positions=None)

    @property
    def network(self) -> Network:
        """The network without its weights."""
        return Network(self.config.architecture, self.positions)

    @property
    def dtype(self) -> DTypeLike:
        """The dtype of the network's matrix products."""
        return q_network.learning_dtype(self.config.optimizer.precision)

    def init(self, key: Key[Array, ""]) -> TrainState:
        """Return the state before the first update; `key` is consumed."""
        config = self.config
        key, params_key, env_key = jax.random.split(key, 3)
        params = q_network.init_params(self.network, params_key)
        env_state = self.opponent.start(env_key)
        state = TrainState(
            params=params,
            target_params=jax.tree.map(jnp.copy, params),
            average_params=jax.tree.map(jnp.copy, params),
            opt_state=self.optimizer(self.hyper.learning_rate).init(params),
            env_state=env_state,
            new_game=jax.tree.map(lambda x: x[:1], env_state),
            key=key,
            update=jnp.int32(0),
            games=jnp.int32(0),
            buffer=None,
            pool=start_positions.empty() if config.run.start_share else None,
            visited=None,
        )
        if config.replay.replay_capacity:
            turn = random_numbers.draw_random_numbers(config, key, 0).first
            _, example = jax.eval_shape(self.play, params, env_state, turn, 0.0)
            buffer = replay.init_buffer(
                example.transition, config.replay.replay_capacity
            )
            state = dataclasses.replace(state, buffer=buffer)
        if self.network.is_table:
            visited = jnp.zeros(len(jax.tree.leaves(params)[0]), bool)
            state = dataclasses.replace(state, visited=visited)
        return state

    def update(
        self, state: TrainState, drawn: RandomNumbers
    ) -> tuple[TrainState, Metrics]:
        """Play one move in every game and learn from it.

        With `backward`, play whole games, `T` turns, and learn from their moves in
        reverse order: `T` gradient steps, each of which moves the target network.
        `drawn` are the update's random numbers; they are consumed.
        """
        config = self.config
        epsilon = self.epsilon(state.update, state.games)
        learning_rate = self.learning_rate(state.update)
        if config.target.backward:
            after, played = jax.lax.scan(
                lambda games, turn: self.play(state.params, games, turn, epsilon),
                state.env_state,
                drawn.turns,
            )
            learned, steps = jax.lax.scan(
                lambda learned, move: self.learn(
                    learned, batch=move[0], key=move[1], learning_rate=learning_rate
                ),
                state,
                (played.transition, drawn.turns.learn_key),
                reverse=True,
            )
        else:
            turn = drawn.first
            after, played = self.play(state.params, state.env_state, turn, epsilon)
            buffer, batch = replay.remember(
                config.replay, state.buffer, played.transition, drawn.sample_key
            )
            learned = dataclasses.replace(state, buffer=buffer)
            learned, steps = self.learn(learned, batch, turn.learn_key, learning_rate)

        learned = self._averaged(state, learned)
        if learned.buffer is not None:
            learned = after_replay_start(
                replay.is_ready(learned.buffer, config.replay.replay_start),
                before=state,
                learned=learned,
            )
        metrics = measure(learned, played, steps, epsilon, learning_rate)
        fresh = start_positions.new_games(
            config.run,
            state.pool,
            drawn.starts,
            self.opponent.replacement(drawn.restart_key, state.new_game),
        )
        learned = dataclasses.replace(
            learned,
            env_state=pgx_games.restart(fresh, after, config.run.lockstep),
            update=state.update + 1,
            games=state.games + metrics.games,
        )
        return learned, metrics

    def chunk(self, state: TrainState, num_updates: int) -> tuple[TrainState, Metrics]:
        """Run `num_updates` updates; return the state and the chunk's metrics."""
        draw = functools.partial(
            random_numbers.draw_random_numbers, self.config, state.key
        )
        drawn = jax.vmap(draw)(state.update + jnp.arange(num_updates))
        state, rows = jax.lax.scan(self.update, state, drawn)
        return state, chunk_metrics(rows, state.params)

    def play(
        self,
        params: nnx.State,
        before: pgx.State,
        turn: Turn,
        epsilon: ScalarLike,
    ) -> tuple[pgx.State, Played]:
        """Play an epsilon-greedy move and the reply in every game; consumes `turn`.

        In self-play there is no reply: the agent plays both sides. Against an opponent,
        each step begins with the agent's turn.
        """
        config = self.config
        legal = before.legal_action_mask
        q_values = q_network.q_values(
            self.network, params, before.observation, self.dtype
        )
        epsilon = exploration.opening_epsilon(config.exploration, before, epsilon)
        action = equations.epsilon_greedy(turn.uniform, q_values, legal, epsilon)
        action = opponents.opening(before, action, config.opponent.first_move)
        env = pgx_games.make_env(config.env_id)
        after, move = pgx_games.step(env, before, action, self.hyper.gamma)
        after, move = self.opponent.reply(turn.reply_key, before, after, move)
        ended = move.live & pgx_games.finished(after)
        result = self.opponent.result(before, move.reward)
        # Stacked for the same reason as in `metrics.chunk_metrics`.
        counted = move.live, ended, ended & (result > 0), ended & (result < 0)
        moves, games, wins, losses = jnp.stack(counted).sum(axis=1)
        return after, Played(
            Transition(
                obs=before.observation,
                action=action,
                reward=self.scored(move.reward, ended),
                discount=move.discount,
                next_obs=after.observation,
                next_legal_action_mask=after.legal_action_mask,
                live=move.live,
            ),
            max_q=jnp.where(legal, q_values, -jnp.inf).max(axis=1).sum(where=move.live),
            moves=moves,
            games=games,
            wins=wins,
            losses=losses,
            env_steps=self.opponent.moves_made(before, after),
        )

    def learn(
        self,
        state: TrainState,
        batch: Transition,
        key: Key[Array, ""],
        learning_rate: Float[Array, ""],
    ) -> tuple[TrainState, StepMetrics]:
        """Take one gradient step on a batch of moves; `key` is consumed."""
        target = self.td_targets(state.params, state.target_params, batch)
        gradient = self.gradient(state.params, target, batch, key)
        steps, opt_state = self.optimizer(learning_rate).update(
            gradient.grads, state.opt_state, state.params
        )
        params = jax.tree.map(jnp.add, state.params, steps)
        visited = state.visited
        if visited is not None and gradient.visits is not None:
            visited |= losses.visited_rows(gradient.visits)
        state = dataclasses.replace(
            state,
            params=params,
            target_params=self.next_target(params, state),
            opt_state=opt_state,
            visited=visited,
        )
        grads = jax.tree.leaves(gradient.grads)
        grad_norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in grads))
        return state, StepMetrics(gradient.loss, grad_norm)

    def td_targets(
        self, params: nnx.State, target_params: nnx.State, batch: Transition
    ) -> Float[Array, "H B"]:
        """Return the TD targets of the played actions, by the settings' backup."""
        backup = losses.BACKUPS[self.config.backup_rule]
        next_values = functools.partial(self._heads, batch.next_obs)
        return backup(batch, next_values, params, target_params, self.hyper.tremble)

    def gradient(
        self,
        params: nnx.State,
        target: Float[Array, "H B"],
        batch: Transition,
        key: Key[Array, ""],
    ) -> losses.Gradient:
        """Return the loss of a batch and its gradient; `key` is consumed."""
        learns = losses.learning_heads(
            self.config.architecture.heads, key, batch, len(target)
        )
        gradient = (
            losses.table_gradient if self.network.is_table else losses.network_gradient
        )
        return gradient(
            values=functools.partial(self._heads, batch.obs),
            params=params,
            target=target,
            batch=batch,
            learns=learns,
            cost=losses.COSTS[self.config.optimizer.loss],
        )

    def _heads(
        self, obs: Shaped[Array, "B *shape"], params: nnx.State
    ) -> Float[Array, "H B A"]:
        return q_network.heads(self.network, params, obs, self.dtype)

    def epsilon(self, update: ArrayLike, games: ArrayLike) -> Float[Array, ""]:
        """Return epsilon after this many updates and games."""
        schedule = exploration.SCHEDULES[self.config.exploration.epsilon_schedule]
        num_updates = self.config.run.num_updates
        return jnp.asarray(schedule(self.hyper, num_updates, update, games))

    def learning_rate(self, update: ArrayLike) -> Float[Array, ""]:
        """Return the learning rate of the update with this index."""
        rate = equations.linear(
            self.hyper.learning_rate,
            self.hyper.learning_rate_end,
            self.config.run.num_updates,
        )
        decay = self.config.optimizer.learning_rate_decay
        if decay < 1:
            rate = equations.decayed(rate, decay, self.config.evaluation.eval_every)
        return jnp.asarray(rate(update))

    def optimizer(self, learning_rate: ScalarLike) -> optax.GradientTransformation:
        """Return the optimizer with this learning rate."""
        kind = self.config.optimizer.optimizer
        return losses.optimizer(kind, learning_rate, self.hyper.weight_decay)

    def next_target(self, params: nnx.State, state: TrainState) -> nnx.State:
        """Return the target network after a step; `params` are the new ones."""
        every = self.config.target.target_update_every
        if not every:
            return equations.polyak(params, state.target_params, self.hyper.tau)
        due = (state.update + 1) % every == 0
        return choose(due, params, state.target_params)

    def scored(
        self, reward: Float[Array, " B"], ended: Bool[Array, " B"]
    ) -> Float[Array, " B"]:
        """Return the settings' reward for each game that has ended, else 0."""
        target = self.config.target
        win, draw, loss = target.reward_win, target.reward_draw, target.reward_loss
        if (win, draw, loss) == (1, 0, -1):
            return reward
        value = jnp.where(reward > 0, win, jnp.where(reward < 0, loss, draw))
        return jnp.where(ended, value, 0.0)

    def _averaged(self, before: TrainState, learned: TrainState) -> TrainState:
        """Return `learned` with the running average of the weights."""
        tau = equations.average_tau(self.hyper.average_span, before.update)
        average = equations.polyak(learned.params, before.average_params, tau)
        return dataclasses.replace(learned, average_params=average)


def choose(where: Bool[Array, ""], new: PyTree, old: PyTree) -> PyTree:
    """Return the leaves of `new` if `where` is True, else those of `old`."""
    return jax.tree.map(lambda n, o: jnp.where(where, n, o), new, old)


def after_replay_start(
    is_ready: Bool[Array, ""], before: TrainState, learned: TrainState
) -> TrainState:
    """Return `learned`, or all weights of `before` until the buffer is ready.

    A step without a live move is not enough: AdamW would decay the weights.
    """
    return dataclasses.replace(
        learned,
        params=choose(is_ready, learned.params, before.params),
        target_params=choose(is_ready, learned.target_params, before.target_params),
        average_params=choose(is_ready, learned.average_params, before.average_params),
        opt_state=choose(is_ready, learned.opt_state, before.opt_state),
    )


def measure(
    state: TrainState,
    played: Played,
    steps: StepMetrics,
    epsilon: Float[Array, ""],
    learning_rate: Float[Array, ""],
) -> Metrics:
    """Return the metrics of an update, from one or more turns.

    `epsilon` and `learning_rate` are those that it used.
    """
    visited = state.visited
    return Metrics(
        loss=jnp.mean(steps.loss),
        grad_norm=jnp.mean(steps.grad_norm),
        mean_max_q=jnp.sum(played.max_q) / jnp.sum(played.moves),
        epsilon=epsilon,
        learning_rate=learning_rate,
        games=jnp.sum(played.games),
        wins=jnp.sum(played.wins),
        losses=jnp.sum(played.losses),
        env_steps=jnp.sum(played.env_steps),
        rows=jnp.int32(0) if visited is None else jnp.sum(visited),
    )
