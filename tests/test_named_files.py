"""The files that the settings of a training name: the same ones when it goes on."""

import contextlib
import hashlib
import json
import shutil
from pathlib import Path

import commands
import pytest
import tiny
from commands import refusal

from jax_ttt import sweep
from jax_ttt.config.errors import Refused
from jax_ttt.config.settings import Config
from jax_ttt.files import sweep_file
from jax_ttt.files.run_folder import RunFolder, read_settings
from jax_ttt.players import registry, saved_agents

train = commands.module_of("train")
RUN, AGENT = RunFolder(Path("run")), Path("agent.safetensors")
CONFIGS = ["opponent", "start-agent"]


@pytest.fixture(scope="module", params=CONFIGS)
def trained(request, tmp_path_factory):
    """Return a folder with an agent and a run whose settings name it."""
    folder = tmp_path_factory.mktemp(request.param)
    with contextlib.chdir(folder):
        saved_agents.save_agent(tiny.untrained(tiny.CONFIG), AGENT)
        words = [*tiny.flags(), f"--{request.param}", str(AGENT), "--run-dir", "run"]
        commands.run(train, *words, "--quiet")
    return request.param, folder


@pytest.fixture
def setting(trained, tmp_path, monkeypatch):
    """Work in a copy of the folder; return the setting that names the agent."""
    name, folder = trained
    shutil.copytree(folder, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return name


def sha256():
    return hashlib.sha256(AGENT.read_bytes()).hexdigest()


def replace_agent():
    """Replace the agent by another one; return the checksums before and after."""
    before = sha256()
    saved_agents.save_agent(tiny.untrained(tiny.CONFIG.replace(gamma=0.5)), AGENT)
    return before, sha256()


def plan_of(*words):
    return train.make_plan(commands.parse(train, words))


RESUME = ["--resume", "run", "--num-updates", "8", "--quiet"]
REPEAT = ["--config", "run", "--run-dir", "new", "--quiet"]


def test_a_run_keeps_the_checksum_of_the_file_and_refuses_another(setting):
    before, now = replace_agent()
    assert before != now
    assert read_settings(RUN.path).files == {str(AGENT): before}
    for words in (RESUME, REPEAT):
        err = refusal(train, *words)
        for text in (str(AGENT), before[:16], now[:16]):
            assert text in err
    # Only files that are still named are compared.
    none = {"opponent": "self", "start-agent": "none"}[setting]
    assert plan_of(*REPEAT, f"--{setting}", none).files is None
    # Settings that somebody wrote have no checksums, and get them.
    fields = json.loads(RUN.config.read_text())
    del fields["files"]
    RUN.config.write_text(json.dumps(fields))
    assert plan_of(*REPEAT).files == {str(AGENT): now}


def test_only_a_new_run_needs_the_agent_that_it_starts_from(setting):
    files = {str(AGENT): sha256()}
    assert plan_of(*RESUME).files == plan_of(*REPEAT).files == files
    AGENT.unlink()
    with pytest.raises(Refused, match="no such file"):
        plan_of(*REPEAT)
    if setting == "opponent":
        with pytest.raises(Refused, match="no such file"):
            plan_of(*RESUME)
    else:
        assert plan_of(*RESUME).files == files
    done = commands.run(train, "--resume", "run")  # there is nothing to do
    assert "ended at update 4" in done.out


def test_the_file_of_a_player_within_another_one_counts(tmp_path):
    path = str(tiny.save_untrained(tmp_path / "agent.safetensors"))
    for name in (path, f"blend:0.5:{path}", f"blend:0.5:lookahead:1:{path}"):
        files = registry.check_files(Config.of(opponent=name))
        assert [*(files or ())] == [path]
    shipped = Config.of(opponent="shipped:network")
    with pytest.raises(Refused, match=r"network.safetensors: another file"):
        registry.check_files(shipped, {"shipped:network": "0" * 64})


def test_a_sweep_continues_with_the_same_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved_agents.save_agent(tiny.untrained(tiny.CONFIG), AGENT)
    words = [*tiny.flags(), "--opponent", str(AGENT), "--num-seeds", "1"]
    monkeypatch.setattr(sweep, "train_missing", lambda **options: None)
    commands.run(sweep, *words)
    (path,) = Path("runs").glob("*.jsonl")
    assert sweep_file.open_sweep_file(path, writes=False).sweep.files == {
        str(AGENT): sha256()
    }
    before, now = replace_agent()
    err = refusal(sweep, "--resume", path)
    assert before[:16] in err
    assert now[:16] in err
