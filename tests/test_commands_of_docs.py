"""The command lines of the pages run, each page's one after another, in one folder.

All are in fenced blocks. They run with these changes:
- `SHORT` has small numbers for flags; they replace those of a line, or are added;
- `SMALLER` has words that are replaced;
- a run that a page has not trained is a small run of the same name;
- a run's folder that a page uses again for another training is removed first;
- of a line for several hosts, only the flags are read;
- the web page is served, and then ended;
- `./player` is the shell program of docs/use/programs.md;
- a line that trains no run is not repeated on later pages.
Nearly all of the time is compilation.
"""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import as_users
import pytest
from pages import COMMAND_LINE, PAGES, ROOT, blocks, joined_lines, page_id, shell_words

RUN = re.compile(r"runs/[\w<>.-]+")
SHORT = {
    "train": {"--num-updates": "2", "--num-envs": "8", "--eval-games": "8"},
    "sweep": {"--num-seeds": "2", "--num-envs": "8", "--num-updates": "2"},
    "arena": {"--games": "4"},
    "evaluate": {"--games": "8", "--max-positions": "2000"},
}
SMALLER = {
    "connect-7x6-large": "connect-4x4",
    "win": "not-lose",
    "lookahead:3:runs/seven": "lookahead:1:runs/seven",
    "shipped:connect-7x6": "shipped:connect-5x4",
    "tictac-q": "table",
    "mcts": "mcts:50",  # `arena` without names plays the one of 2,000 playouts
    "mcts-online": "mcts-online:2",
}
"""Words that take long or a program of their own, and what runs in their place."""
GAMES = {"seven": "connect_7x6", "small": "connect_4x4"}
"""The games of the pages' runs, but for tic-tac-toe."""


def lines_of(page):
    """Return the words of each command line in a page's fenced blocks."""
    lines = []
    for block in blocks(page.read_text("utf-8")):
        for line in joined_lines(block.code):
            if match := COMMAND_LINE.match(line.removeprefix("$ ")):
                lines.append(shell_words(match[1]))
    return lines


def shortened(command, words):
    """Return the words with the values of `SHORT`, and without a long proof."""
    words = [SMALLER.get(str(word), str(word)) for word in words]
    flags = dict(SHORT.get(command, {}))
    if command == "train" and re.search("connect|hidden", " ".join(words)):
        flags["--hidden-size"] = "8"
    if command == "train" and "--until-proven" in words:
        flags |= {"--max-positions": "100", "--hidden-size": "8"}
    for flag, value in flags.items():
        if flag in words:
            words[words.index(flag) + 1] = value
        elif command != "evaluate" or {"runs/small", "shipped:connect-5x4"} & {*words}:
            words += [flag, value]
    if command == "train" and "--no-prove" not in words:
        words.append("--no-prove")
    return words


@pytest.fixture(scope="module")
def small_runs(tmp_path_factory):
    """Return a function that returns the folder of a game's small run."""
    folder = tmp_path_factory.mktemp("small")

    def small_run(env_id):
        run = folder / env_id
        if not run.exists():
            words = ["--quiet", "--env-id", env_id, "--run-dir", run]
            if env_id == "tic_tac_toe":  # there is a certificate of it
                words += ["--preset", "table", "--until-proven"]
            else:
                words = shortened("train", words)
            done = as_users.run_here("train", *words)
            assert done.code == 0, done
        return run

    return small_run


@pytest.fixture(scope="module")
def earlier_lines():
    """Return the lines that have run and leave no run to read."""
    return []


@pytest.fixture
def run_line(small_runs, tmp_path, monkeypatch):
    """Return a function that runs a line in the folder of a page."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    program = ROOT / "docs" / "examples" / "programs" / "first_free.sh"
    shutil.copyfile(program, tmp_path / "player")
    (tmp_path / "player").chmod(0o755)

    def run_line(words):
        command, *words = words or ["__main__"]
        words = [word.replace("<run>", "one").replace("RUN", "one") for word in words]
        if command != "train":
            for name in {run for word in words for run in RUN.findall(word)}:
                if not Path(name).exists():
                    game = GAMES.get(Path(name).name, "tic_tac_toe")
                    shutil.copytree(small_runs(game), name)
        elif "--run-dir" in words:
            folder = words[words.index("--run-dir") + 1]
            shutil.rmtree(folder, ignore_errors=True)
        if "--help" in words or command == "__main__":
            return as_users.run_here(command, *words)
        if "--distributed" in words:
            done = as_users.run_here(command, *words, "--nonsense")
            as_users.assert_refused(done, "--nonsense")
            return as_users.Done(0, "", "")
        if command == "web" and "--export" not in words:
            return served(words)
        return as_users.run_here(command, *shortened(command, words), seconds=300)

    return run_line


def served(words):
    """Serve the page and end it as Ctrl-C does; return its end, 0 for 130."""
    browser = {"BROWSER": "true"}  # a program that opens nothing
    process = as_users.start("web --port 0", *words, cwd=Path.cwd(), **browser)
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert "http://" in first
    code = 0 if process.returncode == 130 else process.returncode
    return as_users.Done(code, first + out, err)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if lines_of(page)],
    ids=page_id,
)
def test_the_command_lines_of_a_page_run(page, run_line, earlier_lines):
    for words in lines_of(page):
        if words in earlier_lines:
            continue
        done = run_line(words)
        assert done.code == 0, (words, done)
        assert "Traceback" not in done.err
        if words[:1] != ["train"]:  # later lines of the page may need its run
            earlier_lines.append(words)


@pytest.mark.slow
def test_the_tests_of_the_example_run_as_its_page_says():
    page = ROOT / "docs" / "use" / "own_rules.md"
    line = r"^python (-m pytest .*)$"
    (words,) = re.findall(line, page.read_text("utf-8"), re.MULTILINE)
    done = subprocess.run(
        [sys.executable, *words.split()], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
