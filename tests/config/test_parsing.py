"""The reading of a command line."""

import dataclasses

import pytest
import tyro

from jax_ttt.config.command_line import parsing


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Count to a number."""

    count: int = 1
    """The last number."""
    slow: tyro.conf.FlagCreatePairsOff[bool] = False
    """Wait after each."""
    secret: tyro.conf.Suppress[int] = 5


@dataclasses.dataclass(frozen=True)
class Places:
    """Look at places."""

    places: tyro.conf.Positional[tuple[str, ...]] = ()
    """Where to look."""
    seen: tuple[str, ...] = ("here",)
    """What is known."""
    count: int = 1
    """How often."""
    limit: int | None = 9
    """How many, at most."""
    far: tyro.conf.FlagCreatePairsOff[bool] = False
    """Look far away."""


def test_flags_are_read_in_both_spellings():
    for words in (["--count", "3"], ["--count=3"]):
        assert parsing.parse(Args, words, "count") == Args(count=3)
    found = parsing.parse(Places, ["d=e", "--seen=b=c", "--limit", "None"], "look")
    assert found == Places(("d=e",), ("b=c",), limit=None)


def test_what_is_not_given_is_as_in_the_defaults():
    usual = Args(count=7, secret=9)
    assert parsing.parse(Args, ["--slow"], "count", usual) == Args(
        count=7, slow=True, secret=9
    )


def test_a_value_may_look_like_a_flag():
    """A word for help after `--` is a value; so is a flag after `=`, if it can be."""
    assert parsing.parse(Places, ["--", "-h"], "look").places == ("-h",)
    found = parsing.parse(Places, ["--seen=--count=3"], "look")
    assert (found.seen, found.count) == ((), 3)


def test_a_player_may_follow_a_switch():
    assert parsing.parse(Places, ["--far", "x"], "look") == Places(("x",), far=True)


def test_help_is_printed_and_ends_the_program(capsys):
    with pytest.raises(SystemExit) as stop:
        parsing.parse(Args, ["--help"], "count")
    assert not stop.value.code
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("Count to a number.")
    assert "usage: python -m jax_ttt.count" in out
    assert "The last number. (default: 1)" in out
    assert "secret" not in out
