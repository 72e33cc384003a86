"""Mutants of the proof and of grades: solver, evaluation, results."""

from mutants.mutant import mutants

PROOF = (
    *mutants(
        "solver/backward.py",
        "solver/test_backward.py solver/test_minimax.py",
        [
            (
                "xp.where(over, leaf_values[here], inner)",
                "xp.where(over, inner, leaf_values[here])",
                "finished and unfinished positions are swapped",
            ),
            (
                "values.append(xp.where(over, leaf_values[here], inner))",
                "values.append(inner)",
                "results before the last level are lost",
            ),
            (
                "tree.successor[here] - end,",
                "tree.successor[here] - begin,",
                "successors are counted from the wrong level",
            ),
        ],
    ),
    *mutants(
        "solver/proof.py",
        "solver/test_minimax.py solver/test_outcomes.py solver/test_proof.py",
        [
            (
                "every = [playable(tree, probs, seat) for seat in seats]\n"
                "    lost = [tree.lost_by(seat) for seat in seats]",
                "every = [playable(tree, probs, seat) for seat in seats[:1]]\n"
                "    lost = [tree.lost_by(seat) for seat in seats[:1]]",
                "only the first seat is proven",
            ),
            (
                "lost = [tree.lost_by(seat) for seat in seats]",
                "lost = [tree.lost_by(seats[0]) for seat in seats]",
                "the second seat is proven by the first one's losses",
            ),
            (
                "num_losing.diagonal(axis1=1, axis2=2)",
                "num_losing.diagonal(axis1=1, axis2=2)"
                " // moves[here].sum(axis=1).clip(1)",
                "a loss counts only if every move loses",
            ),
            (
                "return (values[0] == 0).all()",
                "return (values[0] == 0).any()",
                "one safe seat is enough",
            ),
            (
                "return (values[0] == 0).all()",
                "return (values[0] < 1).all() | True",
                "every agent is unbeatable",
            ),
            (
                "others = ~tree.moves_of(seat)[:, None]",
                "others = tree.moves_of(seat)[:, None]",
                "the policy plays the opponent's moves",
            ),
            (
                "return tree.legal_action_mask & (others | _not_zero(probs))",
                "return tree.legal_action_mask & _not_zero(probs)",
                "the opponent plays only the policy's moves",
            ),
            (
                "return x != 0",
                "return x > 1e-9",
                "a rare move is not followed",
            ),
            (
                "return x != 0",
                "return x > 0",
                "a probability of NaN counts as 0",
            ),
            (
                "return jax.lax.bitcast_convert_type("
                "x.astype(jnp.float32), jnp.int32) << 1 != 0",
                "return x != 0",
                "a subnormal probability counts as 0",
            ),
            (
                "moves = playable(tree, probs, seat)\n    reached",
                "moves = tree.legal_action_mask\n    reached",
                "every position counts as reachable",
            ),
            (
                'result = tree.outcome if seat == "first" else -tree.outcome',
                "result = tree.outcome",
                "lines are counted as the first player's",
            ),
            (
                "for end in (1, 0, -1)",
                "for end in (1, -1, 0)",
                "drawn and lost lines are swapped",
            ),
            (
                "            if lost[position]:\n",
                "            if tree.terminal[position]:\n",
                "any end of a game is a losing line",
            ),
            (
                "came_from.setdefault(after, (position, int(action)))",
                "came_from[after] = (position, 0 * int(action))",
                "a losing line has the wrong moves",
            ),
            (
                "return line[::-1]",
                "return line",
                "a losing line is told backwards",
            ),
        ],
    ),
    *mutants(
        "solver/minimax.py",
        "solver/test_minimax.py",
        [
            (
                "np.where(legal[here], after, -np.inf).max(axis=1)",
                "after.max(axis=1)",
                "best play may be illegal",
            ),
            (
                "np.where(legal[here], after, np.inf).min(axis=1)",
                "np.where(legal[here], after, 0).min(axis=1)",
                "an illegal reply counts 0",
            ),
            (
                "np.where(first[here], best, worst)",
                "np.where(first[here], worst, best)",
                "both players play for the other",
            ),
            (
                "after = discount * after[..., 0]",
                "after = after[..., 0] / discount",
                "a slow win is better than a quick one",
            ),
            (
                "np.where(tree.first_to_move, 1, -1)[:, None]",
                "np.where(tree.first_to_move, -1, 1)[:, None]",
                "values are to the waiting player",
            ),
            (
                "np.where(tree.legal_action_mask, sign * after, -np.inf)",
                "sign * after",
                "illegal moves have values",
            ),
            (
                "(worth == worth.max(axis=1, keepdims=True))",
                "(worth == worth.max())",
                "a drawing move is no best move",
            ),
            (
                "first_marked(best) if first_best else best",
                "best if first_best else first_marked(best)",
                "first-best and random-best are swapped",
            ),
            (
                "return marked & (marked.cumsum(axis=1) == 1)",
                "return marked & (marked.cumsum(axis=1) <= 2)",
                "two moves are first",
            ),
        ],
    ),
    *mutants(
        "solver/best_response.py",
        "solver/test_best_response.py solver/test_minimax.py",
        [
            (
                'own, sign = tree.moves_of(seat), 1 if seat == "first" else -1',
                "own, sign = tree.moves_of(seat), 1",
                "the second player's response wins for the first",
            ),
            (
                "mean = (probs[here] * after[..., 0]).sum(axis=1)",
                "mean = after[..., 0].mean(axis=1)",
                "the best response is to a random player",
            ),
            (
                "np.where(drawn, sign * draw, tree.outcome)",
                "np.where(drawn, draw, tree.outcome)",
                "a draw has the first player's value in both seats",
            ),
            (
                'minimax.best_moves(tree, values_of("first")),',
                'minimax.best_moves(tree, values_of("second")),',
                "the first player responds as the second",
            ),
            (
                "return (second - first) / 2",
                "return (second + first) / 2",
                "exploitability adds what it should subtract",
            ),
        ],
    ),
    *mutants(
        "solver/outcomes.py",
        "solver/test_outcomes.py solver/test_minimax.py",
        [
            (
                "return xp.where(moved, by_first, by_second)",
                "return xp.where(moved, by_second, by_first)",
                "the players swap their seats",
            ),
            (
                "[tree.outcome == result for result in (1, 0, -1)]",
                "[tree.outcome == result for result in (-1, 0, 1)]",
                "wins and losses are swapped",
            ),
            (
                "result = jnp.stack([tree.outcome, -tree.outcome], axis=1)",
                "result = jnp.stack([tree.outcome, tree.outcome], axis=1)",
                "the second seat has the first one's results",
            ),
            (
                "own = jnp.stack([tree.first_to_move, ~tree.first_to_move], axis=1)",
                "own = jnp.stack([tree.first_to_move, tree.first_to_move], axis=1)",
                "the second seat plays the first one's moves",
            ),
            (
                "jnp.where(own[:, None], probs[..., None], random[..., None])",
                "jnp.where(own[:, None], random[..., None], probs[..., None])",
                "the policy and random are swapped",
            ),
            (
                "jnp.where(legal[here, :, None], after[..., 3], 0.0).max(axis=1)",
                "jnp.where(legal[here, :, None], after[..., 3], 0.0).mean(axis=1)",
                "the worst case is an average",
            ),
            (
                "worst = jnp.where(own[here], mean[..., 3], worst)",
                "worst = mean[..., 3]",
                "the worst case is against random",
            ),
            (
                "[result == 1, result == 0, result == -1, result == -1], axis=-1",
                "[result == 1, result == 0, result == -1, result != 1], axis=-1",
                "a draw counts as a loss in the worst case",
            ),
        ],
    ),
    *mutants(
        "solver/policies.py",
        "solver/test_policies.py solver/test_minimax.py",
        [
            (
                "return marked / marked.sum(axis=1, keepdims=True).clip(1)",
                "return marked / marked.sum(axis=1, keepdims=True)",
                "the policy after the end is NaN",
            ),
            (
                "chance * uniform(tree) + (1 - chance) * probs",
                "(1 - chance) * uniform(tree) + chance * probs",
                "the chance of a random move is its complement",
            ),
            (
                "return jnp.where(tree.legal_action_mask, one_hot, 0.0)",
                "return one_hot",
                "a finished game has a move",
            ),
        ],
    ),
    *mutants(
        "solver/safe_play.py",
        "solver/test_safe_play.py",
        [
            (
                "np.where(result < 0, -np.inf, result == 1)",
                "np.where(result < 0, 0, result == 1)",
                "the ceiling of wins risks losses",
            ),
            (
                "np.where(own[here], best, mean)",
                "np.where(own[here], mean, best)",
                "the player moves at random, the opponent helps",
            ),
            (
                "result = tree.outcome if first else -tree.outcome",
                "result = tree.outcome",
                "the second player wants the first to win",
            ),
        ],
    ),
)

EVALUATION = (
    *mutants(
        "evaluation/grades.py",
        "evaluation/test_grades.py evaluation/test_history.py",
        [
            (
                "unbeatable=bool(proof.unbeatable(tree, probs, seats)),",
                "unbeatable=bool(proof.unbeatable(tree, probs, SEATS)),",
                "the proof is of both seats, not of those learned",
            ),
            (
                "outcomes.Outcome(*outcomes.outcome(tree, opponent, probs)[::-1])",
                "outcomes.Outcome(*outcomes.outcome(tree, opponent, probs))",
                "the grade of the second seat is the opponent's",
            ),
            (
                "best_response.best_response(tree, probs, draw=-1.0)",
                "best_response.best_response(tree, probs)",
                "the worst opponent is content with a draw",
            ),
            (
                "decided |= tree.moves_of(seat) & ~tree.terminal",
                "decided |= tree.moves_of(seat)",
                "finished games count as decisions",
            ),
            (
                "reached |= proof.decided(tree, probs, seat)",
                "reached |= proof.reachable(tree, probs, seat)",
                "the opponent's decisions count",
            ),
            (
                "np.abs(q_values - worth)[legal].mean()",
                "np.abs(q_values - worth)[legal].max()",
                "the mean error is the largest",
            ),
            (
                "np.abs(q_values - worth)[legal].mean()",
                "np.where(legal, np.abs(q_values - worth), 0).mean()",
                "illegal moves count as right",
            ),
            (
                '"minimax-first": minimax.policy(tree, first_best=True),',
                '"minimax-first": minimax.policy(tree),',
                "minimax-first plays at random among equals",
            ),
        ],
    ),
    *mutants(
        "evaluation/grades.py",
        "evaluation/test_player_grades.py reports/test_result_text.py",
        [
            (
                "if not low <= exact.seat(seat).rate(rate) <= high:",
                "if not low <= exact.rate(rate) <= high:",
                "a sample is compared with the mean of both seats",
            ),
        ],
    ),
    *mutants(
        "evaluation/statistics.py",
        "evaluation/test_statistics.py",
        [
            ("return 0.0, 1.0", "return 0.0, 0.0", "no games are certain"),
            (
                "centre = (rate + share / 2) / (1 + share)",
                "centre = rate",
                "the interval is centred on the rate",
            ),
            (
                "share * share / 4) / (1 + share)",
                "share * share / 2) / (1 + share)",
                "the interval is too wide",
            ),
            ("z: float = 1.96", "z: float = 1.64", "a 90 % interval"),
            (
                "return 400 * np.log10(strength)",
                "return 400 * np.log(strength)",
                "ratings by the natural logarithm",
            ),
            (
                "np.where(others, 0.99 * scores + 0.005, 0)",
                "np.where(others, scores, 0)",
                "a player that always wins has an infinite rating",
            ),
        ],
    ),
    *mutants(
        "evaluation/crosstable.py",
        "evaluation/test_crosstable.py",
        [
            (
                "moving_first = self.rates @ [1, 0.5, 0]",
                "moving_first = self.rates @ [1, 1, 0]",
                "draws count as wins",
            ),
            (
                "return (moving_first + 1 - moving_first.T) / 2",
                "return moving_first",
                "only the first seat counts",
            ),
            (
                "ranked = np.argsort(-rating",
                "ranked = np.argsort(rating",
                "the weakest is ranked first",
            ),
            (
                "jax.random.fold_in(key, row * size + column)",
                "jax.random.fold_in(key, row + column)",
                "two pairs share a key",
            ),
            (
                "pair = all_players[row], all_players[column]",
                "pair = all_players[column], all_players[row]",
                "the seats are swapped in sampled pairs",
            ),
            (
                "not set(p) <= set(known)]",
                "not set(p) & set(known)]",
                "a pair with one unknown policy is not played",
            ),
            (
                "return self.counts.sum(axis=-1) > 0",
                "return self.counts[..., 0] > 0",
                "a sampled pair without wins counts as exact",
            ),
        ],
    ),
    *mutants(
        "evaluation/matches.py",
        "evaluation/test_matches.py evaluation/test_crosstable.py",
        [
            (
                "first = pgx_games.is_turn(start, seated)",
                "first = ~pgx_games.is_turn(start, seated)",
                "grades of the other seat",
            ),
            (
                "total += jnp.where(ours, move.reward, -move.reward)",
                "total += move.reward",
                "a win counts for whoever moved last",
            ),
            (
                "ours = pgx_games.is_turn(env_state, seated)",
                "ours = pgx_games.first_to_move(env_state)",
                "the player always moves first",
            ),
            (
                "_play(env, play_key, start, (first, second), seated)",
                "_play(env, play_key, start, (second, first), seated)",
                "the players swap their seats",
            ),
            (
                "for end in (1, 0, -1)))",
                "for end in (1, -1, 0)))",
                "draws and losses are swapped",
            ),
            (
                "_asked(~ours, players[1], opponent_key, env_state)",
                "_asked(ours, players[1], opponent_key, env_state)",
                "the opponent plays action 0 while it is its turn alone",
            ),
        ],
    ),
    *mutants(
        "evaluation/match_counts.py",
        "evaluation/test_match_counts.py",
        [
            (
                "total = rates([a + b for a, b in zip(first, second, strict=True)])",
                "total = rates(first)",
                "the total is the first seat's",
            ),
            (
                "intervals = [wilson_interval(count, total) for count in games]",
                "intervals = [wilson_interval(games[0], total) for count in games]",
                "every interval is that of the wins",
            ),
        ],
    ),
    *mutants(
        "evaluation/evaluation.py",
        "evaluation/test_evaluation.py evaluation/test_network_grades.py",
        [
            (
                "if not np.isfinite(report.first.random.win_rate):",
                "if False:",
                "values that are not finite are graded",
            ),
            (
                "losses = [row.losses / n for",
                "losses = [row.draws / n for",
                "draws count as losses",
            ),
            (
                "counts = [getattr(match, name) for name in seats]",
                "counts = list(match)[:2]",
                "an agent is ranked by seats that it did not learn",
            ),
        ],
    ),
    *mutants(
        "evaluation/agent_groups.py",
        "evaluation/test_agent_groups.py",
        [
            (
                "not_proven = tuple(row.seed for row in rows if not row.is_proven)",
                "not_proven = tuple(row.seed for row in rows if row.diverged)",
                "only agents that diverged are not proven",
            ),
            (
                "interval=wilson_interval(proven, len(rows)),",
                "interval=wilson_interval(proven, len(graded)),",
                "agents that diverged do not count",
            ),
        ],
    ),
    *mutants(
        "results/grades.py",
        "results/test_grades.py",
        [
            (
                "return self.exact is not None and self.exact.unbeatable",
                "return self.best_known is not None",
                "any grade is a proof",
            ),
            (
                "return self.exact or self.sampled",
                "return self.sampled or self.exact",
                "a sample is preferred to exact results",
            ),
            (
                "wins, draws, losses = ((a + b) / 2 for a, b in pairs)",
                "wins, losses, draws = ((a + b) / 2 for a, b in pairs)",
                "the mean rates of draws and losses are swapped",
            ),
        ],
    ),
)

MUTANTS = (*PROOF, *EVALUATION)
