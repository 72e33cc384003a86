"""Comparison of the files of two runs."""

import json

from jax_ttt.files import checkpoint
from jax_ttt.files.run_folder import RunFolder


def rows(path):
    """Return the metrics of a run without their seconds."""
    lines = (path / "metrics.jsonl").read_text().splitlines()
    all_rows = [json.loads(line) for line in lines]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in all_rows]


def agents_in(path):
    """Return the contents of a run's agents, with those at its evaluations."""
    files = [*path.glob("a*.safetensors"), *path.glob("snapshots/*.safetensors")]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def assert_same_run(path, other):
    """Compare all files of two runs, except for times."""
    assert rows(path) == rows(other)
    assert agents_in(path) == agents_in(other)
    mine, theirs = (
        checkpoint.newest_checkpoint(RunFolder(run)) for run in (path, other)
    )
    assert mine.checkpoint == theirs.checkpoint
    assert mine.checkpoint.finished == "end"
    assert mine.tensors.keys() == theirs.tensors.keys()
    for name in mine.tensors.keys() - {"seconds"}:
        first, second = mine.tensors[name], theirs.tensors[name]
        assert first.dtype == second.dtype, name
        assert first.tobytes() == second.tobytes(), name
