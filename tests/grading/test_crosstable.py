"""Cross tables: exact where possible, else sampled and marked as sampled."""

import jax
import made
import numpy as np
import pytest

from jax_ttt.grading import crosstable
from jax_ttt.grading.grade import SeatGrade
from jax_ttt.players import basic, names, registry
from jax_ttt.players.player import Player
from jax_ttt.solver import outcomes

ENV = "tic_tac_toe"


def enter(*chosen):
    key = jax.random.key(0)
    return [
        registry.make_player(names.read_name(name, ENV), ENV, key) for name in chosen
    ]


@pytest.fixture(scope="module")
def table():
    """Return the round robin of all built-in players with a known policy."""
    everyone = enter(*(name for name in names.BUILT_IN if name != "mcts-online"))
    return crosstable.round_robin(everyone, ENV, jax.random.key(1), 10)


def test_known_policies_meet_exactly(table, host_tree):
    everyone = enter(*table.names)
    assert not table.sampled.any()
    for row, first in enumerate(everyone):
        for column, second in enumerate(everyone):
            assert first.policy is not None
            assert second.policy is not None
            expected = outcomes.outcome(host_tree, first.policy, second.policy)
            np.testing.assert_allclose(table.rates[row, column], expected, atol=1e-12)


@pytest.fixture(scope="module")
def mixed():
    """Return a table of a known policy and a search without one."""
    pair = enter("minimax", "mcts-online:30")
    return crosstable.round_robin(pair, ENV, jax.random.key(2), 64)


@pytest.mark.slow
def test_pairs_of_unknown_policies_are_sampled_and_marked(mixed):
    assert mixed.sampled.tolist() == [[False, True], [True, True]]
    assert mixed.counts.sum(axis=-1).tolist() == [[0, 64], [64, 64]]
    np.testing.assert_allclose(mixed.rates.sum(axis=-1), 1)
    assert mixed.rates[0, 1, 2] == 0  # minimax never loses
    assert mixed.rates[1, 0, 0] == 0
    for row, column in ((0, 1), (1, 0), (1, 1)):
        for rate, low, high in mixed.pairs[row][column].rates:
            assert 0 <= low <= rate <= high <= 1
            assert high - low > 0.03
    np.testing.assert_allclose(mixed.pairs[0][0].draw, [1, 1, 1])


def test_players_entered_twice_play_different_games():
    twice = [Player(env_id=ENV, name="random", choose=basic.random_player)] * 2
    table = crosstable.round_robin(twice, ENV, jax.random.key(5), 256)
    assert table.sampled.all()
    assert len({tuple(row) for row in table.counts.reshape(4, 3).tolist()}) == 4
    np.testing.assert_allclose(
        table.rates, np.broadcast_to([0.58492, 0.12698, 0.2881], (2, 2, 3)), atol=0.12
    )


def test_the_order_is_by_strength(table):
    ranked = [ranked.player for ranked in table.ranking]
    assert sorted(ranked) == sorted(table.names)
    assert ranked[-2:] == ["blend:0.7:minimax", "random"]
    assert table.names[0] == "random"
    others = [table.scores[0, j] for j in range(1, len(table.names))]
    assert table.ranking[-1].score == pytest.approx(np.mean(others))
    elo = dict(zip(table.names, crosstable.ratings(table.scores), strict=True))
    assert all(ranked.elo == elo[ranked.player] for ranked in table.ranking)


@pytest.mark.slow
def test_a_score_is_the_mean_of_two_different_seats():
    """A scores 0.7 as X and 0.8 as O; B scores 0.2 as X and 0.3 as O."""
    drawn, a_first, b_first = (
        SeatGrade(**made.rates(*rates))
        for rates in ((0, 1, 0), (0.6, 0.2, 0.2), (0.1, 0.2, 0.7))
    )
    pairs = ((drawn, a_first), (b_first, drawn))
    table = crosstable.CrossTable(("A", "B"), pairs)
    np.testing.assert_allclose(table.scores, [[0.5, 0.75], [0.25, 0.5]])
    assert [(found.player, found.score) for found in table.ranking] == [
        ("A", pytest.approx(0.75)),
        ("B", pytest.approx(0.25)),
    ]


def test_ratings_by_hand():
    # Odds of 10 to 1, mixed with 1 % of a draw: 400 log10(0.905 / 0.095).
    scores = np.array([[0.5, 10 / 11], [1 / 11, 0.5]])
    odds = (0.99 * 10 / 11 + 0.005) / (0.99 / 11 + 0.005)
    half = 200 * np.log10(odds)
    np.testing.assert_allclose(crosstable.ratings(scores), [half, -half], atol=1e-3)
    np.testing.assert_allclose(crosstable.ratings(np.full((3, 3), 0.5)), 0, atol=1e-6)
    assert crosstable.ratings(np.array([[0.5]])).tolist() == [0]


def test_ratings_explain_scores_made_from_ratings():
    true = np.array([300.0, 0.0, -100.0, -200.0])
    expected = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    scores = (expected - 0.005) / 0.99  # mixing in 1 % of a draw gives `expected`
    np.testing.assert_allclose(crosstable.ratings(scores), true, atol=1e-3)


def test_a_player_that_always_wins_has_a_finite_rating():
    rating = crosstable.ratings(np.array([[0.5, 1.0], [0.0, 0.5]]))
    assert 300 < rating[0] < 1000
