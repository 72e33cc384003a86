"""Transcripts of the commands: what people type, and what they see.

The files in `console/` have sessions. Each session begins in an empty folder:

    # The title of a session.
    # marks: slow, fault
    # fixtures: optimized
    $ jax-ttt play random --side o
    < 4 quit
    tic_tac_toe against random: you are O
    ...
    $ jax-ttt evaluate nobody
    2> error: nobody: no such file...
    [2]

Below the line of a command are the words that are typed while it runs, each with Enter
after it (`<`), its output, the lines on stderr (`2>`) and the exit code if it is not 0.
A line `...` stands for any lines, and `...` in a line for any text in it. The shell
reads the words of `jax-ttt`, and runs every other line. Its variables are those of
`agent_files`, and the flags `SMALL` of a short training.
"""

import io
import os
import re
from pathlib import Path
from subprocess import check_output, run

import commands
import pytest
import tiny


def sessions():
    """Return the text of each session, with its title and its marks."""
    for path in sorted((Path(__file__).parent / "console").glob("*.txt")):
        for text in re.split(r"\n\n+(?=# )", path.read_text("utf-8").strip()):
            title = text.splitlines()[0].removeprefix("# ")
            marks = [getattr(pytest.mark, mark) for mark in words_after("marks", text)]
            yield pytest.param(f"{text}\n", marks=marks, id=f"{path.stem}: {title}")


def words_after(name, text):
    """Return the words of the line of a session that begins with this name."""
    line = re.search(rf"^# {name}: (.*)$", text, re.MULTILINE)
    return line[1].split(", ") if line else []


@pytest.mark.parametrize("session", [*sessions()])
def test_commands_print_what_the_transcript_shows(
    session, agent_files, request, tmp_path, monkeypatch, capsys
):
    for fixture in words_after("fixtures", session):
        request.getfixturevalue(fixture)
    monkeypatch.chdir(tmp_path)
    small = " ".join(tiny.flags("num_envs", "hidden_size", "eval_games"))
    # In this locale the shell sorts in one way everywhere.
    for name, value in (agent_files | {"SMALL": small, "LC_ALL": "C"}).items():
        monkeypatch.setenv(name, value)
    capsys.readouterr()
    _, *steps = re.split(r"^\$ ", session, flags=re.MULTILINE)
    assert steps
    for step in steps:
        line, *lines = step.rstrip().split("\n")
        typed = lines.pop(0)[2:] if lines and lines[0].startswith("< ") else ""
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed.split())))
        expected = "\n".join(lines)
        printed = output(line, capsys)
        if not re.fullmatch(pattern(expected), f"{printed}\n"):
            text = f"$ {line}\n\nexpected:\n{expected}\n\nprinted:\n{printed}"
            pytest.fail(text, pytrace=False)


def output(line, capsys):
    """Run a line; return its output, the lines on stderr and the exit code."""
    if line.startswith("jax-ttt "):
        words = check_output(f"printf '%s\\0' {line}", shell=True)
        _, name, *rest = os.fsdecode(words).split("\0")[:-1]
        code = commands.exit_code(commands.module_of(name), rest)
        out, err = capsys.readouterr()
    else:
        done = run(line, shell=True, capture_output=True, text=True)
        code, out, err = done.returncode, done.stdout, done.stderr
    lines = out.rstrip().split("\n") if out else []
    errors = re.split("[\r\n]+", err)  # the states of a progress bar are lines too
    lines += [f"2> {text}" for text in errors if text.strip()]
    lines += [f"[{code}]"] if code else []
    return "\n".join(text.rstrip() for text in lines)


def pattern(expected):
    """Return the pattern of a command's output, in which `...` stands for any text.

    Neither an error nor an exit code is text of the output.
    """
    lines = []
    for line in expected.split("\n"):
        start = "" if re.match(r"2> |\[\d+\]", line) else r"(?!2> |\[\d+\]\n)"
        if line in ("...", "2> ..."):
            lines.append(f"(?:{start}{line.removesuffix('...')}.*\n)*")
        else:  # colours have control characters
            texts = r"[^\x00-\x1f]*".join(map(re.escape, line.split("...")))
            lines.append(f"{start}{texts}\n")
    return "".join(lines)
