"""The command: its flags, its addresses, its end. Most need a process of their own."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import commands
import pytest
import served

from jax_ttt.web import __main__ as command


def start_training(port, learner):
    """Start a training; JAX is imported for it."""
    body = json.dumps({"command": "start", "learner": learner})
    reply = served.exchange(port, served.request(port, "POST", "/api/training", body))
    assert served.status_of(reply) == 204


def wait_for_training(port, phase, update=0):
    """Wait until an agent in training is in this phase, after so many updates."""

    def is_there():
        status = served.training_status(port)
        return status["status"] == phase and status["update"] >= update

    served.wait_until(is_there, 120)


REFUSED = {
    "--port 65536": "from 0 to 65,535",
    "--port=-1": "--port: must be",
    "--port x": "--port",
    "--port 0 --host 192.0.2.1": "can't serve at --host 192.0.2.1",
    "--port 0 --host not.a_host": "can't serve at --host not.a_host",
    "--port 0 --data-dir /proc/x": "--data-dir /proc/x",
    f"--port 0 --data-dir {__file__}": "--data-dir",
    "--export /dev/null": "--export /dev/null",
    "--prot 8000": "--prot",
}
"""Flags, and a part of the reason why they are refused."""


@pytest.mark.fault
def test_wrong_flags_are_refused(capsys):
    for flags, reason in REFUSED.items():
        assert commands.run(command, flags.split(" ")) == 2, flags
        assert reason in capsys.readouterr().err


def test_jax_is_imported_neither_by_bad_flags_nor_to_serve_and_export(tmp_path):
    code = f"""
import sys
from pathlib import Path
from jax_ttt.__main__ import run_command
from jax_ttt.web.__main__ import COMMAND
assert run_command(COMMAND, ["--port", "70000"]) == 2
assert "starlette" not in sys.modules
assert run_command(COMMAND, ["--export", {str(tmp_path)!r}]) == 0
from jax_ttt.web import agent_files, app, training_thread
files = agent_files.AgentCollection(Path({str(tmp_path)!r}))
app.make_app(files, training_thread.Training(files, None), ["localhost"])
assert files.list_agents()[0]
assert not {{"jax", "flax", "pgx"}} & sys.modules.keys()
"""
    env = os.environ | {"PYTHONPATH": str(served.ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True)
    assert done.returncode == 0, done.stderr


def listeners(process):
    """Return the addresses at which a process and its threads listen."""
    inodes = set()
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found = re.match(r"socket:\[(\d+)\]", os.readlink(link))
            inodes |= {found[1]} if found else set()
    rows = []
    for name in ("tcp", "tcp6"):
        rows += Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    cells = [row.split() for row in rows]
    return {c[1].partition(":")[0] for c in cells if c[9] in inodes and c[3] == "0A"}


def ended(process, number):
    """Send a signal; return the exit code, stderr and the seconds that it took."""
    begin = time.monotonic()
    process.send_signal(number)
    code = process.wait(30)
    return code, process.communicate()[1], time.monotonic() - begin


@pytest.mark.slow
@pytest.mark.fault
def test_two_servers_have_two_ports_for_this_machine_and_end_by_a_signal(tmp_path):
    with (
        served.command("--port", "0", folder=tmp_path) as (first, port),
        served.command("--port", str(port), folder=tmp_path) as (second, other),
    ):
        assert port < other < port + 100
        page = served.exchange(other, served.request(other))
        assert served.status_of(page) == 200
        for process, number, code in (
            (second, signal.SIGINT, 130),
            (first, signal.SIGTERM, 143),
        ):
            assert listeners(process) == {"0100007F"}
            assert ended(process, number)[:2] == (code, "")


@pytest.mark.slow
@pytest.mark.fault
def test_another_host_is_warned_of(tmp_path):
    with served.command("--port", "0", "--host", "0.0.0.0", folder=tmp_path) as (
        process,
        port,
    ):
        assert listeners(process) == {"00000000"}
        for host, status in (("evil.example", 400), (socket.gethostname(), 200)):
            request = served.request(port, Host=f"{host}:{port}")
            assert served.status_of(served.exchange(port, request)) == status
        process.terminate()
        (warning, *_) = process.communicate()[1].splitlines()
        assert warning.startswith("warning: --host 0.0.0.0")


def test_the_page_is_written_as_a_file(tmp_path, capsys):
    folder = tmp_path / "page"
    assert commands.run(command, ["--export", str(folder)]) == 0
    path = folder / "index.html"
    assert 'id="data"' in path.read_text("utf-8")
    assert [*folder.iterdir()] == [path]
    assert capsys.readouterr().out == f"wrote {path}\n"


HOOK = """
import os, runpy, sys
def heard(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        to = args[0] if event == "socket.getaddrinfo" else args[1]
        os.write(2, f"dialled {to}\\n".encode())
sys.addaudithook(heard)
sys.argv[0] = "web"
runpy.run_module("jax_ttt.web", run_name="__main__")
"""


@pytest.mark.fault
@pytest.mark.slow
def test_nothing_dials_out(tmp_path):
    """Neither while it starts, nor while it plays and trains."""
    program = ("-c", HOOK)
    with served.command("--port", "0", folder=tmp_path, program=program) as (
        process,
        port,
    ):
        assert served.get_json(port, "/api/agents")["agents"]
        start_training(port, "table")
        wait_for_training(port, "running", update=1)
        process.terminate()
        heard = process.communicate()[1].splitlines()
    # Its own address, which is a number, is all that it looks up.
    dialled = {line for line in heard if line.startswith("dialled")}
    assert dialled == {"dialled 127.0.0.1"}


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "number", "code"),
    [
        ("compiling", signal.SIGINT, 130),
        ("running", signal.SIGINT, 130),
        ("running", signal.SIGTERM, 143),
        ("running", signal.SIGHUP, 129),
    ],
)
def test_a_signal_ends_it_in_5_seconds_and_keeps_the_agent_in_training(
    tmp_path, phase, number, code, monkeypatch
):
    """While it compiles or trains, with an open stream and a silent socket."""
    if phase == "compiling":  # for seconds, since this folder has no programs
        monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "programs"))
    with (
        served.command("--port", "0", folder=tmp_path) as (process, port),
        socket.create_connection(("127.0.0.1", port), 5) as stream,
        socket.create_connection(("127.0.0.1", port), 5) as silent,
    ):
        start_training(port, "table")
        stream.sendall(served.request(port, path="/api/training/events"))
        assert b"200 OK" in stream.recv(1000)
        silent.sendall(b"GET / HTTP/1.1\r\n")
        wait_for_training(port, phase, update=1 if phase == "running" else 0)
        found, err, seconds = ended(process, number)
        # A program that compiles for long is ended by the signal itself.
        assert found in ((code, -number) if phase == "compiling" else (code,))
        assert seconds < 5
        assert "Traceback" not in err
        assert ("error" in err) == (found == -number)
    with served.command("--port", "0", folder=tmp_path) as (process, port):
        listed = served.get_json(port, "/api/agents")
        kept = [agent for agent in listed["agents"] if agent["source"] == "kept"]
        assert listed["refused"] == []
        assert len(kept) == (1 if phase == "running" else 0)
        for agent in kept:
            assert agent["id"] == f"kept/table-1-{agent['updates']}"
            assert agent["updates"] > 0


@pytest.mark.fault
@pytest.mark.slow
def test_a_second_ctrl_c_also_keeps_the_agent(tmp_path):
    with (
        served.command("--port", "0", folder=tmp_path) as (process, port),
        socket.create_connection(("127.0.0.1", port), 5) as stream,
    ):
        stream.sendall(served.request(port, path="/api/training/events"))
        start_training(port, "table")
        wait_for_training(port, "running", update=1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        code, err, _ = ended(process, signal.SIGINT)
        assert code == 130
        assert "Traceback" not in err
    assert len([*(tmp_path / "data" / "agents").iterdir()]) == 1


@pytest.mark.fault
@pytest.mark.slow
def test_the_page_is_there_while_an_agents_program_is_compiled(tmp_path):
    with served.command("--port", "0", folder=tmp_path) as (_, port):
        start_training(port, "network")
        sent = 0
        while served.training_status(port)["status"] == "compiling":
            reply = served.exchange(port, served.request(port))
            sent += served.status_of(reply) == 200
            time.sleep(0.05)
        assert sent > 5
