"""The list of all settings, with which `help(jax_ttt.train)` ends."""

import dataclasses
import inspect
import re
import subprocess
import sys

import pytest

import jax_ttt
from jax_ttt.config import ranges, settings_list
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import GROUP, Config, setting_types


def entries(text):
    """Return what follows the name of each setting in a list, in one line."""
    lines = re.sub(r"\n {8,}", " ", text).splitlines()
    return dict(re.findall(r"^    (\w+)=(.*)$", "\n".join(lines), re.MULTILINE))


@pytest.mark.parametrize("preset", ["default", "table"])
def test_it_has_every_setting_with_its_value_and_its_range(preset):
    config = PRESETS[preset]
    text = settings_list.listing(config)
    found = entries(text)
    assert list(found) == list(setting_types())
    for field in dataclasses.fields(Config):
        if field.name in found:
            above, _, _ = text.partition(f"\n    {field.name}=")
            title = re.findall(r"^(\w.*?): ", above, re.MULTILINE)[-1]
            assert title == field.metadata[GROUP][0], "its group of flags"
    for name, kind in setting_types().items():
        value, allowed = found[name].split(": ", 1)
        assert value == repr(getattr(config, name))
        if ranges.plain_type(kind) is bool:
            assert allowed == "True or False"
        else:
            assert allowed.removesuffix(" or None") == ranges.rule(kind)
        assert allowed.endswith(" or None") == ranges.is_optional(kind)


@pytest.mark.parametrize("function", [jax_ttt.train, jax_ttt.train_many])
def test_help_lists_the_settings_in_80_columns(function):
    text = inspect.getdoc(function)
    assert text is not None
    start = text.index("Settings: each")
    assert list(entries(text[start:])) == list(setting_types())
    assert "learning_rate=0.006: a number above 0 and at most 1e+38" in text
    # `help` indents the text by four columns.
    assert max(map(len, text[start:].splitlines())) <= 76
    assert text.startswith("Train ")


@pytest.mark.slow
def test_the_functions_can_be_imported_without_docstrings():
    code = "import jax_ttt; print(jax_ttt.train.__doc__, jax_ttt.train_many.__doc__)"
    words = [sys.executable, "-OO", "-c", code]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    assert result.stdout == "None None\n"
