"""Mutants of the learner: equations, targets, losses, rollout, replay, schedules."""

from mutants.mutant import mutants

EQUATIONS = (
    *mutants(
        "dqn/equations.py",
        "dqn/test_equations.py dqn/test_targets.py",
        [
            (
                "jnp.argmax(jnp.where(legal_action_mask, q_values, -jnp.inf), axis=-1)",
                "jnp.argmax(q_values, axis=-1)",
                "no mask when acting",
            ),
            (
                "jnp.where(legal_action_mask, q_values, -jnp.inf), axis=-1)",
                "jnp.where(legal_action_mask, q_values, 0.0), axis=-1)",
                "illegal actions count 0 when acting",
            ),
            ("rank > chosen", "rank >= chosen", "a random move is one rank too low"),
            (
                "(uniform * num_legal)",
                "(uniform * legal_action_mask.shape[-1])",
                "random moves are drawn among all actions",
            ),
            (
                "rank = legal_action_mask.cumsum(axis=-1)",
                "rank = jnp.ones_like(legal_action_mask).cumsum(axis=-1)",
                "a random move may be illegal",
            ),
            (
                "explore = uniform < epsilon",
                "explore = uniform > epsilon",
                "1 - epsilon",
            ),
            (
                "jnp.where(explore, uniform / epsilon, 0.0)",
                "jnp.where(explore, uniform, 0.0)",
                "the number that decided to explore also chooses the move",
            ),
            (
                "jnp.where(explore, explored, greedy(",
                "jnp.where(explore, explored, 0 * greedy(",
                "plays the first cell instead of the greedy one",
            ),
            (
                "bootstrap = jnp.where(discount == 0, 0.0, discount * value)",
                "bootstrap = jnp.where(discount == 0, 0.0, jnp.abs(discount) * value)",
                "no minus on the next value",
            ),
            (
                "bootstrap = jnp.where(discount == 0, 0.0, discount * value)",
                "bootstrap = discount * value",
                "junk on a finished board reaches the target",
            ),
            (
                "jax.lax.stop_gradient(reward + bootstrap)",
                "reward + bootstrap",
                "a gradient through the target",
            ),
            (
                "jax.lax.stop_gradient(reward + bootstrap)",
                "jax.lax.stop_gradient(bootstrap - reward)",
                "the reward of the other player",
            ),
            (
                "(next_q_values, next_legal_action_mask, tremble, chosen_by)",
                "(next_q_values, next_legal_action_mask, 0.0, chosen_by)",
                "the target does not tremble",
            ),
            (
                "best = jnp.where(legal, values, -jnp.inf).max(axis=-1)",
                "best = values.max(axis=-1)",
                "no mask in the target",
            ),
            (
                "best = jnp.where(legal, values, -jnp.inf).max(axis=-1)",
                "best = jnp.where(legal, values, 0.0).max(axis=-1)",
                "illegal actions count 0 in the target",
            ),
            (
                "best = jnp.where(legal, values, -jnp.inf).max(axis=-1)",
                "best = jnp.where(legal, values, jnp.inf).min(axis=-1)",
                "the target takes the worst move",
            ),
            (
                "played(values, greedy(chosen_by, legal))",
                "played(values, greedy(values, legal))",
                "Double DQN chooses by the network that gives the value",
            ),
            (
                "played(values, greedy(chosen_by, legal))",
                "played(chosen_by, greedy(chosen_by, legal))",
                "Double DQN takes the value of the network that chooses",
            ),
            (
                "/ legal.sum(axis=-1)",
                "/ legal.shape[-1]",
                "the mean of a trembling move is over all actions",
            ),
            (
                "mean = jnp.where(legal, values, 0.0).sum(axis=-1)",
                "mean = values.sum(axis=-1)",
                "a trembling move may be illegal",
            ),
            (
                "(1 - tremble) * best + tremble * mean",
                "tremble * best + (1 - tremble) * mean",
                "tremble and its complement are swapped",
            ),
            (
                "legal, gamma = next_legal_action_mask, jnp.abs(discount)",
                "legal, gamma = next_legal_action_mask, discount",
                "two plies: the discount keeps its sign",
            ),
            (
                "mover = trembling(next_q_values, legal, 0.0)",
                "mover = trembling(next_q_values, legal, tremble)",
                "two plies: the player itself trembles",
            ),
            (
                "(next_reply_values, legal, tremble, chosen_by=next_q_values)",
                "(next_reply_values, legal, tremble)",
                "two plies: the opponent plays what is best for us",
            ),
            (
                "(next_reply_values, legal, tremble, chosen_by=next_q_values)",
                "(next_reply_values, legal, 0.0, chosen_by=next_q_values)",
                "two plies: the opponent does not tremble",
            ),
            (
                "other_next = discount < 0",
                "other_next = discount > 0",
                "two plies: the wrong player moves next",
            ),
            (
                "to_waiting = gamma * jnp.where(other_next, mover, waiting)",
                "to_waiting = gamma * jnp.where(other_next, waiting, mover)",
                "two plies: the waiting player gets the mover's value",
            ),
            (
                "-reward + jnp.where(over, 0.0, to_waiting)",
                "reward + jnp.where(over, 0.0, to_waiting)",
                "two plies: the waiting player gets the mover's reward",
            ),
            (
                "reward + jnp.where(over, 0.0, to_mover),",
                "reward + to_mover,",
                "two plies: junk on a finished board reaches the target",
            ),
            (
                "return jax.lax.stop_gradient(targets)",
                "return targets",
                "two plies: a gradient through the target",
            ),
            (
                "costs = cost(played(q_values, action), target)",
                "costs = cost(q_values.max(axis=-1), target)",
                "the loss is at the greedy action, not at the played one",
            ),
            (
                "jnp.where(live, costs, 0.0).mean()",
                "costs.mean()",
                "the loss is not masked after the end",
            ),
            (
                "jnp.where(live, costs, 0.0).mean()",
                "jnp.where(live, costs, 0.0).sum() / live.sum()",
                "the mean loss is over unfinished games only",
            ),
            (
                "optax.incremental_update(params, target_params, tau)",
                "optax.incremental_update(target_params, params, tau)",
                "tau is the weight of the old parameters",
            ),
            (
                "return 1 / (1 + span * update)",
                "return 1 / (1 + span * (update + 1))",
                "the first average is not the parameters themselves",
            ),
        ],
    ),
    *mutants(
        "dqn/equations.py",
        "dqn/test_schedules.py",
        [
            (
                "last = max(num_updates - 1, 1)",
                "last = max(num_updates, 1)",
                "a linear schedule ends an update too late",
            ),
            (
                "optax.linear_schedule(start, end, last)",
                "optax.linear_schedule(end, start, last)",
                "a linear schedule is reversed",
            ),
            (
                "optax.join_schedules([line, optax.constant_schedule(end)], [last])",
                "line",
                "a linear schedule misses its end by a rounding error",
            ),
            (
                "max(num_updates / 10, 1)",
                "max(num_updates / 9, 1)",
                "a ninth for a tenth",
            ),
            (
                "tenth = jnp.floor_divide(update, max(num_updates / 10, 1))",
                "tenth = update / max(num_updates / 10, 1)",
                "steps become a line",
            ),
            (
                "return jnp.maximum(start - drop * tenth, end)",
                "return start - drop * tenth",
                "steps fall below the end",
            ),
            (
                "jnp.clip(start * jnp.float32(factor) ** count, end, start)",
                "jnp.clip(start * jnp.float32(factor) ** (count + 1), end, start)",
                "an exponential schedule is one game ahead",
            ),
            (
                "jnp.clip(start * jnp.float32(factor) ** count, end, start)",
                "start * jnp.float32(factor) ** count",
                "an exponential schedule has no end",
            ),
        ],
    ),
)

LOSSES = (
    *mutants(
        "dqn/losses.py",
        "dqn/test_targets.py",
        [
            (
                "del online_net\n"
                "    return _td_targets(hyper, batch, target_net(), [None])",
                "del target_net\n"
                "    return _td_targets(hyper, batch, online_net(), [None])",
                "no target network",
            ),
            (
                "return _td_targets(hyper, batch, target_net(), online_net())",
                "return _td_targets(hyper, batch, online_net(), target_net())",
                "Double DQN: the networks are swapped",
            ),
            (
                "mover, waiting = target_net()",
                "waiting, mover = target_net()",
                "two plies: the heads are swapped",
            ),
            ('"double": double,', '"double": one_ply,', "Double DQN is plain DQN"),
            (
                "for p in (params, target_params)",
                "for p in (target_params, params)",
                "the online and the target network are swapped",
            ),
        ],
    ),
    *mutants(
        "dqn/losses.py",
        "dqn/test_tabular.py",
        [
            (
                "batch, both[::-1], both)",
                "batch, both, both)",
                "double tables: each gives the value of its own choice",
            ),
            (
                "return jnp.broadcast_to(batch.live, (num_heads, *batch.live.shape))",
                "return jnp.ones((num_heads, *batch.live.shape), bool)",
                "learns from finished games",
            ),
            (
                "both = batch.discount == 0",
                "both = batch.discount != 0",
                "double tables: both learn, except at the end of a game",
            ),
            (
                "batch.live & (~first | both)",
                "batch.live & (first | both)",
                "double tables: the second learns from the first one's moves",
            ),
            (
                "first = jax.random.bernoulli(key, shape=batch.live.shape)",
                "first = jnp.ones(batch.live.shape, bool)",
                "double tables: the second learns only at the end of a game",
            ),
            (
                "jnp.where(learns, played, 0.0).sum()",
                "played.sum()",
                "finished games count as visits",
            ),
            (
                "g * batch_size / jnp.maximum(n, 1)",
                "g / jnp.maximum(n, 1)",
                "a table's step depends on the batch size",
            ),
            (
                "g * batch_size / jnp.maximum(n, 1)",
                "g * batch_size",
                "a table's step depends on the number of visits",
            ),
            (
                "return (leaf > 0).any(axis=1)",
                "return (leaf > 0).all(axis=1)",
                "a row counts as visited only with all its moves",
            ),
        ],
    ),
    *mutants(
        "dqn/losses.py",
        "dqn/test_schedules.py dqn/test_learner.py",
        [
            (
                "start, end = hyper.learning_rate, hyper.learning_rate_end",
                "start, end = hyper.learning_rate, hyper.learning_rate",
                "the learning rate does not fall",
            ),
            (
                "jnp.floor_divide(count, steps_per_update)",
                "count",
                "whole games: the learning rate falls with each move",
            ),
            (
                "optax.adamw(rate, weight_decay=hyper.weight_decay)",
                "optax.adamw(rate)",
                "the weight decay is that of the library",
            ),
        ],
    ),
    *mutants(
        "dqn/losses.py",
        "dqn/test_losses.py dqn/test_learner.py",
        [
            (
                "q_network.heads(network, params, batch.next_obs, dtype)",
                "q_network.heads(network, params, batch.obs, dtype)",
                "the target is at the same board",
            ),
            (
                "return functools.reduce(jnp.add, losses)",
                "return losses[0]",
                "only the first head learns",
            ),
            (
                '"mse": optax.l2_loss}',
                '"mse": optax.huber_loss}',
                "the squared error is Huber's loss",
            ),
            (
                "values = q_network.heads(network, params, batch.obs, dtype)",
                "values = q_network.heads(network, params, batch.next_obs, dtype)",
                "the loss is at the next board",
            ),
        ],
    ),
)

LEARNER = (
    *mutants(
        "dqn/learner.py",
        "dqn/test_learner.py",
        [
            (
                "target_params=jax.tree.map(jnp.copy, params)",
                "target_params=jax.tree.map(jnp.zeros_like, params)",
                "the target network begins at zero",
            ),
            (
                "average_params=jax.tree.map(jnp.copy, params)",
                "average_params=jax.tree.map(jnp.zeros_like, params)",
                "the average begins at zero",
            ),
            (
                "key, params_key, env_key = jax.random.split(key, 3)",
                "params_key, env_key = jax.random.split(jax.random.key(0))",
                "all seeds have the same weights and games",
            ),
            (
                "equations.average_tau(hyper.average_span, state.update)",
                "equations.average_tau(hyper.average_span, state.update + 1)",
                "the clock of the average is off by one",
            ),
            (
                "learned.params, state.average_params, average_tau",
                "state.average_params, learned.params, average_tau",
                "the average weighs the old parameters",
            ),
            (
                "update=state.update + 1,",
                "update=state.update,",
                "updates are not counted",
            ),
            (
                "games=state.games + found.games,",
                "games=found.games,",
                "games are forgotten after each update",
            ),
            (
                "env_state=pgx_games.restart(fresh, after, config.run.lockstep),",
                "env_state=after,",
                "finished games never begin anew",
            ),
            (
                "env_state=pgx_games.restart(fresh, after, config.run.lockstep),",
                "env_state=pgx_games.restart(fresh, after, not config.run.lockstep),",
                "games wait for each other, and do not where they should",
            ),
            (
                "next_target(config, hyper, params, state)",
                "next_target(config, hyper, state.params, state)",
                "the target network follows the parameters before the step",
            ),
            (
                "target_params=next_target(config, hyper, params, state),",
                "target_params=target_params,",
                "the target network is never updated",
            ),
            (
                "td_targets(config, hyper, network, params, target_params, batch)",
                "td_targets(config, hyper, network, params, params, batch)",
                "the target network is not used",
            ),
            (
                "opt_state=opt_state,",
                "opt_state=state.opt_state,",
                "Adam's state is lost",
            ),
            (
                "jax.tree.map(jnp.add, params, steps)",
                "jax.tree.map(jnp.subtract, params, steps)",
                "steps go uphill",
            ),
            (
                "optimizer.update(found.grads, state.opt_state, params)",
                "optimizer.update(found.grads, state.opt_state, target_params)",
                "the target network's weights decay",
            ),
            (
                "due = (state.update + 1) % every == 0",
                "due = state.update % every == 0",
                "the target network is copied an update late",
            ),
            (
                "jnp.where(due, new, old)",
                "jnp.where(due, old, new)",
                "the target network is copied except when due",
            ),
            (
                "polyak(params, state.target_params, hyper.tau)",
                "polyak(params, state.target_params, 1 - hyper.tau)",
                "tau and its complement are swapped",
            ),
            (
                "mean_max_q=jnp.sum(played.max_q) / jnp.sum(played.moves)",
                "mean_max_q=jnp.sum(played.max_q) / config.run.num_envs",
                "the mean value counts finished games",
            ),
            (
                "(losses.step_size(config, hyper)(state.update))",
                "(losses.step_size(config, hyper)(state.update + 1))",
                "the learning rate shown is the next one",
            ),
            (
                "jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(found.grads)))",
                "sum(jnp.vdot(g, g) for g in jax.tree.leaves(found.grads))",
                "the gradient's norm is squared",
            ),
            (
                "state.update + jnp.arange(num_updates)",
                "jnp.arange(num_updates)",
                "every chunk has the same random numbers",
            ),
            (
                "state.update + jnp.arange(num_updates)",
                "jnp.repeat(state.update, num_updates)",
                "all updates of a chunk have the same random numbers",
            ),
            (
                "learned = dataclasses.replace(state, buffer=buffer)",
                "learned = state",
                "the replay buffer stays empty",
            ),
            (
                "rollout.exploration(config, hyper, state.update, state.games)",
                "rollout.exploration(config, hyper, state.games, state.update)",
                "epsilon's clocks are swapped",
            ),
            (
                "opponents.check(config.opponent, opponent)\n    epsilon",
                "epsilon",
                "another opponent than the settings' is accepted",
            ),
        ],
    ),
    *mutants(
        "dqn/learner.py",
        "dqn/test_tabular.py",
        [
            (
                "visited |= losses.visited_rows(found.visits)",
                "visited = losses.visited_rows(found.visits)",
                "visited rows are forgotten",
            ),
            (
                "jax.lax.scan(learn, state, turns, reverse=True)",
                "jax.lax.scan(learn, state, turns)",
                "whole games are learned from the first move on",
            ),
        ],
    ),
)

ROLLOUT = (
    *mutants(
        "dqn/rollout.py",
        "dqn/test_rollout.py dqn/test_learner.py",
        [
            (
                "replies.opening(before, action, config.opponent.first_move)",
                "action",
                "the forced first move is not played",
            ),
            (
                "ended = move.live & pgx_games.finished(after)",
                "ended = pgx_games.finished(after)",
                "a finished game ends again with each move",
            ),
            (
                "result = opponent.result(before, move.reward)",
                "result = move.reward",
                "a win counts for whoever moved last",
            ),
            (
                "obs=before.observation,",
                "obs=after.observation,",
                "learns the next board",
            ),
            (
                "next_obs=after.observation,",
                "next_obs=before.observation,",
                "bootstraps from the same board",
            ),
            (
                "next_legal_action_mask=after.legal_action_mask,",
                "next_legal_action_mask=before.legal_action_mask,",
                "the target has the mask of the board before the move",
            ),
            (
                "live=move.live,",
                "live=~pgx_games.finished(after),",
                "the last move of a game is not learned",
            ),
            ("ended & (result > 0)", "ended & (result >= 0)", "draws count as wins"),
            (
                "moves, games, wins, losses = jnp.stack",
                "moves, games, losses, wins = jnp.stack",
                "wins are losses",
            ),
            ("ended & (result < 0)", "ended & (result <= 0)", "draws count as losses"),
            (
                "jnp.where(legal, q_values, -jnp.inf).max(axis=1)",
                "q_values.max(axis=1)",
                "the mean value includes illegal actions",
            ),
            (".sum(where=move.live)", ".sum()", "finished games add to the mean value"),
            (
                "counted = move.live, ended,",
                "counted = jnp.ones_like(move.live), ended,",
                "moves of finished games count",
            ),
            (
                "env_steps=opponent.moves_made(before, after),",
                "env_steps=jnp.sum(move.live),",
                "the opponent's moves do not count",
            ),
            (
                "return jnp.where(ended, value, 0.0)",
                "return value",
                "every move has the reward of a draw",
            ),
            (
                "jnp.where(reward < 0, loss, draw)",
                "jnp.where(reward < 0, draw, loss)",
                "the rewards of draws and losses are swapped",
            ),
            (
                "pgx_games.step(env, before, action, hyper.gamma)",
                "pgx_games.step(env, before, action, 1.0)",
                "gamma is ignored",
            ),
        ],
    ),
    *mutants(
        "dqn/rollout.py",
        "dqn/test_schedules.py dqn/test_learner.py",
        [
            (
                "hyper.epsilon_start, hyper.epsilon_end, num_updates)(update)",
                "hyper.epsilon_start, hyper.epsilon_end, num_updates)(update + 1)",
                "epsilon's clock is off by one",
            ),
            (
                "hyper.epsilon_start, hyper.epsilon_end, num_updates)(update)",
                "hyper.epsilon_end, hyper.epsilon_start, num_updates)(update)",
                "epsilon's schedule is reversed",
            ),
            (
                '"steps": stepped_epsilon,',
                '"steps": linear_epsilon,',
                "epsilon's steps are a line",
            ),
            (
                "    del num_updates, update\n"
                "    start, end, factor = "
                "hyper.epsilon_start, hyper.epsilon_end, hyper.epsilon_decay\n"
                "    return equations.exponential(start, end, factor)(games)",
                "    del num_updates, games\n"
                "    start, end, factor = "
                "hyper.epsilon_start, hyper.epsilon_end, hyper.epsilon_decay\n"
                "    return equations.exponential(start, end, factor)(update)",
                "exponential epsilon falls with updates, not with games",
            ),
            (
                "jnp.asarray(epsilon(hyper, config.run.num_updates, update, games))",
                "jnp.asarray(hyper.epsilon_end)",
                "epsilon is constant",
            ),
        ],
    ),
)

OTHERS = (
    *mutants(
        "dqn/replay.py",
        "dqn/test_replay.py",
        [
            (
                "(buffer.next_slot + jnp.arange(num_new)) % capacity",
                "jnp.minimum(buffer.next_slot + jnp.arange(num_new), capacity - 1)",
                "moves do not wrap around",
            ),
            (
                "(buffer.next_slot + num_new) % capacity,",
                "(buffer.next_slot + 1) % capacity,",
                "the next slot is one further, not a batch",
            ),
            (
                "jnp.minimum(buffer.size + num_new, capacity)",
                "buffer.size + num_new",
                "the buffer grows beyond its capacity",
            ),
            (
                "jnp.maximum(buffer.size, 1))",
                "len(buffer.moves.action))",
                "empty slots are sampled",
            ),
            (
                "jnp.maximum(buffer.size, 1))",
                "jnp.maximum(buffer.size - 1, 1))",
                "the newest move is never sampled",
            ),
            (
                "ready = buffer.size >= max(start, 1)",
                "ready = buffer.size > max(start, 1)",
                "learning begins a move too late",
            ),
            (
                "live=moves.live & ready",
                "live=jnp.broadcast_to(ready, moves.live.shape)",
                "sampled moves of finished games are live",
            ),
        ],
    ),
    *mutants(
        "dqn/replay.py",
        "dqn/test_replay.py dqn/test_learner.py",
        [
            (
                "return buffer, sample(buffer, *args)",
                "return buffer, batch",
                "the buffer is filled and never used",
            ),
        ],
    ),
    *mutants(
        "dqn/random_numbers.py",
        "dqn/test_random_numbers.py dqn/test_backward.py",
        [
            (
                "key, length = jax.random.fold_in(key, update), num_turns(config)",
                "length = num_turns(config)",
                "every update has the same random numbers",
            ),
            ("sample_key=keys[1]", "sample_key=keys[0]", "a key is used twice"),
            ("keys[2:].reshape", "keys[:-2].reshape", "turns use the keys of others"),
            (
                "jax.random.uniform(move_key, (num_envs,)), reply_key, learn_key",
                "jax.random.uniform(move_key, (num_envs,)), move_key, learn_key",
                "the move's key is used for the reply too",
            ),
            (
                "return opponents.max_turns(config.env_id, config.opponent)",
                "return 1",
                "whole games: one turn",
            ),
        ],
    ),
    *mutants(
        "dqn/metrics.py",
        "dqn/test_metrics.py",
        [
            ("rows.epsilon[-1]", "rows.epsilon[0]", "epsilon of the first update"),
            ("counts.sum(axis=1)", "counts.max(axis=1)", "counts of one update"),
            (
                "games, wins, losses, env_steps = counts",
                "games, losses, wins, env_steps = counts",
                "wins are losses",
            ),
            ("rows.rows[-1]", "rows.rows.sum()", "visited rows are added up"),
            ("values.mean(axis=1)", "values[:, -1]", "values of the last update"),
            (
                "finite_losses, finite_grads = _num_finite",
                "finite_grads, finite_losses = _num_finite",
                "a gradient that is not finite is called a loss",
            ),
            (
                "jnp.where(jnp.isfinite(values), end, jnp.arange(end)).min(axis=1)",
                "jnp.isfinite(values).sum(axis=1)",
                "finite values after one that is not are counted",
            ),
            (
                "jnp.isfinite(all_weights).all()",
                "jnp.isfinite(all_weights[0])",
                "only the first weight is looked at",
            ),
        ],
    ),
    *mutants(
        "dqn/finished_games.py",
        "dqn/test_finished_games.py",
        [
            (
                "live = move.live & before.legal_action_mask[:, action]",
                "live = move.live",
                "an illegal move is learned",
            ),
            (
                "jax.lax.scan(learn, state, (batch, keys), reverse=True)",
                "jax.lax.scan(learn, state, (batch, keys))",
                "a game is learned from the first move on",
            ),
            (
                "lambda new, old, mean: new + (mean - old)",
                "lambda new, old, mean: new",
                "the average is lost",
            ),
            (
                "live=wide.live & (jnp.arange(size) == 0)",
                "live=wide.live",
                "a move weighs as much as a whole batch",
            ),
            (
                "live & pgx_games.finished(after)",
                "live",
                "every move has the reward of a draw",
            ),
        ],
    ),
)

MUTANTS = (*EQUATIONS, *LOSSES, *LEARNER, *ROLLOUT, *OTHERS)
