"""A full disk, files that may not grow, and folders that can't be written."""

import shutil
import subprocess

import commands
import pytest
import tiny

from jax_ttt.players import agents

train = commands.module_of("train")

TRAIN = f"train {' '.join(tiny.flags())} --quiet"
SPACE = "error: cannot write "
BOX = "unshare -rm sh -c "
"""Runs a shell in which mounts are allowed, and gone at its end."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the folder of a run that has ended."""
    path = tmp_path_factory.mktemp("trained") / "run"
    assert commands.run(train, [*tiny.flags(), "--quiet", "--run-dir", str(path)]) == 0
    return path


@pytest.fixture
def small_disk(tmp_path):
    """Return shell code that mounts a small disk, on which `fill N` leaves N KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=1m none {disk}"
    allowed = subprocess.run([*BOX.split(), mount], capture_output=True)
    if allowed.returncode:
        pytest.skip("mounts are not allowed here")
    fill = (
        "fill() { head -c $((1024 * $1)) /dev/zero >room; "
        "cat /dev/zero >filler 2>/dev/null; rm room; }"
    )
    return f"{mount}; cd {disk}; {fill};"


def boxed(code, python):
    """Run shell code in which `jax_ttt COMMAND` is one of our commands."""
    command = f'jax_ttt() {{ "{python[0]}" -m "jax_ttt.$@"; }}; {code}'
    done = subprocess.run(
        [*BOX.split(), command], capture_output=True, text=True, env=python[1]
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(("kib", "ended"), [(12, 1), (40, 0)])
def test_a_full_disk_harms_no_earlier_file(kib, ended, small_disk, trained, python):
    """The run goes on once there is room again; a checkpoint may be left out."""
    more = "jax_ttt train --resume run --num-updates 8 --quiet"
    code = f"""{small_disk}
        cp -r {trained} run
        fill {kib}
        {more}
        echo "ended with $?"
        ls -A run
        jax_ttt evaluate run --json >/dev/null || echo "the agent is lost"
        rm filler
        {more} || echo "the run is lost"
        jax_ttt evaluate run --json | grep -o '"num_updates": 8'
    """
    code, out, err = boxed(code, python)
    assert f"ended with {ended}\n" in out, out + err
    assert "lost" not in out, out + err
    assert "Traceback" not in err
    assert "No space left on device" in err
    listed = out.partition(f"ended with {ended}\n")[2].split()
    assert not [name for name in listed if name.startswith(".")], "temporary files"


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(("blocks", "ended"), [(6, 1), (16, 0)])
def test_a_limit_of_the_size_of_files_costs_a_line_of_text(
    blocks, ended, tmp_path, run
):
    code, _, err = run(f"{TRAIN} --run-dir new", f"ulimit -f {blocks};")
    assert "Traceback" not in err
    assert code == ended
    *warnings, last = err.splitlines()
    assert last.startswith(SPACE if ended else "warning: no checkpoint was saved: ")
    assert last.endswith(": File too large")
    assert all(line.startswith("warning: ") for line in warnings)
    left = {path.name for path in (tmp_path / "new").iterdir()}
    assert not {name for name in left if name.startswith(".")}
    if ended:  # what is left is not in the way of the next run
        assert run(f"{TRAIN} --run-dir new")[0] == 0


@pytest.mark.fault
def test_a_read_only_disk_is_refused_before_training(tmp_path, python):
    (tmp_path / "disk").mkdir()
    mount = f"mount -t tmpfs -o ro none {tmp_path}/disk"
    if subprocess.run([*BOX.split(), mount], capture_output=True).returncode:
        pytest.skip("mounts are not allowed here")
    code, out, err = boxed(
        f"{mount}; jax_ttt train --run-dir {tmp_path}/disk/x", python
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: --run-dir must be a folder that can be made")
    assert err.endswith("Read-only file system\n")


NAMES = {
    "file": "File exists",
    "file/below": "Not a directory",
    "x" * 300: "File name too long",
    "/proc/x": "",
    "/dev/null/x": "Not a directory",
    "/dev/full": "File exists",
    "a\nb": "it has a control character",
    "a\0b": "it has a control character",
    "caf\udce9": "it has a control character",
}


@pytest.mark.fault
@pytest.mark.parametrize("name", NAMES, ids=[ascii(name)[:20] for name in NAMES])
def test_a_folder_that_cannot_be_made_is_refused(
    name, tmp_path, monkeypatch, capsys, contents
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train.cli, "set_up", lambda *_: pytest.fail("JAX is set up"))
    (tmp_path / "file").write_text("precious")
    before = contents(tmp_path)
    assert commands.run(train, ["--run-dir", name]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.endswith(f"{NAMES[name]}\n")
    assert contents(tmp_path) == before


@pytest.mark.fault
def test_a_folder_may_have_a_name_of_any_script(tmp_path):
    path = tmp_path / "Läufe ☃ 走" / "-x"
    assert commands.run(train, [*tiny.flags(), "--quiet", "--run-dir", str(path)]) == 0
    assert agents.load_agent(path).num_updates == 4
    shutil.rmtree(path)
