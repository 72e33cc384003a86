"""Deep Q-learning by self-play: the whole algorithm.

A network gives each action a value, from -1 (the mover will lose) to 1 (the mover will
win). One update plays and learns in `B` games at once:

1. `DQN.play` makes a move in every game: with probability epsilon a random legal
   one, else the legal action with the highest value.
2. `DQN.td_targets` computes what each move should have been worth:
   `reward + discount * (best value after it)`. After the last move, `discount` is 0. If
   the opponent moves next, it is `-gamma`: what is good for the opponent is bad for the
   mover. In this simplest form, self-play with one-ply targets, the minus sign is all
   that the learner knows about opponents.
3. `DQN.learn` moves the values towards the targets by one gradient step.
4. Finished games are replaced by new ones.

The values after a move come from the target network, which follows the network slowly.
So the teacher is an older copy of the pupil, and at first neither of them knows the
game. Only the result of a finished game is certain. It teaches the last move, the last
move teaches the one before it, and so on back to the empty board.

A `DQN` holds what no update changes, a `TrainState` what every update changes:
`init` makes the first state, `update` the next one, and `chunk` runs many updates.

    learner = DQN.of(config)
    state = jax.jit(DQN.init)(learner, jax.random.key(1))
    state, metrics = jax.jit(DQN.chunk)(learner, state, num_updates=50)

`play`, `td_targets`, `gradient` and `learn` are meant to be replaced in a subclass.

`jax.vmap` over the learner's numbers trains many agents at once (see
`training.agent_batch`). The opponent may also be another player (see
`games.training_opponents`).

Axes: `B` games or moves, `A` actions, `H` heads (see `q_network.head_values`), `T`
turns of a game, `S` agents that train at once.
"""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pgx
from flax import nnx
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Bool, Float, Int, Key, PyTree, Shaped, UInt64

from jax_ttt.config.errors import Refused
from jax_ttt.dqn import (
    equations,
    exploration,
    losses,
    random_numbers,
    replay,
    start_positions,
)
from jax_ttt.dqn import metrics as training_metrics
from jax_ttt.dqn.base_learner import Learner
from jax_ttt.dqn.equations import ScalarLike, Transition
from jax_ttt.dqn.greedy_player import GreedyPlayer
from jax_ttt.dqn.metrics import GameCounts, Metrics
from jax_ttt.dqn.random_numbers import RandomNumbers, Turn
from jax_ttt.games import pgx_games
from jax_ttt.networks import q_network


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TrainState:
    """The state of training on the device; an update returns the next one."""

    params: nnx.State  # the weights in training; they choose the moves
    target_params: nnx.State  # their older copy, for the TD targets
    average_params: nnx.State  # their average: the agent that is graded and saved
    opt_state: optax.OptState
    env_state: pgx.State  # B games
    new_game: pgx.State  # template of a new game; only self-play uses it
    key: jax.Array  # () typed PRNG key, constant in a run (see `random_numbers`)
    update: jax.Array  # () int32, number of updates done
    games: jax.Array  # () int32, number of games that have ended
    buffer: replay.Buffer | None  # only with replay
    pool: start_positions.Pool | None  # only if games may start in it
    visited: jax.Array | None  # (rows,) bool, rows visited so far; only for a table


class Played(NamedTuple):
    """The transitions of one move in every game, and counts over the games."""

    transition: Transition
    max_q: jax.Array  # () float32, sum of the best legal values in unfinished games
    moves: jax.Array  # () int32, the agent's moves in unfinished games
    counts: GameCounts  # () int32 each; the moves are those of both sides


class StepMetrics(NamedTuple):
    """Metrics of a gradient step, `()` float32, or of the steps of a game, `(T,)`."""

    loss: jax.Array
    grad_norm: jax.Array


@dataclasses.dataclass(frozen=True)
class DQN(Learner):
    """Deep Q-learning; see the beginning of this module."""

    default_preset = ""

    @property
    def dtype(self) -> DTypeLike:
        """The dtype of the network's matrix products."""
        return q_network.learning_dtype(self.config.precision)

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
            opt_state=self.optimizer(self.config.learning_rate).init(params),
            env_state=env_state,
            new_game=jax.tree.map(lambda x: x[:1], env_state),
            key=key,
            update=jnp.int32(0),
            games=jnp.int32(0),
            buffer=None,
            pool=None,
            visited=None,
        )
        if config.start_share:
            pool = start_positions.empty_pool(config.env_id)
            state = dataclasses.replace(state, pool=pool)
        if config.replay_capacity:
            # Only the shapes of a transition are used, so nothing is played.
            turn = random_numbers.draw_random_numbers(config, key, 0).first
            _, played = jax.eval_shape(self.play, params, env_state, turn, 0.0)
            capacity = config.replay_capacity
            buffer = replay.init_buffer(played.transition, capacity)
            state = dataclasses.replace(state, buffer=buffer)
        if self.network.is_table:
            visited = jnp.zeros(len(jax.tree.leaves(params)[0]), bool)
            state = dataclasses.replace(state, visited=visited)
        return state

    def update(
        self, state: TrainState, random: RandomNumbers
    ) -> tuple[TrainState, Metrics]:
        """Do one update: play, learn, and replace finished games.

        - Usually it plays one move in every game and takes one gradient step, on these
          `B` moves.
        - With replay, the step is on a sample of the buffer instead. Until the buffer
          holds `replay_start` moves, no weight changes.
        - With `backward`, it plays whole games, `T` turns, all by the weights from
          before the update. Then it learns from the moves in reverse order: `T`
          gradient steps on `B` moves each, and after each of them the target network is
          updated. These are `T` optimizer steps, but one step of each schedule and of
          the average of the weights.

        `random` are the update's random numbers; they are consumed.
        """
        config = self.config
        epsilon = self.epsilon(state.update, state.games)
        learning_rate = self.learning_rate(state.update)
        if config.backward:
            after, played = jax.lax.scan(
                lambda games, turn: self.play(state.params, games, turn, epsilon),
                state.env_state,
                random.turns,
            )

            def learn_turn(
                learned: TrainState, inputs: tuple[Transition, Key[Array, ""]]
            ) -> tuple[TrainState, StepMetrics]:
                batch, key = inputs
                return self.learn(learned, batch, key, learning_rate)

            learned, steps = jax.lax.scan(
                learn_turn,
                state,
                (played.transition, random.turns.learn_key),
                reverse=True,
            )
        else:
            turn = random.first
            after, played = self.play(state.params, state.env_state, turn, epsilon)
            buffer, batch = replay.remember(
                config, state.buffer, played.transition, random.sample_key
            )
            remembered = dataclasses.replace(state, buffer=buffer)
            learned, steps = self.learn(
                remembered, batch, turn.learn_key, learning_rate
            )

        learned = self._update_average(state, learned)
        if learned.buffer is not None:
            learned = unchanged_until_ready(
                replay.is_ready(learned.buffer, config.replay_start),
                before=state,
                learned=learned,
            )
        metrics = update_metrics(learned, played, steps, epsilon, learning_rate)
        new_games = start_positions.start_in_pool(
            config=config,
            pool=state.pool,
            uniform=random.starts,
            new_games=self.opponent.replacement(random.restart_key, state.new_game),
        )
        learned = dataclasses.replace(
            learned,
            env_state=pgx_games.restart(new_games, after, config.lockstep),
            update=state.update + 1,
            games=state.games + metrics.counts.games,
        )
        return learned, metrics

    def policy(self, state: TrainState) -> GreedyPlayer:
        """Return the greedy player of the averaged weights."""
        return GreedyPlayer(self.network, state.average_params)

    def with_weights(self, state: TrainState, params: nnx.State) -> TrainState:
        """Return the state with these weights in all three networks."""
        return dataclasses.replace(
            state, params=params, target_params=params, average_params=params
        )

    def with_positions(
        self,
        state: TrainState,
        positions: UInt64[np.ndarray, " C"],
        rng: np.random.Generator,
    ) -> TrainState:
        """Return the state with positions added to the pool of starts of each agent.

        If there are more positions than the pool can hold, `rng` draws those that it
        gets. All agents have the same pool.
        """
        # Of several processes, each has some of the agents.
        pool = jax.tree.map(
            lambda leaf: np.asarray(leaf.addressable_data(0))[0], state.pool
        )
        pool = start_positions.add_positions(pool, positions, rng)
        pool = jax.tree.map(
            lambda leaf, old: np.broadcast_to(leaf, old.shape), pool, state.pool
        )
        return dataclasses.replace(state, pool=pool)

    def weights_of(self, state: TrainState) -> nnx.State:
        """Return the weights in training, which are finite unless it diverged."""
        return state.params

    def start(self, key: Key[Array, ""]) -> TrainState:
        """Return the first state, which has its own key and number of updates."""
        return self.init(key)

    def draw(self, key: Key[Array, ""], update: int | Int[Array, ""]) -> RandomNumbers:
        """Return the random numbers of the update with this index."""
        return random_numbers.draw_random_numbers(self.config, key, update)

    def play(
        self,
        params: nnx.State,
        before: pgx.State,
        turn: Turn,
        epsilon: ScalarLike,
    ) -> tuple[pgx.State, Played]:
        """Play an epsilon-greedy move in every game, and the opponent's reply.

        In self-play there is no reply: the agent plays both sides, and the transition
        ends on the opponent's turn. Against an opponent, it ends on the agent's next
        turn. Random openings and a forced first move replace the epsilon-greedy move.
        Finished games stay as they are, and their transitions are not `live`. `turn` is
        consumed.
        """
        config = self.config
        legal = before.legal_action_mask
        q_values = q_network.action_values(
            self.network, params, before.observation, self.dtype
        )
        epsilon = exploration.opening_epsilon(config, before, epsilon)
        action = equations.epsilon_greedy(turn.uniform, q_values, legal, epsilon)
        move = self.move(before, action, turn.reply_key)
        live = move.transition.live
        return move.after, Played(
            move.transition,
            max_q=jnp.where(legal, q_values, -jnp.inf).max(axis=1).sum(where=live),
            moves=live.sum(),
            counts=move.counts,
        )

    def learn(
        self,
        state: TrainState,
        batch: Transition,
        key: Key[Array, ""],
        learning_rate: Float[Array, ""],
    ) -> tuple[TrainState, StepMetrics]:
        """Take one gradient step on a batch of moves, and update the target network.

        `key` is consumed.
        """
        target = self.td_targets(state.params, state.target_params, batch)
        heads = q_network.HEADS[self.config.architecture.head_kind].num
        if target.shape != (expected := (heads, len(batch.action))):
            raise Refused(
                f"td_targets must return {expected}: the heads (2 with a two-ply "
                f"backup, as in preset default, else 1) and the games; got "
                f"{target.shape}"
            )
        gradient = self.gradient(state.params, target, batch, key)
        weight_change, opt_state = self.optimizer(learning_rate).update(
            gradient.grads, state.opt_state, state.params
        )
        params = jax.tree.map(jnp.add, state.params, weight_change)
        visited = state.visited
        if visited is not None and gradient.visits is not None:
            visited |= losses.visited_rows(gradient.visits)
        state = dataclasses.replace(
            state,
            params=params,
            target_params=self.next_target_params(params, state),
            opt_state=opt_state,
            visited=visited,
        )
        grads = jax.tree.leaves(gradient.grads)
        grad_norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in grads))
        return state, StepMetrics(gradient.loss, grad_norm)

    def td_targets(
        self, params: nnx.State, target_params: nnx.State, batch: Transition
    ) -> Float[Array, "H B"]:
        """Return the TD targets of the played actions, by the backup of the settings.

        The equation is `equations.td_target`, or `equations.two_ply_targets`. The rules
        of `losses.BACKUPS` differ in whose values choose the best next action, and
        whose values are its value.
        """
        backup = losses.BACKUPS[self.config.backup_rule]
        next_values_of = functools.partial(self._head_values, batch.next_obs)
        return backup(batch, next_values_of, params, target_params, self.config.tremble)

    def gradient(
        self,
        params: nnx.State,
        target: Float[Array, "H B"],
        batch: Transition,
        key: Key[Array, ""],
    ) -> losses.Gradient:
        """Return the loss of a batch and its gradient; `key` is consumed."""
        learns = losses.learning_heads(
            self.config.architecture.head_kind, key, batch, len(target)
        )
        gradient_fn = (
            losses.table_gradient if self.network.is_table else losses.network_gradient
        )
        return gradient_fn(
            values_of=functools.partial(self._head_values, batch.obs),
            params=params,
            target=target,
            batch=batch,
            learns=learns,
            cost=losses.COSTS[self.config.loss],
        )

    def _head_values(
        self, obs: Shaped[Array, "B *shape"], params: nnx.State
    ) -> Float[Array, "H B A"]:
        return q_network.head_values(self.network, params, obs, self.dtype)

    def epsilon(self, update: ArrayLike, games: ArrayLike) -> Float[Array, ""]:
        """Return epsilon after these numbers of updates and finished games."""
        schedule = exploration.SCHEDULES[self.config.epsilon_schedule]
        return jnp.asarray(schedule(self.config, update, games))

    def learning_rate(self, update: ArrayLike) -> Float[Array, ""]:
        """Return the learning rate of the update with this index.

        With `learning_rate_decay`, it also falls after each `eval_every` updates.
        """
        rate = equations.linear_schedule(
            self.config.learning_rate,
            self.config.learning_rate_end,
            self.config.num_updates,
        )
        decay = self.config.learning_rate_decay
        if decay < 1:
            rate = equations.decay_schedule(rate, decay, self.config.eval_every)
        return jnp.asarray(rate(update))

    def optimizer(self, learning_rate: ScalarLike) -> optax.GradientTransformation:
        """Return the optimizer with this learning rate."""
        kind = self.config.optimizer
        return losses.optimizer(kind, learning_rate, self.config.weight_decay)

    def next_target_params(self, params: nnx.State, state: TrainState) -> nnx.State:
        """Return the target network after a gradient step to the weights `params`.

        It follows by the share `tau`. With `target_update_every` N, it is a copy of the
        weights, taken in every N-th update and kept until the next one. With `backward`
        too, every N-th update takes a copy after each of its steps.
        """
        every = self.config.target_update_every
        if not every:
            return equations.polyak(params, state.target_params, self.config.tau)
        is_due = (state.update + 1) % every == 0
        return select_pytree(is_due, params, state.target_params)

    def _update_average(self, before: TrainState, learned: TrainState) -> TrainState:
        """Return `learned` with the running average of the weights."""
        tau = equations.average_tau(self.config.average_span, before.update)
        average = equations.polyak(learned.params, before.average_params, tau)
        return dataclasses.replace(learned, average_params=average)


def select_pytree(where: Bool[Array, ""], new: PyTree, old: PyTree) -> PyTree:
    """Return the pytree `new` if `where` is True, else `old`."""
    return jax.tree.map(functools.partial(jnp.where, where), new, old)


def unchanged_until_ready(
    is_ready: Bool[Array, ""], before: TrainState, learned: TrainState
) -> TrainState:
    """Return `learned`, or until the buffer is ready, with the weights of `before`.

    The optimizer's state comes from `before` too. Until then, no sampled move is `live`
    (see `replay.sample_moves`). So the gradient is 0 and no row of a table counts as
    visited, but AdamW would still decay the weights and count the step.
    """
    names = ("params", "target_params", "average_params", "opt_state")
    parts = {
        name: select_pytree(is_ready, getattr(learned, name), getattr(before, name))
        for name in names
    }
    return dataclasses.replace(learned, **parts)


def update_metrics(
    state: TrainState,
    played: Played,
    steps: StepMetrics,
    epsilon: Float[Array, ""],
    learning_rate: Float[Array, ""],
) -> Metrics:
    """Return the metrics of an update, which may have one turn or several.

    `epsilon` and `learning_rate` are those that the update used.
    """
    visited = state.visited
    return training_metrics.of_update(
        counts=jax.tree.map(jnp.sum, played.counts),
        loss=jnp.mean(steps.loss),
        grad_norm=jnp.mean(steps.grad_norm),
        # Not 0 moves: each update ends by replacing finished games (in lockstep, all).
        mean_max_q=jnp.sum(played.max_q) / jnp.sum(played.moves),
        epsilon=epsilon,
        learning_rate=learning_rate,
        rows=0 if visited is None else jnp.sum(visited),
    )
