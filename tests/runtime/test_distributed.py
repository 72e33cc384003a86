"""Runs of several processes over loopback: one writes, and none is left behind."""

import contextlib
import json
import os
import re
import signal
import socket
import time

import as_users
import numpy as np
import pytest
import tiny

from jax_ttt.players.saved_agents import load_agent
from jax_ttt.runtime import pytrees

SIZES = [*tiny.flags("hidden_size"), "--num-envs", "16"]
RUN = [
    *SIZES,
    "--precision",
    "float32",
    "--eval-games",
    "0",
    "--num-updates",
    "40",
    "--eval-every",
    "20",
]
ENDLESS = [*SIZES, "--eval-games", "0", "--num-updates", "1000000000"]
ENDLESS += ["--eval-every", "300", "--checkpoint-every", "0.1"]


def free_port():
    """Return a port that nobody listens to."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def start(flags, num_devices, cwd, command="train"):
    """Start a command in a process with virtual devices."""
    xla = os.environ.get("XLA_FLAGS", "")
    xla += f" --xla_force_host_platform_device_count={num_devices}"
    return as_users.start(command, *flags, cwd=cwd, XLA_FLAGS=xla)


@contextlib.contextmanager
def joined(flags, number, devices_each, cwd, command="train"):
    """Yield the processes of one run, and kill those that are left."""
    port = free_port()
    cluster = ["--distributed", "--coordinator", f"127.0.0.1:{port}"]
    cluster += ["--num-processes", number, "--process-id"]
    (cwd / "others").mkdir(exist_ok=True)
    run = [
        start(
            [*flags, *cluster, i], devices_each, cwd / "others" if i else cwd, command
        )
        for i in range(number)
    ]
    try:
        yield run
    finally:
        for process in run:
            process.kill()
            process.wait()
            for stream in filter(None, (process.stdout, process.stderr)):
                stream.close()


GLOO = re.compile(r"(?m)^.*(?:\[Gloo\]|connected to|peer ranks).*\n")


def wait_for_ends(run, seconds=300):
    """Return the exit codes and outputs of processes, without Gloo's lines on stderr.

    JAX sums over the processes of CPUs with Gloo, which prints who is connected. Its
    threads print parts of lines, so that two lines may be mixed.
    """
    texts = [process.communicate(timeout=seconds) for process in run]
    printed = [(out, GLOO.sub("", err)) for out, err in texts]
    return [process.returncode for process in run], printed


def last_checkpoint(path):
    """Return the number of updates of a run's latest checkpoint; 0 without one."""
    names = [file.stem for file in path.glob("checkpoint-*")]
    return max([0, *(int(name.partition("-")[2]) for name in names)])


def wait_for_checkpoint(run, path, after=0):
    """Wait until a run has a checkpoint after more updates, while all processes run."""
    end = time.monotonic() + 300
    while last_checkpoint(path) <= after:
        assert time.monotonic() < end
        assert [process.poll() for process in run] == [None] * len(run)
        time.sleep(0.05)


@pytest.mark.slow
def test_without_a_cluster_the_command_is_refused(tmp_path):
    codes, texts = wait_for_ends([start([*RUN, "--distributed"], 1, tmp_path)])
    assert codes == [2]
    assert texts[0][0] == ""
    assert texts[0][1].startswith("error: --distributed: found no SLURM, Open MPI, ")
    assert texts[0][1].count("\n") == 1


@pytest.mark.slow
def test_two_processes_give_the_run_of_one_with_two_devices(tmp_path):
    path, other = tmp_path / "run", tmp_path / "alone"
    with joined([*RUN, "--run-dir", path], 2, 1, tmp_path) as run:
        codes, texts = wait_for_ends(run)
    assert codes == [0, 0]
    assert "2 devices, 2 processes" in texts[0][0]
    assert texts[0][1] == ""
    assert texts[1] == ("", "")
    assert not [*(tmp_path / "others").iterdir()]
    alone = as_users.run_here("train", *RUN, "--run-dir", other, "--devices", 2)
    assert alone.code == 0, alone
    leaves, expected = (
        pytrees.leaves_by_name(load_agent(each / "agent.safetensors").params)
        for each in (path, other)
    )
    for name, leaf in leaves.items():
        # A sum of two numbers is the same in both orders.
        np.testing.assert_array_equal(leaf, expected[name], err_msg=name)


@pytest.mark.slow
def test_a_killed_process_ends_the_others_and_a_signal_saves_the_continued_run(
    tmp_path,
):
    """The signal comes to the process that does not write."""
    path = tmp_path / "run"
    with joined([*ENDLESS, "--run-dir", path], 2, 1, tmp_path) as run:
        wait_for_checkpoint(run, path)
        run[0].kill()
        run[1].communicate(timeout=300)
        assert run[1].returncode != 0
    num_updates = last_checkpoint(path)
    with joined(["--resume", path], 2, 1, tmp_path) as run:
        wait_for_checkpoint(run, path, after=num_updates)
        run[1].send_signal(signal.SIGTERM)
        codes, texts = wait_for_ends(run)
    assert codes == [128 + signal.SIGTERM] * 2
    assert [out for out, _ in texts[1:]] == [""]
    assert all(err.startswith("interrupted at update") for _, err in texts)
    assert load_agent(path).num_updates > num_updates


@pytest.mark.slow
def test_a_sweep_of_processes_names_each_seed_once(tmp_path):
    flags = [*SIZES, "--num-updates", "40", "--num-seeds", "5", "--json"]
    with joined(flags, 2, 2, tmp_path, "sweep") as run:
        codes, texts = wait_for_ends(run)
    assert codes == [0, 0], texts
    report = json.loads(texts[0][0])
    assert texts[1] == ("", "")
    rows = (tmp_path / report["file"]).read_text().splitlines()
    seeds = [json.loads(row)["agent"]["seed"] for row in rows[1:]]
    assert seeds == [1000, 1001, 1002, 1003, 1004]
    assert not [*(tmp_path / "others").iterdir()]
