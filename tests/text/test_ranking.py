"""A cross table as text."""

import dataclasses
import re

import made
import numpy as np
import pytest

from jax_ttt.grading.crosstable import CrossTable
from jax_ttt.grading.grade import sampled_seat
from jax_ttt.text import summary_tables


def test_a_table_its_intervals_and_its_order(snapshot):
    """A wins 6 of 10 sampled games as X and draws 2; all other results are exact."""
    rates = [[[0, 1, 0], [0.6, 0.2, 0.2]], [[0.1, 0.4, 0.5], [0, 1, 0]]]
    exact = CrossTable(("A", "Bob"), made.pairs(rates))
    (own, _), second = exact.pairs
    sampled = (own, sampled_seat([6, 2, 2])), second
    table = dataclasses.replace(exact, pairs=sampled)
    assert summary_tables.cross_table_text("tic_tac_toe", table) == snapshot
    assert "interval" not in summary_tables.cross_table_text("connect_four", exact)


@pytest.mark.parametrize("size", [1, 30])
def test_a_table_fits_100_columns(size):
    long = "folder/" * 10 + "run"
    names = (long, *(f"blend:0.{i}:minimax" for i in range(1, size)))
    rates = np.full((size, size, 3), 1 / 3)
    (*known, _), *rows = made.pairs(rates)
    sampled = sampled_seat([2**20, 2**20, 2**20])
    table = CrossTable(names, ((*known, sampled), *rows))
    text = summary_tables.cross_table_text("tic_tac_toe", table)
    lines = text.splitlines()
    assert max(len(line.removesuffix(long)) for line in lines) <= 100
    heads = [word for line in lines for word in re.findall(r"vs\. (\d+)(?= |$)", line)]
    assert heads == [str(number + 1) for number in range(size)]
    rows = [line for line in lines if line.startswith("1 ...")]
    assert sum(line.count("33.3/33.3/33.3") for line in rows) == size
    assert lines[-size].endswith(f"  {long}"), "the order has the whole name"
