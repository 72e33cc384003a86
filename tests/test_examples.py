"""The examples in docs/examples: each runs, and writes the files that it names."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "examples"
EXAMPLES = {
    "connect_four": (
        ["rounds.svg"],
        "unbeatable: no line of play by any opponent wins",
    ),
    "draw": (["game.svg", "board.svg", "values.svg", "agent.svg"], r"\A\Z"),
    "eight_seeds": (["seeds.svg"], "8 of 8 agents are proven unbeatable"),
    "exam": ([], r"'all': '96\.6% \(95\.3% to 97\.6%\)', 'random': '98\.4% "),
    "grade_seconds": ([], r"(?s)jax.numpy, tic_tac_toe: .* s\n.*numpy, connect_4x4: "),
    "hex": ([], r"\Awins every game: .* as X \(5,514 positions\)\n\Z"),
    "misere": ([], r"unbeatable: .*, as X or as O \(5,478 positions\)"),
    "nim": (["nim.safetensors"], r"(?s)wins every game.*, as X .*beatable: .*you lose"),
    "one_file": ([], "\nunbeatable: every move of every opponent was followed"),
    "own_player": (["table.svg"], "1 centre"),
    "own_program": ([], r"\ndraws: 0\.[1-9]"),  # a sampled move loses some games
    "play": ([], r"\nresult: (drawn|lost)\n\Z"),  # the agent is unbeatable
    "prove": (["losing_line.svg"], "unbeatable: no line of play by any opponent wins"),
    "train": (["agent.safetensors", "curve.svg"], "unbeatable"),
}
"""The files that an example writes, and what is found in its output."""
WORDS = {"exam": ["shipped:connect-7x6"], "grade_seconds": ["3"]}
"""The words after the name of the file."""

LEARNERS = ("n_step", "dueling", "policy_gradient")
"""Files for `--learner`, which do nothing alone."""
OTHERS = ("torch_dqn", "mctx_search")
"""Files that need other packages: `test_training_hook.py` runs them."""


@pytest.mark.slow
@pytest.mark.usefixtures("trained_once")
@pytest.mark.parametrize(
    "name", sorted({path.stem for path in FOLDER.glob("*.py")} - {*LEARNERS, *OTHERS})
)
def test_an_example_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = FOLDER / f"{name}.py"
    monkeypatch.setattr(sys, "argv", [str(path), *WORDS.get(name, [])])
    runpy.run_path(str(path), run_name="__main__")
    files, printed = EXAMPLES[name]
    assert {found.name for found in tmp_path.iterdir()} == {*files}
    assert re.search(printed, capsys.readouterr().out)
    for picture in tmp_path.glob("*.svg"):
        assert "</svg>" in picture.read_text("utf-8")


def examine(monkeypatch, *words):
    """Run the exam with these words."""
    path = FOLDER / "exam.py"
    monkeypatch.setattr(sys, "argv", [str(path), *map(str, words)])
    runpy.run_path(str(path), run_name="__main__")


COLUMNS = "moves,s1,s2,s3,s4,s5,s6,s7,s8,s9,kind"
ROW = "1425,,,1,,,0,-1,-1,-1,mine"  # X wins at once at 3, and only 6 stops O there


def test_the_exam_takes_a_game_and_a_file_of_ones_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "own.csv").write_text(f"{COLUMNS}\n{ROW}\n", "utf-8")
    examine(monkeypatch, "minimax", "tic_tac_toe", tmp_path / "own.csv")
    assert "'mine': '100.0% (" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", r"exam\.py PLAYER \[GAME \[FILE\]\]"),
        ("nobody", "nobody"),
        ("random tic_tac_toe none.csv", "No such file"),
        ("random tic_tac_toe", "connect_four.csv has other moves"),
        ("random tic_tac_toe short.csv", "short.csv has other moves than tic_tac_toe"),
        ("random tic_tac_toe taken.csv", "taken.csv has other moves than tic_tac_toe"),
        ("random tic_tac_toe kind.csv", "KeyError: 'kind'"),
        ("random tic_tac_toe word.csv", "ValueError: .* 'x'"),
        ("random tic_tac_toe empty.csv", "IndexError"),
    ],
)
def test_wrong_words_and_files_of_the_exam_are_refused_in_one_line(
    words, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name, lines in (
        ("short", (COLUMNS, ROW.replace("0", ""))),
        ("taken", (COLUMNS, ROW.replace("1425", "1424"))),
        ("kind", (COLUMNS.replace("kind", "type"), ROW)),
        ("word", (COLUMNS, ROW.replace("1425", "14x5"))),
        ("empty", ()),
    ):
        Path(f"{name}.csv").write_text("\n".join(lines), "utf-8")
    with pytest.raises(SystemExit, match=message) as error:
        examine(monkeypatch, *words.split())
    assert str(error.value).startswith("error: ") == bool(words)  # else the usage
    assert "\n" not in str(error.value) or words == "nobody"  # a list of players


@pytest.mark.parametrize(
    ("page", "files"),
    [
        ("own_rules", ["nim.py", "misere.py"]),
        ("own_learner", [f"{name}.py" for name in LEARNERS]),
        ("programs", [f"programs/first_free.{end}" for end in ("py", "c", "sh")]),
    ],
)
def test_a_page_shows_its_files(page, files):
    text = (FOLDER.parent / "use" / f"{page}.md").read_text("utf-8")
    for file in files:
        code = (FOLDER / file).read_text("utf-8")
        assert f"```{file.rpartition('.')[2]}\n{code}```" in text


def test_the_programs_of_the_page_play(tmp_path):
    """The first free cell; the function plays the free one that is nearest to 4."""
    folder = FOLDER / "programs"

    def play(command, *lines):
        output = subprocess.run(
            command,
            input="\n".join([*lines, "quit", ""]),
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
        ).stdout
        return [int(move) for move in output.split()]

    programs = {
        "py": [sys.executable, "first_free.py"],
        "sh": ["sh", "first_free.sh"],
    }
    if shutil.which("cc"):
        programs["c"] = [tmp_path / "a"]
        subprocess.run(
            ["cc", "-o", tmp_path / "a", folder / "first_free.c"], check=True
        )
    for command in programs.values():
        lines = ("tic_tac_toe first", "", "0 4", "4 0 8 1", "0 4")
        assert play(command, *lines) == [0, 1, 2, 1]
    function = [sys.executable, "function_player.py", "centre_first:choose"]
    assert play(function, "tic_tac_toe second", "0", "4") == [4, 3]
