"""Records are written as JSON and read back; wrong objects are errors."""

import dataclasses
import json
from typing import ClassVar, Literal

import pytest

from jax_ttt.results import plain


@dataclasses.dataclass(frozen=True)
class Part:
    """A record inside another."""

    OLD_NAMES: ClassVar = {"size": "length"}

    size: float
    kind: Literal["a", "b"] = "a"


@dataclasses.dataclass(frozen=True)
class Whole:
    """A record with every kind of field."""

    name: str
    count: int
    good: bool
    part: Part
    ends: tuple[float, float]
    parts: tuple[Part, ...] = ()
    more: Part | None = None


WHOLE = Whole("x", 3, True, Part(0.5, "b"), (0.25, 1.0), (Part(1.0), Part(2.0)))
OBJECT = {
    **{"name": "x", "count": 3, "good": True, "part": {"size": 0.5, "kind": "b"}},
    "ends": [0.25, 1.0],
    "parts": [{"size": 1.0, "kind": "a"}, {"size": 2.0, "kind": "a"}],
}


def test_a_record_is_written_and_read_back():
    assert plain.to_dict(WHOLE) == OBJECT
    assert plain.record_from_dict(Whole, json.loads(json.dumps(OBJECT))) == WHOLE


def test_a_field_that_is_none_is_not_written_but_none_in_a_list_is():
    assert "more" not in plain.to_dict(WHOLE)
    assert plain.record_from_dict(Whole, OBJECT | {"more": None}).more is None
    more = dataclasses.replace(WHOLE, more=Part(1.5))
    assert plain.to_dict(more)["more"] == {"size": 1.5, "kind": "a"}

    @dataclasses.dataclass(frozen=True)
    class Lists:
        """None inside a tuple and a dictionary."""

        values: tuple[float | None, ...]
        named: dict[str, object]

    lists = Lists((None, 0.5), {"first_move": None, "part": Part(1.0)})
    assert plain.to_dict(lists) == {
        "values": [None, 0.5],
        "named": {"first_move": None, "part": {"size": 1.0, "kind": "a"}},
    }


def test_whole_numbers_are_numbers_and_earlier_names_are_read():
    assert plain.record_from_dict(Part, {"size": 1}) == Part(1.0)
    assert type(plain.record_from_dict(Part, {"size": 1}).size) is float
    found = plain.record_from_dict(Whole, OBJECT | {"count": 3.0})
    assert type(found.count) is int
    assert plain.record_from_dict(Part, {"length": 2.0}) == Part(2.0)
    assert plain.record_from_dict(Part, {"length": 2.0, "size": 1.0}) == Part(1.0)
    assert plain.record_from_dict(Part, {"size": 1.0, "of a later version": 3}) == Part(
        1.0
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, "name must be a text, got 3"),
        ({"count": True}, "count must be a whole number, got True"),
        ({"count": 0.5}, "count must be a whole number, got 0.5"),
        ({"good": 1}, "good must be true or false, got 1"),
        ({"part": {}}, "part.size is missing"),
        ({"part": {"size": "1"}}, "part.size must be a number, got '1'"),
        ({"part": {"size": 1, "kind": "c"}}, "part.kind must be one of a, b, got 'c'"),
        ({"ends": [1.0]}, "ends must have 2 parts"),
        ({"ends": [0.5, None]}, r"ends\[1\] must be a number, got None"),
        ({"parts": [{"size": 1}, {}]}, r"parts\[1\].size is missing"),
    ],
)
def test_a_wrong_field_is_an_error(changes, message):
    with pytest.raises(ValueError, match=message):
        plain.record_from_dict(Whole, OBJECT | changes)


def test_flattening_joins_names_and_splits_intervals():
    value = {"a": {"b": {"c": 1}, "d": [0.25, 0.5]}, "e": "x", "f": [1, 2, 3]}
    assert plain.flattened(value, "/") == {
        **{"a/b/c": 1, "a/d_low": 0.25, "a/d_high": 0.5},
        **{"e": "x", "f": [1, 2, 3]},
    }


def test_a_field_of_a_json_object_has_the_type_that_is_asked_for():
    assert plain.field({"seed": 3}, "seed", int) == 3
    with pytest.raises(TypeError, match="seed must be a whole number, got '3'"):
        plain.field({"seed": "3"}, "seed", int)
    with pytest.raises(KeyError, match="seed"):
        plain.field({}, "seed", int)
