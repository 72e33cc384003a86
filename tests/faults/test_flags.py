"""Flags of nonsense: each command refuses them in a line, before JAX is set up."""

import shlex
import time

import pytest

from jax_ttt import cli
from jax_ttt.__main__ import COMMANDS, module_of
from jax_ttt.config.command_line.arguments import arguments
from jax_ttt.config.settings import PART_OF
from jax_ttt.web import __main__ as web

pytestmark = pytest.mark.fault

NO_NUMBERS = ("1e39", "9" * 39, "nan", "inf", "", "x", "1_0", " 1", "٣", "1e-400")
"""No flag takes them: too large, no number, or one that only Python reads. The last
is zero, which some take."""
PLAYERS = {"evaluate": "random", "play": "random", "arena": "random minimax"}


def numbers():
    """Yield a line for each number that each command takes, and each wrong value."""
    for command in COMMANDS:
        found = arguments(module_of(command).Args)
        first = f"{command} {PLAYERS.get(command, '')}".strip()
        settings = 0
        for argument in found.values():
            if argument.type not in (int, float):
                continue
            zero = argument.type is float and "from" in argument.rule
            values = (*NO_NUMBERS[: -1 if zero else None], "-2")
            if argument.name in PART_OF:  # many flags, read by the same code
                settings += 1
                values = values[settings % 4 :: 4] if command == "train" else ()
            for value in values:
                said = f"{argument.flag} must be {argument.rule}, got "
                yield f"{first} {argument.flag} {shlex.quote(value)}", said


ONE_OF = "must be one of"
CONTROL = "it has a control character"
EMPTY = "an empty word"
OTHERS = [
    *((f"{c} --nonsense", f"{c} has no flag --nonsense") for c in COMMANDS),
    *((f"{c} --=", f"{c} has no flag --") for c in COMMANDS),
    *((f"{c} ''", f"{c} can't use {EMPTY}") for c in COMMANDS),
    *((f"{c} 'a\nb'", CONTROL) for c in COMMANDS),
    ("train --env-id ../../etc", f"--env-id {ONE_OF} these, got '../../etc'"),
    ("evaluate --env-id ../../etc", f"--env-id {ONE_OF} these, got '../../etc'"),
    ("arena --env-id ''", f"--env-id {ONE_OF} these, got ''"),
    ("play --env-id TIC_TAC_TOE", f"--env-id {ONE_OF} these"),
    ("play --side 0", f"--side {ONE_OF} these, got '0'"),
    ("play --level ''", f"--level {ONE_OF} beginner, medium, expert, got ''"),
    ("train --tau 0", "--tau must be a number above 0 and at most 1, got 0.0"),
    ("train --tau 2", "--tau must be a number above 0 and at most 1, got 2.0"),
    ("train --tau -0.5", "--tau must be a number above 0 and at most 1, got -0.5"),
    ("train --learning-rate 0", "--learning-rate must be a number above 0"),
    ("train --learning-rate 1e40", "--learning-rate must be a number above 0"),
    ("train --num-envs 0", "--num-envs must be a whole number from 1 to"),
    ("train --num-envs 1.5", "--num-envs must be a whole number from 1 to"),
    ("train --num-envs 0x10", "--num-envs must be a whole number from 1 to"),
    ("train --num-updates 0", "--num-updates must be a whole number from 1 to"),
    (
        "train --epsilon-start 0.1 --epsilon-end 0.2",
        "--epsilon-end must be at most 0.1 (epsilon_start), got 0.2",
    ),
    (
        "train --learning-rate 0.1 --learning-rate-end 0.2",
        "--learning-rate-end must be at most 0.1 (learning_rate), got 0.2",
    ),
    ("train --reward-win 0", "--reward-win must be above 0 in self-play, got 0.0"),
    ("train --seed 1 --seed 1", "--seed must be given once"),
    ("train --seed=1 --seed 2", "--seed must be given once"),
    ("train --lockstep --no-lockstep", "--no-lockstep must be given once"),
    ("train --num-envs 4 --num_envs 5", "--num-envs must be given once"),
    ("sweep --grid tau=0.1 --grid gamma=0.9", "--grid must be given once"),
    ("evaluate random --json --json", "--json must be given once"),
    ("web --port 8000 --port 8001", "--port must be given once"),
    ("train --run-dir ''", "--run-dir needs a value: FOLDER"),
    ("train --run-dir=", "--run-dir needs a value: FOLDER"),
    ("train --config ''", "--config needs a value: FILE"),
    ("train --run-dir 'a\tb'", CONTROL),
    ("train --run-dir 'a\x1b[2Jb'", CONTROL),
    ("train --opponent ''", "--opponent needs a value: PLAYER"),
    ("train --opponent mcts:1e9", "mcts:1e9: mcts needs a whole number from 1 to"),
    ("train --opponent mcts:-1", "mcts:-1: mcts needs a whole number from 1 to"),
    ("train --opponent blend:2:random", "blend:2:random: blend needs a number from"),
    ("train --opponent blend:nan:random", "blend:nan:random: blend needs a number"),
    ("train --opponent lookahead:-1:minimax", "lookahead:-1:minimax: lookahead needs"),
    ("train --opponent shipped:../agents", "shipped:../agents: "),
    ("train --preset ''", f"--preset {ONE_OF} these, got ''"),
    ("train --preset Default", f"--preset {ONE_OF} these, got 'Default'"),
    ("train --device ''", f"--device {ONE_OF} auto, cpu, gpu, tpu, got ''"),
    ("train --device cpu:0", f"--device {ONE_OF} auto, cpu, gpu, tpu, got 'cpu:0'"),
    ("train --seat 1", f"--seat {ONE_OF} both, first, second, got '1'"),
    ("train --version=1", "--version takes no value, got '1'"),
    ("train --quiet=false", "--quiet takes no value, got 'false'"),
    ("train -s 1", "train has no flag -s"),
    ("train -1", "train has no flag -1"),
    ("train --no-seed", "train has no flag --no-seed"),
    ("train --no-no-lockstep", "train has no flag --no-no-lockstep"),
    ("train --seed", "--seed needs a value: a whole number from 0 to"),
    ("train --seed --quiet", "--seed needs a value: a whole number from 0 to"),
    ("train 1 2 3", "train can't use '1'"),
    ("sweep --num-seeds 0", "--num-seeds must be a whole number from 1 to"),
    ("sweep --first-seed 4294967295", "--first-seed must be at most 4,294,967,232"),
    ("sweep --grid ''", "--grid needs a value: SETTING=VALUE,VALUE"),
    ("sweep --grid =", "a setting of --grid is unknown: ''"),
    ("sweep --grid tau=", "--tau must be a number above 0 and at most 1, got ''"),
    ("sweep --grid tau=0.1,nan", "--tau must be a number above 0 and at most 1, got n"),
    ("sweep --grid seed=1,2", "a setting of --grid is unknown: 'seed'"),
    ("sweep --grid env_id=hex", "--grid can't vary env_id"),
    ("sweep --grid num_envs=4294967296", "--num-envs must be a whole number from 1 to"),
    ("sweep --csv ''", "--csv needs a value: FILE"),
    ("sweep --csv /proc/x", "--csv /proc/x: "),
    ("sweep --csv /dev/full/x", "--csv /dev/full/x: no folder /dev/full"),
    ("sweep --svg x.bmp", "--svg x.bmp: a picture's file ends in .svg, .png or .pdf"),
    (f"sweep --csv {'x' * 300}", "xxx: File name too long"),
    ("evaluate random --policy-json ''", "--policy-json needs a value: FILE"),
    ("evaluate random minimax", "evaluate can't use 'minimax'"),
    ("arena random --csv nowhere/x", "--csv nowhere/x: no folder nowhere"),
    ("arena --games 0", "--games must be a whole number from 1 to"),
    ("plot --theme ''", f"--theme {ONE_OF} light, dark, got ''"),
    ("plot --values ''", "--values needs a value: BOARD"),
    ("plot none --svg x.txt", "none: no such folder"),
    ("runs nowhere", "nowhere: no such folder"),
    ("runs /dev/null", "/dev/null: no such folder"),
    ("runs a b", "runs can't use 'b'"),
    ("web --port 65536", "--port must be a whole number from 0 to 65,535, got 65536"),
    ("web --host ''", "--host needs a value: "),
    ("web --host 999.999.999.999 --port 1", "can't serve at --host 999.999.999.999"),
    ("web --data-dir /dev/null/x", "--data-dir /dev/null/x: "),
    ("web 8000", "web can't use '8000'"),
]
NUMBERS = list(numbers())


@pytest.fixture
def refused(tmp_path, tmp_path_factory, monkeypatch, capsys, contents):
    """Return a function that runs a line in process and returns its refusal."""

    def set_up(*_):
        pytest.fail("JAX is set up first")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "set_up", set_up)
    monkeypatch.setattr(web, "_load", set_up)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    (tmp_path / "file").write_text("precious")

    def run(line):
        command, *words = shlex.split(line)
        module, before = module_of(command), contents(tmp_path)
        begin = time.process_time()
        assert module.main(words) == 2
        assert time.process_time() - begin < 0.5
        assert contents(tmp_path) == before
        out, err = capsys.readouterr()
        assert out == ""
        first, *listed = err.splitlines()
        assert all(row.startswith("  ") for row in listed)
        assert first.startswith("error: ")
        return first

    return run


@pytest.mark.parametrize(("line", "said"), NUMBERS, ids=[line for line, _ in NUMBERS])
def test_a_wrong_number_is_refused(line, said, refused):
    assert said in refused(line)


@pytest.mark.parametrize(
    ("line", "said"), OTHERS, ids=[line[:60] for line, _ in OTHERS]
)
def test_nonsense_is_refused(line, said, refused):
    assert said in refused(line)


def test_there_are_enough_and_each_command_has_some():
    lines = {line for line, _ in (*NUMBERS, *OTHERS)}
    assert len(lines) == len(NUMBERS) + len(OTHERS) > 200
    for command in COMMANDS:
        assert sum(line.split()[0] == command for line in lines) >= 4
