"""What a file says is never given as a result of this program: each way to read one.

The files of a run are edited as a user could, with right checksums: they say that an
agent that loses is unbeatable.
"""

import dataclasses
import json

import commands
import made
import pytest
import tiny

import jax_ttt
from jax_ttt import plot, runs
from jax_ttt.files import json_records, tensor_file
from jax_ttt.files.checkpoint import Checkpoint
from jax_ttt.files.run_folder import RunFolder, read_settings
from jax_ttt.players import saved_agents
from jax_ttt.text import grade_text
from jax_ttt.web.agent_files import AgentCollection

train = commands.module_of("train")
CLAIM = made.exact((1.0,), (1.0,), unbeatable=True)
CONNECT = ["--env-id", "connect_4x4", "--eval-games", "2", "--no-prove"]


@pytest.fixture(scope="module", params=["tic_tac_toe", "connect_4x4"])
def edited(request, tmp_path_factory):
    """Return the run whose files say that its agent is unbeatable."""
    run = RunFolder(tmp_path_factory.mktemp("runs") / "run")
    game = CONNECT if request.param == "connect_4x4" else []
    flags = tiny.joined([*tiny.flags(), "--run-dir", str(run.path)], game)
    commands.run(train, *flags, "--quiet")
    claim = dataclasses.replace(CLAIM, env_id=request.param)
    agent = saved_agents.load_agent(run.path)
    saved_agents.save_agent(agent.with_grade(claim), run.agent)
    (path,) = run.checkpoints()
    saved, tensors = tensor_file.read_tensors(path, Checkpoint)
    saved = dataclasses.replace(saved, grade=claim)
    path.write_bytes(tensor_file.encode_tensors(saved, tensors))
    rows = [json.loads(line) for line in run.lines()]
    for row in rows:
        if row["event"] == "evaluation":
            row["grade"] = json_records.to_dict(claim) | {"by_file": False}
    run.metrics.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return run


def test_a_loaded_agent_has_the_grade_of_its_file(edited, tmp_path):
    agent = jax_ttt.load(edited.path)
    assert agent.grade.by_file is True
    assert agent.grade.verdict == "unbeatable, by its file"
    assert "exact, by its file" in repr(agent.grade)
    assert "by its file" in agent._repr_html_()
    assert "unbeatable, by its file" in grade_text.summary_line(4, agent.grade)
    one_seat = dataclasses.replace(agent.grade, seats=("first",))
    assert "by its file" in grade_text.verdict(one_seat)
    jax_ttt.save(agent, tmp_path / "copy.safetensors")
    assert (tmp_path / "copy.safetensors").read_bytes() == edited.agent.read_bytes()
    grade = jax_ttt.grade(agent, num_games=2)
    assert grade.by_file is None
    assert grade.unbeatable is not True
    assert "by its file" not in repr(grade)


def test_a_run_that_has_ended_is_graded_again_or_is_by_its_file(edited):
    assert "unbeatable" not in commands.run(train, "--resume", edited.path).out
    result = json.loads(commands.run(train, "--resume", edited.path, "--json").out)
    if read_settings(edited.path).config.env_id == "tic_tac_toe":
        assert result["verdict"].startswith("beatable: ")
        assert result["grade"]["unbeatable"] is False
        assert "by_file" not in result["grade"]
    else:
        assert result["verdict"] == "unbeatable, by its file"
        assert result["grade"]["by_file"] is True


def test_lists_curves_and_the_page_show_results_by_their_files(edited, tmp_path):
    folder = edited.path.parent
    assert "each result is by its file" in commands.run(runs, folder).out
    (run,) = json.loads(commands.run(runs, folder, "--json").out)["runs"]
    assert run["grade"]["by_file"] is True
    path = tmp_path / "curve.svg"
    commands.run(plot, edited.path, "--svg", path)
    assert "proven from update 0 on, by its file" in path.read_text("utf-8")
    rows = AgentCollection(folder).history("run/run")
    assert len(rows) == 3
    assert json.dumps(rows).count('"by_file": true') == 3
