"""Write docs/schema.json: the fields of the JSON objects that the program writes.

python -m tools.make_schema
"""

import dataclasses
import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

import msgspec

from jax_ttt.arena import ArenaResult, Pair
from jax_ttt.config.field_texts import field_texts
from jax_ttt.config.presets import Preset
from jax_ttt.config.ranges import Setting
from jax_ttt.evaluate import EvaluateResult
from jax_ttt.files.agent_file import AgentDescription
from jax_ttt.files.checkpoint import CheckpointDescription
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.metrics_rows import AgentResult, Chunk, Evaluated
from jax_ttt.files.run_folder import RunSummary
from jax_ttt.files.run_writer import TimesFile
from jax_ttt.files.sweep_file import SweepHead, SweepLine
from jax_ttt.grading.agent_groups import GroupResult, MeanAndRange
from jax_ttt.grading.certificates import Certificate
from jax_ttt.grading.grade import (
    Details,
    Exam,
    ExamScore,
    Grade,
    Lines,
    Match,
    Ranked,
    SeatGrade,
)
from jax_ttt.runs import RunsResult
from jax_ttt.sweep import SweepResult
from jax_ttt.text.policy_files import Decision
from jax_ttt.text.train_output import TrainResult

PATH = Path(__file__).parents[1] / "docs" / "schema.json"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Device:
    """The device that a run was trained on."""

    platform: str
    """`cpu`, `gpu` or `tpu`."""
    kind: str
    """Its name in JAX."""
    platform_version: str
    """The version of what JAX computes with: on a GPU that of CUDA."""
    count: int
    """Devices that JAX saw."""
    cpu_count: int
    """Cores that the process could use."""
    NPROC: str | None
    """The environment variable, which sets the number of threads."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfigFile:
    """`config.json`: the settings of a run, and where it was trained."""

    format_version: int
    """Version of the format."""
    config: dict[str, Setting]
    """The settings, by the names of their fields."""
    preset: Preset
    """The preset that the settings started from."""
    seed: int
    """Seed of all random numbers."""
    command: tuple[str, ...]
    """The command line."""
    device: Device
    """The device that the program ran on."""
    python: str
    """Version of Python."""
    versions: dict[str, str]
    """Versions of jax_ttt and of the libraries."""
    XLA_FLAGS: str | None
    """The environment variable."""
    random_numbers: str
    """JAX's generator of random numbers, such as `threefry2x32`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TensorFile:
    """The metadata of a file of tensors."""

    format_version: int
    """Version of the format."""
    version: str
    """Version of jax_ttt."""
    sha256: str
    """Checksum of this object and of the tensors, in hexadecimal digits."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentMetadata(AgentDescription, TensorFile):
    """The entry `jax_ttt` in the metadata of an agent's file."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckpointMetadata(CheckpointDescription, TensorFile):
    """The entry `jax_ttt` in the metadata of a checkpoint's file."""


RECORDS = (
    ConfigFile,
    Chunk,
    Evaluated,
    TimesFile,
    AgentMetadata,
    CheckpointMetadata,
    SweepHead,
    SweepLine,
    Certificate,
    Decision,
    TrainResult,
    EvaluateResult,
    SweepResult,
    ArenaResult,
    RunsResult,
)
"""The records of the files, then those that the commands print."""
PARTS = (
    Device,
    Pair,
    Ranked,
    RunSummary,
    GroupResult,
    MeanAndRange,
    AgentResult,
    Grade,
    SeatGrade,
    Lines,
    Match,
    Details,
    Exam,
    ExamScore,
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
        RECORDS,
        schema_hook=lambda kind: {"description": "Any value."},  # an `object`
        ref_template="#/$defs/{name}",
    )
    records = {record.__name__: record for record in (*RECORDS, *PARTS)}
    if missing := components.keys() - records.keys():
        raise KeyError(f"not in PARTS: {', '.join(sorted(missing))}")
    return {
        name: _definition(record, components[name]) for name, record in records.items()
    }


def _definition(record: type, definition: dict[str, Any]) -> dict[str, Any]:
    """Return a record's definition, with its fields' texts, in the fields' order."""
    texts = field_texts(record)
    fields = dataclasses.fields(record)
    properties = definition["properties"]
    return {
        "description": " ".join((inspect.getdoc(record) or "").split()),
        "type": "object",
        "properties": {
            field.name: {
                **_as_written(field, properties[field.name]),
                "description": texts[field.name],
            }
            for field in fields
        },
        "required": [field.name for field in fields if field.default is not None],
    }


def _as_written(field: dataclasses.Field, kind: dict[str, Any]) -> dict[str, Any]:
    """Return a field's type in a written record.

    A field with a default is always written, but for one that is None by default: it
    is then left out.
    """
    kind = {name: part for name, part in kind.items() if name != "default"}
    if field.default is None:
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
