"""The file of a checkpoint, and the newest good one of a run."""

import dataclasses
import os

import numpy as np
import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.files import checkpoint, tensor_file
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.files.tensor_file import AgentError


def assert_same(checkpoint, other):
    """Compare two checkpoints to the bit."""
    fields, others = (dataclasses.replace(x, tensors={}) for x in (checkpoint, other))
    assert fields == others
    assert checkpoint.tensors.keys() == other.tensors.keys()
    for name, tensor in checkpoint.tensors.items():
        assert tensor.dtype == other.tensors[name].dtype, name
        assert tensor.shape == other.tensors[name].shape, name
        assert tensor.tobytes() == other.tensors[name].tobytes(), name


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the checkpoint of these bytes."""

    def read(content):
        (tmp_path / "file").write_bytes(content)
        return checkpoint.read_checkpoint(tmp_path / "file")

    return read


def test_a_checkpoint_is_read_as_it_was_saved(state, read):
    kinds = {tensor.dtype.name for tensor in state.tensors.values()}
    assert {"float32", "float64", "int32", "int64", "uint32", "bool"} <= kinds
    plan = dataclasses.replace(state.plan, wandb="one-run", tensorboard=True)
    nan = state.tensors | {"seconds": np.array(np.nan)}  # not one of the weights
    for changes in (
        {},
        {"best": None, "evaluated": -1, "tensors": nan},
        {"plan": plan, "finished": "proven"},
    ):
        saved = dataclasses.replace(state, **changes)
        content = checkpoint.encode_checkpoint(saved)
        assert_same(read(content), saved)
        assert checkpoint.encode_checkpoint(read(content)) == content


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "agent"}, "kind"),
        ({"update": 1.5}, "update"),
        ({"finished": "maybe"}, "finished"),
        ({"seed": 2**32}, "seed must be"),
        ({"preset": "none"}, "preset"),
        ({"best": [True, 1]}, "best"),
        ({"grade": {"env_id": "hex", "first": {}}}, "grade.first"),
        ({"environment": []}, "environment"),
        ({"config": {"num_envs": 0}}, "num_envs must be"),
    ],
)
@pytest.mark.fault
def test_a_description_with_a_wrong_field_is_refused(
    changes, message, state, read, tmp_path
):
    """Even if its checksum is right."""
    read(checkpoint.encode_checkpoint(state))
    fields, tensors = tensor_file.read_tensors(tmp_path / "file", dict[str, object])
    fields |= changes
    kinds = [(name, type(value)) for name, value in fields.items()]
    description = dataclasses.make_dataclass("Description", kinds)(**fields)
    with pytest.raises(AgentError, match=message):
        read(tensor_file.encode_tensors(description, tensors))


@pytest.mark.parametrize(
    "part", ["params", "target_params", "average_params", "opt_state"]
)
@pytest.mark.fault
def test_weights_that_are_not_finite_are_neither_saved_nor_read(
    part, state, read, monkeypatch
):
    name = next(
        name
        for name, tensor in state.tensors.items()
        if name.startswith(f"train_state.{part}.") and tensor.dtype == np.float32
    )
    bad = state.tensors[name].copy()
    bad.flat[-1] = np.nan
    poisoned = dataclasses.replace(state, tensors=state.tensors | {name: bad})
    with pytest.raises(FloatingPointError, match=f"{name} is not finite; no"):
        checkpoint.encode_checkpoint(poisoned)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "first_nonfinite_leaf", lambda tensors: None)
        content = checkpoint.encode_checkpoint(poisoned)
    with pytest.raises(AgentError, match=f"{name} is not finite$"):
        read(content)


@pytest.fixture
def run(tmp_path, state):
    """Return the folder of a run with checkpoints after 8, 9 and 10 updates."""
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    for age, update in enumerate((10, 9, 8)):
        saved = dataclasses.replace(state, update=update)
        run.checkpoint(update).write_bytes(checkpoint.encode_checkpoint(saved))
        os.utime(run.checkpoint(update), (1000 + age, 1000 + age))
    return run


@pytest.mark.fault
def test_the_newest_good_checkpoint_has_the_most_updates(run):
    """Whatever the times of the files are."""
    latest = checkpoint.newest_checkpoint(run)
    assert (latest.path, latest.checkpoint.update) == (run.checkpoint(10), 10)
    assert latest.damaged == {}
    for update in (9, 10):
        run.checkpoint(update).write_bytes(b"")
    latest = checkpoint.newest_checkpoint(run)
    assert (latest.path, latest.checkpoint.update) == (run.checkpoint(8), 8)
    assert list(latest.damaged) == [run.checkpoint(10), run.checkpoint(9)]


@pytest.mark.fault
def test_a_run_without_a_good_checkpoint_is_refused_with_the_reason(run):
    for update in (8, 9, 10):
        run.checkpoint(update).write_bytes(b"")
    for updates, reason in (
        ((), f"^{run.checkpoint(10)}: .*; nor can an older one be used$"),
        ((8, 9), rf"^{run.checkpoint(10)}: [^;]*$"),
        ((10,), "no checkpoint in this folder$"),
    ):
        for update in updates:
            run.checkpoint(update).unlink()
        with pytest.raises(UsageError, match=reason):
            checkpoint.newest_checkpoint(run)
    run.agent.touch()
    with pytest.raises(UsageError, match="its agent can be used, but the run can't"):
        checkpoint.newest_checkpoint(run)
    with pytest.raises(UsageError, match="no such folder"):
        checkpoint.newest_checkpoint(RunFolder(run.path / "absent"))
