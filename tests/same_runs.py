"""Comparison of what two runs left in their folders."""

import json

from jax_ttt.checkpoints import saved
from jax_ttt.checkpoints.contents import read_checkpoint


def rows(path):
    """Return the metrics of a run without their seconds."""
    lines = (path / "metrics.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in found]


USUAL = ("agent.safetensors", "snapshots.safetensors")


def assert_same_run(path, other, *files):
    """Compare all that two runs left, except times; `files` are by default `USUAL`."""
    assert rows(path) == rows(other)
    for name in files or USUAL:
        assert (path / name).read_bytes() == (other / name).read_bytes(), name
    mine, theirs = (read_checkpoint(saved.paths(run)[0]) for run in (path, other))
    assert mine.update == theirs.update
    assert mine.finished == theirs.finished == "end"
    assert mine.positions.console == theirs.positions.console
    assert mine.positions.evaluations == theirs.positions.evaluations
    assert mine.tensors.keys() == theirs.tensors.keys()
    for name in mine.tensors.keys() - {"seconds"}:
        first, second = mine.tensors[name], theirs.tensors[name]
        assert first.dtype == second.dtype, name
        assert first.tobytes() == second.tobytes(), name
