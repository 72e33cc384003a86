"""Rows of `metrics.jsonl`."""

import made
import pytest

from jax_ttt.files import json_records, metrics_rows

EVALUATED = made.evaluated(5, made.exact((0.5,), (0.25,)), games=7)
CHUNK = made.chunk(5, 7, 3, 2, epsilon=0.25)


@pytest.mark.parametrize("row", [EVALUATED, CHUNK, made.evaluated(0)])
def test_a_row_is_written_and_read_back(row):
    assert metrics_rows.read_row(json_records.to_json(row)) == row


def test_the_last_search_of_each_update_counts():
    cut, whole, later = (
        made.evaluated(update, made.grade({"first": made.reached(**changes)}))
        for update, changes in (
            (5, {"complete": False}),
            (5, {}),
            (9, {"losing_ends": 2}),
        )
    )
    assert metrics_rows.searched_rows([EVALUATED, cut, CHUNK, whole, later]) == [
        whole,
        later,
    ]
    assert metrics_rows.searched_rows([EVALUATED, CHUNK]) == []
