"""The file of a checkpoint, and the newest good one of a run."""

import dataclasses
import json
import os

import numpy as np
import pytest
import tiny

from jax_ttt.config.errors import Refused
from jax_ttt.files import checkpoint, json_records, tensor_file
from jax_ttt.files.checkpoint import Checkpoint
from jax_ttt.files.run_folder import Plan, RunFolder

PLAN = Plan(config=tiny.CONFIG, preset="default", seed=3, snapshots=True)


def assert_same(tensors, others):
    """Compare tensors to the bit."""
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        assert tensor.dtype == others[name].dtype, name
        assert tensor.shape == others[name].shape, name
        assert tensor.tobytes() == others[name].tobytes(), name


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the checkpoint of these bytes."""

    def read(content):
        (tmp_path / "file").write_bytes(content)
        return tensor_file.read_tensors(tmp_path / "file", Checkpoint)

    return read


@pytest.mark.fault
def test_weights_that_are_not_finite_are_not_saved(saved, tensors):
    name = next(name for name in tensors if name.startswith("train_state.params."))
    nan = tensors | {name: np.full_like(tensors[name], np.nan)}
    with pytest.raises(FloatingPointError, match=f"{name} is not finite; nothing"):
        tensor_file.encode_tensors(saved, nan)


def test_a_checkpoint_is_read_as_it_was_saved(saved, tensors, read):
    kinds = {tensor.dtype.name for tensor in tensors.values()}
    assert {"float32", "float64", "int32", "int64", "uint32", "bool"} <= kinds
    nan = tensors | {"seconds": np.array(np.nan)}  # not one of the weights
    for changes, leaves in (
        ({}, tensors),
        ({"evaluated": -1}, nan),
        ({"finished": "proven"}, tensors),
    ):
        changed = dataclasses.replace(saved, **changes)
        content = tensor_file.encode_tensors(changed, leaves)
        described, read_leaves = read(content)
        assert described == changed
        assert_same(read_leaves, leaves)
        assert tensor_file.encode_tensors(described, read_leaves) == content


@pytest.fixture
def run(tmp_path, saved, tensors):
    """Return the folder of a run with checkpoints after 8, 9 and 10 updates."""
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.config.write_text(json_records.to_json(PLAN))
    for age, update in enumerate((10, 9, 8)):
        content = tensor_file.encode_tensors(
            dataclasses.replace(saved, update=update), tensors
        )
        run.checkpoint(update).write_bytes(content)
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
@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({"config": {"num_updates": 9}, "until_proven": True, "wandb": "x"}, True),
        ({"config": {"learning_rate": 0.5}}, False),
        ({"seed": 4}, False),
    ],
)
def test_the_settings_beside_a_checkpoint_are_those_of_its_run(changes, is_same, run):
    """But for the number of updates, and what the run writes."""
    fields = json.loads(run.config.read_text())
    config = fields["config"] | changes.pop("config", {})
    run.config.write_text(json.dumps(fields | changes | {"config": config}))
    if is_same:
        assert checkpoint.newest_checkpoint(run).plan.config.num_updates == 9
        return
    reason = f"{run.checkpoint(10)}: of a run with other settings than {run.config}"
    with pytest.raises(Refused, match=f"^{reason}$"):
        checkpoint.newest_checkpoint(run)


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
        with pytest.raises(Refused, match=reason):
            checkpoint.newest_checkpoint(run)
    run.agent.touch()
    with pytest.raises(Refused, match="its agent can be used, but the run can't"):
        checkpoint.newest_checkpoint(run)
    with pytest.raises(Refused, match="no such folder"):
        checkpoint.newest_checkpoint(RunFolder(run.path / "absent"))
