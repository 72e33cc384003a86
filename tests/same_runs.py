"""Comparison of what two runs left in their folders."""

import json

from jax_ttt.files import checkpoint
from jax_ttt.files.run_folder import RunFolder


def rows(path):
    """Return the metrics of a run without their seconds."""
    lines = (path / "metrics.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in found]


def snapshots(path):
    """Return the contents of a run's snapshots, by the names of their files."""
    return {file.name: file.read_bytes() for file in (path / "snapshots").glob("*")}


def assert_same_run(path, other, *files):
    """Compare all that two runs left, except times.

    `files` are by default the agent, and the best one if it is there.
    """
    assert rows(path) == rows(other)
    assert snapshots(path) == snapshots(other)
    best = ["best.safetensors"] if RunFolder(other).best.exists() else []
    for name in files or ["agent.safetensors", *best]:
        assert (path / name).read_bytes() == (other / name).read_bytes(), name
    mine, theirs = (
        checkpoint.newest(RunFolder(run)).checkpoint for run in (path, other)
    )
    assert mine.plan == theirs.plan
    assert (mine.update, mine.evaluated) == (theirs.update, theirs.evaluated)
    assert (mine.grades, mine.best) == (theirs.grades, theirs.best)
    assert mine.finished == theirs.finished == "end"
    assert mine.tensors.keys() == theirs.tensors.keys()
    for name in mine.tensors.keys() - {"seconds"}:
        first, second = mine.tensors[name], theirs.tensors[name]
        assert first.dtype == second.dtype, name
        assert first.tobytes() == second.tobytes(), name
