"""`python -m jax_ttt`, and the script `jax-ttt`: they list and run the commands."""

import importlib
import subprocess

import commands
import pytest

from jax_ttt import __version__
from jax_ttt.__main__ import COMMANDS
from jax_ttt.config import player_kinds

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
    of_train = commands.run(commands.module_of("train"), "--version").out
    assert capsys.readouterr().out == of_train == f"jax_ttt {__version__}\n"


@pytest.fixture
def script(monkeypatch, capsys):
    """Return the script that completes commands in a shell."""
    assert run(monkeypatch, "--completion") == 0
    return capsys.readouterr().out


# Each line of words and the words that a shell offers for the last one.
COMPLETED = {
    "s": ["sweep"],
    "--v": ["--version"],
    "train --back": ["--backup", "--backward"],
    "train --no-back": ["--no-backward"],
    "train --backup t": ["two-ply"],
    "web --expo": ["--export"],
    "web --no-o": [],  # --open is off unless it is given
    "sweep --seed-x": [],
    "evaluate runs/": [],  # the shell then completes files
    "train --hel": ["--help"],
    "web --he": ["--help"],
    "evaluate minimax-": ["minimax-first", "minimax-quick"],
    "evaluate --json mcts-": ["mcts-online"],
    "evaluate --seat first mcts-": ["mcts-online"],
    "evaluate --certificate mcts-": [],  # a file
    "play r": ["random", "runs"],  # a folder of this name is there
    "play ru": [],
    "arena random blend:0.7:m": ["blend:0.7:minimax"],
    "correct mini": [],  # it takes saved agents only
    "correct shipped:t": ["shipped:table"],
    "evaluate sh": [f"shipped:{name}" for name in player_kinds.ALL],
    "train --opponent minimax-q": ["minimax-quick"],
    "train --opponent sel": ["self"],
}


@pytest.mark.parametrize("breaks", [":", ""])
def test_a_shell_completes_commands_flags_values_and_players(script, tmp_path, breaks):
    """In bash, which breaks words at colons, and as zsh calls it, which does not."""
    (tmp_path / "runs").mkdir()
    lines = [script, f"COMP_WORDBREAKS={breaks}"]
    for words in COMPLETED:
        parts = words.replace(":", " : ") if breaks else words
        number = len(parts.split())
        lines.append(f"COMP_WORDS=(jax-ttt {parts}) COMP_CWORD={number}; _jax_ttt")
        lines.append('echo "${COMPREPLY[@]}"')
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    completed = [line.split() for line in done.stdout.splitlines()]
    expected = {}
    for words, whole in COMPLETED.items():
        # Readline replaces what follows the last colon that is already written.
        last = words.split()[-1]
        written = last.rpartition(":")[0] + ":" if breaks and ":" in last else ""
        expected[words] = [word.removeprefix(written) for word in whole]
    assert dict(zip(COMPLETED, completed, strict=True)) == expected
