"""The file of a checkpoint, and the newest good one of a run."""

import json
import os

import made
import numpy as np
import pytest
import tiny

from jax_ttt.config.errors import Refused
from jax_ttt.files import checkpoint, json_records, tensor_file
from jax_ttt.files.checkpoint import Checkpoint
from jax_ttt.files.run_folder import Plan, RunFolder

PLAN = Plan(config=tiny.CONFIG, preset="default", seed=3, snapshots=True)


@pytest.fixture
def run(tmp_path):
    """Return the folder of a run with checkpoints after 8, 9 and 10 updates."""
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.config.write_text(json_records.to_json(PLAN))
    for age, update in enumerate((10, 9, 8)):
        saved = Checkpoint(
            settings=PLAN.settings_checksum(),
            num_updates=PLAN.config.num_updates,
            update=update,
            evaluated=0,
            grade=made.grade(),
        )
        content = tensor_file.encode_tensors(saved, {"seconds": np.array(0.5)})
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
    for left, reason in (
        ((8, 9, 10), f"^{run.checkpoint(10)}: .*; nor can an older one be used$"),
        ((10,), rf"^{run.checkpoint(10)}: [^;]*$"),
        ((), "no checkpoint in this folder$"),
    ):
        for path in {*run.checkpoints()} - {run.checkpoint(update) for update in left}:
            path.unlink()
        with pytest.raises(Refused, match=reason):
            checkpoint.newest_checkpoint(run)
    run.agent.touch()
    with pytest.raises(Refused, match="its agent can be used, but the run can't"):
        checkpoint.newest_checkpoint(run)
    with pytest.raises(Refused, match="no such folder"):
        checkpoint.newest_checkpoint(RunFolder(run.path / "absent"))
