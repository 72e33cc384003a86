"""The file of a checkpoint: what is read is what was saved, or nothing."""

import dataclasses
import os
import random

import numpy as np
import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.files import agent_file, checkpoint, tensor_file
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.files.tensor_file import AgentError


def same(a, b):
    """Return whether two checkpoints are the same to the bit."""
    plain, other = (dataclasses.replace(x, tensors={}) for x in (a, b))
    return plain == other and all(
        a.tensors[name].dtype == b.tensors[name].dtype
        and a.tensors[name].shape == b.tensors[name].shape
        and a.tensors[name].tobytes() == b.tensors[name].tobytes()
        for name in a.tensors.keys() | b.tensors.keys()
    )


@pytest.fixture
def content(state):
    return checkpoint.encode_checkpoint(state)


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the checkpoint of these bytes."""

    def read(content):
        (tmp_path / "file").write_bytes(content)
        return checkpoint.read_checkpoint(tmp_path / "file")

    return read


def test_every_leaf_is_read_as_it_was_saved(state, content, read):
    found = read(content)
    assert same(found, state)
    assert len(found.tensors) > 30
    kinds = {tensor.dtype.name for tensor in found.tensors.values()}
    assert {"float32", "float64", "int32", "int64", "uint32", "bool"} <= kinds
    assert checkpoint.encode_checkpoint(found) == content


def test_what_is_none_is_read_as_none(state, read):
    plan = dataclasses.replace(state.plan, wandb="one-run", tensorboard=True)
    for other in (
        dataclasses.replace(state, best=None, evaluated=-1),
        dataclasses.replace(state, plan=plan, finished="proven"),
    ):
        assert same(read(checkpoint.encode_checkpoint(other)), other)


@pytest.mark.fault
def test_a_truncated_checkpoint_is_refused(content, read):
    draw = random.Random(4)
    for size in (0, 7, 8, len(content) - 1, *draw.sample(range(len(content)), 20)):
        with pytest.raises(AgentError):
            read(content[:size])


@pytest.mark.fault
def test_a_flipped_bit_is_refused(content, read):
    draw = random.Random(5)
    for _ in range(50):
        place, bit = draw.randrange(len(content)), 1 << draw.randrange(8)
        changed = bytearray(content)
        changed[place] ^= bit
        with pytest.raises(AgentError):
            read(bytes(changed))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "agent"}, "kind"),
        ({"update": 1.5}, "update"),
        ({"finished": "maybe"}, "finished"),
        ({"seed": 2**32}, "seed must be"),
        ({"preset": "none"}, "preset"),
        ({"until_proven": 1}, "until_proven"),
        ({"best": [True, 1]}, "best"),
        ({"grade": {"env_id": "hex", "first": {}}}, "grade.first"),
        ({"environment": []}, "environment"),
        ({"config": {"num_envs": 0}}, "num_envs must be"),
        ({"config": {"nonsense": 1}}, "nonsense"),
    ],
)
@pytest.mark.fault
def test_another_description_is_refused(changes, why, state, content, read, tmp_path):
    """Also one that is signed well."""
    read(content)
    about, tensors = tensor_file.read_tensors(tmp_path / "file", dict[str, object])
    kinds = [(name, type(value)) for name, value in (about | changes).items()]
    other = dataclasses.make_dataclass("Other", kinds)(**about | changes)
    with pytest.raises(AgentError, match=why):
        read(tensor_file.encode_tensors(other, tensors))


LEARNED = ("params", "target_params", "average_params", "opt_state")


@pytest.mark.parametrize("part", LEARNED)
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


def test_other_leaves_may_be_nan(state, read):
    tensors = state.tensors | {"seconds": np.array(np.nan)}
    other = dataclasses.replace(state, tensors=tensors)
    assert np.isnan(read(checkpoint.encode_checkpoint(other)).tensors["seconds"])


@pytest.mark.fault
def test_an_agent_is_no_checkpoint_and_a_checkpoint_is_no_agent(
    agent, content, read, tmp_path
):
    with pytest.raises(AgentError, match="kind"):
        read(agent_file.encode_agent(agent))
    (tmp_path / "file").write_bytes(content)
    for other in (agent_file.read_agent, agent_file.read_env_id):
        with pytest.raises(AgentError, match="kind"):
            other(tmp_path / "file")


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "run")


@pytest.fixture
def saved(run, state):
    """Return a function that saves checkpoints after these updates."""
    run.path.mkdir()

    def save(*updates):
        for update in updates:
            content = checkpoint.encode_checkpoint(
                dataclasses.replace(state, update=update)
            )
            run.checkpoint(update).write_bytes(content)

    return save


@pytest.mark.fault
def test_the_newest_has_the_most_updates_whatever_the_times_are(run, saved):
    for age, update in enumerate((10, 9, 8)):
        saved(update)
        os.utime(run.checkpoint(update), (1000 + age, 1000 + age))
    found = checkpoint.newest_checkpoint(run)
    assert (found.path, found.checkpoint.update) == (run.checkpoint(10), 10)
    assert found.damaged == {}


@pytest.mark.fault
def test_a_damaged_checkpoint_gives_way_to_the_one_before(run, saved):
    saved(1, 2, 3)
    for update in (2, 3):
        run.checkpoint(update).write_bytes(b"")
    found = checkpoint.newest_checkpoint(run)
    assert (found.path, found.checkpoint.update) == (run.checkpoint(1), 1)
    assert list(found.damaged) == [run.checkpoint(3), run.checkpoint(2)]


@pytest.mark.fault
def test_without_a_good_checkpoint_the_newest_is_named(run, saved):
    saved(1, 2)
    for update in (1, 2):
        run.checkpoint(update).write_bytes(b"")
    older = "; nor can an older one be used$"
    with pytest.raises(UsageError, match=rf"^{run.checkpoint(2)}: .*{older}"):
        checkpoint.newest_checkpoint(run)
    run.checkpoint(1).unlink()
    with pytest.raises(UsageError) as error:
        checkpoint.newest_checkpoint(run)
    assert "older" not in str(error.value)


def test_a_folder_without_checkpoints_says_what_it_has(run):
    with pytest.raises(UsageError, match=f"--resume {run.path}: no such folder"):
        checkpoint.newest_checkpoint(run)
    run.path.mkdir()
    with pytest.raises(UsageError, match=r"no checkpoint in this folder$"):
        checkpoint.newest_checkpoint(run)
    run.agent.touch()
    with pytest.raises(UsageError, match="its agent can be used, but the run can't"):
        checkpoint.newest_checkpoint(run)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "device"])
@pytest.mark.fault
def test_what_is_no_file_is_refused_and_nothing_waits(kind, run):
    run.path.mkdir()
    path = run.checkpoint(5)
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(run.path / "nothing")
        case "device":
            path.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match=r"checkpoint-5\.safetensors: "):
        checkpoint.newest_checkpoint(run)
