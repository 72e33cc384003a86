"""Mutants of players, of a run's host side and of settings."""

from mutants.mutant import mutants

PLAYERS = (
    *mutants(
        "players/players.py",
        "players/test_players.py",
        [
            (
                "at_random, random_player(random_key, env_state), "
                "player(player_key, env_state)",
                "at_random, player(player_key, env_state), "
                "random_player(random_key, env_state)",
                "the chance of a random move is its complement",
            ),
            (
                "logits = jnp.log(probs[stones.locate(index, env_state.observation)])",
                "logits = probs[stones.locate(index, env_state.observation)]",
                "probabilities are taken for logits",
            ),
            (
                "chance_key, random_key, player_key = jax.random.split(key, 3)",
                "chance_key = random_key = player_key = key",
                "one key decides whether and what to play at random",
            ),
        ],
    ),
    *mutants(
        "players/network.py",
        "players/test_network.py players/test_registry.py networks/test_q_network.py",
        [
            (
                "jnp.where(jnp.isfinite(q_values).all(), probs, jnp.nan)",
                "probs",
                "values of NaN play the first legal move",
            ),
            (
                "return equations.greedy(values, legal)",
                "return values.argmax(axis=-1).astype(jnp.int32)",
                "an agent plays illegal moves",
            ),
            (
                "is_best = legal & ~(values < highest)",
                "is_best = ~(values < highest)",
                "an agent plays illegal moves of a high value",
            ),
            (
                "if GAMES[network.env_id].enumerable:",
                "if True:",
                "of equal moves, mirror images get different ones",
            ),
            (
                "if GAMES[network.env_id].enumerable:",
                "if False:",
                "of equal moves, the player of a tree plays another than its policy",
            ),
            (
                "return jnp.take_along_axis(values[row], actions, axis=1)",
                "return values[row]",
                "the values of a class are not mapped to each board's actions",
            ),
            (
                "if tree.classes is None or not network.architecture.canonical:",
                "if tree.classes is None:",
                "values are shared by symmetric boards that the network tells apart",
            ),
        ],
    ),
    *mutants(
        "players/lookahead.py",
        "players/test_lookahead.py",
        [
            (
                "negamax(env, q_fn, after, depth - 1, gamma)",
                "negamax(env, q_fn, after, 0, gamma)",
                "only one move is looked ahead",
            ),
            (
                "if num_games > at_once:",
                "if False:",
                "all boards are in memory at once",
            ),
            (
                "move.reward, move.discount, next_q, after.legal_action_mask",
                "move.reward, jnp.abs(move.discount), next_q, after.legal_action_mask",
                "the opponent's best move is ours",
            ),
            (
                "pgx_games.step(env, boards, action, gamma)",
                "pgx_games.step(env, boards, action, 1.0)",
                "moves looked ahead are not discounted",
            ),
            (
                "move.reward, move.discount, next_q, after.legal_action_mask",
                "move.reward, move.discount, next_q, boards.legal_action_mask",
                "replies have the mask of the board before the move",
            ),
        ],
    ),
    *mutants(
        "players/mcts.py",
        "players/test_mcts.py",
        [
            (
                "score / tried + EXPLORATION * spread",
                "score / tried + spread",
                "the search explores too little",
            ),
            (
                "(1 + tree.outcome[stands_for]) / 2",
                "tree.outcome[stands_for] > 0",
                "a draw counts as the first player's loss",
            ),
            (
                "jnp.where(graph.first_moved[path], outcome, 1 - outcome)",
                "jnp.where(graph.first_moved[path], 1 - outcome, outcome)",
                "scores are the other player's",
            ),
            (
                "playout(graph, records, jax.random.fold_in(key, number), root)",
                "playout(graph, records, key, root)",
                "every playout has the same random numbers",
            ),
            (
                "jnp.where(visits > 0, score / jnp.maximum(visits, 1), -1.0)",
                "jnp.where(visits > 0, score / jnp.maximum(visits, 1), 1.0)",
                "a move that was never tried is the best",
            ),
        ],
    ),
    *mutants(
        "players/online_search.py",
        "players/test_online_search.py",
        [
            (
                "jnp.where(end.leaf < none, new, end.node)",
                "jnp.full_like(end.leaf, new)",
                "a game that ends inside the tree is not recorded",
            ),
            (
                "to_first = (1 + outcome) / 2",
                "to_first = jnp.float32(outcome > 0)",
                "a draw counts as a loss",
            ),
            (
                "~pgx_games.first_to_move(root)",
                "pgx_games.first_to_move(root)",
                "the root's score is that of the player to move",
            ),
            (
                "return jnp.where(child < none, means, -1.0)",
                "return means",
                "a move that is untried has the score of another",
            ),
            (
                "(jnp.arange(groups * at_once) % num_games)",
                "(jnp.arange(groups * at_once) % at_once)",
                "only the first group of games is searched",
            ),
        ],
    ),
    *mutants(
        "players/session.py",
        "players/test_session.py",
        [
            (
                "if not is_over(session) and not is_persons_turn(session):",
                "if False:",
                "the person may move for the opponent",
            ),
            (
                "states=session.states[: count + 1],",
                "states=session.states[: count + 2],",
                "undo keeps the state of a move that it takes back",
            ),
            (
                "        if is_persons_turn(earlier):\n",
                "        if earlier.moves:\n",
                "undo goes to the opponent's turn",
            ),
            (
                "minimax.QUICK if quick else 1.0",
                "minimax.QUICK",
                "values are always discounted",
            ),
            (
                "seat or session.seat)",
                "session.seat)",
                "results are always the person's",
            ),
            (
                "_q_values(agent or session.opponent.agent, session.state)",
                "_q_values(session.opponent.agent, session.state)",
                "estimates are the opponent's, whoever was asked",
            ),
        ],
    ),
    *mutants(
        "players/review.py",
        "players/test_review.py",
        [
            (
                "return self.value_after < self.value_before",
                "return self.value_after <= self.value_before",
                "every move is a mistake",
            ),
            ("if move not in legal:", "if False:", "a move is not validated"),
            (
                "float(worth[position].max()),",
                "float(values[position]),",
                "values are the first player's",
            ),
        ],
    ),
    *mutants(
        "players/registry.py",
        "players/test_registry.py players/test_players.py players/test_lookahead.py",
        [
            (
                "if not np.isfinite(values).all():",
                "if not np.isfinite(values).any():",
                "one finite value is enough",
            ),
            (
                "policies.mixed(tree, spec.number, inner.probs)",
                "policies.mixed(tree, 1 - spec.number, inner.probs)",
                "the policy of a blend is another player's",
            ),
            (
                "return Entrant(spec.name, player, probs, seats=inner.seats)",
                "return Entrant(spec.name, player, probs)",
                "a blend forgets the seats that were learned",
            ),
            (
                "(name, player, probs, agent, agent.config.seats, is_fixed=True)",
                "(name, player, probs, agent, is_fixed=True)",
                "an agent forgets the seats that it learned",
            ),
            (
                "if depth > most:",
                "if depth > most + 1:",
                "a search may be a move too deep",
            ),
            (
                "minimax.QUICK if spec.kind == ",
                "minimax.QUICK if spec.kind != ",
                "the quick player is slow",
            ),
            (
                'first_best=spec.kind != "minimax"',
                'first_best=spec.kind == "minimax"',
                "minimax plays the first best move",
            ),
            (
                "agent.network, agent.params, agent.config.target.gamma, depth",
                "agent.network, agent.params, 1.0, depth",
                "a search does not discount by the agent's gamma",
            ),
        ],
    ),
    *mutants(
        "players/registry.py",
        "players/test_shipped.py",
        [
            (
                "agents.load_agent(spec.path, env_id))",
                "agents.load_agent(spec.path))",
                "an agent of another game is accepted",
            ),
        ],
    ),
    *mutants(
        "players/levels.py",
        "players/test_levels.py",
        [
            ("BEGINNER_CHANCE = 0.7", "BEGINNER_CHANCE = 0.3", "a beginner is strong"),
            ('"expert": "minimax",', '"expert": agent,', "an expert is the agent"),
        ],
    ),
    *mutants(
        "players/own.py",
        "players/test_own.py",
        [
            (
                "    _check_legal(name, action, boards)\n",
                "",
                "a user's function may play illegal moves",
            ),
            (
                "if tree is None or not is_fixed:",
                "if tree is None:",
                "a function that depends on chance counts as a policy",
            ),
        ],
    ),
)

TRAINING = (
    *mutants(
        "training/run_state.py",
        "training/test_run_state.py",
        [
            (
                "finite = np.isfinite(metrics.loss) & np.isfinite(metrics.grad_norm)",
                "finite = np.isfinite(metrics.loss)",
                "a gradient of NaN goes unseen",
            ),
            (
                "for a, b in reversed(list(zip(worth(new), worth(old), strict=True))):",
                "for a, b in zip(worth(new), worth(old), strict=True):",
                "wins count before proofs",
            ),
            (
                "np.where(np.isnan(best.loss_rate), np.inf, best.loss_rate)",
                "np.where(np.isnan(best.loss_rate), 0, best.loss_rate)",
                "a loss rate of NaN is the best",
            ),
            (
                "np.asarray(-losses), wins",
                "np.asarray(losses), wins",
                "more losses are better",
            ),
            (
                "getattr(state, name) + getattr(metrics, name) for name",
                "getattr(metrics, name) for name",
                "counts are those of the last chunk",
            ),
            (
                "dataclasses.replace(new, params=jax.tree.map(np.array, params))",
                "new",
                "the best parameters are overwritten by the next chunk",
            ),
            (
                'return named_arrays.part(self.learner, "average_params")',
                'return named_arrays.part(self.learner, "params")',
                "the agent is not the average",
            ),
            (
                "lambda a, b: _chosen(ahead, a, b), new, old",
                "lambda a, b: _chosen(ahead, a, b), old, new",
                "of many agents, the worse is kept",
            ),
        ],
    ),
    *mutants(
        "training/run_state.py",
        "training/test_many_agents.py live/test_live_run.py",
        [
            (
                "seconds = round(self.seconds / num_at_once, 4)",
                "seconds = round(self.seconds, 4)",
                "each of many agents took the seconds of all",
            ),
        ],
    ),
    *mutants(
        "training/loop.py",
        "training/test_loop.py training/test_run_state.py",
        [
            (
                "[*map(int, state.key), int(state.update)]",
                "[*map(int, state.key)]",
                "every round draws the same sample",
            ),
            (
                "if trees.needs_enumeration(config.env_id):",
                "if not trees.needs_enumeration(config.env_id):",
                "only a game that is known is compiled ahead",
            ),
            (
                "and (regular or ended)",
                "and regular",
                "the last agent is not evaluated",
            ),
            (
                "jax.random.wrap_key_data(jnp.array(key))).opponent",
                "jax.random.wrap_key_data(jnp.array(key))).training",
                "the opponent shares the key of training",
            ),
            (
                "if config.opponent.first_move not in legal:",
                "if config.opponent.first_move not in (*legal, 9):",
                "an illegal first move is accepted",
            ),
        ],
    ),
    *mutants(
        "training/chunks.py",
        "training/test_chunks.py",
        [
            (
                "return min(most, to_evaluation, config.run.num_updates - update)",
                "return min(most, config.run.num_updates - update)",
                "a chunk goes over an evaluation",
            ),
        ],
    ),
    *mutants(
        "training/loop.py",
        "training/test_many_agents.py",
        [
            (
                "if len({config.static for config in configs}) > 1:",
                "if len({config.env_id for config in configs}) > 1:",
                "agents of other programs train at once",
            ),
        ],
    ),
    *mutants(
        "training/loop.py",
        "training/test_divergence.py",
        [
            (
                "if state.diverged.any() and not fixed.many:",
                "if state.diverged.all() and fixed.many:",
                "a run that diverged goes on",
            ),
        ],
    ),
    *mutants(
        "training/keys.py",
        "training/test_keys.py",
        [
            (
                "return Keys(*jax.random.split(key, 3))",
                "return Keys(key, key, jax.random.split(key)[0])",
                "grades use the key of training",
            ),
            (
                "np.array([0, seed], np.uint32)",
                "np.array([seed, 0], np.uint32)",
                "a seed's key is not JAX's",
            ),
            (
                'if algorithm == "threefry2x32" and',
                "if algorithm and",
                "the key of another generator has its wrong length",
            ),
            (
                " and not offset:",
                ":",
                "JAX's offset of seeds is ignored",
            ),
        ],
    ),
    *mutants(
        "training/functions.py",
        "training/test_functions.py",
        [
            (
                "match_key = jax.random.fold_in(grading, update)",
                "match_key = grading",
                "every evaluation has the same games",
            ),
            (
                "training = keys(jax.random.wrap_key_data(key)).training",
                "training = jax.random.key(0)",
                "the seed does not reach training",
            ),
        ],
    ),
    *mutants(
        "training/programs.py",
        "training/test_programs.py",
        [
            (
                "    importlib.import_module(_FUNCTIONS)\n    making.result()\n",
                "    making.result()\n    importlib.import_module(_FUNCTIONS)\n",
                "the functions are imported after the game is made",
            ),
            (
                "keep = name not in _WITH_OPPONENT or args[-1] is None",
                "keep = True",
                "programs of a user's opponent are kept for other processes",
            ),
            (
                "about = str((name, static, many, structure, shapes))",
                "about = str((name, many, structure, shapes))",
                "a kept program is found with other settings",
            ),
        ],
    ),
    *mutants(
        "training/many_agents.py",
        "training/test_many_agents.py",
        [
            (
                "None if last.diverged[i] else graded",
                "graded",
                "an agent that diverged is graded",
            ),
            (
                '.platform == "cpu":\n        return mesh.num_devices()',
                '.platform == "cpu":\n        return most',
                "agents train at once on a CPU",
            ),
            (
                "int(min(max(0.5 * free // size, 1), most))",
                "int(min(max(free // size, 1), most))",
                "agents fill all memory",
            ),
        ],
    ),
)

SETTINGS = (
    *mutants(
        "config/ranges.py",
        "config/test_ranges.py config/parts/test_part.py config/test_settings.py",
        [
            (
                "(int, self.type)) or isinstance(value, bool):",
                "(int, self.type)):",
                "True is a number",
            ),
            (
                "inside = math.isfinite(value) and self.low <= value <= self.high",
                "inside = not (value < self.low or value > self.high)",
                "NaN is inside every range",
            ),
            (
                "self.low <= value <= self.high",
                "self.low <= value <= self.high + 1",
                "a range ends one too late",
            ),
            (
                "if not inside or (self.above_low and value == self.low):",
                "if not inside:",
                "0 is above 0",
            ),
            (
                "most = int(SEED_RANGE.high) - num_seeds + 1",
                "most = int(SEED_RANGE.high)",
                "the last seeds are beyond the range",
            ),
        ],
    ),
    *mutants(
        "config/parts/target.py",
        "config/parts/test_target.py config/test_settings.py",
        [
            (
                "if not self.reward_loss < self.reward_win:",
                "if not self.reward_loss <= self.reward_win:",
                "a loss may be worth as much as a win",
            ),
            (
                'if self.double and self.backup == "two-ply":',
                "if False:",
                "double with two plies is accepted",
            ),
        ],
    ),
    *mutants(
        "config/parts/replay.py",
        "config/parts/test_replay.py config/test_settings.py",
        [
            (
                "least = max(self.replay_batch, self.replay_start)",
                "least = self.replay_batch",
                "learning never begins: the buffer is too small",
            ),
        ],
    ),
    *mutants(
        "config/parts/evaluation.py",
        "config/parts/test_evaluation.py",
        [
            (
                "if self.eval_games is not None:",
                "if self.eval_games:",
                "a match is played in spite of `--eval-games 0`",
            ),
            (
                "0 if is_exact else 1024",
                "1024 if is_exact else 0",
                "a match is played only beside exact results",
            ),
        ],
    ),
)

MUTANTS = (*PLAYERS, *TRAINING, *SETTINGS)
