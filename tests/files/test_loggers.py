"""The loggers of a run's metrics: their contents, and runs that outlive them."""

import json
import os
import struct
import sys
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import commands
import made
import numpy as np
import pytest
import tiny

from jax_ttt import cli
from jax_ttt.files import loggers
from jax_ttt.files.checkpoint import Plan
from jax_ttt.files.loggers import Loggers, WeightsAndBiases
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.players import saved_agents
from jax_ttt.training import loop

train = commands.module_of("train")


def run(path, flags):
    usual = [*tiny.flags(), "--run-dir", str(path)]
    return commands.run(train, tiny.joined(usual, flags.split()))


def rows(path):
    """Return the metrics of a run."""
    lines = (path / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def events(path):
    """Return of each event file, which holds TFRecords, its start and its scalars.

    The start is the step from which on TensorBoard ignores earlier files; a scalar has
    its step, its tag and its value.
    """
    from tensorboardX.proto.event_pb2 import Event  # type: ignore[attr-defined]

    found = []
    for file in sorted((path / "tensorboard").iterdir()):
        assert "tfevents" in file.name
        data, start, scalars = file.read_bytes(), None, []
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            assert len(data) >= length + 16
            event = Event.FromString(data[12 : 12 + length])
            data = data[length + 16 :]
            if event.session_log.status == event.session_log.START:
                start = event.step
            values = event.summary.value
            scalars += [(event.step, value.tag, value.simple_value) for value in values]
        found.append((start, scalars))
    return found


def looked_up(row, tag):
    """Return a row's value at `a/b/c`, or one end of an interval."""
    *above, name = tag.split("/")
    for level in above:
        row = row[level]
    for end, suffix in enumerate(("_low", "_high")):
        if name.endswith(suffix):
            return row[name.removesuffix(suffix)][end]
    return row[name]


def leaves(value):
    """Return the numbers in a row."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [leaf for part in inner for leaf in leaves(part)]
    return [] if isinstance(value, str) else [value]


class FakeWandb(SimpleNamespace):
    """Records the calls of W&B; `broken` names the function that fails."""

    def __init__(self, broken=None):
        self.__spec__ = ModuleSpec("wandb", None, origin="here")
        self.calls, self.broken = [], broken

    def _note(self, name, /, *args, **kwargs):
        if name == self.broken:
            raise RuntimeError(f"no {name}")
        self.calls.append((name, *args, kwargs))

    def Settings(self, **kwargs):  # noqa: N802
        return kwargs

    def init(self, **kwargs):
        self._note("init", env_mode=os.environ["WANDB_MODE"], **kwargs)
        return SimpleNamespace(
            log=lambda sent, step: self._note("log", sent, step=step),
            finish=lambda: self._note("finish"),
        )


@pytest.fixture
def wandb(monkeypatch):
    """Return a function that replaces W&B by a fake."""
    monkeypatch.setenv("WANDB_MODE", "")

    def put(broken=None):
        fake = FakeWandb(broken)
        monkeypatch.setitem(sys.modules, "wandb", fake)
        return fake

    return put


@pytest.mark.slow
def test_both_loggers_hold_the_metrics_and_nothing_else(tmp_path, wandb, capsys):
    path, fake = tmp_path / "one", wandb()
    assert run(path, "--tensorboard --wandb --quiet --seed 7") == 0
    assert capsys.readouterr().err == ""
    name, about = fake.calls[0]
    assert name == "init"
    settings = tiny.CONFIG.as_dict() | {"preset": "default", "seed": 7}
    assert about["config"] == settings
    assert (about["project"], about["name"]) == ("jax_ttt", "one")
    assert (about["env_mode"], about["dir"]) == ("offline", str(path))
    assert fake.calls[-1] == ("finish", {})
    logged = [(step["step"], sent) for _, sent, step in fake.calls[1:-1]]
    ((start, scalars),) = events(path)
    assert start == 0
    found = rows(path)
    assert len(found) == len(logged) == 5
    drawn = iter(scalars)
    for row, (step, sent) in zip(found, logged, strict=True):
        update = row.pop("update")
        assert step == update
        assert len(sent) == len(leaves(row))
        for tag, value in sent.items():
            assert value == looked_up(row, tag)
            assert next(drawn) == (update, tag, np.float32(value))
    assert not list(drawn)


def test_the_environment_says_whether_wandb_is_online(wandb, monkeypatch, tmp_path):
    for given, mode in [("online", "online"), ("", "offline")]:
        monkeypatch.setenv("WANDB_MODE", given)
        fake = wandb()
        WeightsAndBiases(RunFolder(tmp_path), {}, "one-run")
        assert fake.calls[0][1]["env_mode"] == mode


@pytest.mark.parametrize(
    ("flag", "module"), [("--tensorboard", "tensorboardX"), ("--wandb", "wandb")]
)
def test_an_absent_package_is_refused_before_any_work(
    flag, module, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cli, "set_up_device", None)  # nothing is set up
    assert run(tmp_path / "run", flag) == 2
    out, err = capsys.readouterr()
    extra = flag.removeprefix("--")
    assert (out, err) == (
        "",
        f"error: {flag} needs {module}, which is not installed: "
        f"pip install 'jax_ttt[{extra}]', or pip install {module}\n",
    )
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_package(tmp_path, monkeypatch):
    """W&B creates a folder named wandb wherever it is used."""
    (tmp_path / "no_package").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(cli.UsageError, match="no_package, which is not installed"):
        cli.require_package("no_package", "extra", "--flag")


PLAN = Plan(
    config=tiny.CONFIG, preset="default", seed=7, tensorboard=True, wandb="one-run"
)


@pytest.mark.parametrize("broken", ["init", "log", "finish"])
def test_only_a_logger_that_fails_is_dropped(broken, wandb, tmp_path, capsys):
    fake, run = wandb(broken), RunFolder(tmp_path)
    both = Loggers(run, PLAN, None)
    for update in (1, 3):
        both.write_row(made.evaluated(update, games=10 * update))
    both.close()
    ((_, scalars),) = events(tmp_path)
    assert {step for step, _, _ in scalars} == {1, 3}
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"warning: logging to wandb stopped: RuntimeError('no {broken}')\n"
    before = {"init": [], "log": ["init"], "finish": ["init", "log", "log"]}
    assert [call[0] for call in fake.calls] == before[broken]


def test_a_process_that_does_not_write_logs_nothing(wandb, tmp_path):
    fake = wandb()
    none = Loggers(RunFolder(tmp_path), PLAN, None, writes=False)
    none.write_row(made.evaluated(1))
    none.close()
    assert (fake.calls, os.listdir(tmp_path)) == ([], [])


def test_a_run_that_continues_replaces_what_it_logged_after_its_checkpoint(
    wandb, tmp_path
):
    """TensorBoard ignores earlier events from the step of a start on."""
    fake, run = wandb(), RunFolder(tmp_path)
    for update in (None, 2):
        both = Loggers(run, PLAN, update)
        both.write_row(made.chunk(3))
        both.close()
    assert sorted(start for start, _ in events(tmp_path)) == [0, 3]
    first, again = (call[1] for call in fake.calls if call[0] == "init")
    assert first == again
    assert (again["id"], again["resume"]) == ("one-run", "allow")


@pytest.mark.slow
def test_a_run_outlives_its_logger(wandb, tmp_path, capsys):
    wandb(broken="log")
    assert run(tmp_path, "--wandb --quiet") == 0
    assert capsys.readouterr().err.count("\n") == 1
    assert saved_agents.load_agent(tmp_path).num_updates == 4
    assert [row["update"] for row in rows(tmp_path)] == [0, 2, 2, 4, 4]


@pytest.mark.slow
@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError, FloatingPointError])
def test_loggers_are_closed_however_a_run_ends(
    end, wandb, tmp_path, monkeypatch, capsys
):
    def broken(*args):
        raise end

    monkeypatch.setattr(loop, "_run_chunk", broken)
    fake = wandb()
    assert run(tmp_path, "--tensorboard --wandb") != 0
    assert [call[0] for call in fake.calls] == ["init", "log", "finish"]
    ((_, scalars),) = events(tmp_path)
    assert {step for step, _, _ in scalars} == {0}


def test_the_ids_of_runs_differ():
    assert len({loggers.new_wandb_id() for _ in range(9)}) == 9
