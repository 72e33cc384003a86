"""The reading of a command line."""

import dataclasses

import pytest
import tyro

from jax_ttt.config.command_line import boxes, parsing
from jax_ttt.config.errors import UsageError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Count to a number."""

    count: int = 1
    """The last number."""
    slow: tyro.conf.FlagCreatePairsOff[bool] = False
    """Wait after each."""
    secret: tyro.conf.Suppress[int] = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class Places:
    """Look at places."""

    places: tyro.conf.Positional[tuple[str, ...]] = ()
    """Where to look."""
    seen: tuple[str, ...] = ("here",)
    """What is known."""
    count: int = 1
    """How often."""


def test_flags_are_read_in_both_spellings():
    for words in (["--count", "3"], ["--count=3"]):
        assert parsing.parse(Args, words, "count") == Args(count=3)
    assert parsing.words(["--a=b=c", "d=e"]) == ["--a", "b=c", "d=e"]


def test_what_is_not_given_is_as_in_the_defaults():
    usual = Args(count=7, secret=9)
    assert parsing.parse(Args, ["--slow"], "count", usual) == Args(
        count=7, slow=True, secret=9
    )


def test_what_is_not_given_is_not_parsed(monkeypatch):
    parsed, original = [], boxes.parser_type

    def parser_type(found):
        parsed.append(list(found))
        return original(found)

    monkeypatch.setattr(boxes, "parser_type", parser_type)
    for words in ([], ["--count", "3"], ["--count=3"], ["--slow"]):
        parsing.parse(Args, words, "count")
    assert parsed == [[], ["count"], ["count"], ["slow"]]


def test_a_value_may_look_like_a_flag():
    """A word for help after `--` is a value; so is a flag after `=`, if it can be."""
    assert parsing.parse(Places, ["--", "-h"], "look").places == ("-h",)
    found = parsing.parse(Places, ["--seen=--count=3"], "look")
    assert (found.seen, found.count) == ((), 3)


def test_a_refusal_is_a_line_without_frames(capsys):
    with pytest.raises(UsageError) as error:
        parsing.parse(Args, ["--count", "x"], "count")
    assert str(error.value) == "--count must be a whole number, got 'x'"
    assert capsys.readouterr() == ("", "")


def test_help_is_printed_and_ends_the_program(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        parsing.parse(Args, ["--help"], "count")
    assert not stop.value.code
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("Count to a number.\n\n")
    assert "\nusage: python -m jax_ttt.count [-h] [OPTIONS]\n" in out
    assert "The last number. (default: 1)" in out
    assert "secret" not in out


@pytest.mark.parametrize("options", [None, {}])
def test_a_parser_without_a_switch_for_colours_is_used_as_it_is(options, monkeypatch):
    """The switch is not part of the parser's public interface."""
    if options is None:
        monkeypatch.delattr(tyro, "_experimental_options")
    else:
        monkeypatch.setattr(tyro, "_experimental_options", options)
    monkeypatch.setenv("NO_COLOR", "1")
    assert parsing.parse(Args, ["--count", "3"], "count") == Args(count=3)
