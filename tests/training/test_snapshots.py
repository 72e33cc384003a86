"""A run's snapshots: what is kept, what is on disk, and which files are refused."""

import functools
import json
import os
from pathlib import Path

import jax
import numpy as np
import pytest
import safetensors
import safetensors.numpy
import tiny
from jax_ttt.training.snapshots import MOST, SnapshotFile, read_snapshots

from jax_ttt.config.presets import PRESETS
from jax_ttt.networks import q_network
from jax_ttt.players import agents
from jax_ttt.players.agents import AgentError
from jax_ttt.players.network import network_of
from jax_ttt.results import tensor_files
from jax_ttt.training import loop, snapshots
from jax_ttt.training.run_state import run_key

TABLE = PRESETS["table"].replace(
    num_envs=16, num_updates=6, eval_every=2, eval_games=0, initial_value=0.3
)


@pytest.fixture
def run(tmp_path):
    """Return the settings of a run, its parameters by update, and its snapshots."""
    config = tiny.CONFIG
    file, seen = SnapshotFile(tmp_path, config, 5), {}
    for step in loop.train(loop.make_learner(config, 5), run_key(5)):
        if step.evaluation is not None:
            seen[step.update] = agents.tensors_of(jax.tree.map(np.array, step.params))
            file.add(step.update, step.params)
    file.write()
    return config, seen, read_snapshots(tmp_path)


@functools.cache
def params(config=tiny.CONFIG, seed=0):
    """Return the weights of an untrained network, as NumPy arrays."""
    network = network_of(config.architecture)
    made = _init_params(network, jax.random.key(seed))
    return jax.tree.map(np.asarray, made)


_init_params = jax.jit(q_network.init_params)


@pytest.fixture
def saved(tmp_path):
    """Return the path of the file of three snapshots of a network."""
    file = SnapshotFile(tmp_path, tiny.CONFIG, 1)
    for update in (0, 2, 4):
        file.add(update, params(seed=update))
    file.write()
    return file.path


def test_a_snapshot_is_the_agent_of_its_evaluation_rounded(run):
    config, seen, found = run
    assert found.updates == tuple(seen)
    assert (found.config, found.seed) == (config, 5)
    for update, tensors in seen.items():
        agent = found.agent(update)
        assert (agent.config, agent.num_updates, agent.seed) == (config, update, 5)
        again = agents.tensors_of(agent.params)
        assert again.keys() == tensors.keys()
        for name, tensor in tensors.items():
            assert again[name].dtype == np.float32
            np.testing.assert_allclose(again[name], tensor, rtol=5e-4, atol=1e-7)
    leaves = [jax.tree.leaves(found.agent(u).params)[-1].tobytes() for u in seen]
    assert leaves[0] != leaves[-1]


def test_rows_of_a_table_that_never_change_take_no_space(tmp_path):
    file = SnapshotFile(tmp_path, TABLE, 1)
    blank = params(TABLE)
    for update in (0, 1):
        (changed,) = map(np.array, jax.tree.leaves(blank))
        changed[3 + update] += update  # no change in the first snapshot
        file.add(update, jax.tree.map(lambda _, new=changed: new, blank))
    file.write()
    assert file.path.stat().st_size < 10_000 < changed.nbytes
    found = read_snapshots(tmp_path)
    values = [agents.tensors_of(found.agent(u).params)["values"] for u in (0, 1)]
    assert np.unique(values[0]).tolist() == [np.float16(0.3)]
    assert (values[0] != values[1]).any(axis=1).nonzero()[0].tolist() == [4]


@pytest.mark.parametrize("count", [1, MOST, MOST + 1, 2 * MOST + 5])
def test_a_long_run_keeps_some_at_equal_distances_and_the_last(count, tmp_path):
    file = SnapshotFile(tmp_path, tiny.CONFIG, 1)
    for number in range(count):
        file.add(number * 10, params())
    file.write()
    *regular, last = read_snapshots(tmp_path).updates
    assert last == (count - 1) * 10
    assert MOST // 2 <= len(regular) + 1 <= MOST or count < MOST // 2
    distances = set(np.diff([*regular]))
    assert len(distances) <= 1
    assert len(regular) + 1 == count or distances
    assert not regular or regular[0] == 0


def test_the_file_is_written_at_most_once_a_second(tmp_path, monkeypatch):
    now, written = [100.0], []
    monkeypatch.setattr(snapshots.time, "monotonic", lambda: now[0])
    file = SnapshotFile(tmp_path, tiny.CONFIG, 1)
    for update, seconds in enumerate((0, 0.4, 0.4, 0.4, 5)):
        now[0] += seconds
        file.add(update, params())
        written.append(read_snapshots(tmp_path).updates[-1])
    assert written == [0, 0, 0, 3, 4]
    before = file.path.stat().st_mtime_ns
    file.write()
    assert file.path.stat().st_mtime_ns == before


def test_a_full_disk_is_a_warning(tmp_path, monkeypatch, capsys):
    file = SnapshotFile(tmp_path, tiny.CONFIG, 1)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    file.add(0, params())
    assert capsys.readouterr().err == (
        f"warning: {file.path}: No space left on device\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_weights_that_float16_does_not_hold(tmp_path):
    """Too large ones are cut off; what is not finite is not kept."""
    file = SnapshotFile(tmp_path, tiny.CONFIG, 1)
    for update, bad in enumerate((1e9, np.nan, -np.inf)):
        file.add(
            update, jax.tree.map(lambda t, bad=bad: np.full_like(t, bad), params())
        )
    file.write()
    found = read_snapshots(tmp_path)
    assert found.updates == (0,)
    leaves = jax.tree.leaves(found.agent(0).params)
    assert {leaf.max().item() for leaf in leaves} == {np.finfo(np.float16).max}


def test_an_update_without_a_snapshot_is_refused(saved):
    with pytest.raises(AgentError, match="no snapshot at update 3, only 0, 2, 4"):
        read_snapshots(saved).agent(3)


def refuse(path):
    with pytest.raises(AgentError) as error:
        read_snapshots(path)
    assert str(path) in str(error.value)
    return str(error.value)


def rewrite(path, tensors=None, **changes):
    """Write the file again with these changes, and a checksum that is right."""
    about, old = tensor_files.contents(path)
    tensors = old if tensors is None else tensors
    path.write_bytes(tensor_files.as_bytes(about | changes, tensors))


FIELDS = tiny.CONFIG.as_dict()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format_version": 99}, "format version 99"),
        ({"kind": "agent"}, "not the snapshots of a run"),
        ({"config": 3}, "damaged description"),
        ({"config": FIELDS | {"gamma": 7.0}}, "gamma must be"),
        ({"config": FIELDS | {"hidden_size": 16}}, "don't fit"),
        ({"seed": "x"}, "seed must be"),
        ({"updates": None}, "damaged description"),
        ({"updates": []}, "not ascending"),
        ({"updates": [0, 4, 2]}, "not ascending"),
        ({"updates": [0, 2]}, "not those of 2 agents"),
        ({"updates": "abc"}, "updates must be"),
        ({"updates": [0, 2, 10**10]}, "updates must be"),
    ],
)
def test_a_changed_description_is_refused(changes, reason, saved):
    rewrite(saved, **changes)
    assert reason in refuse(saved)


BIAS = "layers.layers.0.bias"


@pytest.mark.parametrize(
    ("name", "tensor", "reason"),
    [
        (BIAS, np.zeros((3, 8), np.float32), "not those of 3 agents"),
        (BIAS, np.zeros((2, 8), np.float16), "not those of 3 agents"),
        (BIAS, np.zeros((3,), np.float16), "not those of 3 agents"),
        (BIAS, np.zeros((3, 9), np.float16), "don't fit"),
        (BIAS, np.full((3, 8), np.nan, np.float16), "not finite"),
        ("more", np.zeros((3, 8), np.float16), "don't fit"),
        (f"{BIAS}.rows", np.ones(9, bool), "don't fit"),
        (f"{BIAS}.rows", np.arange(8) > 3, "not those of 3 agents"),
        (f"{BIAS}.rows", np.ones(8, np.int32), "not those of 3 agents"),
        (f"{BIAS}.rows", np.array(True), "not those of 3 agents"),
        ("more.rows", np.ones(8, bool), "not those of 3 agents"),
    ],
)
def test_other_tensors_are_refused(name, tensor, reason, saved):
    _, tensors = tensor_files.contents(saved)
    tensors.pop(f"{name}.rows", None)  # of a bias that is 0 in all snapshots
    rewrite(saved, tensors | {name: tensor})
    assert reason in refuse(saved)


def test_a_small_file_of_a_large_tensor_is_refused(saved):
    """Rows that are left out take a byte each; with them it would be of terabytes."""
    _, tensors = tensor_files.contents(saved)
    tensors[BIAS] = np.zeros((3, 0, 2**22), np.float16)
    rewrite(saved, tensors | {f"{BIAS}.rows": np.zeros(2**20, bool)})
    assert "don't fit" in refuse(saved)


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"{}", os.urandom(999)])
def test_junk_is_refused(content, saved):
    saved.write_bytes(content)
    refuse(saved)


def test_a_flipped_bit_or_a_truncated_file_is_refused(saved):
    whole = saved.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    for place in np.random.default_rng(0).integers(header, len(whole), 10):
        changed = bytearray(whole)
        changed[place] ^= 4
        saved.write_bytes(changed)
        assert "contents were changed" in refuse(saved)
    for length in range(0, len(whole), 499):
        saved.write_bytes(whole[:length])
        refuse(saved)


def test_other_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "none", tmp_path / "fifo", Path("/dev/zero"), tmp_path):
        with pytest.raises(AgentError, match=r"no such file|not a regular file"):
            read_snapshots(path)
    agent = tiny.save_untrained(tmp_path / "agent.safetensors")
    assert "not the snapshots of a run" in refuse(agent)


def test_an_agents_reader_refuses_snapshots(saved):
    with pytest.raises(AgentError, match="not an agent"):
        agents.load_agent(saved)


def test_the_same_run_gives_the_same_bytes(saved, tmp_path):
    (tmp_path / "again").mkdir()
    file = SnapshotFile(tmp_path / "again", tiny.CONFIG, 1)
    for update in (0, 2, 4):
        file.add(update, params(seed=update))
    file.write()
    assert file.path.read_bytes() == saved.read_bytes()
    with safetensors.safe_open(saved, framework="numpy") as content:
        about = json.loads(content.metadata()["jax_ttt"])
    assert about["updates"] == [0, 2, 4]


@pytest.mark.parametrize(("at", "left"), [(1, 1), (20, 40), (31, 33), (33, 130)])
def test_a_run_that_continues_ends_with_the_same_file(at, left, tmp_path):
    """From `at` evaluations on, although the file already had `left` of them."""
    weights, count = params(), 135
    for folder in ("whole", "run"):
        (tmp_path / folder).mkdir()
    whole = SnapshotFile(tmp_path / "whole", tiny.CONFIG, 1)
    first = SnapshotFile(tmp_path / "run", tiny.CONFIG, 1)
    for number in range(count):
        whole.add(10 * number, weights)
        if number < left:
            first.add(10 * number, weights)
    whole.write()
    first.write()
    again = SnapshotFile(tmp_path / "run", tiny.CONFIG, 1)
    again.restore(at, 10 * (at - 1))
    for number in range(at, count):
        again.add(10 * number, weights)
    again.write()
    assert again.path.read_bytes() == whole.path.read_bytes()


def test_without_its_file_a_run_continues_with_a_warning(tmp_path, capsys):
    file = SnapshotFile(tmp_path, tiny.CONFIG, 1)
    file.restore(3, 20)
    assert capsys.readouterr().err == (
        f"warning: {file.path}: no such file; its snapshots are lost\n"
    )
    file.add(30, params())
    file.write()
    assert read_snapshots(tmp_path).updates == (30,)
