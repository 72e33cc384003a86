"""Wrong command lines: each is refused with exit code 2, and nothing else happens.

Each row has what a user types and the flag, file or player that the message must name.
Its other words are left to the libraries. A new refusal needs a new row only if no
other row breaks the same rule.
"""

import itertools
import json
import shlex
import subprocess
import sys

import as_users
import pytest
from as_users import Done

pytestmark = pytest.mark.fault

COMMANDS = ("train", "evaluate", "play", "web", "runs", "plot", "arena", "sweep")
FLAGS = [
    # Misspelt flags, other programs' names for them, and words that are not flags.
    ("train --sede 2", "--sede"),
    ("train --no-no-lockstep", "--no-no-lockstep"),
    ("train -s 1", "-s"),
    ("train seed=3", "seed=3"),
    ("train hello", "hello"),
    ("evaluate random minimax", "minimax"),
    ("arena --game 3", "--game"),
    ("sweep --config x", "--config"),
    ("runs a b", "b"),
    *((f"{command} --nonsense", "--nonsense") for command in COMMANDS),
    # Values of switches, flags given twice, values that are left out or empty.
    ("train --quiet yes", "yes"),
    ("train --seed 1 --seed=1", "--seed"),
    ("train --num-envs 4 --num_envs 5", "num"),
    ("train --lockstep --no-lockstep", "lockstep"),
    ("train --seed", "--seed"),
    ("train --seed --quiet", "--seed"),
    ("train --run-dir ''", "--run-dir"),
]
VALUES = [
    # One of several words.
    ("train --preset defualt", "--preset"),
    ("train --env-id ../../etc", "--env-id"),
    ("train --device cuda", "--device"),
    ("play --side black", "--side"),
    ("plot runs/one --theme drak", "--theme"),
    ("plot runs/one --values XXO", "--values"),
    # Numbers: of the other kind, or outside the range.
    ("train --num-envs many", "--num-envs"),
    ("train --num-envs 0", "--num-envs"),
    ("train --seed 4294967296", "--seed"),
    ("train --tau nan", "--tau"),
    ("train --checkpoint-every -1", "--checkpoint-every"),
    ("evaluate minimax --games -1", "--games"),
    ("sweep --first-seed 4294967295", "--first-seed"),
    ("web --port 65536", "--port"),
    # Players.
    ("train --opponent minmax", "minmax"),
    ("arena blend:2:random", "blend:2:random"),
    ("train --opponent shipped:../agents", "shipped:../agents"),
    ("train --opponent minimax --env-id hex", "minimax"),
    # Grids.
    ("sweep --grid taau=1", "taau"),
    ("sweep --grid tau=1 tau=0.5", "tau"),
]
TOGETHER = [
    # Settings that contradict each other, or have no effect.
    ("train --epsilon-start 0.2 --epsilon-end 0.4", "epsilon"),
    ("train --preset table --opponent minimax", "backup"),
    ("sweep --preset table --grid opponent=minimax", "backup"),
    ("train --preset table --hidden-size 64", "hidden"),
    ("train --json --quiet", "quiet"),
    ("train --details --quiet", "details"),
    # What a game or another flag does not allow.
    ("train --config runs/one --preset table", "--preset"),
    ("train --until-proven --env-id hex", "until"),
    ("train --start-share 0.5", "start"),
    ("train --prove", "prove"),
    ("evaluate minimax --policy-csv p.csv", "--policy-csv"),
    ("play random --level expert --env-id connect_four", "minimax"),
    # Several devices and processes.
    ("train --devices 0", "--devices"),
    ("train --process-id 0", "--process-id"),
    ("train --distributed --coordinator a:1", "--coordinator"),
    (
        "train --distributed --num-processes 4 --process-id 4 --coordinator a:1",
        "--process-id",
    ),
]
FILES = [
    ("evaluate runs/one --env-id hex", "runs/one"),
    ("train --opponent runs/one --env-id hex", "runs/one"),
    ("train --run-dir runs/one", "runs/one"),
    ("train --run-dir a_file", "a_file"),
    (f"train --run-dir {'x' * 300}", "x" * 300),
    ("train --run-dir /dev/full", "/dev/full"),
    ("train --config none.json", "none.json"),
    ("train --config a_file", "a_file"),
    ("train --resume nowhere", "nowhere"),
    ("train --resume empty", "empty"),
    ("train --resume runs/one", "runs/one"),
    ("evaluate empty", "empty"),
    ("evaluate shipped:nothing", "shipped:nothing"),
    ("play runs/none-such-run", "runs/none-such-run"),
    ("evaluate runs/one --policy-csv no/p.csv", "no/p.csv"),
    ("arena random minimax --csv no/pairs.csv", "no/pairs.csv"),
    ("arena random minimax --svg x.gif", "x.gif"),
    ("sweep --csv empty", "--csv"),
    ("sweep --resume a_file", "a_file"),
    ("plot runs/none", "runs/none"),
    ("runs nowhere", "nowhere"),
    ("runs /dev/null", "/dev/null"),
    ("web --host 999.999.999.999 --port 1", "--host"),
    ("web --data-dir /dev/null/x", "--data-dir"),
]
WITHOUT_COMMAND = [
    # `python -m jax_ttt` itself, or `jax-ttt`.
    (". trian", "trian"),
    (". --sede 2", "--sede"),
    (". runs nowhere", "nowhere"),
    (". train --nonsense", "--nonsense"),
]
TABLES = {
    "flags": FLAGS,
    "values": VALUES,
    "together": TOGETHER,
    "files": FILES,
    "without_command": WITHOUT_COMMAND,
}
BEFORE_JAX = ("flags", "values", "together")
"""The tables whose lines are refused before JAX is loaded."""

# Each command line gets a process that is forked from one that has imported tyro, since
# a new process takes a second. It runs there as `python -m` runs it, and its output is
# written to the files of its number.
PROGRAM = """
import importlib, json, os, runpy, shutil, signal, sys
import tyro, jax_ttt.cli

lines, folder = json.load(open(sys.argv[1])), sys.argv[2]
for command in {command for command, *_ in lines} - {"."}:
    importlib.import_module(f"jax_ttt.{command}")
    del sys.modules[f"jax_ttt.{command}"]  # it is run, and was never imported
for number, (command, *words) in enumerate(lines):
    if child := os.fork():
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        open(f"{folder}/{number}.code", "w").write(str(status))
        continue
    signal.alarm(120)
    shutil.copytree(f"{folder}/work", f"{folder}/{number}")
    os.chdir(f"{folder}/{number}")
    for fd, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{folder}/{number}.{name}", os.O_CREAT | os.O_WRONLY), fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    module = "jax_ttt" if command == "." else f"jax_ttt.{command}"
    sys.argv = [module, *words]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        if {"jax", "pgx"} & sys.modules.keys():
            open(f"{folder}/{number}.loaded", "w").close()
    break
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Return a folder with the `work` of a user, and how each command line ended there.

    The work is a run, a file and an empty folder.
    """
    folder = tmp_path_factory.mktemp("refused")
    path = folder / "work"
    (path / "empty").mkdir(parents=True)
    (path / "a_file").write_text("{}")
    words = ["--preset", "table", "--num-envs", 8, "--num-updates", 2]
    words += ["--checkpoint-every", 0, "--run-dir", path / "runs/one", "--quiet"]
    done = as_users.run_here("train", *words)
    assert done.code == 0, done.err
    for checkpoint in (path / "runs/one").glob("checkpoint-*"):
        checkpoint.unlink()
    lines = [shlex.split(line) for rows in TABLES.values() for line, _ in rows]
    (folder / "lines.json").write_text(json.dumps(lines))
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder / "lines.json", folder],
        capture_output=True,
        text=True,
        env=as_users.environment(XDG_DATA_HOME=folder / "data", COLUMNS="80"),
        timeout=600,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return folder


@pytest.mark.parametrize("table", TABLES)
def test_wrong_command_lines_are_refused(table, work):
    names = [name for name, rows in TABLES.items() for _ in rows]
    before = as_users.contents(work / "work")
    for number, (line, word) in enumerate(itertools.chain(*TABLES.values())):
        if names[number] != table:
            continue
        out, err = ((work / f"{number}.{end}").read_text() for end in ("out", "err"))
        done = Done(int((work / f"{number}.code").read_text()), out, err)
        as_users.assert_refused(done, word)
        assert as_users.contents(work / f"{number}") == before, line
        is_loaded = (work / f"{number}.loaded").exists()
        assert not (table in BEFORE_JAX and is_loaded), line
