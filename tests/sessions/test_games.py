"""Games as data; `test_game_routes` plays many of them by HTTP."""

import numpy as np
import pytest
import rules
import served

from jax_ttt.serving.replies import Refusal
from jax_ttt.sessions import games as module
from jax_ttt.sessions.games import Opponent


def test_a_game_goes_in_turns_until_it_is_over(games, perfect):
    game = games.start(perfect, "o")
    assert len(game.moves) == 1, "X has moved"
    while games.result(game) is None:
        board = served.board_after(game.moves)
        games.play_square(game.id, len(game.moves), rules.best_moves(board)[0])
        served.check_game(games.as_fields(game))
    assert games.result(game) == "drawn"
    assert games.to_move(game) is None


@pytest.mark.parametrize(
    ("moves", "side", "result"),
    [
        ((0, 3, 1, 4, 2), "x", "won"),
        ((0, 3, 1, 4, 2), "o", "lost"),
        ((0, 1, 2, 4, 3, 5, 7, 6, 8), "x", "drawn"),
    ],
)
def test_results_are_those_of_the_persons_side(
    games, perfect, host_tree, moves, side, result
):
    game = games.start(perfect, side)
    game.moves, game.positions = [], [0]
    for move in moves:
        game.positions.append(int(host_tree.successor[game.positions[-1], move]))
        game.moves.append(move)
    assert games.result(game) == result
    won = rules.winner(served.board_after(moves))
    assert (won is None) == (result == "drawn")


def test_the_policy_chooses_the_reply(games, host_tree):
    """A move of probability 0 is never played."""
    legal = host_tree.legal_action_mask
    last = (legal[:, ::-1].cumsum(axis=1)[:, ::-1] == 1) & legal
    game = games.start(Opponent({}, last.astype(float)), "x")
    games.play_square(game.id, 0, 4)
    assert game.moves == [4, 8]
    even = Opponent({}, legal / legal.sum(axis=1, keepdims=True).clip(1))
    first = {games.start(even, "o").moves[0] for _ in range(200)}
    assert first == {*range(9)}


def test_ids_can_not_be_guessed(games, perfect):
    ids = {games.start(perfect, "x").id for _ in range(100)}
    assert len(ids) == 100
    assert min(map(len, ids)) >= 22


def test_the_game_that_was_used_least_recently_goes(games, perfect, monkeypatch):
    monkeypatch.setattr(module, "MOST_GAMES", 3)
    first, second, third = (games.start(perfect, "x") for _ in range(3))
    games.find(first.id)
    games.start(perfect, "x")
    assert len(games) == 3
    assert games.find(first.id) is first
    assert games.find(third.id) is third
    with pytest.raises(Refusal) as refusal:
        games.find(second.id)
    assert refusal.value.status == 404


def test_a_game_without_requests_expires(games, perfect, clock):
    old, used = games.start(perfect, "x"), games.start(perfect, "x")
    clock.now += module.KEPT_SECONDS - 1
    games.find(used.id)
    clock.now += 2
    games.find(used.id)
    with pytest.raises(Refusal):
        games.find(old.id)
    games.start(perfect, "x")
    assert len(games) == 2, "the old one is forgotten"


@pytest.mark.slow
def test_100_000_games_are_started_and_few_kept(games, perfect):
    for _ in range(100_000):
        games.start(perfect, "o")
    assert len(games) == module.MOST_GAMES


def test_undo_goes_to_the_persons_latest_turn(games, perfect):
    game = games.start(perfect, "x")
    with pytest.raises(Refusal):
        games.undo_move(game.id, 0)
    games.play_square(game.id, 0, 4)
    games.play_square(
        game.id, 2, next(iter(rules.moves(served.board_after(game.moves))))
    )
    games.undo_move(game.id, len(game.moves))
    assert len(game.moves) == 2
    assert len(game.positions) == 3
    games.undo_move(game.id, 2)
    assert (game.moves, game.positions) == ([], [0])


def test_a_refused_request_changes_nothing(games, perfect):
    game = games.start(perfect, "o")
    before = games.as_fields(game)
    taken = game.moves[0]
    for ply, square, status in (
        (1, 9, 400),
        (1, -1, 400),
        (0, 4, 409),
        (2, 4, 409),
        (1, taken, 409),
    ):
        with pytest.raises(Refusal) as refusal:
            games.play_square(game.id, ply, square)
        assert refusal.value.status == status
        assert games.as_fields(game) == before


def test_policies_are_not_rounded(host_tree, games):
    """`Generator.choice` refuses probabilities that don't add up to 1."""
    thirds = np.where(host_tree.legal_action_mask, 1 / 3, 0.0)
    thirds /= thirds.sum(axis=1, keepdims=True).clip(1e-9)
    for _ in range(50):
        games.start(Opponent({}, thirds), "o")


def test_a_move_after_the_end_is_told_that_the_game_is_over(games, perfect):
    game = games.start(perfect, "x")
    while games.result(game) is None:
        board = served.board_after(game.moves)
        games.play_square(game.id, len(game.moves), rules.best_moves(board)[0])
    with pytest.raises(Refusal, match="the game is over"):
        games.play_square(game.id, len(game.moves), game.moves[0])
