"""Command lines that are refused: by a message that names the flag and the value.

Each row has what a user types and some words that the refusal must contain. A new
refusal needs a new row only if no other row breaks the same rule.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import commands
import pytest

import jax_ttt
from jax_ttt import cli
from jax_ttt.__main__ import COMMANDS
from jax_ttt.config.catalogue import GAMES
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.web import __main__ as web

pytestmark = pytest.mark.fault

ALL_PRESETS, ALL_GAMES = " ".join(PRESETS), " ".join(GAMES)

FLAGS = [
    # Misspelt flags, other programs' names of them, and words that are no flags.
    ("train --sede 2", "--sede --seed"),
    ("train --env tic_tac_toe", "--env --env-id"),
    ("train --lr 0.01", "--lr"),
    ("train --learning_rat 1", "--learning_rat --learning-rate"),
    ("train --LearningRate 1", "--LearningRate --learning-rate"),
    ("train --batch-size 8", "--batch-size"),
    ("train --xyzzy", "--xyzzy --help"),
    ("train --no-seed", "--no-seed"),
    ("train --no-no-lockstep", "--no-no-lockstep"),
    ("train --=", "--"),
    ("train -s 1", "-s"),
    ("train seed=3", "seed=3"),
    ("train hello 1 2", "hello"),
    ("evaluate minimax --jsno", "--jsno --json"),
    ("evaluate random minimax", "minimax"),
    ("play --sid o", "--sid --side"),
    ("arena --game 3", "--game"),
    ("sweep --vary tau=0.1", "--vary"),
    ("sweep --config x", "--config"),
    ("plot runs/one --value x", "--value --values"),
    ("web --prot 1", "--prot --port"),
    ("web 8000", "8000"),
    ("runs a b", "b"),
    # Values of switches.
    ("train --quiet=yes", "yes"),
    ("train --quiet yes", "yes"),
    ("train --lockstep=no", "no"),
    ("sweep --json=agents.json", "agents.json"),
    # Flags that are given twice.
    ("train --seed 1 --seed=1", "--seed once"),
    ("train --num-envs 4 --num_envs 5", "--num-envs once"),
    ("train --lockstep --no-lockstep", "once"),
    ("evaluate random --json --json", "--json once"),
    ("sweep --grid tau=0.1 --grid gamma=0.9", "--grid once"),
    # Values that are left out, or empty.
    ("train --seed", "--seed"),
    ("train --seed --quiet", "--seed"),
    ("train --num-envs ''", "--num-envs"),
    ("train --loss", "--loss"),
    ("train --run-dir ''", "--run-dir"),
    ("train --run-dir=", "--run-dir"),
    ("train --opponent", "--opponent"),
    ("train --preset ''", "--preset"),
    ("sweep --grid", "--grid SETTING=VALUE"),
    ("sweep --grid ''", "--grid"),
    ("plot --values ''", "--values"),
    ("web --host ''", "--host"),
    # Characters that are not printed.
    ("train --run-dir 'a\tb'", "control"),
    ("train --run-dir 'a\x1b[2Jb'", "control"),
]
VALUES = [
    # One of several words; a near one is suggested.
    ("train --preset defualt", f"--preset 'defualt' {ALL_PRESETS}"),
    ("train --preset=Default", "--preset 'Default'"),
    ("train --env-id tictactoe", f"--env-id 'tictactoe' {ALL_GAMES}"),
    ("train --env-id ../../etc", "--env-id '../../etc'"),
    ("train --optimizer adam", "--optimizer 'adam' adamw sgd"),
    ("train --device cuda", "--device 'cuda' gpu auto cpu tpu"),
    ("train --backup two_ply", "--backup 'two_ply' one-ply two-ply"),
    ("train --seat 1", "--seat '1' both first second"),
    ("play --side black", "--side 'black' x o random first second"),
    ("play --level hard", "--level 'hard' beginner medium expert"),
    ("plot runs/one --theme drak", "--theme 'drak' light dark"),
    ("plot runs/one --values XXO", "--values 'XXO' 9 cells"),
    ("plot runs/one --values 012345678", "--values '012345678' 9 cells"),
    # Numbers: of the other kind, outside the range, or such as only Python reads.
    ("train --num-envs many", "--num-envs 'many' whole 1 1,048,576"),
    ("train --num-envs 1.5", "--num-envs '1.5' whole"),
    ("train --num-envs 0x10", "--num-envs '0x10' whole"),
    ("train --num-envs 1_0", "--num-envs '1_0'"),
    ("train --num-envs ' 1'", "--num-envs ' 1'"),
    ("train --num-envs ٣", "--num-envs '٣'"),
    ("train --num-updates 1e3", "--num-updates '1e3' whole"),
    ("train --num-envs 0", "--num-envs 0 1 1,048,576"),
    ("train --num-envs -1", "--num-envs -1"),
    ("train --num-envs 1048577", "--num-envs 1048577 1,048,576"),
    (f"train --num-envs {'9' * 39}", "--num-envs 1,048,576"),
    ("train --seed 4294967296", "--seed 4294967296 4,294,967,295"),
    ("train --gamma 1.5", "--gamma 1.5 0 1"),
    ("train --gamma -1", "--gamma -1 0 1"),
    ("train --tau 0", "--tau above 0"),
    ("train --tau x", "--tau 'x' number"),
    ("train --tau nan", "--tau nan"),
    ("train --tau -inf", "--tau -inf"),
    ("train --learning-rate 1e-400", "--learning-rate above 0"),
    ("train --learning-rate 1e39", "--learning-rate 1e+38"),
    ("sweep --first-seed 4294967295", "--first-seed 4,294,967,232"),
    ("web --port 65536", "--port 65536 65,535"),
    # Players.
    ("train --opponent minmax", "minmax minimax random mcts shipped:network"),
    ("arena random minmax-quick", "minmax-quick minimax-quick"),
    ("evaluate blend:0.5:randm", "randm random?"),
    ("arena blend:0.5", "blend:P:PLAYER"),
    ("arena blend:2:random", "blend:2:random number"),
    ("arena blend:nan:random", "blend:nan:random number"),
    ("play lookahead", "lookahead:D:AGENT"),
    ("arena lookahead:-1:minimax", "lookahead:-1:minimax"),
    ("arena mcts:0", "mcts:0 whole 1"),
    ("arena mcts:1e9", "mcts:1e9 whole"),
    ("train --opponent shipped:../agents", "shipped:../agents"),
    ("train --opponent minimax --env-id hex", "minimax enumerable"),
    # Grids.
    ("sweep --grid tau", "--grid SETTING=VALUE"),
    ("sweep --grid taau=1", "--grid 'taau' tau?"),
    ("sweep --grid batch_size=8", "'batch_size'"),
    ("sweep --grid zz=1", "'zz'"),
    ("sweep --grid =", "--grid ''"),
    ("sweep --grid tau=", "--tau ''"),
    ("sweep --grid tau=0.1,nan", "--tau nan"),
    ("sweep --grid num_envs=1_000", "--num-envs '1_000' whole"),
    ("sweep --grid network=tabel", "--network 'tabel' table"),
    ("sweep --grid tau=1 tau=0.5", "--grid once tau"),
    ("sweep --grid seed=1,2", "--grid 'seed'"),
    ("sweep --grid env_id=hex", "--grid env_id"),
]
OF_FOUR = "train --distributed --num-processes 4 --process-id"
TOGETHER = [
    # Settings that contradict each other, or the preset or file they come from.
    ("train --epsilon-start 0.2 --epsilon-end 0.4", "--epsilon-end 0.4 0.2"),
    ("train --learning-rate 0.1 --learning-rate-end 0.2", "--learning-rate-end 0.1"),
    ("train --learning-rate-end 0.5", "--learning-rate-end 0.5 preset default"),
    ("train --learning-rate 0.001", "--learning-rate-end 0.001 0.002 preset default"),
    ("train --epsilon-start 0.05", "--epsilon-end 0.05 0.1 preset default"),
    ("train --preset matlab --network mlp", "--network learning_rate preset matlab"),
    ("train --preset plain --reward-draw 0.5", "--reward-draw 0.5 preset plain"),
    ("train --preset tictac-q --reward-win -1", "--reward-loss -1 preset tictac-q"),
    ("train --reward-win 0", "--reward-win self-play"),
    ("train --seat first", "--seat 'first' self-play"),
    ("train --preset table --opponent minimax", "--backup two-ply preset table"),
    ("train --opponent random --preset default", "--backup two-ply preset default"),
    ("train --config runs/one --opponent minimax", "--backup two-ply runs/one"),
    ("train --preset table --double", "--double two-ply preset table"),
    ("train --preset table --env-id connect_four", "--network connect_four table"),
    (
        "train --replay-capacity 300 --replay-start 0 --replay-batch 301",
        "--replay-capacity 300 301 replay_batch",
    ),
    ("sweep --grid opponent=self,minimax backup=two-ply", "--backup two-ply"),
    ("sweep --preset table --grid opponent=minimax", "--backup two-ply preset table"),
    # Settings without effect.
    ("train --preset table --hidden-size=64", "--hidden-size effect network table"),
    ("train --replay-batch 64", "--replay-batch 64 effect replay_capacity"),
    ("train --table-key hash", "--table-key 'hash' effect network mlp"),
    ("train --tau 0.1 --target-update-every 5", "--tau effect target_update_every"),
    ("train --no-canonical --env-id hex", "--canonical effect hex"),
    ("train --two-planes --env-id hex", "--two-planes hex"),
    ("train --max-positions 5 --env-id connect_4x4", "--max-positions start_share"),
    ("train --json --quiet", "--quiet effect json"),
    ("train --details --quiet", "--details effect quiet"),
    ("sweep --eval-every 5", "--eval-every effect"),
    # What a game or another flag does not allow.
    ("train --config runs/one --preset table", "--preset --config 'table'"),
    ("train --until-proven --env-id hex", "--until-proven hex"),
    (
        "train --until-proven --env-id connect_4x4",
        "--until-proven tic_tac_toe --start-share 'connect_4x4'",
    ),
    ("train --start-share 0.5", "--start-share tic_tac_toe 0.5"),
    ("train --start-share 0.5 --env-id hex", "--start-share hex 0.5"),
    (
        "train --start-share 0.5 --env-id connect_4x4 --opponent random",
        "--start-share random self-play",
    ),
    ("train --prove", "--prove tic_tac_toe"),
    ("train --prove --env-id hex", "--prove hex"),
    ("train --prove --env-id connect_4x4 --distributed", "--prove --distributed"),
    ("evaluate minimax --policy-csv p.csv", "--policy-csv saved"),
    # Several devices and processes.
    *((f"train --devices {n}", f"--devices '{n}' all") for n in ("0", "2.5", "²")),
    ("train --devices ''", "--devices"),
    ("sweep --devices 1000000", "--devices '1000000'"),
    ("train --coordinator a:1", "--coordinator --distributed"),
    ("train --process-id 0", "--process-id --distributed"),
    ("train --num-envs 100 --devices 8", "--num-envs 8 96 104 100"),
    ("train --distributed --devices 2", "--devices all '2'"),
    (
        "train --distributed --coordinator a:1",
        "--coordinator --num-processes --process-id",
    ),
    (
        "train --distributed --num-processes 2 --process-id 0",
        "--num-processes --coordinator",
    ),
    *(
        (f"{OF_FOUR} 3 --coordinator {host}", f"--coordinator HOST:PORT '{host}'")
        for host in ("host", "host:", ":80", "host:0", "host:65536")
    ),
    (f"{OF_FOUR} 4 --coordinator a:1", "--process-id --num-processes 4"),
    ("evaluate random --env-id hex --policy-csv p.csv", "--policy-csv"),
]
FILES = [
    ("evaluate runs/one --env-id hex", "runs/one tic_tac_toe hex"),
    ("arena runs/one random --env-id othello", "runs/one tic_tac_toe othello"),
    ("train --opponent runs/one --env-id hex", "runs/one tic_tac_toe hex"),
    (
        "sweep --grid opponent=self,lookahead:2:runs/one --env-id hex",
        "runs/one tic_tac_toe hex",
    ),
    ("train --run-dir runs/one", "--run-dir 'runs/one' exists"),
    ("train --run-dir a_file/new", "--run-dir 'a_file/new' file"),
    ("train --config none.json", "none.json file"),
    ("train --config a_file", "a_file settings"),
    ("evaluate runs/on", "runs/on runs/one?"),
    ("evaluate empty", "empty/agent.safetensors"),
    ("play runs/none-such-run", "runs/none-such-run"),
    ("evaluate runs/one --policy-csv no/p.csv", "--policy-csv no/p.csv folder"),
    ("arena --csv no/pairs.csv", "--csv no/pairs.csv folder"),
    ("sweep --csv empty", "--csv empty folder"),
    ("sweep --csv /dev/full/x", "--csv /dev/full/x"),
    (f"sweep --csv {'x' * 300}", "xxx long"),
    ("sweep --svg x.bmp", "--svg x.bmp .svg .png .pdf"),
    ("plot runs/none", "runs/none folder"),
    ("plot empty --game", "empty/agent.safetensors"),
    ("runs nowhere", "nowhere folder"),
    ("runs /dev/null", "/dev/null folder"),
    ("web --host 999.999.999.999 --port 1", "--host 999.999.999.999"),
    ("web --data-dir /dev/null/x", "--data-dir /dev/null/x"),
]
EVERY = [
    *((f"{command} --nonsense", f"{command} --nonsense") for command in COMMANDS),
    *((f"{command} ''", "empty") for command in COMMANDS),
    *((f"{command} 'a\nb'", "control") for command in COMMANDS),
]
ROWS = [*FLAGS, *VALUES, *TOGETHER, *FILES, *EVERY]
ABOUT = {"format_version": 4, "kind": "agent", "env_id": "tic_tac_toe"}
HEADER = {"__metadata__": {"jax_ttt": json.dumps(ABOUT)}}
AGENT = len(json.dumps(HEADER)).to_bytes(8, "little") + json.dumps(HEADER).encode()
"""An agent's file without its weights."""


@pytest.fixture
def folder(tmp_path, tmp_path_factory, monkeypatch):
    """Work in a folder with a run, a file and an empty folder."""
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a_file").write_text("{}")
    config = Config.of(network="table", backup="two-ply").as_dict()
    record = {"format_version": 2, "preset": "table", "seed": 1, "config": config}
    text = json.dumps(record | {"versions": {"jax_ttt": "0"}})
    (tmp_path / "runs/one/config.json").write_text(text)
    (tmp_path / "runs/one/agent.safetensors").write_bytes(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")  # no line of a frame is broken
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    return tmp_path


@pytest.fixture
def refusal(folder, monkeypatch, capsys):
    """Return a function that runs a command line and returns its refusal."""

    def set_up(*_):
        pytest.fail("the command line is accepted")

    monkeypatch.setattr(cli, "set_up", set_up)
    monkeypatch.setattr(web, "_load", set_up)

    def contents():
        paths = sorted(folder.rglob("*"))
        return {path: path.read_bytes() if path.is_file() else b"" for path in paths}

    def refuse(line):
        command, *words = shlex.split(line)
        before = contents()
        assert commands.run(commands.module_of(command), words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        assert "\x1b" not in err
        assert contents() == before
        return " ".join(re.sub("[─│╭╮╰╯]", " ", err).split())

    return refuse


@pytest.mark.parametrize(
    ("line", "words"), ROWS, ids=[ascii(line)[1:-1][:60] for line, _ in ROWS]
)
def test_a_wrong_command_line_is_refused(line, words, refusal):
    said = refusal(line)
    assert not [word for word in words.split() if word not in said], said


IN_ONE_PROCESS = """
import json, sys
import commands
from jax_ttt import cli
cli.set_up = None  # nothing is trained by mistake
for command, *words in json.load(sys.stdin):
    module = commands.module_of(command)
    assert commands.run(module, words) == 2, (command, words)
    found = {"jax", "pgx", "flax"} & sys.modules.keys()
    assert not found, (command, words, found)
"""


def test_a_refusal_loads_no_slow_library(folder):
    """Nothing is computed or compiled."""
    lines = [shlex.split(line) for line, _ in ROWS]
    roots = map(str, (Path(jax_ttt.__file__).parents[1], Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", IN_ONE_PROCESS],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(roots)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
