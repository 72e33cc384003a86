"""Which folders are free for a run."""

import json
from pathlib import Path

import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.results import free_folders

OURS = json.dumps({"versions": {"jax_ttt": "1"}, "seed": 1})


def test_new_and_empty_folders_are_free(tmp_path):
    for path in (None, tmp_path, tmp_path / "new", tmp_path / "new" / "below"):
        free_folders.check_run_dir(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"config.json": OURS, "metrics.jsonl": "x", "times.json": "x"}, True),
        ({"config.json": OURS, "snapshots.safetensors": "x"}, True),
        ({"metrics.jsonl": ""}, True),
        ({"config.json": OURS, "agent.safetensors": "x"}, False),
        ({"agent.safetensors": ""}, False),
        ({"config.json": "{}"}, False),
        ({"metrics.jsonl": "x"}, False),
        ({"times.json": ""}, False),
        ({"snapshots.safetensors": ""}, False),
    ],
)
def test_a_folder_is_free_if_its_run_saved_no_agent(files, free, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    if free:
        free_folders.check_run_dir(tmp_path)
        return
    with pytest.raises(UsageError, match=r"holds no run, got '.*': File exists"):
        free_folders.check_run_dir(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for name, why in (("file", "File exists"), ("file/run", "Not a directory")):
        with pytest.raises(UsageError, match=why):
            free_folders.check_run_dir(tmp_path / name)
    if Path("/proc").is_dir():  # it looks writable to the system's own user
        with pytest.raises(UsageError, match=r"No such file|not permitted|denied"):
            free_folders.check_run_dir(Path("/proc/run"))
    with pytest.raises(UsageError, match="name too long"):
        free_folders.check_run_dir(tmp_path / ("x" * 300))
