"""Which process of a run has its folder."""

from jax_ttt.checkpoints import run_folders
from jax_ttt.config.settings import Config
from jax_ttt.runtime.time_spans import TimeSpans
from jax_ttt.scaling import processes


def test_the_process_that_writes_makes_the_folder(tmp_path):
    path = tmp_path / "run"
    folder = run_folders.folder_of(None, path, "default", 1, TimeSpans())
    folder.write_config(Config.of(), 1, "default")
    folder.close()
    assert (path / "config.json").exists()


def test_another_process_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "writes", lambda: False)
    path = tmp_path / "run"
    folder = run_folders.folder_of(None, path, "default", 1, TimeSpans())
    folder.write_config(Config.of(), 1, "default")
    folder.keep_snapshots(Config.of(), 1)
    folder.sync()
    folder.write_times()
    folder.close()
    assert (folder.num_bytes, folder.replaced) == (0, False)
    assert not [*tmp_path.iterdir()]
