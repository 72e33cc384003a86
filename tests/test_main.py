"""`python -m jax_ttt`, and the script `jax-ttt`: they list and run the commands."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from jax_ttt import __version__

ROOT = Path(__file__).parents[1]
command = importlib.import_module("jax_ttt.__main__")


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["jax-ttt", *words])
    return command.main()


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_the_commands_are_listed_a_line_each(words, monkeypatch, capsys):
    assert run(monkeypatch, *words) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, text in command.COMMANDS.items():
        assert f"{name} {text}" in [" ".join(line.split()) for line in lines]


def as_module(*words):
    """Run `python -m jax_ttt` with these words in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "jax_ttt", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def test_a_first_word_runs_the_command_of_this_name(tmp_path):
    done = as_module("runs", str(tmp_path / "none"))
    told = f"error: {tmp_path / 'none'}: no such folder\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_a_command_with_a_folder_of_its_own_is_run():
    done = as_module("web", "--port", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--port: must be a whole number" in done.stderr


@pytest.mark.parametrize("word", ["trian", "--quiet"])
def test_an_unknown_command_is_refused(word, monkeypatch, capsys):
    assert run(monkeypatch, word) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert word in err


def test_the_version_is_printed(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"jax_ttt {__version__}\n"


def test_a_script_is_installed():
    with (ROOT / "pyproject.toml").open("rb") as file:
        scripts = tomllib.load(file)["project"]["scripts"]
    assert scripts == {"jax-ttt": "jax_ttt.__main__:main"}


def test_the_list_is_printed_as_a_module():
    done = as_module()
    assert done.stdout.startswith("usage: python -m jax_ttt COMMAND")
