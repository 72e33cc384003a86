"""The file of a sweep: agents that are in it are not trained again."""

import contextlib
import json
import re

import made
import pytest

from jax_ttt.checkpoints import sweeps
from jax_ttt.checkpoints.sweeps import Sweep
from jax_ttt.config.errors import UsageError
from jax_ttt.config.settings import Config

SWEEP = Sweep(Config.of(tau=0.25), "default", ("gamma=0.5,1",), 7, 3)
EXACT = made.exact((1.0, 0.0, 0.0), (0.25, 0.5, 0.25))
JOBS = [(group, seed) for group in (0, 1) for seed in (7, 8, 9)]


@pytest.fixture
def kept(tmp_path):
    """Return the path of a file with three agents of six."""
    file = sweeps.new_file(tmp_path, SWEEP)
    for group, seed in JOBS[:3]:
        file.add(group, made.agent(seed, EXACT))
    file.close()
    return file.path


def agents_of(path):
    """Return the agents in a file, by group and seed."""
    with contextlib.closing(sweeps.continued(path)) as file:
        return file.agents


def test_a_continued_sweep_is_the_one_that_was_kept(kept):
    assert re.fullmatch(r"[0-9]{8}-[0-9]{6}-sweep-default\.jsonl", kept.name)
    file = sweeps.continued(kept)
    assert file.sweep == SWEEP
    assert file.agents == {job: made.agent(job[1], EXACT) for job in JOBS[:3]}
    assert [agent.seed for agent in file.rows(0)] == [7, 8, 9]
    assert file.rows(1) == []
    file.close()


def test_the_agents_of_a_sweep_that_its_file_lacks(kept):
    with contextlib.closing(sweeps.continued(kept)) as file:
        assert file.missing(num_groups=2) == JOBS[3:]
        file.add(1, made.agent(8, EXACT))
        assert file.missing(num_groups=2) == [(1, 7), (1, 9)]


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
            with pytest.raises(UsageError, match="damaged, or no sweep's file"):
                sweeps.continued(kept)
    with contextlib.closing(sweeps.continued(kept)) as file:
        file.add(1, made.agent(9, EXACT))
    assert list(agents_of(kept)) == [*JOBS[:2], (1, 9)]


@pytest.mark.fault
def test_a_changed_character_is_noticed(kept):
    whole = kept.read_bytes()
    for place in range(0, len(whole) - 1, 7):
        if whole[place : place + 1] == b"\n":
            continue
        changed = bytes([whole[place] ^ 1])
        kept.write_bytes(whole[:place] + changed + whole[place + 1 :])
        with pytest.raises(UsageError, match="damaged, or no sweep's file"):
            sweeps.continued(kept)


@pytest.mark.fault
def test_one_process_at_a_time_writes_to_a_file(kept):
    file = sweeps.continued(kept)
    with pytest.raises(UsageError, match="another run is writing to it"):
        sweeps.continued(kept)
    file.close()
    sweeps.continued(kept).close()


def test_two_new_files_have_two_names(tmp_path):
    files = [sweeps.new_file(tmp_path, SWEEP) for _ in range(3)]
    assert len({file.path for file in files}) == 3
    for file in files:
        file.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("", "damaged, or no sweep's file"),
        ("[1]\n", "a line was changed"),
        ("[" * 100_000 + "\n", "damaged, or no sweep's file"),
        ('{"a": 1, "a": 1}\n', "damaged, or no sweep's file .*twice"),
        ('{"a": NaN}\n', "damaged, or no sweep's file .*NaN"),
    ],
)
def test_what_is_no_sweeps_file_is_refused(text, message, tmp_path):
    path = tmp_path / "sweep.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=message):
        sweeps.continued(path)
    with pytest.raises(UsageError, match="not a regular file"):
        sweeps.continued(tmp_path)


def test_a_later_format_is_refused_by_its_number(kept):
    first, *others = kept.read_text().splitlines()
    about = json.loads(first) | {"format_version": 99}
    del about["sha256"]
    about["sha256"] = sweeps._digest(about)
    kept.write_text("\n".join([json.dumps(about), *others, ""]))
    with pytest.raises(UsageError, match="format version 99"):
        sweeps.continued(kept)
