"""Rows of `metrics.jsonl`."""

import contextlib
import json

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_ttt.files import records, rows, run_folder

EVALUATED = made.evaluated(5, made.exact((0.5,), (0.25,)), games=7)
CHUNK = made.chunk(5, 7, 3, 2, epsilon=0.25)


@pytest.mark.parametrize("row", [EVALUATED, CHUNK, made.evaluated(0)])
def test_a_row_is_written_and_read_back(row):
    text = records.to_json(row)
    assert run_folder.read_row(text) == row
    kind = "chunk" if row is CHUNK else "evaluation"
    assert json.loads(text)["event"] == kind


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (7, "object"),
        ({}, "event"),
        ({"event": "end"}, "event"),
        ({"event": "chunk"}, "update"),
        (records.to_dict(CHUNK) | {"loss": None}, "loss"),
    ],
)
def test_a_wrong_row_is_an_error(value, message):
    with pytest.raises(ValueError, match=message):
        run_folder.read_row(json.dumps(value))


ROW = records.to_dict(EVALUATED) | records.to_dict(CHUNK)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.sampled_from(sorted(ROW)), part),
)


@pytest.mark.slow
@given(changes=st.dictionaries(st.sampled_from(sorted(ROW)), ANY), kind=st.booleans())
def test_any_row_is_read_or_refused(changes, kind):
    with contextlib.suppress(ValueError):
        row = records.to_dict(EVALUATED if kind else CHUNK) | changes
        run_folder.read_row(json.dumps(row))


def test_the_last_search_of_each_update_counts():
    cut, whole, later = (
        made.evaluated(update, made.grade({"first": made.reached(**changes)}))
        for update, changes in (
            (5, {"complete": False}),
            (5, {}),
            (9, {"losing_ends": 2}),
        )
    )
    assert rows.searched_rows([EVALUATED, cut, CHUNK, whole, later]) == [whole, later]
    assert rows.searched_rows([EVALUATED, CHUNK]) == []
