"""The file of a sweep: agents that are in it are not trained again."""

import contextlib
import json
import os
import re

import made
import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.config.settings import Config
from jax_ttt.files import sweep_file
from jax_ttt.files.sweep_file import Sweep
from jax_ttt.runtime.files import WriteError

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
def kept():
    """Return the path of a file with three agents of six."""
    file = sweep_file.make_sweep_file(SWEEP)
    for group, seed in JOBS[:3]:
        file.add(group, made.agent(seed, EXACT))
    file.close()
    return file.path


def agents_of(path):
    """Return the agents in a file, by group and seed."""
    with contextlib.closing(sweep_file.open_sweep_file(path)) as file:
        return file.agents


def test_a_continued_sweep_is_the_one_that_was_kept(kept):
    assert re.fullmatch(r"[0-9]{8}-[0-9]{6}-sweep-default\.jsonl", kept.name)
    assert sweep_file.read_sweep(kept) == SWEEP
    file = sweep_file.open_sweep_file(kept)
    assert file.sweep == SWEEP
    assert file.agents == {job: made.agent(job[1], EXACT) for job in JOBS[:3]}
    assert [agent.seed for agent in file.rows(0)] == [7, 8, 9]
    assert file.rows(1) == []
    file.close()
    assert os.listdir(kept.parent) == [kept.name]


def test_the_agents_of_a_sweep_that_its_file_lacks(kept):
    with contextlib.closing(sweep_file.open_sweep_file(kept)) as file:
        assert file.missing(num_groups=2) == JOBS[3:]
        file.add(1, made.agent(8, EXACT))
        assert file.missing(num_groups=2) == [(1, 7), (1, 9)]


def test_a_process_that_does_not_write_follows_the_sweep(kept):
    before = kept.read_bytes()
    with contextlib.closing(sweep_file.open_sweep_file(kept)) as file:
        other = sweep_file.open_sweep_file(kept, writes=False)
        other.add(1, made.agent(8, EXACT))
        assert other.missing(num_groups=2) == [(1, 7), (1, 9)]
        other.close()
        assert kept.read_bytes() == before
        assert file.missing(num_groups=2) == JOBS[3:]
    new = sweep_file.make_sweep_file(SWEEP, writes=False)
    new.add(0, made.agent(7, EXACT))
    assert not new.path.exists() or new.path == kept


@pytest.mark.fault
def test_a_file_that_ends_anywhere_holds_the_agents_of_its_whole_lines(kept):
    whole = kept.read_bytes()
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    near = {end + step for end in ends[:-1] for step in (0, 1, 2)}
    for size in sorted({*range(0, len(whole), 7), *near, ends[-1]}):
        kept.write_bytes(whole[:size])
        lines = whole[:size].count(b"\n")
        if lines:
            assert list(agents_of(kept)) == JOBS[: lines - 1]
        else:
            with pytest.raises(UsageError, match="damaged, or not a sweep's file"):
                sweep_file.open_sweep_file(kept)
    with contextlib.closing(sweep_file.open_sweep_file(kept)) as file:
        file.add(1, made.agent(9, EXACT))
    assert list(agents_of(kept)) == [*JOBS[:2], (1, 9)]


@pytest.mark.fault
def test_one_process_at_a_time_writes_to_a_file(kept):
    file = sweep_file.open_sweep_file(kept)
    with pytest.raises(UsageError, match=f"{kept}: in use by process {os.getpid()}$"):
        sweep_file.open_sweep_file(kept)
    file.close()
    sweep_file.open_sweep_file(kept).close()


@pytest.mark.fault
def test_a_full_disk_is_an_error_that_names_the_file(kept, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    with contextlib.closing(sweep_file.open_sweep_file(kept)) as file:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(WriteError, match=f"cannot write {kept}: No space left"):
            file.add(1, made.agent(7, EXACT))
        assert file.missing(num_groups=2) == JOBS[3:]


def test_two_new_files_have_two_names():
    files = [sweep_file.make_sweep_file(SWEEP) for _ in range(3)]
    assert len({file.path for file in files}) == 3
    for file in files:
        file.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("", "damaged, or not a sweep's file"),
        ("[1]\n", "damaged, or not a sweep's file"),
        ("[" * 100_000 + "\n", "damaged, or not a sweep's file"),
        ('{"a": NaN}\n', "damaged, or not a sweep's file"),
        ("{}\n", "damaged, or not a sweep's file"),
    ],
)
@pytest.mark.fault
def test_what_is_no_sweeps_file_is_refused(text, message, tmp_path):
    path = tmp_path / "sweep.jsonl"
    if text is not None:
        path.write_text(text)
    before = os.listdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        sweep_file.open_sweep_file(path)
    with pytest.raises(UsageError, match="not a regular file"):
        sweep_file.open_sweep_file(tmp_path)
    assert os.listdir(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format_version": 4}, "format version 4"),
        ({"format_version": 99}, "format version 99"),
        ({"first_seed": -1}, "seed"),
        ({"num_seeds": 0}, "seed"),
        ({"preset": "none"}, "preset"),
        ({"config": {"tau": 2.0}}, "tau must be"),
    ],
)
@pytest.mark.fault
def test_what_no_sweep_writes_is_refused(changes, message, kept):
    first, *others = kept.read_text().splitlines()
    about = json.dumps(json.loads(first) | changes)
    kept.write_text("\n".join([about, *others, ""]))
    with pytest.raises(UsageError, match=f"damaged, or not a sweep's file .*{message}"):
        sweep_file.open_sweep_file(kept)


@pytest.mark.fault
def test_a_line_that_is_no_agent_is_refused(kept):
    with kept.open("a") as file:
        file.write('{"group": 1}\n')
    with pytest.raises(UsageError, match=r"not a sweep's file .*agent"):
        sweep_file.open_sweep_file(kept)
