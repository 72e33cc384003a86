"""Rows of `metrics.jsonl` of this and earlier versions."""

import contextlib
import json

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_ttt.results import plain, rows

EVALUATED = made.evaluated(5, games=7, exact=made.exact((0.5,), (0.25,)))
CHUNK = made.chunk(5, 7, 3, 2, epsilon=0.25)


@pytest.mark.parametrize("row", [EVALUATED, CHUNK, made.evaluated(0)])
def test_a_row_is_written_and_read_back(row):
    text = json.dumps(plain.to_dict(row))
    assert rows.read_row(json.loads(text)) == row
    kind = "chunk" if row is CHUNK else "evaluation"
    assert text.startswith(f'{{"event": "{kind}", "update": ')


def test_a_row_of_an_earlier_version_is_read():
    """There `rows` is a float, and a seat is named `as_first`."""
    value = plain.to_dict(CHUNK) | {"rows": 0.0}
    assert rows.read_row(value) == CHUNK
    value = json.loads(json.dumps(plain.to_dict(EVALUATED)))
    exact = value["exact"]
    exact["as_first"], exact["as_second"] = exact.pop("first"), exact.pop("second")
    assert rows.read_row(value) == EVALUATED


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (7, "must be an object"),
        ({}, "event is missing"),
        ({"event": "end"}, "event must be one of chunk, evaluation, got 'end'"),
        ({"event": "chunk"}, "update is missing"),
        (plain.to_dict(CHUNK) | {"loss": None}, "loss must be a number, got None"),
    ],
)
def test_a_wrong_row_is_an_error(value, message):
    with pytest.raises(ValueError, match=message):
        rows.read_row(value)


ROW = plain.to_dict(EVALUATED) | plain.to_dict(CHUNK)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.sampled_from(sorted(ROW)), part),
)


@pytest.mark.slow
@given(changes=st.dictionaries(st.sampled_from(sorted(ROW)), ANY), kind=st.booleans())
def test_any_row_is_read_or_refused(changes, kind):
    with contextlib.suppress(ValueError):
        rows.read_row(plain.to_dict(EVALUATED if kind else CHUNK) | changes)


def test_the_last_search_of_each_update_counts():
    cut = made.evaluated(5, reached={"first": made.reached(is_complete=False)})
    whole = made.evaluated(5, reached={"first": made.reached()})
    later = made.evaluated(9, reached={"first": made.reached(losing_ends=2)})
    assert rows.searches([EVALUATED, cut, CHUNK, whole, later]) == [whole, later]
    assert rows.searches([EVALUATED, CHUNK]) == []
