"""The file of a checkpoint: what is read is what was saved, or nothing."""

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from jax_ttt.checkpoints import contents
from jax_ttt.checkpoints.contents import checkpoint_file, read_checkpoint
from jax_ttt.config.settings import READABLE
from jax_ttt.results import tensor_files
from jax_ttt.results.tensor_files import AgentError


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
def content(checkpoint):
    return checkpoint_file(checkpoint)


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the checkpoint of these bytes."""

    def read(content):
        (tmp_path / "file").write_bytes(content)
        return read_checkpoint(tmp_path / "file")

    return read


@pytest.mark.slow
def test_every_leaf_is_read_as_it_was_saved(checkpoint, content, read):
    found = read(content)
    assert same(found, checkpoint)
    assert len(found.tensors) > 50
    kinds = {tensor.dtype.name for tensor in found.tensors.values()}
    assert {"float32", "float64", "int32", "int64", "uint32", "bool"} <= kinds
    assert checkpoint_file(found) == content


@pytest.mark.fault
def test_a_truncated_checkpoint_is_refused(content, read):
    """At every length in the header and near the ends of tensors, else at some."""
    header = 8 + int.from_bytes(content[:8], "little")
    near = {*range(64), *range(header - 64, header + 64), *range(len(content) - 64, 1)}
    sizes = sorted(near | {*range(0, len(content), 997)})
    for size in sizes:
        with pytest.raises(AgentError):
            read(content[:size])


@pytest.mark.fault
def test_a_flipped_bit_is_refused(content, read):
    draw = random.Random(5)
    for _ in range(100):
        place, bit = draw.randrange(len(content)), 1 << draw.randrange(8)
        changed = bytearray(content)
        changed[place] ^= bit
        with pytest.raises(AgentError):
            read(bytes(changed))


def changed(checkpoint, **changes):
    """Return the bytes of a checkpoint with another description, well signed."""
    content = checkpoint_file(checkpoint)
    path = Path(str(changes.pop("path")))
    path.write_bytes(content)
    about, tensors = tensor_files.contents(path)
    about.pop("sha256", None)
    return tensor_files.as_bytes(about | changes, tensors)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "snapshots"}, "not a checkpoint"),
        ({"env_id": "hex"}, "its game does not match its settings"),
        ({"update": -1}, "update must be"),
        ({"update": 1.5}, "update must be"),
        ({"finished": "maybe"}, "finished must be"),
        ({"seed": 2**32}, "seed must be"),
        ({"preset": "none"}, "preset must be"),
        ({"loggers": ["smtp"]}, "loggers must be"),
        ({"until_proven": 1}, "until_proven must be true or false"),
        ({"positions": {"metrics": 1}}, "damaged description"),
        ({"positions": {"metrics": -1, "evaluations": 0, "loggers": {}, "console": {}}},
         "metrics must be"),
        ({"times": {"seconds": {"train": -1.0}, "total": 1.0}}, "times must be"),
        ({"environment": []}, "environment must be an object"),
        ({"config": {"num_envs": 0}}, "num_envs must be"),
    ],
)  # fmt: skip
def test_another_description_is_refused(changes, why, checkpoint, read, tmp_path):
    content = changed(checkpoint, path=tmp_path / "good", **changes)
    with pytest.raises(AgentError, match=why):
        read(content)


@pytest.mark.fault
def test_a_later_version_is_refused_by_its_number(checkpoint, read, tmp_path):
    later = max(READABLE) + 1
    content = changed(checkpoint, path=tmp_path / "good", format_version=later)
    with pytest.raises(AgentError, match=f"format version {later}; this program reads"):
        read(content)


LEARNED = ("params", "target_params", "average_params", "opt_state")


@pytest.mark.parametrize("part", LEARNED)
@pytest.mark.fault
def test_weights_that_are_not_finite_are_neither_saved_nor_read(
    part, checkpoint, read, monkeypatch
):
    name = next(
        name
        for name, tensor in checkpoint.tensors.items()
        if name.startswith(f"train_state.{part}.") and tensor.dtype == np.float32
    )
    bad = np.full_like(checkpoint.tensors[name], np.nan)
    tensors = checkpoint.tensors | {name: bad}
    poisoned = dataclasses.replace(checkpoint, tensors=tensors)
    with pytest.raises(FloatingPointError, match=f"{name} is not finite; no"):
        checkpoint_file(poisoned)
    with monkeypatch.context() as patch:
        patch.setattr(contents, "not_finite", lambda tensors: None)
        content = checkpoint_file(poisoned)
    with pytest.raises(AgentError, match=f"{name} is not finite$"):
        read(content)


def test_rates_of_games_that_were_not_played_may_be_nan(checkpoint, read):
    tensors = checkpoint.tensors | {"best.win_rate": np.array(np.nan)}
    played = dataclasses.replace(checkpoint, tensors=tensors)
    assert np.isnan(read(checkpoint_file(played)).tensors["best.win_rate"])


def test_what_could_not_be_read_is_not_saved(checkpoint, monkeypatch):
    monkeypatch.setattr(tensor_files, "MAX_BYTES", 2**20 + 1000)
    with pytest.raises(OverflowError, match="the run's state has"):
        checkpoint_file(checkpoint)


def test_a_single_weight_that_is_not_finite_is_named(checkpoint):
    name = next(n for n, x in checkpoint.tensors.items() if ".params." in n and x.ndim)
    bad = checkpoint.tensors[name].copy()
    bad.flat[-1] = np.nan
    assert contents.not_finite(checkpoint.tensors) is None
    assert contents.not_finite(checkpoint.tensors | {name: bad}) == name
