"""Games as data; `test_game_routes` plays many of them by HTTP."""

import numpy as np
import pytest

from jax_ttt.serving.replies import Refusal
from jax_ttt.sessions import games as module
from jax_ttt.sessions.games import Opponent


def test_the_policy_chooses_the_reply(games, host_tree):
    """A move of probability 0 is never played."""
    legal = host_tree.legal_action_mask
    last = (legal[:, ::-1].cumsum(axis=1)[:, ::-1] == 1) & legal
    game = games.start(Opponent({}, last.astype(float)), "x")
    games.play_square(game.id, 0, 4)
    assert game.game.moves == (4, 8)
    even = Opponent({}, legal / legal.sum(axis=1, keepdims=True).clip(1))
    first = {games.start(even, "o").game.moves[0] for _ in range(200)}
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


def test_policies_are_not_rounded(host_tree, games):
    """`Generator.choice` refuses probabilities that don't add up to 1."""
    thirds = np.where(host_tree.legal_action_mask, 1 / 3, 0.0)
    thirds /= thirds.sum(axis=1, keepdims=True).clip(1e-9)
    for _ in range(50):
        games.start(Opponent({}, thirds), "o")
