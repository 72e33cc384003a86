"""The command `sweep`: many agents, counted, named and drawn."""

import contextlib
import csv
import json
import signal
from pathlib import Path
from typing import Any

import commands
import made
import pytest
import tiny

import jax_ttt
from jax_ttt import sweep
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import json_records, sweep_file
from jax_ttt.files.sweep_file import Sweep
from jax_ttt.runtime import distributed

TINY = [*tiny.flags(), "--first-seed", "7"]


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    """Keep the sweeps' files out of the checkout, and their tables on single lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def run(*flags, **options):
    return commands.run(sweep, *tiny.joined(TINY, flags), **options)


def note_blocks(blocks):
    """Return what adds the seeds of each block that begins to a list."""

    def on_step(block):
        if not block.steps:
            blocks.append([job.seed for job in block.jobs])

    return on_step


def test_a_grid_of_learning_rates_keeps_a_given_end():
    words = ["--learning-rate-end", "0.0005", "--grid", "learning_rate=0.003,0.06"]
    args = sweep.with_given_ends(commands.parse(sweep, words))
    configs = [config for _, config in sweep.points_to_train(args)]
    assert [config.learning_rate_end for config in configs] == [0.0005, 0.0005]


@pytest.mark.slow
@pytest.mark.fault
def test_ctrl_c_keeps_the_finished_blocks_and_says_what_is_lost(tmp_path):
    def interrupt(block):
        first_chunk = [step.update for step in block.steps] == [0, 2]
        if block.jobs[0].seed == 15 and first_chunk:
            signal.raise_signal(signal.SIGINT)

    table = tmp_path / "agents.csv"
    flags = "--num-seeds 12 --at-once 4 --num-updates 8 --eval-every 2 --csv"
    out, err = run(*flags.split(), str(table), on_step=interrupt, code=130)
    assert "0 of 8 (" in out
    (path,) = Path("runs").iterdir()
    assert [line for line in err.splitlines() if line and "%|" not in line] == [
        "stopped at update 2: the unfinished training of 4 agents is lost",
        f"to train the others: python -m jax_ttt.sweep --resume {path}",
        "error: interrupted",
    ]
    assert len(table.read_text().splitlines()) == 9
    _, *lines = path.read_text().splitlines()
    agents = [json.loads(line)["agent"] for line in lines]
    assert [(agent["seed"], agent["update"]) for agent in agents] == [
        (seed, 8) for seed in range(7, 15)
    ]


def test_the_evaluations_of_a_sweep_are_those_of_its_settings():
    """At the start, by the schedule, and at the end, each with its games."""
    blocks = []
    words = ["--num-seeds", "1", "--eval-games", "8", "--json"]
    out, _ = run(*words, on_step=blocks.append)
    assert sum(step.evaluation is not None for step in blocks[-1].steps) == 3
    (agent,) = agents_in(out)
    sampled = agent["grade"]["sampled"]
    assert sum(sampled[seat]["num_games"] for seat in ("first", "second")) == 8


@pytest.mark.slow
def test_blocks_are_full_where_a_grid_alternates_between_programs():
    blocks = []
    grid = ["--grid", "tau=0.05,0.1", "num_envs=8,16", "--num-seeds", "1", "--json"]
    groups = []
    for at_once in (1, 2):
        flags = [*grid, "--at-once", str(at_once)]
        out, _ = run(*flags, on_step=note_blocks(blocks))
        groups.append(
            [
                (group["settings"], [agent["games"] for agent in group["agents"]])
                for group in json.loads(out)["groups"]
            ]
        )
    assert [len(block) for block in blocks] == [1, 1, 1, 1, 2, 2]
    assert groups[0] == groups[1]


def test_its_agents_are_those_of_train_many():
    out, _ = run("--num-seeds", "2", "--at-once", "1", "--json")
    runs = jax_ttt.train_many([7, 8], "default", **tiny.FIELDS)
    for agent, one in zip(agents_in(out), runs, strict=True):
        last: Any = json_records.to_dict(one.rows[-1])
        assert agent["seed"] == one.seed
        for name in ("update", "games", "wins", "losses", "env_steps", "grade"):
            assert agent[name] == last[name]


@pytest.mark.slow
def test_another_process_trains_what_is_missing_and_writes_nothing(
    monkeypatch, tmp_path
):
    out, _ = run("--num-seeds", "1", "--json")
    path = Path(json.loads(out)["file"])
    before = path.read_bytes()
    monkeypatch.setattr(distributed, "is_writer", lambda: False)
    blocks = []
    on_step = note_blocks(blocks)
    commands.run(sweep, "--resume", str(path), on_step=on_step)
    assert blocks == []
    assert run("--num-seeds", "2", on_step=on_step) == ("", "")
    assert blocks == [[7], [8]]
    assert [*tmp_path.rglob("*.*")] == [tmp_path / path]
    assert path.read_bytes() == before


def test_a_signal_to_another_process_ends_this_one_too(monkeypatch):
    monkeypatch.setattr(
        distributed, "max_over_processes", lambda number: max(number, 15)
    )
    out, err = run("--num-seeds", "2", code=143)
    assert out == "no agent was finished\n"
    assert err.endswith("\nerror: interrupted\n")


def agents_in(out):
    """Return the agents of a sweep's JSON object, without their times."""
    (group,) = json.loads(out)["groups"]
    for agent in group["agents"]:
        agent["grade"].pop("by_file", None)
    return [agent | {"seconds": 0} for agent in group["agents"]]


def test_a_sweep_that_was_killed_continues_with_the_agents_it_lacks():
    out, _ = run("--num-seeds", "3", "--json")
    whole = json.loads(out)
    path = Path(whole["file"])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + lines[3][:50])
    blocks = []
    again, on_step = ["--resume", str(path), "--json"], note_blocks(blocks)
    continued = commands.run(sweep, *again, on_step=on_step).out
    assert agents_in(continued) == agents_in(out)
    printed = commands.run(sweep, *again[:2], on_step=on_step)
    assert "3 agents, 0 of them trained now;" in printed.out
    assert blocks == [[9]]


def test_rows_of_the_file_are_not_called_proven_by_this_command():
    """Also if somebody has edited them."""
    out, _ = run("--num-seeds", "2", "--json")
    path = Path(json.loads(out)["file"])
    head, *lines = path.read_text().splitlines()
    for seed, line in enumerate(lines, start=7):
        lines[seed - 7] = with_proof(json.loads(line), proven=seed == 7)
    path.write_text("\n".join([head, *lines, ""]))
    again = ["--resume", str(path), "--csv", "agents.csv"]
    out = commands.run(sweep, *again).out
    assert "1 of 2 (9.5% to 90.5%), by its file" in out
    printed = commands.run(sweep, *again, "--json")
    (group,) = json.loads(printed.out)["groups"]
    assert group["proven"] == 1
    assert [agent["grade"]["by_file"] for agent in group["agents"]] == [True, True]
    with Path("agents.csv").open() as file:
        assert [row["by_file"] for row in csv.DictReader(file)] == ["True", "True"]
    path.write_text(f"{head}\n{lines[0]}\n")
    out = commands.run(sweep, *again[:2]).out
    assert "1 of 2 (9.5% to 90.5%), 1 by its file" in out


def with_proof(fields, *, proven):
    """Return a line of a sweep's file in which an agent is or is not proven."""
    for seat in ("first", "second"):
        grade = fields["agent"]["grade"][seat]
        bounds = [grade["win_rate"], grade["draw_rate"], 0.0]
        grade |= {
            "beaten": not proven,
            "loss_rate": 0.0,
            "low": bounds,
            "high": bounds,
            "worst_loss_rate": 0.0,
            "by_file": False,
        }
    return json.dumps(fields)


def test_eval_every_is_accepted_where_the_training_depends_on_it():
    for flags in (
        "--eval-every 5 --grid learning_rate_decay=1,0.9",
        "--env-id connect_4x4 --start-share 0.5 --eval-every 5",
        "--learning-rate-decay 0.9 --grid eval_every=5",
    ):
        args = commands.parse(sweep, flags.split())
        configs = [config for _, config in sweep.points_to_train(args)]
        assert {config.eval_every for config in configs} == {5}


def test_an_opponent_of_a_grid_implies_the_preset_for_it():
    args = commands.parse(sweep, ["--grid", "opponent=self,minimax"])
    assert args.preset == "plain"


def test_a_sweep_of_connect_four_counts_its_proofs(tmp_path):
    """All agents are finished, so that nothing is trained."""
    config = PRESETS["connect-4x4"]
    finished = Sweep(
        config=config, preset="connect-4x4", grid=(), first_seed=7, num_seeds=2
    )
    sample = made.sampled((0.5,), (0.5,))
    with contextlib.closing(sweep_file.make_sweep_file(finished)) as file:
        grades = [made.searched(), made.searched(first=False)]
        for seed, grade in zip((7, 8), grades, strict=True):
            file.add([(0, made.agent(seed, made.grade(grade, sample)))])
    table, drawing = tmp_path / "agents.csv", tmp_path / "agents.svg"
    again = ["--resume", str(file.path)]
    files = ["--csv", str(table), "--svg", str(drawing)]
    out = commands.run(sweep, *again, *files).out
    assert "1 of 2 (" in out
    assert "not proven, connect-4x4: 8" in out
    assert out.count("75.000 (75.000 to 75.000)") == 2, "the rates of the searches"
    with table.open(newline="") as rows:
        assert [row["unbeatable"] for row in csv.DictReader(rows)] == ["True", "False"]
    drawn = drawing.read_text(encoding="utf-8")
    assert "1 of 2 proven unbeatable" in drawn
    assert "as X, not proven" in drawn
    assert "against random, exact" in drawn
    svg = jax_ttt.draw(file.path, theme="dark").svg
    assert "1 of 2 proven unbeatable" in svg
    printed = commands.run(sweep, *again, "--json")
    (group,) = json.loads(printed.out)["groups"]
    assert (group["proven"], group["not_proven"]) == (1, [8])
