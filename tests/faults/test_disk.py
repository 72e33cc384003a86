"""A full disk, files that may not grow, and folders that can't be written."""

import errno
import itertools
import os
import shutil
import subprocess

import as_users
import pytest
import tiny

import jax_ttt

pytestmark = pytest.mark.fault

TRAIN = f"train {' '.join(tiny.flags())} --quiet --checkpoint-every 0.000001"
MORE = "train --quiet --checkpoint-every 0.000001 --num-updates 8 --resume"
SWEEP = "sweep --preset table --num-envs 8 --num-updates 8 --json --num-seeds"
MOUNTING = ("unshare", "-rm")
"""Starts a shell in which mounts are allowed, and gone at its end."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the folder of a run that has ended, at update 4."""
    path = tmp_path_factory.mktemp("trained") / "run"
    assert as_users.run_here(TRAIN, "--run-dir", path).code == 0
    return path


@pytest.fixture
def mount(tmp_path):
    """Return a function: shell code that mounts a disk as the folder `disk`."""

    def mount(options):
        (tmp_path / "disk").mkdir()
        code = f"mount -t tmpfs -o {options} none {tmp_path}/disk"
        if subprocess.run(
            [*MOUNTING, "sh", "-c", code], capture_output=True
        ).returncode:
            pytest.skip("mounts are not allowed here")
        return code

    return mount


@pytest.fixture
def small_disk(mount):
    """Return shell code that mounts a small disk, on which `fill N` leaves N KiB."""
    fill = (
        "fill() { head -c $((1024 * $1)) /dev/zero >room; "
        "cat /dev/zero >filler 2>/dev/null; rm room; }"
    )
    return f"{mount('size=1m')}; cd disk; {fill};"


@pytest.mark.slow
def test_a_sweep_on_a_full_disk_keeps_its_agents(
    small_disk, shell, tmp_path, monkeypatch
):
    done = shell(
        f"""{small_disk}
        fill 8
        jax_ttt {SWEEP} 20 >/dev/null
        echo "ended with $?"
        cp -r runs {tmp_path}/runs
        """,
        *MOUNTING,
    )
    assert done.out == "ended with 1\n", done
    assert "No space left on device" in done.err
    (path,) = (tmp_path / "runs").glob("*.jsonl")
    kept = path.read_bytes().count(b"}\n")
    assert 2 <= kept < 20
    monkeypatch.chdir(tmp_path)
    assert as_users.run_here("sweep --json --resume", path).code == 0
    assert path.read_bytes().count(b"}\n") == 21  # one line describes the sweep


@pytest.fixture
def full_at(monkeypatch):
    """Return a function: from the write `number` on, the disk has no space.

    It returns the list of the writes since. Delayed writes fail where they are forced.
    """

    def fill(number):
        writes = []

        def fsync(handle):
            writes.append(handle)
            if len(writes) >= number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", fsync)
        return writes

    return fill


@pytest.mark.slow
def test_no_space_at_any_write_of_a_run(full_at, trained, tmp_path):
    longer = shutil.copytree(trained, tmp_path / "longer")
    assert as_users.run_here(MORE, longer).code == 0
    for number in itertools.count(1):
        run = shutil.copytree(trained, tmp_path / f"run{number}")
        writes = full_at(number)
        done = as_users.run_here(MORE, run)
        if len(writes) < number:
            assert number > 5
            break
        assert "No space left on device" in done.err, done
        assert "Traceback" not in done.err
        assert done.code in (0, 1)
        assert jax_ttt.load(run).num_updates in ((4, 8) if done.code else (8,))
        assert not [name for name in os.listdir(run) if name.startswith(".")]
        full_at(10**9)
        assert as_users.run_here(MORE, run).code == 0
        agents = (path / "agent.safetensors" for path in (run, longer))
        assert len({agent.read_bytes() for agent in agents}) == 1


@pytest.mark.slow
def test_a_file_that_may_not_grow_is_an_error_and_the_folder_stays_free(
    shell, tmp_path
):
    # The limit would cut what is written to the cache of programs, too.
    done = shell(f"ulimit -f 6; jax_ttt {TRAIN} --run-dir new --no-compile-cache")
    assert done.code == 1
    assert "File too large" in done.err
    assert not [name for name in os.listdir(tmp_path / "new") if name.startswith(".")]
    assert as_users.run_here(f"{TRAIN} --run-dir", tmp_path / "new").code == 0


@pytest.mark.slow
def test_a_read_only_disk_is_refused_before_training(mount, shell):
    done = shell(f"{mount('ro')}; jax_ttt train --run-dir disk/x", *MOUNTING)
    as_users.assert_refused(done, "--run-dir", "Read-only file system")


def test_a_folder_may_have_a_name_of_any_script(tmp_path):
    path = tmp_path / "Läufe ☃ 走" / "-x"
    assert as_users.run_here(f"{TRAIN} --run-dir", path).code == 0
    assert jax_ttt.load(path).num_updates == 4
