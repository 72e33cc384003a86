"""Records are written as JSON and read back; wrong objects are errors."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Literal

import pytest

from jax_ttt.config.settings import Config
from jax_ttt.files import json_records


@dataclasses.dataclass(frozen=True)
class Part:
    """A record inside another."""

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
    "name": "x",
    "count": 3,
    "good": True,
    "part": {"size": 0.5, "kind": "b"},
    "ends": [0.25, 1.0],
    "parts": [{"size": 1.0, "kind": "a"}, {"size": 2.0, "kind": "a"}],
}


def test_a_record_is_written_and_read_back():
    assert json_records.to_dict(WHOLE) == OBJECT
    assert json.loads(json_records.to_json(WHOLE)) == OBJECT
    assert json_records.from_dict(Whole, OBJECT) == WHOLE
    text = json_records.to_json(WHOLE)
    assert json_records.from_json(Whole, text) == WHOLE
    assert json_records.from_json(dict[str, object], text) == OBJECT


def test_a_field_that_is_none_is_not_written_but_none_within_a_value_is():
    assert json_records.from_dict(Whole, OBJECT | {"more": None}).more is None
    more = dataclasses.replace(WHOLE, more=Part(1.5))
    assert json_records.to_dict(more)["more"] == {"size": 1.5, "kind": "a"}

    @dataclasses.dataclass(frozen=True)
    class Lists:
        """None inside a tuple and a dictionary."""

        values: tuple[float | None, ...]
        named: dict[str, object]

    lists = Lists((None, 0.5), {"first_move": None, "part": Part(1.0)})
    assert json_records.to_dict(lists) == {
        "values": [None, 0.5],
        "named": {"first_move": None, "part": {"size": 1.0, "kind": "a"}},
    }


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_not_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_records.to_json(Part(number))


def test_whole_numbers_are_numbers_and_unknown_fields_are_ignored():
    assert type(json_records.from_dict(Part, {"size": 1}).size) is float
    later = {"size": 1.0, "of a later version": 3}
    assert json_records.from_dict(Part, later) == Part(1.0)
    assert json_records.from_json(Part, json.dumps(later).encode()) == Part(1.0)


def test_flattening_joins_names():
    value = {"a": {"b": {"c": 1}, "d": [0.25, 0.5]}, "e": "x"}
    flat = {"a/b/c": 1, "a/d": [0.25, 0.5], "e": "x"}
    assert json_records.flatten_record(value, "/") == flat


@dataclasses.dataclass(frozen=True)
class Settled:
    """A record with settings."""

    config: Config


@dataclasses.dataclass(frozen=True)
class Deeper:
    """A record with settings inside another."""

    settled: Settled


def test_settings_are_written_and_read_back():
    config = Config.of(tau=1, gamma=1.0, env_id="hex", eval_games=None)
    fields = json_records.to_dict(config)
    assert json_records.to_dict(Settled(config)) == {"config": fields}
    names = [field.name for field in dataclasses.fields(Config)]
    absent = ("first_move", "eval_games", "own")
    assert [*fields] == [x for x in names if x not in absent]
    assert fields["max_positions"] == 2_000_000
    text = json_records.to_json(Deeper(Settled(config)))
    read = json_records.from_json(Deeper, text)
    assert read.settled.config == config
    # A file that is saved again has the same bytes: 1 was written as 1.0.
    assert json_records.to_json(read) == text
    assert json_records.from_dict(Settled, {"config": {}}).config == Config()


def test_another_version_is_refused_with_the_words_of_the_pages():
    with pytest.raises(ValueError, match="format 9") as error:
        json_records.check_version({"version": 9})
    page = Path(__file__).parents[2] / "docs" / "use" / "install.md"
    assert f"| `{error.value}` |" in page.read_text("utf-8")
