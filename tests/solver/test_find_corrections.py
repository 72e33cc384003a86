"""Exact play beside brute force, and searches that must begin again."""

import dataclasses
from typing import get_args

import brute_corrections as brute
import numpy as np
import pytest
import rules
import tiny
from jax.tree_util import Partial
from marks import mark_slow

from jax_ttt.config.game_facts import (
    GAMES,
    SEATS,
    Goal,
    reason_goal_is_out_of_reach,
)
from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.games import position_keys
from jax_ttt.games.played_game import Game
from jax_ttt.grading import correcting, search_grade
from jax_ttt.players import registry, saved_agents
from jax_ttt.solver import find_corrections

GOALS: tuple[Goal, ...] = get_args(Goal)


def exact_play(env_id, goal: Goal = "not-lose", **settings):
    """Return exact play, which is asked from the first stone on by default."""
    exact = correcting.exact_play(env_id, goal)
    return dataclasses.replace(exact, **{"first_level": 0} | settings)


def random_boards(game, num_games, rng):
    """Return the boards of random games on which a move must be chosen."""
    boards = {}
    for _ in range(num_games):
        board = game.START
        while moves := game.moves(board):
            boards[board] = None
            board = game.after(board, int(rng.choice(moves)))
    return [*boards]


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("env_id", brute.GAMES)
def test_exact_play_keeps_a_goal_where_brute_force_does(env_id, goal, boards):
    """For any order of the moves; the first stones are as good as the last."""
    game, rng = brute.GAMES[env_id], np.random.default_rng(0)
    if env_id == "tic_tac_toe":
        undecided = [board for board in boards if rules.moves(board)]
    else:
        undecided = random_boards(game, 400, rng)
    num_actions = {"tic_tac_toe": 9, "connect_4x4": 4}[env_id]
    orders = rng.permuted(
        np.tile(np.arange(num_actions, dtype=np.int32), (len(undecided), 1)), axis=1
    )
    keys = np.array([game.key(board) for board in undecided], "u8")
    moves = exact_play(env_id, goal).keeping_moves(keys, orders)
    least = 1 if goal == "win" else 0
    for board, order, move in zip(undecided, orders, moves.tolist(), strict=True):
        legal = [action for action in order if action in game.moves(board)]
        keeping = [action for action in legal if game.worth(board, action) >= least]
        assert move == (keeping or [-1])[0]
    assert {*moves} == {-1, *range(num_actions)}


SMALL = [
    env_id
    for env_id, game in GAMES.items()
    if game.best_result and game.shape[0] * game.shape[1] <= 30
]
"""The games that are solved in a moment; the results of the others are cited."""


@pytest.mark.parametrize("env_id", mark_slow(SMALL, "connect_6x5"))
def test_the_result_with_best_play_is_that_of_exact_play(env_id):
    """A draw: before the first move, one can avoid a loss and can't enforce a win."""
    env_state = Game.start(env_id).state
    keys = position_keys.keys_of(env_id, env_state)
    number = position_keys.keys_to_numbers(np.asarray(keys))
    order = np.arange(env_state.legal_action_mask.shape[1], dtype=np.int32)[None]
    can = {
        goal: exact_play(env_id, goal).keeping_moves(number, order)[0] >= 0
        for goal in GOALS
    }
    best_result = GAMES[env_id].best_result
    assert can == {
        "not-lose": best_result in ("draw", "first"),
        "win": best_result == "first",
    }
    for seat in SEATS:
        for goal in GOALS:
            reason = reason_goal_is_out_of_reach(env_id, seat, goal)
            assert (reason == "") == (goal == "not-lose")


def search(agent, seat, exact, goal: Goal = "not-lose"):
    player = registry.agent_player("x", agent)
    searched = search_grade.searched_player(player, seat)
    is_symmetric = greedy_player.is_symmetric(agent.network)
    return [
        *find_corrections.find_corrections(
            player=dataclasses.replace(searched, merge_symmetric=is_symmetric),
            order_fn=Partial(saved_agents.ordered_actions, agent.network, agent.params),
            exact=exact,
            goal=goal,
        )
    ]


def begins_again(search):
    """Return whether a level comes after one with more stones."""
    stones = [progress.num_stones for progress in search]
    return stones != sorted(stones)


@pytest.mark.parametrize(
    ("env_id", "seat", "first_level"),
    [("tic_tac_toe", "first", 5), ("connect_4x4", "second", 8)],
)
def test_without_exact_play_of_few_stones_a_wrong_move_is_taken_back(
    env_id, seat, first_level
):
    """The moves that cannot be judged are the player's own, unless one proves wrong."""
    agent = tiny.untrained(Config.of(env_id=env_id, hidden_size=8, canonical=False))
    game = brute.GAMES[env_id]
    asked = search(agent, seat, exact_play(env_id))
    late = search(agent, seat, exact_play(env_id, first_level=first_level))
    assert not begins_again(asked)
    assert begins_again(late)
    corrected = {}
    for level in late[-1].levels:
        corrected |= zip(level.keys.tolist(), level.actions.tolist(), strict=True)
    played = set()

    def choose(board, order):
        key = game.key(board)
        if key not in corrected:
            return order[0]
        assert corrected[key] != order[0]
        played.add(key)
        return corrected[key]

    assert brute.is_reached_by(agent, choose, seat)
    assert played == corrected.keys()
    stones = [level.counts.num_stones for level in late[-1].levels]
    assert {number % 2 for number in stones} == {SEATS.index(seat)}
    assert stones == sorted(stones)


@pytest.mark.parametrize("first_level", mark_slow([0, 5], 5))
def test_a_goal_out_of_reach_is_an_error(first_level):
    """Tic-tac-toe is a draw, so nobody wins every game."""
    agent = tiny.untrained(Config.of(hidden_size=8, canonical=False))
    exact = exact_play("tic_tac_toe", "win", first_level=first_level)
    for seat in SEATS:
        with pytest.raises(RuntimeError, match="can't be reached"):
            search(agent, seat, exact, "win")
