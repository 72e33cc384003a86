"""Wrong command lines: each is refused with exit code 2, and nothing else happens.

Each row has what a user types and the flag, file, player or reason that the message
must name. Its other words are left to the libraries. A new refusal needs a new row only
if no other row breaks the same rule. The rules of single settings: `config/`.
"""

import os
import shlex
import subprocess

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
    ("train --lr 0.1", "there is no flag --lr; did you mean --learning-rate?"),
    ("train --lr=0.1", "did you mean --learning-rate?"),
    ("train --lr-end 0.1", "did you mean --learning-rate-end?"),
    ("train --epochs 10", "did you mean --num-updates?"),
    ("sweep --steps 10", "did you mean --num-updates?"),
    ("train --epsilon 0.1", "did you mean --epsilon-start or --epsilon-end?"),
    ("evaluate --episodes 9", "did you mean --games?"),
    ("train --batch-size 8", "did you mean --num-envs or --replay-batch?"),
    ("arena --game 3", "did you mean --env-id or --games?"),
    ("evaluate random minimax", "minimax"),
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
NOT_SAVED = ("random", "minimax", "program:true")
VALUES = [
    # One of several words.
    ("train --preset tabel", "did you mean table? It must be one of "),
    ("train --env-id ../../etc", "--env-id"),
    ("train --env-id tictactoe", "did you mean tic_tac_toe?"),
    ("train --env-id go", "did you mean go_9x9?"),
    ("train --env-id chess", "did you mean gardner_chess?"),
    ("train --device cuda", "--device"),
    ("train --device tpu", "--device must be auto or "),
    ("play --side black", "--side"),
    ("play --level hard", "one of beginner, casual, strong, full, expert, got 'hard'"),
    ("plot runs/one --theme drak", "--theme"),
    ("plot runs/one --values XXO", "--values"),
    ("plot runs/one --values XXXOO....", "the game is over"),
    # Numbers: of the other kind, or outside the range.
    ("train --num-envs 0", "--num-envs: must be a whole number from 1 to"),
    ("train --seed 4294967296", "--seed"),
    ("train --checkpoint-every -1", "--checkpoint-every"),
    ("evaluate minimax --games -1", "--games"),
    ("web --port 65536", "--port"),
    # Players.
    ("train --opponent shipped:../agents", "shipped:../agents"),
    ("train --opponent minimax --env-id hex", "minimax"),
    *((f"correct {name}", f"saved agent, not {name}") for name in NOT_SAVED),
    ("train --opponent blend:0.5:program:cat", "would be slow"),
    ("sweep --grid opponent=program:cat", "would be slow"),
    ("evaluate program:cat --copies 0", "--copies"),
    ("evaluate program:cat --answer-seconds nan", "--answer-seconds"),
    # Seeds and grids.
    ("sweep --first-seed 4294967295 --num-seeds 2", "at most 4,294,967,294"),
    ("sweep --grid eval_games=1,2", "--grid can't vary eval_games"),
]
TOGETHER = [
    # Settings that contradict each other, or have no effect.
    ("train --preset table --opponent minimax", "other values come from preset table"),
    ("sweep --grid reward_loss=-0.5", "the other values come from preset default"),
    ("train --json --quiet", "quiet"),
    ("train --details --quiet", "details"),
    # What a game or another flag does not allow.
    ("train --config runs/one --preset table", "--preset"),
    ("train --until-proven --env-id hex", "until"),
    ("train --prove", "prove"),
    ("evaluate minimax --policy-csv p.csv", "--policy-csv"),
    ("play large --level expert", "minimax: needs an enumerable game"),
    ("arena large three", "three: made for tic_tac_toe, not for connect_four"),
    ("correct four --goal win", "X can't win every game in connect_4x4"),
    ("correct three --goal win --seat second", "O can't win every game"),
    ("correct wide --seat second", "O can't avoid every loss in connect_7x6"),
    ("correct wide", "with best play, X wins"),
    ("correct mnk", "corrections need exact play"),
    ("plot runs/hex --game", "enumerable game of stones: tic_tac_toe, not hex"),
    ("plot runs/one runs/hex", "runs of different games: hex, tic_tac_toe"),
    ("plot runs/one runs/hex --game", "one picture of one run"),
    ("plot runs/one --game --values .........", "one picture of one run"),
    (
        "sweep --svg x.svg --grid tau=0.5,1 gamma=0.9,1 tremble=0,1",
        "--grid must be of at most two settings",
    ),
    ("sweep --resume a_file --num-seeds 9", "--num-seeds must be left out with"),
    # Several devices and processes.
    ("train --devices 0", "--devices"),
    ("train --process-id 0", "--process-id"),
    ("train --distributed --coordinator a:1", "--coordinator"),
    (
        "train --distributed --num-processes 4 --process-id 4 --coordinator a:1",
        "--process-id",
    ),
]
OF_ONE_RUN = ("evaluate", "play", "correct", "plot", "train --resume")
HOLDS_RUNS = "; it holds runs, for instance runs/proven"
FILES = [
    ("evaluate runs/one --env-id hex", "runs/one"),
    ("train --opponent runs/one --env-id hex", "runs/one"),
    ("train --run-dir runs/one", "runs/one"),
    ("train --run-dir a_file", "a_file"),
    (f"train --run-dir {'x' * 300}", "x" * 300),
    ("train --run-dir /dev/full", "/dev/full"),
    ("train --config none.json", "none.json"),
    ("train --config a_file", "a_file"),
    ("train --config rbg.json --run-dir x", "set JAX_DEFAULT_PRNG_IMPL"),
    *((f"{words} runs", HOLDS_RUNS) for words in OF_ONE_RUN),
    ("train --rules none.py", "--rules none.py: no such file"),
    ("train --learner none.py", "--learner none.py: no such file"),
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
    ("plot runs/none", "runs/none: no such folder"),
    ("plot runs/one --svg x.gif", "--svg x.gif: "),
    ("plot runs/without_chunks", "no training in it"),
    ("plot runs/without_evaluations", "no results against random to draw"),
    ("plot runs/without_agent --game", "agent.safetensors: No such file"),
    ("plot runs/old", "older format 5; this version of jax_ttt reads format 3"),
    ("runs nowhere", "nowhere"),
    ("runs /dev/null", "/dev/null"),
    ("runs a_file", "a_file: a file, not a folder"),
    ("plot a_file", "a_file: a file, not a run's folder"),
    ("web --host 999.999.999.999 --port 1", "--host"),
    ("web --port 0 --host not.a_host", "can't serve at --host not.a_host"),
    ("web --export /dev/null", "--export /dev/null"),
]
OWN_FILE = (
    "runs/proven/agent.safetensors",
    "runs/one/../proven/agent.safetensors",
    "link",
    "hard_link",
)
"""The names of the agent's file in the folder `runs/proven`."""
PROVEN = "evaluate runs/proven --certificate"
CERTIFICATES = [
    # Of players that are not proven.
    (
        "evaluate runs/one --certificate a_file",
        "no certificate: as X it loses the game",
    ),
    ("evaluate minimax --certificate a_file", "as X it has more than one move on ----"),
    ("evaluate minimax --certificate a_file", "as O it has more than one move on ----"),
    ("evaluate mcts-online:2 --certificate a_file", "does not play one move in each"),
    ("evaluate large --certificate a_file", "with tic_tac_toe, connect_4x4"),
    # Where no file can be, or a file that must stay: by whatever name.
    (f"{PROVEN} empty", "--certificate empty: a folder, not a file"),
    (f"{PROVEN} none/file", "--certificate none/file: no folder none"),
    (f"{PROVEN} pipe", "--certificate pipe: not a regular file"),
    *((f"{PROVEN} {name}", f"{name}: the agent's own file") for name in OWN_FILE),
    ("evaluate link --certificate runs/proven/agent.safetensors", "agent's own file"),
    ("evaluate link --policy-csv runs/proven/agent.safetensors", "agent's own file"),
    ("evaluate link --policy-json hard_link", "agent's own file"),
    ("correct three --out three", "--out three: the agent's own file"),
    ("correct three --out .", "--out .: a folder, not a file"),
    ("correct three --out none/x", "--out none/x: no folder none"),
]
WITHOUT_COMMAND = [
    # `python -m jax_ttt` itself, or `jax-ttt`.
    (". trian", "trian"),
    (". --sede 2", "--sede"),
    (". runs nowhere", "nowhere"),
    (". train --nonsense", "--nonsense"),
    (". web --port -1", "--port"),
]
TABLES = {
    "certificates": CERTIFICATES,
    "files": FILES,
    "flags": FLAGS,
    "values": VALUES,
    "together": TOGETHER,
    "without_command": WITHOUT_COMMAND,
}


WORK = """
mkdir empty runs; echo '{}' > a_file; mkfifo pipe
cp $THREE three; cp $FOUR four; cp $LARGE large; cp $WIDE wide; cp $MNK mnk
cp -r $TINY_RUN runs/one; rm runs/one/checkpoint-*
for name in hex without_agent without_chunks without_evaluations old proven; do
    mkdir runs/$name; cp runs/one/*.json* runs/$name
done
sed -i s/tic_tac_toe/hex/ runs/hex/config.json; cp $HEX runs/hex/agent.safetensors
sed -i /chunk/d runs/without_chunks/metrics.jsonl
sed -i /evaluation/d runs/without_evaluations/metrics.jsonl
echo '{"format_version": 5, "config": {}}' > runs/old/config.json
cp $ONE_SEAT runs/proven/agent.safetensors
ln -s runs/proven/agent.safetensors link; ln runs/proven/agent.safetensors hard_link
sed s/threefry2x32/rbg/ runs/one/config.json > rbg.json
"""
"""Makes the folder of a user's work."""


@pytest.mark.parametrize("table", TABLES)
def test_wrong_command_lines_are_refused(table, agent_files, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = tmp_path / "work"
    path.mkdir()
    monkeypatch.chdir(path)
    subprocess.run(["sh", "-e", "-c", WORK], env=os.environ | agent_files, check=True)
    before = as_users.contents(path)
    for line, word in TABLES[table]:
        done = as_users.run_here(*shlex.split(line))
        as_users.assert_refused(done, word)
        if done.err.startswith("error: "):  # one line, and perhaps a list
            assert all(text.startswith("  ") for text in done.err.splitlines()[1:])
        assert as_users.contents(path) == before, line
