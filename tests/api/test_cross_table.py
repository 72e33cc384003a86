"""The cross table: every form of a player, printed, shown, drawn."""

import re

import jax
import made
import numpy as np
import pytest

import jax_ttt


def first_free(env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


@pytest.fixture(scope="module")
def table(agent):
    return jax_ttt.cross_table([agent, "random", first_free, any_free], num_games=64)


def test_only_pairs_with_random_moves_are_sampled(table):
    assert table.names == ("agent of seed 1", "random", "first_free", "any_free")
    exact = [[pair.is_exact for pair in row] for row in table.rows]
    assert exact == [[True, True, True, False]] * 3 + [[False] * 4]
    assert table.ranking[0].player == "agent of seed 1"


def test_it_is_shown_and_drawn(table, drawn):
    text = table._repr_html_()
    assert text.count("<tr>") == 5 + 5
    assert "first_free as X" in text
    assert text.count("~") == 1 + 7, "in the title, and for each sampled pair"
    figure = drawn(table.picture)
    assert "first_free" in [t.get_text() for t in figure.axes[0].get_yticklabels()]


def test_a_table_its_intervals_and_its_order(snapshot):
    """A wins 6 of 10 sampled games as X and draws 2; all other results are exact."""
    rates = [[[0, 1, 0], [0.6, 0.2, 0.2]], [[0.1, 0.4, 0.5], [0, 1, 0]]]
    exact = made.cross_table(("A", "Bob"), rates)
    table = made.cross_table(("A", "Bob"), rates, [((0, 1), [6, 2, 2])])
    assert repr(table) == snapshot
    assert "interval" not in repr(exact)


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("size", [4, 8, 30])
def test_a_cross_table_fits_the_terminal(size, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    long = "folder/" * 10 + "run"
    names = (long, *(f"blend:0.{i}:minimax" for i in range(1, size)))
    rates = np.full((size, size, 3), 1 / 3)
    sampled = [((0, size - 1), [2**20, 2**20, 2**20])]
    table = made.cross_table(names, rates, sampled)
    text = repr(table)
    lines = text.splitlines()
    assert max(len(line.removesuffix(long)) for line in lines) <= columns
    heads = re.findall(r"vs\. (\d+)(?= +vs| *$)", text, re.MULTILINE)
    assert heads[:size] == [str(number + 1) for number in range(size)]
    rows = [line for line in lines if line.startswith("1 ...")]
    assert sum(line.count("33.3/33.3/33.3") for line in rows) == size
    ranking = text.partition("\n\n")[0]
    assert all(name in ranking for name in names), "the order has the whole names"
    assert text.index("95% intervals") > text.index("row as X")


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize("players", [[], ["random"], "random", None])
def test_it_needs_players(players):
    with pytest.raises(jax_ttt.Refused, match="needs a list of at least two players"):
        jax_ttt.cross_table(players)
