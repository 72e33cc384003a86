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
from jax_ttt.config import errors
from jax_ttt.files import json_records, loggers
from jax_ttt.files.run_folder import Plan, RunFolder

train = commands.module_of("train")


def run(path, flags, **options):
    words = [*tiny.flags(), "--run-dir", str(path), *flags.split()]
    return commands.run(train, *words, **options)


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

    files = []
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
        files.append((start, scalars))
    return files


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


def send(opened, row):
    loggers.for_each(opened, lambda logger: logger.send(row))


def close(opened):
    loggers.for_each(opened, lambda logger: logger.close())


def test_both_loggers_hold_the_metrics_and_nothing_else(tmp_path, wandb):
    path, fake = tmp_path / "one", wandb()
    assert run(path, "--tensorboard --wandb --quiet --seed 7").err == ""
    name, options = fake.calls[0]
    assert name == "init"
    settings = tiny.CONFIG.as_dict() | {"preset": "default", "seed": 7}
    assert options["config"] == settings
    assert (options["project"], options["name"]) == ("jax_ttt", "one")
    assert (options["env_mode"], options["dir"]) == ("offline", str(path))
    assert fake.calls[-1] == ("finish", {})
    logged = [(step["step"], sent) for _, sent, step in fake.calls[1:-1]]
    ((start, scalars),) = events(path)
    assert start == 0
    assert len(logged) == 5
    expected = []
    for row in rows(path):
        update = row.pop("update")
        flat = json_records.flatten_record(row, "/")
        numbers = {k: x for k, x in flat.items() if isinstance(x, int | float)}
        assert logged.pop(0) == (update, numbers)
        expected += [(update, tag, np.float32(x)) for tag, x in numbers.items()]
    assert scalars == expected


@pytest.mark.parametrize(
    ("flag", "module"), [("--tensorboard", "tensorboardX"), ("--wandb", "wandb")]
)
def test_an_absent_package_is_refused_before_any_work(
    flag, module, tmp_path, monkeypatch
):
    monkeypatch.setattr(errors.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cli, "set_up_device", None)  # nothing is set up
    out, err = run(tmp_path / "run", flag, code=2)
    extra = flag.removeprefix("--")
    assert (out, err) == (
        "",
        f"error: {flag} needs {module}, which is not installed: "
        f"pip install 'jax_ttt[{extra}]', or pip install {module}\n",
    )
    assert not list(tmp_path.iterdir())


def test_a_folder_is_not_a_package(tmp_path, monkeypatch):
    """W&B creates a folder named wandb wherever it is used."""
    (tmp_path / "no_package").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(errors.Refused, match="no_package, which is not installed"):
        errors.require_package("no_package", "extra", "--flag")


PLAN = Plan(
    config=tiny.CONFIG, preset="default", seed=7, tensorboard=True, wandb="one-run"
)


@pytest.mark.parametrize("broken", ["init", "log", "finish"])
def test_only_a_logger_that_fails_is_dropped(broken, wandb, tmp_path, capsys):
    fake, run = wandb(broken), RunFolder(tmp_path)
    both = loggers.open_loggers(run, PLAN, 0)
    for update in (1, 3):
        send(both, made.evaluated(update, games=10 * update))
    close(both)
    ((_, scalars),) = events(tmp_path)
    assert {step for step, _, _ in scalars} == {1, 3}
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"warning: logging to wandb stopped: RuntimeError('no {broken}')\n"
    before = {"init": [], "log": ["init", "finish"], "finish": ["init", "log", "log"]}
    assert [call[0] for call in fake.calls] == before[broken]


def test_a_run_that_continues_replaces_what_it_logged_after_its_checkpoint(
    wandb, monkeypatch, tmp_path
):
    """TensorBoard ignores earlier events from the step of a start on."""
    monkeypatch.setenv("WANDB_MODE", "online")
    fake, path = wandb(), tmp_path / "run"
    flags = "--tensorboard --wandb --checkpoint-every 1e-9 --run-dir"
    commands.run_and_kill(train, [*tiny.flags(), *flags.split(), str(path)], 5)
    (path / "checkpoint-4.safetensors").unlink()  # killed before it was written
    commands.run(train, "--resume", str(path))
    steps = {
        start: [step for step, tag, _ in scalars if tag == "env_steps"]
        for start, scalars in events(path)
    }
    assert steps == {0: [0, 2, 2, 4], 3: [4, 4]}
    first, again = (call[1] for call in fake.calls if call[0] == "init")
    assert first == again
    config = json.loads((path / "config.json").read_text())
    assert (again["id"], again["resume"]) == (config["wandb"], "allow")
    assert again["env_mode"] == "online", "as the environment says"


@pytest.mark.parametrize(
    ("end", "code"), [(KeyboardInterrupt, 130), (OSError, 1), (FloatingPointError, 3)]
)
def test_loggers_are_closed_however_a_run_ends(end, code, wandb, tmp_path):
    def broken(step):
        if step.evaluation is None:
            raise end

    fake = wandb()
    run(tmp_path, "--tensorboard --wandb", on_step=broken, code=code)
    assert [call[0] for call in fake.calls] == ["init", "log", "finish"]
    ((_, scalars),) = events(tmp_path)
    assert {step for step, _, _ in scalars} == {0}
