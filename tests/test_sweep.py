"""The command `sweep`: many agents, counted, named and drawn."""

import contextlib
import csv
import json
import signal
from pathlib import Path

import commands
import made
import pytest
import tiny

from jax_ttt import sweep
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import sweep_file
from jax_ttt.files.sweep_file import Sweep
from jax_ttt.runtime import distributed
from jax_ttt.training import loop, many_agents

SHARED = ("num_envs", "hidden_size", "num_updates")  # its evaluations are its own
TINY = [*tiny.flags(*SHARED), "--first-seed", "7"]
EXACT = made.exact((1.0, 0.0, 0.0), (0.25, 0.5, 0.25))


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    """Keep the sweeps' files out of the checkout, and their tables on single lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def run(capsys, *flags):
    code = commands.run(sweep, tiny.joined(TINY, flags))
    return code, *capsys.readouterr()


@pytest.mark.slow
def test_a_sweep_counts_names_and_draws(capsys, tmp_path):
    files = [tmp_path / "agents.csv", tmp_path / "agents.svg"]
    code, out, err = run(
        capsys, "--num-seeds", "2", "--csv", str(files[0]), "--svg", str(files[1])
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].endswith("preset default, seeds from 7")
    assert lines[3].startswith("default ")
    assert "0 of 2 (0.0% to 65.8%)" in lines[3]
    assert lines[4] == "not proven, default: 7, 8"
    assert lines[-3].startswith("2 agents in ")
    assert lines[-2:] == [f"wrote {files[0]}: 2 rows", f"wrote {files[1]}"]
    with files[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["preset"], row["seed"], row["unbeatable"]) for row in rows] == [
        ("default", "7", "False"),
        ("default", "8", "False"),
    ]
    wins = [float(row["first_win_rate"]) for row in rows]
    mean = 100 * sum(wins) / 2
    assert f"{mean:.3f} ({100 * min(wins):.3f} to {100 * max(wins):.3f})" in lines[3]
    assert "default: 0 of 2 proven unbeatable" in files[1].read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_grid_has_a_line_and_a_field_for_each_combination(capsys, tmp_path):
    path = tmp_path / "grid.svg"
    grid = ["--grid", "tau=0.1,0.2", "learning-rate=0.002,0.004", "--svg", str(path)]
    code, out, _ = run(capsys, "--num-seeds", "1", "--json", *grid)
    assert code == 0
    groups = json.loads(out)["groups"]
    assert [group["settings"] for group in groups] == [
        {"tau": tau, "learning_rate": rate}
        for tau in (0.1, 0.2)
        for rate in (2e-3, 4e-3)
    ]
    for group in groups:
        assert (group["num_agents"], group["proven"]) == (1, 0)
        (agent,) = group["agents"]
        assert agent["seed"] == 7
        assert (
            agent["grade"]["first"]["win_rate"] == group["win_rates"]["first"]["mean"]
        )
    drawn = path.read_text(encoding="utf-8")
    assert drawn.count("0 of 1") == 4
    for text in ("tau", "learning_rate", "0.004", "0.2"):
        assert f">{text}</text>" in drawn


@pytest.mark.parametrize(
    ("flags", "ends"),
    [
        ("", (0.001, 0.02)),  # the ratio of the preset, from 0.006 to 0.002
        ("--learning-rate-end 0.0005", (0.0005, 0.0005)),
    ],
)
def test_a_grid_of_learning_rates_needs_no_end_and_keeps_a_given_one(flags, ends):
    words = [*flags.split(), "--grid", "learning_rate=0.003,0.06"]
    args = sweep.with_given_ends(commands.parse(sweep, words))
    configs = [config for _, config in sweep.points_to_train(args)]
    actual = [config.optimizer.learning_rate_end for config in configs]
    assert actual == pytest.approx(ends)


def test_ctrl_c_keeps_the_finished_agents(capsys, monkeypatch, tmp_path):
    real, calls = loop.training_steps, []

    def training_steps(*args, **options):
        calls.append(args)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(loop, "training_steps", training_steps)
    path = tmp_path / "agents.csv"
    code, out, err = run(capsys, "--num-seeds", "64", "--csv", str(path))
    assert code == 130
    assert "0 of 2 (" in out
    (sweep_path,) = Path("runs").iterdir()
    again = f"python -m jax_ttt.sweep --resume {sweep_path}"
    assert err == f"to train the others: {again}\nerror: interrupted\n"
    assert len(path.read_text().splitlines()) == 3


def test_another_process_trains_what_is_missing_and_writes_nothing(
    capsys, monkeypatch, tmp_path
):
    _, out, _ = run(capsys, "--num-seeds", "1", "--json")
    path = Path(json.loads(out)["file"])
    before = path.read_bytes()
    monkeypatch.setattr(distributed, "is_writer", lambda: False)
    trained = []

    def train_jobs(jobs, *_):
        for job in jobs:
            trained.append(job.seed)
            yield made.agent(job.seed, EXACT)

    monkeypatch.setattr(many_agents, "train_jobs", train_jobs)
    assert commands.run(sweep, ["--resume", str(path)]) == 0
    assert trained == []
    assert run(capsys, "--num-seeds", "2") == (0, "", "")
    assert trained == [7, 8]
    assert [*tmp_path.rglob("*.*")] == [tmp_path / path]
    assert path.read_bytes() == before


def test_a_signal_to_another_process_ends_this_one_too(capsys, monkeypatch):
    monkeypatch.setattr(
        distributed, "max_over_processes", lambda number: max(number, 15)
    )
    code, out, err = run(capsys, "--num-seeds", "2")
    assert code == 143
    assert out == "no agent was finished\n"
    assert err.endswith("\nerror: interrupted\n")


def agents_in(out):
    """Return the agents of a sweep's JSON object, without their times."""
    (group,) = json.loads(out)["groups"]
    return [agent | {"seconds": 0} for agent in group["agents"]]


def test_a_sweep_that_was_killed_continues_with_the_agents_it_lacks(
    capsys, monkeypatch
):
    _, out, _ = run(capsys, "--num-seeds", "3", "--json")
    whole = json.loads(out)
    path = Path(whole["file"])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + lines[3][:50])
    real, calls = loop.training_steps, []
    monkeypatch.setattr(
        loop,
        "training_steps",
        lambda *args, **options: calls.append(1) or real(*args, **options),
    )
    again = ["--resume", str(path), "--json"]
    assert commands.run(sweep, again) == 0
    continued = capsys.readouterr().out
    assert agents_in(continued) == agents_in(out)
    assert len(calls) == 1
    calls.clear()
    assert commands.run(sweep, again[:2]) == 0
    assert "3 agents, 0 of them trained now;" in capsys.readouterr().out
    assert calls == []


def test_a_continued_sweep_keeps_its_settings(capsys):
    code = commands.run(sweep, ["--resume", "sweep.jsonl", "--num-seeds", "9"])
    rule = "must be left out with --resume, which has the settings of sweep.jsonl"
    assert (code, capsys.readouterr().err) == (2, f"error: --num-seeds {rule}\n")


def test_eval_every_is_accepted_where_the_training_depends_on_it():
    for flags in (
        "--eval-every 5 --grid learning_rate_decay=1,0.9",
        "--env-id connect_4x4 --start-share 0.5 --eval-every 5",
        "--learning-rate-decay 0.9 --grid eval_every=5",
    ):
        args = commands.parse(sweep, flags.split())
        configs = [config for _, config in sweep.points_to_train(args)]
        assert {config.evaluation.eval_every for config in configs} == {5}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--first-seed 4294967295", "--first-seed must be at most 4,294,967,232 with"),
        ("--eval-games 5", "--eval-games must be left out: it has no effect in tic_"),
        ("--grid eval_every=1,2", "--eval-every must be left out: a sweep"),
        ("--grid eval_games=1,2", "--grid can't vary eval_games: a sweep is of"),
        ("--grid network=mlp,table hidden_size=9", "--hidden-size must be left out"),
        (
            "--learning-rate-end 0.002 --grid learning_rate=0.001",
            "--learning-rate-end must be at most 0.001",
        ),
        ("--grid reward_loss=-0.5", "(the others are those of preset default)"),
        ("--opponent random --grid first_move=4,20", "--first-move must be one of"),
        (
            "--svg x.svg --grid tau=0.5,1 gamma=0.9,1 tremble=0,1",
            "--svg must be used with",
        ),
    ],
)
def test_settings_that_a_sweep_cannot_use_are_refused(flags, message, capsys):
    code, out, err = run(capsys, *flags.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_sweep_of_connect_four_counts_its_proofs(capsys, tmp_path):
    """All agents are finished, so that nothing is trained."""
    config = PRESETS["connect-4x4"]
    finished = Sweep(
        config=config, preset="connect-4x4", grid=(), first_seed=7, num_seeds=2
    )
    sample = made.sampled((0.5,), (0.5,))
    with contextlib.closing(sweep_file.make_sweep_file(finished)) as file:
        file.add(0, made.agent(7, made.grade(made.searched(), sample)))
        file.add(0, made.agent(8, made.grade(made.searched(first=False), sample)))
    table, drawing = tmp_path / "agents.csv", tmp_path / "agents.svg"
    again = ["--resume", str(file.path)]
    files = ["--csv", str(table), "--svg", str(drawing)]
    assert commands.run(sweep, [*again, *files]) == 0
    out = capsys.readouterr().out
    assert "1 of 2 (" in out
    assert "not proven, connect-4x4: 8" in out
    assert out.count("75.000 (75.000 to 75.000)") == 2, "the rates of the searches"
    with table.open(newline="") as rows:
        assert [row["unbeatable"] for row in csv.DictReader(rows)] == ["True", "False"]
    drawn = drawing.read_text(encoding="utf-8")
    assert "1 of 2 proven unbeatable" in drawn
    assert "as X, not proven" in drawn
    assert "against random, exact" in drawn
    assert commands.run(sweep, [*again, "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert (group["proven"], group["not_proven"]) == (1, [8])
