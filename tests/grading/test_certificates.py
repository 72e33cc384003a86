"""The moves of a certificate, compared with an independent implementation."""

import numpy as np
import pytest
import rules

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS
from jax_ttt.grading import certificates
from jax_ttt.players.player import Player, random_player
from jax_ttt.solver import policies

STONES = {"first": "X", "second": "O"}


@pytest.fixture(scope="module")
def perfect(host_tree):
    """Return the policy that plays the first best move."""
    return policies.minimax_policy(host_tree, first_best=True)


def proven_moves(probs, seats=SEATS):
    """Return the moves of a policy, and which seats are left out."""
    player = Player(
        env_id="tic_tac_toe",
        name="player",
        choose=random_player,
        policy=probs,
        seats=seats,
        evidence="construction",
    )
    return certificates.proven_moves(player)


@pytest.mark.parametrize(("good", "bad"), [SEATS, SEATS[::-1]])
def test_a_seat_that_is_beatable_is_left_out_and_named(good, bad, perfect, host_tree):
    is_good_seat = host_tree.turns_of(good)[:, None]
    first = policies.share_equally(policies.first_marked(host_tree.legal_action_mask))
    probs = np.where(is_good_seat, perfect, first)
    moves, missing = proven_moves(probs)
    assert list(moves) == [good]
    start, _, game = missing.partition(" it loses the game ")
    assert start == f"as {STONES[bad]}"
    board = "-" * 9
    for move in game.split():
        assert move[0] == rules.mover(board)
        board = rules.after(board, int(move[1]))
    assert rules.winner(board) == STONES[good]
    with pytest.raises(Refused, match=f"no certificate: as {STONES[bad]} it loses"):
        proven_moves(probs, (bad,))


def test_a_player_with_several_moves_is_refused(perfect, host_tree, position):
    refusal = "as X it has more than one move on ---------; as O it has more than one"
    with pytest.raises(Refused, match=refusal):
        proven_moves(policies.minimax_policy(host_tree))
    # Several moves where the player never comes to do no harm.
    never = perfect.copy()
    never[position["----X----"]] *= 0.5  # the first best move of X is 0
    never[position["O---X----"]] = np.eye(9)[[1, 2]].mean(axis=0)
    moves, missing = proven_moves(never)
    assert (list(moves), missing) == (["first", "second"], "")
    # However rare a second move is: the second chance is 0 in float32.
    for chance in (1e-12, 1e-60):
        rare = perfect.copy()
        rare[0] = np.eye(9)[0] * (1 - chance) + np.eye(9)[8] * chance
        moves, missing = proven_moves(rare)
        assert list(moves) == ["second"]
        assert missing == "as X it has more than one move on ---------"
