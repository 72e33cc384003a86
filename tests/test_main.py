"""`python -m jax_ttt`, and the script `jax-ttt`: they list and run the commands."""

import importlib

import as_users
import pytest

from jax_ttt import __version__
from jax_ttt.__main__ import COMMANDS

main_module = importlib.import_module("jax_ttt.__main__")


def run(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["jax-ttt", *words])
    return main_module.main()


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_each_command_is_listed_on_a_line(words, monkeypatch, capsys):
    assert run(monkeypatch, *words) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, text in COMMANDS.items():
        assert f"{name} {text}" in [" ".join(line.split()) for line in lines]


def test_the_version_is_printed(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"jax_ttt {__version__}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [("runs nowhere", "nowhere: no such folder"), ("web --port -1", "--port")],
)
def test_the_first_word_runs_the_command_of_this_name(words, message, tmp_path):
    done = as_users.run("__main__", *words.split(), cwd=tmp_path)
    as_users.assert_refused(done, message)
