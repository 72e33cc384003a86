"""Wrong command lines: each is refused in a line or a short list, before JAX loads.

The table has what a user types and what the program answers: which word is wrong, what
it must be, and what may be meant.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jax_ttt import cli
from jax_ttt.__main__ import COMMANDS, module_of
from jax_ttt.config.settings import Config

PRESETS = "default plain table connect-4x4 connect-5x4 connect-5x5 connect-6x5"
PRESETS += " connect-6x6 connect-7x6 article tictac-q tictac-q-article tictac-double-q"
PRESETS += " tictac-minimax tictac-neural go-first go-second matlab web"
GAMES = (
    "tic_tac_toe connect_four othello hex animal_shogi gardner_chess go_9x9 "
    "connect_4x4 connect_5x4 connect_4x5 connect_5x5 connect_6x5 connect_6x6 "
    "connect_7x6 mnk_4x4_4"
)
PLAYERS = "random minimax minimax-first minimax-quick mcts[:N] mcts-online[:N]"
PLAYERS += " blend:P:PLAYER lookahead:D:AGENT shipped:network shipped:table"
PLAYERS += " shipped:connect-5x4 shipped:connect-7x6 AGENT"
OTHER_GAME = "made for tic_tac_toe, not for"
NO_RUN = "--run-dir must be a folder that can be made and holds no run, got"
NO_EFFECT = "must be left out: it has no effect with"
AGAINST = "--backup must be one-ply against an opponent: its reply is part of the move,"
SEED = "--seed must be a whole number from 0 to 4,294,967,295, got"

# What is typed, the first line of what is said, and the first words of a list below it.
FLAGS = [
    ("train --lr 0.01", "train has no flag --lr; did you mean --learning-rate?"),
    (
        "train --learning_rat 1",
        "train has no flag --learning_rat; did you mean "
        "--learning-rate, --learning-rate-end or --learning-rate-decay?",
    ),
    ("train --sede 2", "train has no flag --sede; did you mean --seed?"),
    ("train --env tic_tac_toe", "train has no flag --env; did you mean --env-id?"),
    (
        "train --batch-size 8",
        "train has no flag --batch-size; did you mean --num-env",
    ),
    ("train --steps 100", "train has no flag --steps; did you mean --num-updates?"),
    ("train --discount 0.9", "train has no flag --discount; did you mean --gamma?"),
    (
        "train --LearningRate 1",
        "train has no flag --LearningRate; did you mean --le",
    ),
    (
        "train --epsilon 0.1",
        "train has no flag --epsilon; did you mean --epsilon-start, --epsilon-end, "
        "--epsilon-schedule or --epsilon-decay?",
    ),
    ("train --xyzzy", "train has no flag --xyzzy (--help lists the flags)"),
    ("train seed=3", "train can't use 'seed=3'; did you mean --seed?"),
    ("train hello", "train can't use 'hello' (--help lists the flags)"),
    ("train --quiet=yes", "--quiet takes no value, got 'yes'"),
    ("train --quiet yes", "--quiet takes no value, got 'yes'"),
    (
        "train --lockstep=no",
        "--lockstep takes no value, got 'no'; did you mean --no-lockstep?",
    ),
    ("evaluate --json=minimax", "--json takes no value, got 'minimax'"),
    (
        "sweep --json=agents.json",
        "--json takes no value, got 'agents.json'; did you mean --json > agents.json?",
    ),
    ("sweep --vary", "sweep has no flag --vary; did you mean --grid?"),
    ("sweep --vary tau=0.1", "sweep has no flag --vary; did you mean --grid?"),
    ("sweep --grid", "--grid needs a value: SETTING=VALUE,VALUE"),
    ("train --seed", "--seed needs a value: a whole number from 0 to 4,294,967,295"),
    ("train --loss", "--loss needs a value: huber, mse"),
    ("train --opponent", "--opponent needs a value: PLAYER"),
    ("train --json --quiet", "--quiet must be left out: it has no effect with json"),
    ("evaluate minimax --jsno", "evaluate has no flag --jsno; did you mean --json?"),
    ("play --sid o", "play has no flag --sid; did you mean --side?"),
    ("arena --game 3", "arena has no flag --game; did you mean --env-id?"),
    ("sweep --seeds 3", "sweep has no flag --seeds; did you mean --"),
    ("sweep --config x", "sweep has no flag --config"),
    ("plot runs/one --value x", "plot has no flag --value; did you mean --values?"),
    ("web --prot 1", "web has no flag --prot; did you mean --port?"),
]
VALUES = [
    (
        "train --preset defualt",
        "--preset must be one of these, got 'defualt'; did you mean default?",
        PRESETS,
    ),
    (
        "train --preset tictac_minimax",
        "--preset must be one of these, got 'tictac_minimax'; did you mean tictac-mini",
        PRESETS,
    ),
    (
        "train --env-id tictactoe",
        "--env-id must be one of these, got 'tictactoe'; did you mean tic_tac_toe?",
        GAMES,
    ),
    (
        "train --env-id chess",
        "--env-id must be one of these, got 'chess'; did you mean gardner_chess?",
        GAMES,
    ),
    (
        "train --opponent minmax",
        "minmax: no such file, and no known player; did you mean minimax?",
        PLAYERS,
    ),
    (
        "arena random minmax-quick",
        "minmax-quick: no such file, and no known player; did you mean minimax-quick?",
        PLAYERS,
    ),
    (
        "evaluate blend:0.5:randm",
        "randm: no such file, and no known player; did you mean random?",
        PLAYERS,
    ),
    (
        "play --side black",
        "--side must be one of these, got 'black'",
        "x o random first second",
    ),
    (
        "play --level hard",
        "--level must be one of beginner, medium, expert, got 'hard'",
    ),
    (
        "play mcst",
        "mcst: no such file, and no known player; did you mean mct",
        PLAYERS,
    ),
    ("arena blend:0.5", "blend:0.5: blend needs a player after it: blend:P:PLAYER"),
    ("play lookahead", "lookahead: lookahead needs a player after it: lookahead:D:AG"),
    ("arena mcts:0", "mcts:0: mcts needs a whole number from 1 to 1,000,000, got '0'"),
    (
        "train --optimizer adam",
        "--optimizer must be one of adamw, sgd, got 'adam'; did you mean adamw?",
    ),
    (
        "train --device cuda",
        "--device must be one of auto, cpu, gpu, tpu, got 'cuda'; did you mean gpu?",
    ),
    (
        "train --backup two_ply",
        "--backup must be one of one-ply, two-ply, got 'two_ply'; did you mean two-pl",
    ),
    ("train --num-envs many", "--num-envs must be a whole number from 1 to 1,048,576,"),
    (
        "train --num-updates 1e3",
        "--num-updates must be a whole number from 1 to 1,000",
    ),
    (
        "train --num-updates 0",
        "--num-updates must be a whole number from 1 to 1,000,",
    ),
    ("train --gamma 1.5", "--gamma must be a number from 0 to 1, got 1.5"),
    ("train --tau nan", "--tau must be a number above 0 and at most 1, got nan"),
    ("train --seed -1", f"{SEED} -1"),
    ("train --seed one", f"{SEED} 'one'"),
    ("play --seed -5", f"{SEED} -5"),
    ("evaluate minimax --games -1", "--games must be a whole number from 0 to 1,048,5"),
    ("arena --games 0", "--games must be a whole number from 1 to 1,048,576, got 0"),
    ("sweep --num-seeds 0", "--num-seeds must be a whole number from 1 to 100,000, g"),
    ("sweep --grid tau", "--grid must be SETTING=VALUE,VALUE, for instance tau=0.01,0"),
    (
        "sweep --grid taau=1",
        "a setting of --grid is unknown: 'taau'; did you mean tau",
    ),
    (
        "sweep --grid batch_size=8",
        "a setting of --grid is unknown: 'batch_size'; did you mean num_envs?",
    ),
    (
        "sweep --grid network=tabel",
        "--network must be one of mlp, table, got 'tabel'; did you mean table?",
    ),
    ("sweep --grid tau=x", "--tau must be a number above 0 and at most 1, got 'x'"),
    ("sweep --grid loss=l1", "--loss must be one of huber, mse, got 'l1'"),
    ("sweep --grid tau=1 tau=0.5", "--grid must name each setting once, got tau twice"),
    ("plot runs/one --theme drak", "--theme must be one of light, dark, got 'drak'; d"),
    (
        "plot runs/one --values XXO",
        "--values must be 9 cells, each X, O or . (free), got 'XXO'",
    ),
    (
        "plot runs/one --values 012345678",
        "--values must be 9 cells, each X, O or . (free), got '012345678'",
    ),
]
CONTRADICTIONS = [
    (
        "train --preset table --opponent minimax",
        f"{AGAINST} got 'two-ply' (set by preset table; add --backup one-ply)",
    ),
    (
        "train --preset default --opponent random",
        f"{AGAINST} got 'two-ply' (set by preset default; add --backup one-ply)",
    ),
    (
        "train --preset table --env-id connect_four",
        "--network must be mlp in connect_four: too many boards for a table, got "
        "'table' (set by preset table; add --network mlp)",
    ),
    (
        "train --preset table --hidden-size 64",
        f"--hidden-size {NO_EFFECT} network table, got 64 "
        "(network table is set by preset table; add --network mlp)",
    ),
    (
        "train --preset table --double",
        "--double must be false with a two-ply backup, got True "
        "(backup two-ply is set by preset table; add --backup one-ply)",
    ),
    (
        "train --learning-rate-end 0.5",
        "--learning-rate-end must be at most 0.006 (learning_rate), got 0.5 "
        "(learning_rate 0.006 is set by preset default; --learning-rate changes it)",
    ),
    (
        "train --replay-batch 64",
        f"--replay-batch {NO_EFFECT} replay_capacity 0, got 64 "
        "(replay_capacity 0 is set by preset default; --replay-capacity changes it)",
    ),
    (
        "train --table-key hash",
        f"--table-key {NO_EFFECT} network mlp, got 'hash' "
        "(network mlp is set by preset default; add --network table)",
    ),
    (
        "train --tau 0.1 --target-update-every 5",
        f"--tau {NO_EFFECT} target_update_every 5, got 0.1",
    ),
    ("train --seat first", "--seat must be both in self-play, where it plays both sid"),
    (
        "train --config runs/one --opponent minimax",
        f"{AGAINST} got 'two-ply' (set by runs/one; add --backup one-ply)",
    ),
    (
        "train --config runs/one --preset table",
        "--preset must be left out with --config, got 'table'",
    ),
    (
        "train --until-proven --env-id hex",
        "--until-proven must be used with",
    ),
    (
        "train --until-proven --env-id connect_4x4",
        "--until-proven must be used with an enumerable game (tic_tac_toe), or with "
        "--start-share, got 'connect_4x4'",
    ),
    (
        "train --start-share 0.5 --env-id hex",
        "--start-share must be 0: positions of hex have no keys, got 0.5",
    ),
    (
        "train --start-share 0.5",
        "--start-share must be 0: the whole tree of tic_tac_toe is enumerated, got 0.5",
    ),
    (
        "train --prove --env-id hex",
        "--prove must be left out: positions of hex have no keys",
    ),
    (
        "train --prove",
        "--prove must be left out: the whole tree of tic_tac_toe is enumerated",
    ),
    (
        "train --prove --env-id connect_4x4 --distributed",
        "--prove must be left out with --distributed",
    ),
    (
        "train --start-share 0.5 --env-id connect_4x4 --opponent random",
        "--start-share must be 0 against random: for self-play only, got 0.5",
    ),
    ("train --start-share 1.5 --env-id connect_4x4", "--start-share must be a number"),
    (
        "train --max-positions 5 --env-id connect_4x4",
        f"--max-positions {NO_EFFECT} start_share 0, got 5",
    ),
    (
        "train --two-planes --env-id hex",
        f"--two-planes {NO_EFFECT} env_id hex: it does not show stones, got True",
    ),
    (
        "sweep --grid opponent=self,minimax backup=two-ply",
        f"{AGAINST} got 'two-ply' (set by --grid backup=two-ply)",
    ),
    (
        "sweep --preset table --grid opponent=minimax",
        f"{AGAINST} got 'two-ply' (set by preset table; add --backup one-ply)",
    ),
    (
        "sweep --eval-every 5",
        "--eval-every must be left out: it has no effect in a sweep",
    ),
]
FILES = [
    ("evaluate runs/one --env-id hex", f"runs/one: {OTHER_GAME} hex"),
    ("arena runs/one random --env-id othello", f"runs/one: {OTHER_GAME} othello"),
    ("train --opponent runs/one --env-id hex", f"runs/one: {OTHER_GAME} hex"),
    (
        "sweep --grid opponent=self,lookahead:2:runs/one --env-id hex",
        f"runs/one: {OTHER_GAME} hex",
    ),
    ("train --run-dir /proc/x", f"{NO_RUN} '/proc/x': "),
    ("train --run-dir runs/one", f"{NO_RUN} 'runs/one': File exists"),
    ("train --run-dir a_file", f"{NO_RUN} 'a_file': File exists"),
    ("train --run-dir a_file/new", f"{NO_RUN} 'a_file/new': Not a directory"),
    ("train --config none.json", "none.json: no such file"),
    ("train --config a_file", "a_file: not a run's settings ("),
    (
        "train --opponent runs/onee",
        "runs/onee: no such file or folder; did you mean r",
    ),
    ("evaluate runs/on", "runs/on: no such file or folder; did you mean runs/one?"),
    ("evaluate empty", "empty/agent.safetensors: no such file"),
    ("play runs/none-such-run", "runs/none-such-run: no such file or folder"),
    ("evaluate runs/one --policy-csv no/p.csv", "--policy-csv no/p.csv: no folder no"),
    ("evaluate minimax --policy-csv p.csv", "--policy-csv must be used with a saved"),
    ("arena --csv no/pairs.csv", "--csv no/pairs.csv: no folder no"),
    ("sweep --csv empty", "--csv empty: a folder, not a file"),
    ("plot runs/none", "runs/none: no such folder"),
    ("plot empty --game", "empty/agent.safetensors: no such file"),
]
HEADER = {"__metadata__": {"jax_ttt": json.dumps({"env_id": "tic_tac_toe"})}}
AGENT = len(json.dumps(HEADER)).to_bytes(8, "little") + json.dumps(HEADER).encode()
"""An agent's file without its weights."""
WRONG = [(*row, "")[:3] for row in (*FLAGS, *VALUES, *CONTRADICTIONS, *FILES)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a run, a file and an empty folder."""
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a_file").write_text("{}")
    about = {"format_version": 2, "preset": "table", "seed": 1}
    config = Config.of(network="table", backup="two-ply").as_dict()
    text = json.dumps(about | {"config": config, "versions": {"jax_ttt": "0"}})
    (tmp_path / "runs/one/config.json").write_text(text)
    (tmp_path / "runs/one/agent.safetensors").write_bytes(AGENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(path):
    return sorted(str(file) for file in path.rglob("*"))


@pytest.mark.fault
@pytest.mark.parametrize(("line", "first", "listed"), WRONG, ids=[w[0] for w in WRONG])
def test_a_wrong_command_line_is_refused(
    line, first, listed, folder, monkeypatch, capsys
):
    def set_up(*_):
        pytest.fail("JAX is set up first")

    monkeypatch.setattr(cli, "set_up", set_up)
    command, *words = line.split()
    module = module_of(command)
    before = files(folder)
    assert module.main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    begin, *rows = err.splitlines()
    assert begin.startswith(f"error: {first}")
    assert [row.split()[0].rstrip(":") for row in rows] == listed.split()
    assert all(row.startswith("  ") for row in rows)
    assert "\x1b" not in err
    assert files(folder) == before


def test_there_are_sixty_and_each_command_has_some():
    assert len({line for line, *_ in WRONG}) == len(WRONG) >= 60
    assert len({line.split()[0] for line, *_ in WRONG}) == 10


KINDS = (
    *("train --lr 1", "train --seed -1", "train --preset table --double"),
    *("train --opponent minmax", "train --run-dir runs/one", "train --config a_file"),
    *("evaluate runs/one --jsno", "evaluate runs/on", "evaluate runs/one --env-id hex"),
    *("play --sid o", "play mcst", "arena --games 0", "arena blend:0.5"),
    *("sweep --grid taau=1", "sweep --preset table --env-id hex", "sweep --vary"),
    *("runs none", "plot runs/none", "plot runs/one --values XXO"),
    *("web --prot 1", "web --port 70000"),
)
"""For each command: a wrong flag, a wrong value, a contradiction, a missing file."""
LIBRARIES = """
import sys, time
import numpy, tyro
print(time.process_time())
sys.exit("error: none")
"""
"""What no command can do without."""
TIMED = """
import importlib, sys, time
code = importlib.import_module("{}").main({})
assert "jax" not in sys.modules
print(time.process_time())
sys.exit(code)
"""


def own_seconds(code, exit_code=2):
    """Return the CPU seconds that a process of its own counts until it ends."""
    env = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True
    )
    assert done.returncode == exit_code, done.stderr
    assert done.stderr.startswith("error: ")
    return float(done.stdout)


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize("line", KINDS)
def test_a_refusal_is_quick_and_loads_no_jax(line, folder):
    """The best of three, as other processes on the machine slow this one down; and a
    slow machine is given four times what it takes to import the libraries.
    """
    command, *words = line.split()
    code = TIMED.format(module_of(command).__name__, words)
    took = min(own_seconds(code) for _ in range(3))
    assert took < 0.5 or took < 4 * own_seconds(LIBRARIES, 1)


def test_each_command_is_timed():
    assert {line.split()[0] for line in KINDS} == set(COMMANDS)
