"""A full disk, files that may not grow, and folders that can't be written."""

import errno
import itertools
import os
import shutil
import subprocess
import sys

import as_users
import pytest
import tiny

import jax_ttt

pytestmark = pytest.mark.fault

TRAIN = f"train {' '.join(tiny.flags())} --quiet --checkpoint-every 0.000001"
MORE = "train --quiet --checkpoint-every 0.000001 --num-updates 8 --resume"
SWEEP = "sweep --preset table --num-envs 8 --num-updates 8 --json --num-seeds"
BOX = "unshare -rm sh -c "
"""Runs a shell in which mounts are allowed, and gone at its end."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the folder of a run that has ended, at update 4."""
    path = tmp_path_factory.mktemp("trained") / "run"
    assert as_users.run_here(TRAIN, "--run-dir", path).code == 0
    return path


@pytest.fixture(scope="module")
def longer(trained, tmp_path_factory):
    """Return the bytes of the agent at update 8."""
    path = tmp_path_factory.mktemp("longer") / "run"
    shutil.copytree(trained, path)
    assert as_users.run_here(MORE, path).code == 0
    return (path / "agent.safetensors").read_bytes()


def mounted(options, folder):
    """Return shell code that mounts a disk there, or skip the test."""
    folder.mkdir()
    mount = f"mount -t tmpfs -o {options} none {folder}"
    if subprocess.run([*BOX.split(), mount], capture_output=True).returncode:
        pytest.skip("mounts are not allowed here")
    return mount


@pytest.fixture
def small_disk(tmp_path):
    """Return shell code that mounts a small disk, on which `fill N` leaves N KiB."""
    mount = mounted("size=1m", tmp_path / "disk")
    fill = (
        "fill() { head -c $((1024 * $1)) /dev/zero >room; "
        "cat /dev/zero >filler 2>/dev/null; rm room; }"
    )
    return f"{mount}; cd {tmp_path}/disk; {fill};"


def boxed(code):
    """Run shell code in which `jax_ttt COMMAND` is one of our commands."""
    command = f'jax_ttt() {{ "{sys.executable}" -m "jax_ttt.$@"; }}; {code}'
    done = subprocess.run(
        [*BOX.split(), command],
        capture_output=True,
        text=True,
        env=as_users.environment(),
    )
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kib", [0, 8, 12, 20, 40])
def test_a_full_disk_harms_no_earlier_file(kib, small_disk, trained):
    """The run goes on once there is room again; a checkpoint may be left out."""
    out, err = boxed(
        f"""{small_disk}
        cp -r {trained} run
        fill {kib}
        jax_ttt {MORE} run >/dev/null
        echo "ended with $?"
        ls -AR run
        jax_ttt evaluate run --json >/dev/null || echo "the agent is lost"
        rm filler
        jax_ttt {MORE} run >/dev/null || echo "the run is lost"
        jax_ttt evaluate run --json | grep -o '"num_updates": 8'
        """
    )
    code = int(out.partition("ended with ")[2].split()[0])
    assert code == 1 or (code == 0 and kib >= 20), out + err
    assert "lost" not in out, out + err
    assert "No space left on device" in err or kib >= 40
    assert '"num_updates": 8' in out
    names = out.splitlines()
    assert not [name for name in names if name.startswith(".")], "temporary files"


@pytest.mark.slow
@pytest.mark.parametrize("kib", [0, 8])
def test_a_sweep_on_a_full_disk_keeps_its_agents(kib, small_disk):
    out, err = boxed(
        f"""{small_disk}
        fill {kib}
        jax_ttt {SWEEP} 20 >/dev/null
        echo "ended with $?"
        echo "lines $(cat runs/*.jsonl | grep -c '}}$')"
        rm filler
        test -s runs/*.jsonl || {{ echo "lines 20"; exit; }}
        jax_ttt sweep --json --resume runs/*.jsonl >/dev/null || echo "it is lost"
        echo "lines $(cat runs/*.jsonl | wc -l)"
        """
    )
    code = int(out.partition("ended with ")[2].split()[0])
    assert code == 1 or (code == 2 and not kib), out + err  # refused before the work
    assert "No space left on device" in err
    assert "lost" not in out
    first, last = (int(line.split()[1]) for line in out.splitlines() if "lines" in line)
    assert first >= 2 if kib else first == 0
    assert last in (20, 21)


@pytest.fixture
def full_at(monkeypatch):
    """Return a function: from the write `number` on, the disk has no space.

    It returns how many writes there were. Delayed writes fail where they are forced.
    """

    def fill(number):
        writes = []

        def fsync(handle):
            writes.append(handle)
            if len(writes) >= number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", fsync)
        return writes

    yield fill
    monkeypatch.undo()


@pytest.mark.slow
def test_no_space_at_any_write_of_a_run(full_at, trained, longer, tmp_path):
    number = 0
    for number in itertools.count(1):
        run = tmp_path / f"run{number}"
        shutil.copytree(trained, run)
        writes = full_at(number)
        done = as_users.run_here(MORE, run)
        if len(writes) < number:
            assert done.code == 0
            break
        assert "No space left on device" in done.err, done
        assert "Traceback" not in done.err
        assert done.code in (0, 1)
        assert jax_ttt.load(run).num_updates in ((4, 8) if done.code else (8,))
        hidden = [name for name in os.listdir(run) if name.startswith(".")]
        assert not hidden
        full_at(10**9)
        done = as_users.run_here(MORE, run)
        assert done.code == 0, done
        assert (run / "agent.safetensors").read_bytes() == longer
    assert number > 5


@pytest.mark.slow
def test_no_space_at_any_write_of_a_sweep(full_at, tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    monkeypatch.chdir(tmp_path / "whole")
    assert as_users.run_here(SWEEP, 3).code == 0
    (whole,) = tmp_path.glob("whole/runs/*.jsonl")
    number = 0
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        folder.mkdir()
        os.chdir(folder)
        writes = full_at(number)
        done = as_users.run_here(SWEEP, 3)
        if len(writes) < number:
            assert done.code == 0
            break
        assert done.code == 1, done
        assert "No space left on device" in done.err
        assert "Traceback" not in done.err
        full_at(10**9)
        (path,) = folder.glob("runs/*.jsonl")
        assert path.read_bytes().count(b"\n") >= number - 1
        done = as_users.run_here("sweep --json --resume", path)
        assert done.code == 0, done
        assert as_users.timeless_lines(path) == as_users.timeless_lines(whole)
    assert number == 5


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [6, 16])
def test_a_limit_of_the_size_of_files_is_no_traceback(blocks, tmp_path):
    """What a short limit leaves is not in the way of the next run."""
    line = f'ulimit -f {blocks}; exec "{sys.executable}" -m jax_ttt.{TRAIN}'
    done = subprocess.run(
        # The limit would cut what is written to the cache of programs, too.
        ["sh", "-c", f"{line} --run-dir new --no-compile-cache"],
        capture_output=True,
        text=True,
        env=as_users.environment(),
        cwd=tmp_path,
    )
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert done.returncode == (1 if blocks == 6 else 0)
    names = os.listdir(tmp_path / "new")
    assert not [name for name in names if name.startswith(".")]
    if done.returncode:
        assert as_users.run_here(f"{TRAIN} --run-dir", tmp_path / "new").code == 0


def test_a_read_only_disk_is_refused_before_training(tmp_path):
    mount = mounted("ro", tmp_path / "disk")
    out, err = boxed(
        f"{mount}; jax_ttt train --run-dir {tmp_path}/disk/x; echo ended with $?"
    )
    assert out == "ended with 2\n"
    assert as_users.names(err, "--run-dir")
    assert as_users.names(err, "Read-only file system")


def test_a_folder_may_have_a_name_of_any_script(tmp_path):
    path = tmp_path / "Läufe ☃ 走" / "-x"
    assert as_users.run_here(f"{TRAIN} --run-dir", path).code == 0
    assert jax_ttt.load(path).num_updates == 4
    shutil.rmtree(path)
