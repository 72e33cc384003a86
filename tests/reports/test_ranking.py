"""A cross table as text."""

import re

import numpy as np
import pytest

from jax_ttt.evaluation.crosstable import CrossTable
from jax_ttt.reports import ranking


def test_a_table_its_interval_and_its_order_word_for_word():
    """A wins 6 of 10 sampled games as X and draws 2; all other results are exact."""
    rates = np.array([[[0, 1, 0], [0.6, 0.2, 0.2]], [[0.1, 0.4, 0.5], [0, 1, 0]]])
    counts = np.zeros((2, 2, 3), int)
    counts[0, 1] = [6, 2, 2]
    text = ranking.cross_table_text(
        "tic_tac_toe", CrossTable(("A", "Bob"), rates, counts)
    )
    lines = text.splitlines()
    assert lines[0] == (
        "row as X, column as O: X wins / draws / O wins, in %; "
        "~ sampled, all others exact"
    )
    assert lines[1].split() == ["vs.", "1", "vs.", "2"]
    assert lines[2].split() == ["1", "A", "0.0/100.0/0.0", "~60.0/20.0/20.0"]
    assert lines[3].split() == ["2", "Bob", "10.0/40.0/50.0", "0.0/100.0/0.0"]
    assert lines[4:7] == [
        "",
        "95 % intervals, in %",
        "~ 1 vs. 2, 10 games: X wins 31.3 to 83.2, draws 5.7 to 51.0, "
        "O wins 5.7 to 51.0",
    ]
    assert lines[8:] == [
        "Elo-like order   Elo  score vs. all others  player",
        " 1.              +73                70.00%  A",
        " 2.              -73                30.00%  Bob",
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 30])
@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_four"])
def test_a_table_fits_100_columns(size, env_id):
    long = "folder/" * 10 + "run"
    names = (long, *(f"blend:0.{i}:minimax" for i in range(1, size)))
    rates = np.full((size, size, 3), 1 / 3)
    counts = np.zeros((size, size, 3), int)
    counts[0, size - 1] = 2**20, 2**20, 2**20
    text = ranking.cross_table_text(env_id, CrossTable(names, rates, counts))
    lines = text.splitlines()
    assert max(len(line.removesuffix(long)) for line in lines) <= 100
    heads = [word for line in lines for word in re.findall(r"vs\. (\d+)(?= |$)", line)]
    assert heads == [str(number + 1) for number in range(size)]
    rows = [line for line in lines if line.startswith("1 ...")]
    assert sum(line.count("33.3/33.3/33.3") for line in rows) == size
    assert "/folder/run " in rows[0]
    assert lines[-size].endswith(f"  {long}"), "the order has the whole name"


def test_an_exact_table_has_no_intervals():
    rates = np.full((2, 2, 3), 1 / 3)
    table = CrossTable(("A", "B"), rates, np.zeros((2, 2, 3), int))
    text = ranking.cross_table_text("connect_four", table)
    assert "interval" not in text
    assert text.startswith("row as first, column as second: first wins / draws / ")
