"""Write docs/schema.json: the fields of the JSON objects that the program writes.

python -m tools.make_schema
"""

import dataclasses
import inspect
import json
import re
import textwrap
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from jax_ttt.api.correct import CorrectionResult
from jax_ttt.api.cross_table import CrossTable
from jax_ttt.config.grade import (
    Details,
    Grade,
    Lines,
    Match,
    Pair,
    Ranked,
    Rates,
    SeatGrade,
)
from jax_ttt.config.own_code import OwnCode
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.checkpoint import Checkpoint
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.metrics_rows import AgentResult, Evaluated, Trained
from jax_ttt.files.run_folder import DeviceFacts, Plan, RunSummary
from jax_ttt.files.sweep_file import Sweep, SweepLine
from jax_ttt.files.tensor_file import AgentDescription
from jax_ttt.flags import field_texts
from jax_ttt.grading.agent_groups import GroupResult
from jax_ttt.grading.certificates import Certificate
from jax_ttt.solver.find_corrections import LevelCounts
from jax_ttt.text.policy_files import Decision
from jax_ttt.text.train_output import TrainResult

PATH = Path(__file__).parents[1] / "docs" / "schema.json"


RECORDS = (
    Plan,
    Trained,
    Evaluated,
    AgentDescription,
    Checkpoint,
    Sweep,
    SweepLine,
    Certificate,
    Decision,
    TrainResult,
    CorrectionResult,
    GroupResult,
    CrossTable,
    RunSummary,
)
"""The records of the files, then those that the commands print."""
PARTS = (
    DeviceFacts,
    LevelCounts,
    Pair,
    Ranked,
    AgentResult,
    Grade,
    SeatGrade,
    Rates,
    Lines,
    Match,
    Details,
    Config,
    OwnCode,
)
"""The records inside of them."""


def schema() -> JsonObject:
    """Return the JSON Schema of all records, one definition each."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "JSON of jax_ttt",
        "description": (
            "The records in files of jax_ttt, and those that commands print with "
            "--json. A property that is not required is absent where it does not apply."
        ),
        "anyOf": [{"$ref": f"#/$defs/{record.__name__}"} for record in RECORDS],
        "$defs": definitions(),
    }


def definitions() -> dict[str, dict[str, Any]]:
    """Return the schema of each record by its name, in the order of the lists.

    Raises:
        KeyError: a record has a part that `PARTS` does not list.
    """
    _, components = msgspec.json.schema_components(
        [_written_part(record) for record in RECORDS],
        schema_hook=lambda kind: {"description": "Any value."},  # an `object`
        ref_template="#/$defs/{name}",
    )
    records = {record.__name__: record for record in (*RECORDS, *PARTS)}
    if missing := components.keys() - records.keys():
        raise KeyError(f"not in PARTS: {', '.join(sorted(missing))}")
    return {
        name: _definition(record, components[name]) for name, record in records.items()
    }


def _written_part(record: type) -> type:
    """Return a record's type, without the fields that its JSON lacks."""
    names = _written_fields(record)
    if issubclass(record, msgspec.Struct):
        return record
    if len(names) == len(dataclasses.fields(record)):
        return record
    kinds = get_type_hints(record)
    return dataclasses.make_dataclass(
        record.__name__, [(name, kinds[name]) for name in names]
    )


def _written_fields(record: type) -> dict[str, bool]:
    """Return the names of a record's fields in JSON, and whether each may be absent.

    A field that is None by default is left out where it is None.
    """
    if issubclass(record, msgspec.Struct):
        tag = record.__struct_config__.tag_field
        fields = {} if tag is None else {tag: False}
        return fields | {
            f.name: f.default is None for f in msgspec.structs.fields(record)
        }
    return {
        field.name: field.default is None
        for field in dataclasses.fields(record)
        if field.metadata != json_records.NOT_WRITTEN
    }


def _definition(record: type, definition: dict[str, Any]) -> dict[str, Any]:
    """Return a record's definition, with its fields' texts, in the fields' order."""
    texts = {"event": "The kind of row."} | field_texts(record)
    fields, properties = _written_fields(record), definition["properties"]
    return {
        "description": _description(record),
        "type": "object",
        "properties": {
            name: {
                **_as_written(properties[name], may_be_absent),
                "description": texts[name],
            }
            for name, may_be_absent in fields.items()
        },
        "required": [
            name for name, may_be_absent in fields.items() if not may_be_absent
        ],
    }


def _description(record: type) -> str:
    """Return a record's docstring in one line, without its sections."""
    text = inspect.getdoc(record) or ""
    return " ".join(re.split(r"\n(?=[A-Z]\w+:\n)", text)[0].split())


def _as_written(kind: dict[str, Any], may_be_absent: bool) -> dict[str, Any]:
    """Return a field's type in a written record, in which it is not null if absent."""
    # msgspec has `propertyNames` from version 0.23 on; the schema is of all versions.
    left_out = ("default", "propertyNames")
    kind = {name: part for name, part in kind.items() if name not in left_out}
    if may_be_absent:
        kinds = [part for part in kind["anyOf"] if part != {"type": "null"}]
        kind = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return kind


def page() -> str:
    """Return the text of docs/schema.json: a field is one line."""
    return f"{_text(schema(), levels=4)}\n"


def _text(value: object, levels: int) -> str:
    """Return JSON, with an entry a line in so many levels of objects."""
    if not (levels and isinstance(value, dict)):
        return json.dumps(value)
    entries = ",\n".join(
        f"{json.dumps(name)}: {_text(part, levels - 1)}" for name, part in value.items()
    )
    return "{\n" + textwrap.indent(entries, " ") + "\n}"


if __name__ == "__main__":
    PATH.write_text(page(), "utf-8")
