"""Cross tables: exact where possible, else sampled and marked as sampled."""

import jax
import made
import numpy as np
import pytest

from jax_ttt.api.cross_table import CrossTable
from jax_ttt.config.player_kinds import BUILT_IN
from jax_ttt.grading import round_robin
from jax_ttt.players import registry
from jax_ttt.players.player import Player, random_player
from jax_ttt.solver import outcomes

ENV = "tic_tac_toe"


def players_of(*specs):
    key = jax.random.key(0)
    return [
        registry.make_player(registry.read_player_name(spec), ENV, key)
        for spec in specs
    ]


def table_of(players, key, num_games):
    """Return the cross table of players of tic-tac-toe."""
    return CrossTable(
        env_id=ENV,
        names=tuple(player.name for player in players),
        pairs=round_robin.play_round_robin(players, ENV, key, num_games),
    )


def test_known_policies_meet_exactly_and_are_ranked_by_strength(host_tree):
    players = players_of(*(name for name in BUILT_IN if not name.startswith("mcts")))
    table = table_of(players, jax.random.key(1), 10)
    assert all(pair.is_exact for pair in table.pairs)
    assert table.names == tuple(player.name for player in players)
    for row, column in ((0, 1), (1, 0), (2, 2)):
        first, second = players[row].policy, players[column].policy
        assert first is not None
        assert second is not None
        expected = outcomes.outcome(host_tree, first, second)
        np.testing.assert_allclose(table.rates[row, column], expected, atol=1e-12)
    ranked = [ranked.player for ranked in table.ranking]
    assert sorted(ranked) == sorted(table.names)
    assert ranked[-2:] == ["blend:0.7:minimax", "random"]
    assert table.names[0] == "random"
    assert table.ranking[-1].score == pytest.approx(table.scores[0, 1:].mean())
    elo = dict(zip(table.names, round_robin.ratings(table.scores), strict=True))
    assert all(ranked.elo == elo[ranked.player] for ranked in table.ranking)


def test_players_entered_twice_play_different_games():
    random = Player(env_id=ENV, name="random", choose=random_player)
    table = table_of([random] * 2, jax.random.key(5), 256)
    assert not any(pair.is_exact for pair in table.pairs)
    assert len({pair.rates for pair in table.pairs}) == 4
    rates = np.broadcast_to([0.58492, 0.12698, 0.2881], (2, 2, 3))
    np.testing.assert_allclose(table.rates, rates, atol=0.12)


def test_a_score_is_the_mean_of_two_different_seats():
    """A scores 0.7 as X and 0.8 as O; B scores 0.2 as X and 0.3 as O."""
    drawn, a_first, b_first = (0, 1, 0), (0.6, 0.2, 0.2), (0.1, 0.2, 0.7)
    table = made.cross_table("AB", [[drawn, a_first], [b_first, drawn]])
    np.testing.assert_allclose(table.scores, [[0.5, 0.75], [0.25, 0.5]])
    assert [(ranked.player, ranked.score) for ranked in table.ranking] == [
        ("A", pytest.approx(0.75)),
        ("B", pytest.approx(0.25)),
    ]


def test_ratings_by_hand():
    # Odds of 10 to 1, mixed with 1% of a draw: 400 log10(0.905 / 0.095).
    scores = np.array([[0.5, 10 / 11], [1 / 11, 0.5]])
    odds = (0.99 * 10 / 11 + 0.005) / (0.99 / 11 + 0.005)
    half = 200 * np.log10(odds)
    np.testing.assert_allclose(round_robin.ratings(scores), [half, -half], atol=1e-3)
    assert round_robin.ratings(np.array([[0.5]])).tolist() == [0]
    always = round_robin.ratings(np.array([[0.5, 1.0], [0.0, 0.5]]))
    assert 300 < always[0] < 1000


def test_ratings_explain_scores_made_from_ratings():
    true = np.array([300.0, 0.0, -100.0, -200.0])
    expected = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    scores = (expected - 0.005) / 0.99  # mixing in 1% of a draw gives `expected`
    np.testing.assert_allclose(round_robin.ratings(scores), true, atol=1e-3)
