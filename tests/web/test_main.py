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


def wait_for_services(port):
    """Wait until the server has loaded everything."""
    reply = served.exchange(port, served.request(port, path="/api/agents"), 120)
    assert served.status_of(reply) == 200
    return json.loads(served.body_of(reply))


def wait_for_training(port, phase):
    """Wait until an agent in training is in this phase."""
    status = served.request(port, path="/api/training")
    wanted = b'"status":"%s"' % phase.encode()
    served.wait_until(lambda: wanted in served.exchange(port, status), 120)


@pytest.mark.fault
@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--port", "65536"], "from 0 to 65,535"),
        (["--port=-1"], "--port must be"),
        (["--port", "x"], "--port"),
        (["--host", "192.0.2.1"], "can't serve at --host 192.0.2.1"),
        (["--host", "not a host"], "can't serve at --host not a host"),
        (["--data-dir", "/proc/x"], "--data-dir /proc/x"),
        (["--data-dir", __file__], "--data-dir"),
        (["--prot", "8000"], "--prot"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_flags_that_are_refused(flags, reason, capsys):
    usual = [] if flags[0].startswith("--port") else ["--port", "0"]
    assert commands.run(command, [*usual, *flags]) == 2
    assert reason in capsys.readouterr().err


def test_flags_are_refused_before_jax_is_imported(tmp_path):
    code = (
        "import sys\n"
        "from jax_ttt.__main__ import run_command\n"
        "from jax_ttt.web.__main__ import COMMAND\n"
        "assert run_command(COMMAND, ['--port', '70000']) == 2\n"
        "assert 'jax' not in sys.modules\n"
        "assert 'starlette' not in sys.modules"
    )
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
    """Send a signal while JAX is loaded; return the exit code and stderr."""
    process.send_signal(number)
    code = process.wait(30)
    return code, process.communicate()[1]


@pytest.mark.slow
@pytest.mark.fault
def test_two_servers_have_two_ports_for_this_machine_and_end_by_a_signal(tmp_path):
    with (
        served.command("--port", "0", folder=tmp_path) as (first, port),
        served.command("--port", str(port), folder=tmp_path) as (second, other),
    ):
        assert port < other < port + 100
        page = served.exchange(other, served.request(other))
        assert served.status_of(page) == 200, "the page is there before JAX"
        for process, number, code in (
            (second, signal.SIGINT, 130),
            (first, signal.SIGTERM, 143),
        ):
            assert listeners(process) == {"0100007F"}
            found, err = ended(process, number)
            assert found == code
            assert "Traceback" not in err
            assert "warning" not in err


@pytest.mark.slow
@pytest.mark.fault
def test_a_second_signal_ends_it_while_jax_is_loaded(tmp_path):
    with served.command("--port", "0", folder=tmp_path) as (process, port):
        served.exchange(port, served.request(port))  # it handles signals by now
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        code, err = ended(process, signal.SIGINT)
        assert code == 130
        assert set(err.splitlines()) == {"error: interrupted"}


@pytest.mark.slow
@pytest.mark.fault
def test_another_host_is_warned_of(tmp_path):
    with served.command("--port", "0", "--host", "0.0.0.0", folder=tmp_path) as (
        process,
        port,
    ):
        assert listeners(process) == {"00000000"}
        evil = served.request(port, Host=f"evil.example:{port}")
        assert served.status_of(served.exchange(port, evil)) == 403
        process.terminate()
        (warning, *_) = process.communicate()[1].splitlines()
        assert warning.startswith("warning: --host 0.0.0.0")


@pytest.mark.slow
def test_the_pages_are_written_as_files(tmp_path, capsys):
    folder = tmp_path / "page"
    assert commands.run(command, ["--export", str(folder)]) == 0
    page = (folder / "index.html").read_text("utf-8")
    assert 'id="data"' in page
    written = [folder / "index.html", folder / "connect_four.html"]
    assert sorted(folder.iterdir()) == sorted(written)
    assert capsys.readouterr().out == "".join(f"wrote {path}\n" for path in written)


def test_an_export_to_a_file_is_refused(tmp_path, capsys):
    path = tmp_path / "file"
    path.touch()
    assert commands.run(command, ["--export", str(path)]) == 2
    assert f"--export {path}" in capsys.readouterr().err
    assert not path.read_bytes()


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("0.0.0.0", "http://127.0.0.1:80/"),
        ("::1", "http://[::1]:80/"),
        ("::", "http://[::1]:80/"),
        ("box", "http://box:80/"),
    ],
)
def test_the_address_that_is_printed(host, address):
    assert command._address(host, 80) == address


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
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", HOOK, "--port", "0"),
            *("--data-dir", str(tmp_path), "--runs", str(tmp_path / "runs")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(served.ROOT)},
    )
    assert process.stdout is not None
    port = int(process.stdout.readline().rpartition(":")[2].partition("/")[0])
    wait_for_services(port)
    body = '{"opponent": {"level": "medium"}, "side": "o"}'
    served.exchange(port, served.request(port, "POST", "/api/games", body))
    start = served.request(port, "POST", "/api/training", '{"command": "start"}')
    served.exchange(port, start)
    wait_for_training(port, "running")
    time.sleep(0.5)
    process.terminate()
    heard = process.communicate()[1].splitlines()
    # Its own address, which is a number, is all that it looks up.
    dialled = {line for line in heard if line.startswith("dialled")}
    assert dialled == {"dialled 127.0.0.1"}


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "number", "code"),
    [("compiling", signal.SIGINT, 130), ("running", signal.SIGTERM, 143)],
)
def test_a_signal_ends_it_while_an_agent_is_in_training(
    tmp_path, phase, number, code, monkeypatch
):
    """While it compiles and while it trains, with an open game, stream and socket."""
    if phase == "compiling":  # for seconds, since this folder has no programs
        monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "programs"))
    with served.command("--port", "0", folder=tmp_path) as (process, port):
        wait_for_services(port)
        finish_game(port)
        start = served.request(port, "POST", "/api/training", '{"command": "start"}')
        assert served.status_of(served.exchange(port, start)) == 200
        stream = socket.create_connection(("127.0.0.1", port), 5)
        stream.sendall(served.request(port, path="/api/training/events"))
        heard = b""
        while b"event: training" not in heard:
            part = stream.recv(100_000)
            assert part, heard
            heard += part
        silent = socket.create_connection(("127.0.0.1", port), 5)
        wait_for_training(port, phase)
        process.send_signal(number)
        assert process.wait(30) == code
        assert "Traceback" not in process.communicate()[1]
        stream.close()
        silent.close()
    with served.command("--port", "0", folder=tmp_path) as (process, port):
        found = wait_for_services(port)
        request = served.request(port, path="/api/statistics")
        counts = json.loads(served.body_of(served.exchange(port, request)))
        assert counts["games"] == 1, "nothing is lost"
        kept = [one for one in found["agents"] if one["source"] == "imported"]
        assert bool(kept) == (phase == "running"), "the agent in training is kept"


def finish_game(port):
    """Play the first free squares until a game is over."""
    body = '{"opponent": {"level": "expert"}, "side": "x"}'

    def post(path, body):
        reply = served.exchange(port, served.request(port, "POST", path, body))
        return json.loads(served.body_of(reply))

    game = post("/api/games", body)
    while game["result"] is None:
        board = served.check_game(game)
        move = json.dumps({"ply": len(game["moves"]), "square": board.index("-")})
        game = post(f"/api/games/{game['id']}/moves", move)
