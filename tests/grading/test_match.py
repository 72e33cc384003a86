"""Sampled matches: their seats, and their agreement with exact results."""

import jax
import jax.numpy as jnp
import made
import numpy as np
from jax.tree_util import Partial

from jax_ttt.games import pgx_games, positions, stones
from jax_ttt.grading import match as matches
from jax_ttt.grading.match import MatchCounts, SeatCounts
from jax_ttt.players import basic
from jax_ttt.solver import minimax, outcomes


def test_the_first_player_moves_first(host_tree):
    """PGX's player ids, which are random, don't matter."""
    env = pgx_games.make_env("tic_tac_toe")
    index = positions.position_index("tic_tac_toe")
    best = basic.policy_player(index, minimax.policy(host_tree))
    pair = basic.random_player, best
    counts, moves = matches.play_seats(env, jax.random.key(0), *pair, 400)
    assert sum(map(int, counts)) == 400
    assert counts.won == 0
    assert abs(int(counts.lost) / 400 - 0.77748) < 0.08
    assert 5 * 400 <= int(moves) <= 9 * 400


def test_the_moves_of_both_players_are_counted(row_by_row):
    """Of two players of the first free cell, X wins with its fourth move: 3, 5, 7."""
    env = pgx_games.make_env("tic_tac_toe")
    pair = row_by_row.choose, row_by_row.choose
    counts, moves = matches.play_seats(env, jax.random.key(0), *pair, 3)
    assert counts.won == 3
    assert moves == 3 * 7


def test_sampled_matches_agree_with_exact_results(tree):
    """8 matches of a fixed policy: each seat's counts are inside 99.9 % intervals."""
    obs = np.asarray(stones.cells(tree.obs))
    digits = np.asarray(3 ** np.arange(9), np.float32)
    legal = np.asarray(tree.legal_action_mask)
    chances = np.random.default_rng(11).random(legal.shape) * legal
    action = chances.argmax(axis=1)
    table = np.zeros((19_683 * 2,), np.int32)
    code = (obs @ digits).astype(int) + 9841  # in the view of the player to move
    table[code + 19_683 * ~np.asarray(tree.first_to_move)] = action
    policy = np.eye(9, dtype=np.float32)[action] * legal
    report = jax.jit(outcomes.seat_report)(tree, policy)

    def player(key, env_state):
        del key
        seen = stones.cells(env_state.observation)
        second = (jnp.abs(seen).sum(axis=1) % 2).astype(jnp.int32)
        number = (seen @ jnp.asarray(digits)).astype(jnp.int32) + 9841
        return jnp.asarray(table)[number + 19_683 * second]

    env = pgx_games.make_env("tic_tac_toe")
    pair = Partial(player), basic.random_player
    for seed in range(8):
        match = matches.play_match(env, jax.random.key(seed), *pair, 1024)
        for counts, seat in (
            (match.first, report.first),
            (match.second, report.second),
        ):
            num_games = sum(map(int, counts))
            assert 400 < num_games < 624
            for count, rate in zip(counts, seat.random, strict=True):
                deviation = np.sqrt(num_games * rate * (1 - rate))
                assert abs(int(count) - num_games * rate) <= 3.29 * deviation


def test_a_match_is_reported_by_seat():
    first, second = (SeatCounts(*map(jnp.int32, row)) for row in ((3, 0, 1), (1, 1, 2)))
    found = matches.match_of_counts(MatchCounts(first, second))
    assert found == made.sampled((0.75, 0.0), (0.25, 0.25))
