"""What the parser makes of arguments, and the boxes of a command's help."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import pytest
import tyro

from jax_ttt.cli import Run
from jax_ttt.config.command_line import arguments, boxes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    agent: tyro.conf.Positional[str]
    runs: tyro.conf.Positional[tuple[Path, ...]] = ()
    parts: tuple[Literal["a", "b"], ...] = ("a", "b")
    count: int | None = None
    saved: Annotated[Path | None, tyro.conf.arg(name="config")] = None
    fast: bool = True
    csv: Path | None = None
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False


def parsed(*words, form=boxes.parser_type):
    return tyro.cli(
        form(arguments.arguments(Args)),
        args=words,
        config=(tyro.conf.OmitArgPrefixes,),
        registry=boxes.REGISTRY,
    )


def test_the_parser_returns_every_value_by_its_name():
    words = ["me", "r1", "r2", "--config", "f", "--no-fast", "--csv", "c"]
    assert parsed(*words, "--count", "2", "--parts", "b") == {
        **{"agent": "me", "runs": (Path("r1"), Path("r2")), "count": 2},
        **{"saved": Path("f"), "fast": False, "csv": Path("c"), "quiet": False},
        "parts": ("b",),
    }


def test_what_is_not_given_has_its_default():
    values = parsed("me")
    assert (values["parts"], values["runs"]) == (("a", "b"), ())
    assert (values["count"], values["saved"], values["fast"]) == (None, None, True)


def test_the_help_shows_the_defaults_of_several_values(capsys):
    with pytest.raises(SystemExit):
        parsed("--help", form=boxes.help_type)
    out = capsys.readouterr().out.replace(boxes.UNBROKEN, " ")
    assert "(default: a b)" in out
    assert "[RUN ...]" in out


def test_every_setting_is_in_a_box():
    found = arguments.arguments(Run)
    topics = {argument.topic for argument in found.values() if argument.topic}
    assert topics - {"run"} <= boxes.TOPICS.keys()
    beside = {name for name in found if found[name].topic == "run"}
    assert beside <= {*boxes.FIRST}


def test_the_parser_needs_no_slow_library():
    """Its check of defaults, where it knows a type only in part, would load one."""
    code = """
import sys
from jax_ttt import sweep
assert sweep.main(["--num-seeds", "0"]) == 2
assert "typeguard" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
