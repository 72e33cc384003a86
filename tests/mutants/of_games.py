"""Mutants of the games and of networks: the interface to PGX, trees, symmetries."""

from mutants.mutant import mutants

ENVS = (
    *mutants(
        "envs/pgx_games.py",
        "envs/test_pgx_games.py envs/test_replies.py envs/test_opponents.py",
        [
            (
                "reward = reward_to(next_state, mover)",
                "reward = reward_to(next_state, jnp.zeros_like(mover))",
                "the reward of player 0",
            ),
            (
                "reward = reward_to(next_state, mover)",
                "reward = reward_to(next_state, next_state.current_player)",
                "the reward of the other player",
            ),
            (
                "return next_state, Move(reward, discount, ~finished(env_state))",
                "return next_state, Move(reward, discount, ~finished(next_state))",
                "the last move of a game is not live",
            ),
            (
                "jnp.where(after.current_player == mover, gamma, -gamma)",
                "jnp.where(after.current_player == mover, -gamma, gamma)",
                "the sign of the discount",
            ),
            (
                "return jnp.where(after.terminated, 0.0, discount)",
                "return discount",
                "bootstraps through the end of the game",
            ),
            (
                "return jnp.where(after.terminated, 0.0, discount)",
                "return jnp.where(finished(after), 0.0, discount)",
                "a truncated game counts as ended",
            ),
            (
                "return env_state._step_count % 2 == 0",
                "return env_state._step_count % 2 == 1",
                "the seats are swapped",
            ),
            (
                "    if with_opening:\n        start",
                "    if not with_opening:\n        start",
                "the opponent's first move does not count",
            ),
            (
                '"second": 1 - first,',
                '"second": first,',
                "the agent always moves first",
            ),
            (
                '"both": jnp.zeros_like(first)',
                '"both": first',
                "both seats are the first one",
            ),
            (
                "jnp.take_along_axis(env_state.rewards, player[:, None], axis=1)",
                "jnp.take_along_axis(env_state.rewards, 1 - player[:, None], axis=1)",
                "rewards are the other player's",
            ),
            (
                "return jnp.logical_or(env_state.terminated, env_state.truncated)",
                "return env_state.terminated",
                "a truncated game goes on",
            ),
            (
                "jnp.broadcast_to(over.all(), over.shape)",
                "jnp.broadcast_to(over.any(), over.shape)",
                "the first game that ends restarts all",
            ),
            (
                "return pick(over, fresh, env_state)",
                "return pick(~over, fresh, env_state)",
                "unfinished games are replaced",
            ),
            (
                "return jax.vmap(env.init)(jax.random.split(key, num_envs))",
                "return jax.vmap(env.init)(jnp.repeat(key[None], num_envs))",
                "all games have the same first player",
            ),
            (
                "return env_state.current_player == player",
                "return env_state.current_player != player",
                "it is the other player's turn",
            ),
        ],
    ),
    *mutants(
        "envs/replies.py",
        "envs/test_replies.py dqn/test_rollout.py",
        [
            (
                "Move(move.reward + gained, discount, move.live)",
                "Move(move.reward, discount, move.live)",
                "a game lost by the reply gives no reward",
            ),
            (
                "Move(move.reward + gained, discount, move.live)",
                "Move(move.reward + gained, move.discount, move.live)",
                "the discount is that before the reply",
            ),
            (
                "total += jnp.where(theirs, pgx_games.reward_to(after, player), 0.0)",
                "total += pgx_games.reward_to(after, player)",
                "rewards of games that do not wait are added",
            ),
            (
                "pgx_games.pick(theirs, after, env_state)",
                "after",
                "the opponent moves in games where it is our turn",
            ),
            (
                "jnp.where(env_state._step_count == 0, first_move, action)",
                "jnp.where(env_state._step_count <= 1, first_move, action)",
                "the second move is forced too",
            ),
            (
                "return ~pgx_games.finished(env_state) & "
                "~pgx_games.is_turn(env_state, player)",
                "return ~pgx_games.is_turn(env_state, player)",
                "the opponent moves after the end",
            ),
        ],
    ),
    *mutants(
        "envs/opponents.py",
        "envs/test_opponents.py dqn/test_rollout.py",
        [
            (
                "jnp.where(pgx_games.first_to_move(before), reward, -reward)",
                "jnp.where(pgx_games.first_to_move(before), -reward, reward)",
                "self-play: results are the second player's",
            ),
            (
                "agent = pgx_games.seated(env_state, settings.seat)",
                'agent = pgx_games.seated(env_state, "both")',
                "the seat of the settings is ignored",
            ),
            (
                "agent, self.player, settings.first_move",
                "agent, self.player, None",
                "the opponent's first move is not forced",
            ),
            (
                "        del new_game\n        return self.start(run, settings, key)",
                "        del run, settings, key\n        return new_game",
                "all games begin anew in the same seat",
            ),
            (
                "with_opening=True",
                "with_opening=False",
                "the opponent's first move does not count",
            ),
            (
                "if opponent.name != settings.opponent:",
                "if False:",
                "another opponent than the settings' is accepted",
            ),
            (
                "return (length + 1 - later) // 2",
                "return length // 2",
                "the first player has a turn too few",
            ),
        ],
    ),
    *mutants(
        "envs/symmetry.py",
        "envs/test_symmetry.py envs/test_positions.py networks/test_q_network.py",
        [
            (
                "return Views(*(np.array(permutations) for permutations in every))",
                "cells, actions = (np.array(permutations) for permutations in every)\n"
                "    return Views(cells, np.broadcast_to(actions[:1], actions.shape))",
                "a symmetric view of cells but not of actions",
            ),
            (
                "actions = np.argsort(views.actions, axis=1)[view[decisions]]",
                "actions = views.actions[view[decisions]]",
                "the actions of a class are not inverted",
            ),
            (
                "np.argmin(turned, axis=0)",
                "np.argmax(turned, axis=0)",
                "the view of a class is another one",
            ),
            (
                "map(bytes, cells[:, view])",
                "map(bytes, cells[:, np.argsort(view)])",
                "views are inverted",
            ),
        ],
    ),
    *mutants(
        "envs/tree.py",
        "envs/test_tree.py solver/test_minimax.py",
        [
            (
                'return "first" if self.first_to_move[position] else "second"',
                'return "second" if self.first_to_move[position] else "first"',
                "the seat to move is the other one",
            ),
            (
                "kept_files.read(_name(env_id)) is None",
                "kept_files.read(_name(env_id)) is not None",
                "a game is compiled ahead if its tree is kept",
            ),
            (
                "return GAMES[env_id].enumerable and",
                "return",
                "a game that is too large is enumerated",
            ),
            (
                'return self.first_to_move == (seat == "first")',
                'return self.first_to_move != (seat == "first")',
                "the moves of the other seat",
            ),
            (
                'return self.outcome == (-1 if seat == "first" else 1)',
                'return self.outcome == (1 if seat == "first" else -1)',
                "won positions count as lost",
            ),
        ],
    ),
    *mutants(
        "envs/enumeration.py",
        "envs/test_tree.py envs/test_enumeration.py",
        [
            (
                "outcome = np.sign(np.where(terminal, env_state.rewards[:, first], 0))",
                "outcome = np.sign(np.where(terminal, env_state.rewards[:, 0], 0))",
                "results are player 0's",
            ),
            (
                'mask": env_state.legal_action_mask & ~terminal[:, None],',
                'mask": env_state.legal_action_mask,',
                "moves are legal after the end",
            ),
            (
                '"first_to_move": env_state.current_player == first,',
                '"first_to_move": env_state.current_player == 0,',
                "player 0 counts as the first",
            ),
            (
                "np.nonzero(level.legal_action_mask & ~over[:, None])",
                "np.nonzero(level.legal_action_mask[:, ::-1] & ~over[:, None])",
                "illegal moves are enumerated",
            ),
            (
                "moves.append((begin + parent, action, count + index))",
                "moves.append((begin + parent, action, begin + index))",
                "successors are of the level before",
            ),
            (
                "if count > max_positions:",
                "if begin > 10 * max_positions:",
                "the limit of positions is ten times too large",
            ),
            (
                "    compile_programs.cache_clear()  # they are used once\n",
                "",
                "the programs stay in memory",
            ),
            (
                "level, index = _distinct(after)",
                "level, index = after, np.arange(len(action))",
                "a position is listed once for each way to it",
            ),
        ],
    ),
    *mutants(
        "envs/positions.py",
        "envs/test_positions.py envs/test_stones.py networks/test_table.py",
        [
            (
                "return first_views(env_id)[0][successor] if canonical else successor",
                "return first_views(env_id)[1][successor] if canonical else successor",
                "after-states are views, not positions",
            ),
        ],
    ),
    *mutants(
        "envs/stones.py",
        "envs/test_stones.py",
        [
            (
                "stones = mine.astype(jnp.float32) - yours.astype(jnp.float32)",
                "stones = mine.astype(jnp.float32) + yours.astype(jnp.float32)",
                "both players' stones look the same",
            ),
            (
                "return (signed[..., 0] - signed[..., 1])",
                "return (signed[..., 1] - signed[..., 0])",
                "boards are the opponent's view",
            ),
            (
                "3.0 ** np.arange(num_cells)[::-1]",
                "2.0 ** np.arange(num_cells)[::-1]",
                "two boards share a number",
            ),
            (
                "if num_cells > MOST_CELLS:",
                "if num_cells > MOST_CELLS + 1:",
                "a board too large for exact numbers is numbered",
            ),
        ],
    ),
    *mutants(
        "envs/one_game.py",
        "envs/test_one_game.py",
        [
            (
                "    if bool(pgx_games.finished(env_state)[0]):\n        return ()\n",
                "",
                "moves are legal after the end",
            ),
            ("if move not in legal:", "if False:", "a move is not validated"),
            (
                "player = pgx_games.seated(start, seat)",
                'player = pgx_games.seated(start, "first")',
                "the result is always the first player's",
            ),
            (
                'return "first" if bool(pgx_games.is_turn(env_state, first)[0])',
                'return "first" if bool(env_state.current_player[0] == 0)',
                "player 0 counts as the first",
            ),
            (
                '"won" if gain > 0 else "lost" if gain < 0 else "drawn"',
                '"won" if gain >= 0 else "lost"',
                "draws count as wins",
            ),
        ],
    ),
)

NETWORKS = (
    *mutants(
        "networks/canonical_views.py",
        "networks/test_canonical_views.py networks/test_q_network.py",
        [
            (
                "least = highest == highest.min(axis=-1, keepdims=True)",
                "least = highest == highest[..., :1]",
                "the first view counts as canonical",
            ),
            (
                "inverse = np.argsort(views.actions, axis=-1)[None]",
                "inverse = views.actions[None]",
                "actions are mapped by the wrong direction",
            ),
            (
                "least &= number == number.min(axis=-1, keepdims=True)",
                "del number",
                "large boards are compared by some of their cells only",
            ),
            (
                "jnp.where(least[..., None], inverse, len(views.actions[0]))"
                ".min(axis=1)",
                "inverse[0][jnp.argmax(least, axis=-1)]",
                "symmetric actions of a symmetric board get different values",
            ),
        ],
    ),
    *mutants(
        "networks/q_network.py",
        "networks/test_q_network.py networks/test_mlp.py dqn/test_tabular.py",
        [
            (
                "return canonical_views.from_canonical(values, views, least)",
                "return values",
                "values of the canonical view are those of the board",
            ),
            (
                "seen = canonical_views.to_canonical(planes, views, least)",
                "seen = planes",
                "the network sees the board itself",
            ),
            (
                '"two-tables": Heads(2, _mean),',
                '"two-tables": Heads(2, _first),',
                "double tables play by the first one",
            ),
            (
                "    return values[0]\n",
                "    return values[-1]\n",
                "two plies: plays by the waiting player's values",
            ),
            (
                "make_module(network, nnx.Rngs(key), initial_value=initial_value)",
                "make_module(network, nnx.Rngs(0), initial_value=initial_value)",
                "the seed does not reach the weights",
            ),
            (
                '.platform == "cpu" and devices.has_bfloat16()',
                '.platform == "cpu" or devices.has_bfloat16()',
                "auto is bfloat16 on every CPU",
            ),
            (
                "values = heads(network, params, obs, dtype)\n",
                "values = heads(network, params, obs, jnp.bfloat16)\n",
                "values are rounded in play",
            ),
            (
                "used = architecture.canonical and not shared",
                "used = not shared",
                "boards are always canonical",
            ),
        ],
    ),
    *mutants(
        "networks/convolution.py",
        "networks/test_convolution.py",
        [
            (
                "sides = tuple(min(PATCH_SIDE, length)",
                "sides = tuple(min(PATCH_SIDE - 1, length)",
                "no patch has a line of four",
            ),
            (
                "values + self.bias[..., None]",
                "values + self.bias[:, :1, None]",
                "a filter has one bias for all patches",
            ),
            (
                "jnp.take(inputs, entries_of_patches(self.shape),",
                "jnp.take(inputs, entries_of_patches(self.shape)[::-1],",
                "a filter sees a patch back to front",
            ),
        ],
    ),
    *mutants(
        "networks/mlp.py",
        "networks/test_mlp.py networks/test_q_network.py",
        [
            (
                "_contract(transpose(kernel), grads,",
                "_contract(0 * transpose(kernel), grads,",
                "only the last layer learns",
            ),
            (
                "outputs + bias[:, None]",
                "outputs",
                "the bias is not added",
            ),
            (
                "grads.astype(jnp.float32).sum(axis=1)",
                "grads.astype(jnp.float32).mean(axis=1)",
                "the gradient of the bias is a mean",
            ),
            (
                "optimization_barrier(matrix.T[None])[0]",
                "optimization_barrier(matrix.T)",
                "products of transposes run in float32",
            ),
            (
                "self.layers = nnx.Sequential(*parts[:-1], nnx.tanh)",
                "self.layers = nnx.Sequential(*parts)",
                "the last activation is that of the hidden layers",
            ),
            (
                "preferred_element_type=jnp.float32",
                "preferred_element_type=a.dtype",
                "sums are rounded",
            ),
        ],
    ),
    *mutants(
        "networks/table.py",
        "networks/test_table.py dqn/test_tabular.py",
        [
            (
                "return found.swapaxes(1, 2).reshape(len(found), -1)",
                "return found.reshape(len(found), -1)",
                "the values of two heads are mixed",
            ),
            (
                "found = values[positions.after[positions.by_number[number]]]",
                "found = values[positions.after[number % len(positions.after)]]",
                "after-states are looked up by the board's number",
            ),
            (
                '"hash": Key(by_hash, "by_number"),',
                '"hash": Key(by_hash, "after"),',
                "a table of numbers has a row for each position only",
            ),
        ],
    ),
)

MUTANTS = (*ENVS, *NETWORKS)
