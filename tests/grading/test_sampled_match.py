"""Sampled matches: their seats, and their agreement with exact results."""

import chance
import jax
import numpy as np
import pytest

from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.grading import sampled_match as matches
from jax_ttt.players.player import policy_player, random_player
from jax_ttt.solver import outcomes, policies

ENV = pgx_games.make_env("tic_tac_toe")


@pytest.mark.parametrize("seed", range(4))
def test_sampled_matches_agree_with_exact_results(seed, host_tree):
    """PGX's player ids are random; they do not matter."""
    noise = np.random.default_rng(11).random(host_tree.legal_action_mask.shape)
    random = policies.uniform_policy(host_tree)
    action = (noise * host_tree.legal_action_mask)[host_tree.decisions].argmax(axis=1)
    probs = policies.deterministic_policy(host_tree, action)
    index = trees.position_index("tic_tac_toe")
    player = policy_player(index, probs)
    match, _ = matches.play_match(
        ENV, jax.random.key(seed), player, random_player, 1024
    )
    as_first, as_second = match.tolist()
    assert 400 < sum(as_first) < 624
    assert sum(as_first) + sum(as_second) == 1024
    assert chance.within(as_first, outcomes.outcome(host_tree, probs, random))
    assert chance.within(as_second, outcomes.outcome(host_tree, random, probs)[::-1])


def test_the_first_player_moves_first(host_tree):
    index = trees.position_index("tic_tac_toe")
    best = policy_player(index, policies.minimax_policy(host_tree))
    (counts, in_other_seat), num_moves = matches.play_match(
        ENV, jax.random.key(0), random_player, best, 400, "first"
    )
    assert (int(counts.sum()), in_other_seat.tolist()) == (400, [0, 0, 0])
    assert chance.within(counts, (0, 0.22252, 0.77748))
    assert 5 * 400 <= int(num_moves) <= 9 * 400


def test_the_moves_of_both_players_are_counted(row_by_row):
    """Of two players of the first free cell, X wins with its fourth move: 3, 5, 7."""
    choose = row_by_row.choose
    counts, num_moves = matches.play_match(
        ENV, jax.random.key(0), choose, choose, 3, "first"
    )
    assert counts[0].tolist() == [3, 0, 0]
    assert num_moves == 3 * 7
