"""Wrong command lines: each is refused with exit code 2, and nothing else happens.

Each row has what a user types and the flag, file or player that the message must name.
Its other words are left to the libraries. A new refusal needs a new row only if no
other row breaks the same rule.
"""

import shlex
import shutil

import as_users
import pytest

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
]
WITHOUT_COMMAND = [
    # `python -m jax_ttt` itself, or `jax-ttt`.
    (". trian", "trian"),
    (". --sede 2", "--sede"),
    (". runs nowhere", "nowhere"),
    (". train --nonsense", "--nonsense"),
]
TABLES = {
    "files": FILES,
    "flags": FLAGS,
    "values": VALUES,
    "together": TOGETHER,
    "without_command": WITHOUT_COMMAND,
}


@pytest.fixture(scope="module")
def work(tmp_path_factory, tiny_run):
    """Return the folder of a user's work: a run, a file and an empty folder."""
    path = tmp_path_factory.mktemp("refused") / "work"
    (path / "empty").mkdir(parents=True)
    (path / "a_file").write_text("{}")
    shutil.copytree(tiny_run[0], path / "runs/one")
    for checkpoint in (path / "runs/one").glob("checkpoint-*"):
        checkpoint.unlink()
    return path


@pytest.mark.parametrize("table", TABLES)
def test_wrong_command_lines_are_refused(table, work, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = shutil.copytree(work, tmp_path / "work")
    monkeypatch.chdir(path)
    before = as_users.contents(path)
    for line, word in TABLES[table]:
        as_users.assert_refused(as_users.run_here(*shlex.split(line)), word)
        assert as_users.contents(path) == before, line
