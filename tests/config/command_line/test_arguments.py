"""A command's arguments, and the boxes of its help."""

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

import pytest
import tyro

from jax_ttt.cli import Run
from jax_ttt.config.command_line import arguments
from jax_ttt.config.settings import PART_OF


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    agent: tyro.conf.Positional[str]
    runs: tyro.conf.Positional[tuple[Path, ...]] = ()
    count: int | None = None
    side: Literal["x", "o"] = "x"
    saved: Annotated[Path | None, tyro.conf.arg(name="config")] = None
    fast: bool = True
    csv: Path | None = None
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    hidden: tyro.conf.Suppress[int] = 3


FOUND = arguments.arguments(Args)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        *(("agent", "AGENT"), ("runs", "[RUN ...]"), ("count", "N")),
        *(("side", "{x,o}"), ("saved", "FILE"), ("csv", "FILE")),
    ],
)
def test_a_metavar_says_what_is_meant(name, shown):
    assert FOUND[name].shown == shown


def test_what_a_field_is_follows_from_its_type():
    assert list(FOUND) == [f.name for f in dataclasses.fields(Args)][:-1]
    assert [n for n, a in FOUND.items() if a.is_needed] == ["agent"]
    assert [n for n, a in FOUND.items() if a.is_switch] == ["fast", "quiet"]
    assert [n for n, a in FOUND.items() if a.has_opposite] == ["fast"]
    assert [n for n, a in FOUND.items() if a.is_many] == ["runs"]
    assert FOUND["saved"].flag == "--config"
    assert FOUND["side"].choices == ("x", "o")
    assert FOUND["count"].is_optional
    assert FOUND["csv"].topic == "output"


def test_every_setting_has_a_topic():
    found = arguments.arguments(Run)
    assert found.keys() >= PART_OF.keys()
    assert all(found[name].topic for name in PART_OF)
    assert found["lockstep"].topic == found["first_move"].topic
    assert "given" not in found
