"""Cross tables: exact where possible, else sampled and marked as sampled."""

import jax
import numpy as np
import pytest

from jax_ttt.grading import crosstable
from jax_ttt.players import names, players, registry
from jax_ttt.solver import outcomes

ENV = "tic_tac_toe"


def enter(*chosen):
    key = jax.random.key(0)
    return [registry.enter(names.read_name(name, ENV), ENV, key) for name in chosen]


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
            assert first.probs is not None
            assert second.probs is not None
            expected = outcomes.outcome(host_tree, first.probs, second.probs)
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
        low, high = mixed.interval(row, column)
        for rate, a, b in zip(mixed.rates[row, column], low, high, strict=True):
            assert 0 <= a <= rate <= b <= 1
            assert b - a > 0.03
    np.testing.assert_allclose(mixed.interval(0, 0), [[0, 1, 0], [0, 1, 0]])


def test_players_entered_twice_play_different_games():
    twice = [registry.Entrant("random", players.random_player, None)] * 2
    table = crosstable.round_robin(twice, ENV, jax.random.key(5), 256)
    assert table.sampled.all()
    assert len({tuple(row) for row in table.counts.reshape(4, 3).tolist()}) == 4
    np.testing.assert_allclose(
        table.rates, np.broadcast_to([0.58492, 0.12698, 0.2881], (2, 2, 3)), atol=0.12
    )


def test_the_order_is_by_strength(table):
    assert [table.names[i] for i, _, _ in table.order][-2:] == [
        "blend:0.7:minimax",
        "random",
    ]
    scores = {table.names[i]: score for i, _, score in table.order}
    others = [table.scores[0, j] for j in range(1, len(table.names))]
    assert scores["random"] == pytest.approx(np.mean(others))


@pytest.mark.slow
def test_a_score_is_the_mean_of_two_different_seats():
    """A scores 0.7 as X and 0.8 as O; B scores 0.2 as X and 0.3 as O."""
    rates = np.zeros((2, 2, 3))
    rates[:] = [0, 1, 0]
    rates[0, 1] = [0.6, 0.2, 0.2]
    rates[1, 0] = [0.1, 0.2, 0.7]
    table = crosstable.CrossTable(("A", "B"), rates, np.zeros((2, 2, 3), int))
    np.testing.assert_allclose(table.scores, [[0.5, 0.75], [0.25, 0.5]])
