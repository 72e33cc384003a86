"""The file of a sweep: agents that are in it are not trained again."""

import contextlib
import os

import made
import pytest

from jax_ttt.config.errors import Refused
from jax_ttt.config.settings import Config
from jax_ttt.files import sweep_file
from jax_ttt.files.run_folder import Lock
from jax_ttt.files.sweep_file import Sweep
from jax_ttt.runtime.atomic_files import WriteError

SWEEP = Sweep(
    config=Config.of(tau=0.25),
    preset="default",
    grid=("gamma=0.5,1",),
    first_seed=7,
    num_seeds=3,
)
EXACT = made.exact((1.0, 0.0, 0.0), (0.25, 0.5, 0.25))
JOBS = [(group, seed) for group in (0, 1) for seed in (7, 8, 9)]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Make the folder `runs` here."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path():
    """Return the path of a file with three agents of six."""
    file = sweep_file.make_sweep_file(SWEEP)
    file.add([(group, made.agent(seed, EXACT)) for group, seed in JOBS[:3]])
    file.close()
    return file.path


def test_a_process_that_does_not_write_follows_the_sweep(path):
    before = path.read_bytes()
    with contextlib.closing(sweep_file.open_sweep_file(path)):
        other = sweep_file.open_sweep_file(path, writes=False)
        other.add([(1, made.agent(8, EXACT))])
        assert other.missing() == [(1, 7), (1, 9)]
        other.close()
    new = sweep_file.make_sweep_file(SWEEP, writes=False)
    new.add([(0, made.agent(7, EXACT))])
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_a_block_of_agents_is_forced_to_the_disk_once(path, monkeypatch):
    forced = []

    def fsync(handle):
        forced.append(path.read_bytes().count(b"\n"))

    with contextlib.closing(sweep_file.open_sweep_file(path)) as file:
        monkeypatch.setattr(os, "fsync", fsync)
        file.add([(group, made.agent(seed, EXACT)) for group, seed in JOBS[3:]])
    assert forced == [1 + len(JOBS)]


@pytest.mark.fault
def test_a_file_that_ends_anywhere_holds_the_agents_of_its_whole_lines(path):
    whole = path.read_bytes()
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    near = {end + step for end in ends[:-1] for step in (0, 1, 2)}
    for size in sorted({0, *near, ends[-1]}):
        path.write_bytes(whole[:size])
        if size <= ends[0]:
            with pytest.raises(Refused, match="damaged, or not a sweep's file"):
                sweep_file.open_sweep_file(path)
            continue
        with contextlib.closing(sweep_file.open_sweep_file(path)) as file:
            assert list(file.agents) == JOBS[: whole[:size].count(b"\n") - 1]
            file.add([(1, made.agent(9, EXACT))])
        with contextlib.closing(sweep_file.open_sweep_file(path)) as file:
            assert list(file.agents)[-1] == (1, 9)


@pytest.mark.fault
def test_one_process_at_a_time_writes_to_a_file(path):
    file = sweep_file.open_sweep_file(path)
    with pytest.raises(Refused, match=f"{path}: in use by process {os.getpid()}$"):
        sweep_file.open_sweep_file(path)
    file.close()
    sweep_file.open_sweep_file(path).close()
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.fault
def test_agents_that_another_process_adds_just_before_the_lock_stay(path, monkeypatch):
    """Else they would be trained again, or cut off as an incomplete line."""
    other = sweep_file.open_sweep_file(path)

    class LateLock(Lock):
        def __init__(self, lock_path):
            other.add([(1, made.agent(7, EXACT))])
            other.close()
            super().__init__(lock_path)

    with monkeypatch.context() as patch:
        patch.setattr(sweep_file, "Lock", LateLock)
        file = sweep_file.open_sweep_file(path)
    assert file.sweep == SWEEP
    assert file.agents == {job: made.agent(job[1], EXACT) for job in JOBS[:4]}
    assert [agent.seed for agent in file.rows(0)] == [7, 8, 9]
    assert file.missing() == JOBS[4:]
    file.add([(1, made.agent(8, EXACT))])
    file.close()
    with contextlib.closing(sweep_file.open_sweep_file(path)) as file:
        assert list(file.agents) == JOBS[:5]


@pytest.mark.fault
def test_a_full_disk_is_an_error_that_names_the_file(path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    with contextlib.closing(sweep_file.open_sweep_file(path)) as file:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(WriteError, match=f"cannot write {path}: No space left"):
            file.add([(1, made.agent(7, EXACT))])
        assert file.missing() == JOBS[3:]


def test_new_files_have_different_names():
    files = [sweep_file.make_sweep_file(SWEEP) for _ in range(3)]
    assert len({file.path for file in files}) == 3
    for file in files:
        file.close()
