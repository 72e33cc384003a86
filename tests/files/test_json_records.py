"""Records are written as JSON and read back; wrong objects are errors."""

import dataclasses
import json
import math
from pathlib import Path

import made
import pytest

from jax_ttt.config.grade import Rates
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import Plan


def test_of_none_only_fields_are_not_written():
    written = json_records.to_dict(made.grade())
    assert written.keys() == {"env_id", "seats", "evidence"}
    lists = {"values": (None, 0.5), "named": {"move": None, "grade": made.grade()}}
    assert json_records.to_dict(lists) == {
        "values": [None, 0.5],
        "named": {"move": None, "grade": written},
    }


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_not_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_records.to_json({"size": number})


def test_whole_numbers_are_numbers_and_unknown_fields_are_ignored():
    fields = json_records.to_dict(made.rates(1.0)) | {"win_rate": 1, "of a later": 3}
    read = json_records.from_json(Rates, json.dumps(fields).encode())
    assert read == made.rates(1.0)
    assert type(read.win_rate) is float


def test_flattening_joins_names():
    value = {"a": {"b": {"c": 1}, "d": [0.25, 0.5]}, "e": "x"}
    flat = {"a/b/c": 1, "a/d": [0.25, 0.5], "e": "x"}
    assert json_records.flatten_record(value, "/") == flat


@pytest.mark.parametrize("preset", PRESETS)
def test_settings_are_written_and_read_back(preset):
    plan = Plan(config=PRESETS[preset], preset=preset, seed=7)
    fields = json_records.to_dict(plan)
    assert json_records.from_dict(Plan, fields) == plan
    fields["config"] = json_records.to_dict(plan.config) | {"gama": 0.9}
    with pytest.raises(ValueError, match="gama must be the name of a setting"):
        json_records.from_dict(Plan, fields)


def test_settings_are_written_as_they_are_read():
    config = Config.of(tau=1, gamma=1.0, env_id="hex", eval_games=None)
    names = [field.name for field in dataclasses.fields(Config)]
    absent = ("first_move", "eval_games", "own")
    fields = json_records.to_dict(config)
    assert [*fields] == [name for name in names if name not in absent]
    assert fields["max_positions"] == 2_000_000
    # A file that is saved again has the same bytes: 1 was written as 1.0.
    text = json_records.to_json(config)
    assert json_records.to_json(json_records.from_json(Config, text)) == text
    assert json_records.from_dict(Config, {}) == Config()


def test_another_version_is_refused_with_the_words_of_the_pages():
    with pytest.raises(ValueError, match="format 9") as error:
        json_records.check_version({"version": 9})
    page = Path(__file__).parents[2] / "docs" / "use" / "install.md"
    assert f"| `{error.value}` |" in page.read_text("utf-8")
