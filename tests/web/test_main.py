"""The command: its flags, its addresses, its end. Most need a process of their own."""

import errno
import os
import signal
import socket
import time

import commands
import pytest
import served

from jax_ttt.web import __main__ as command


def is_open(host, port):
    """Return whether somebody listens at an address of this machine."""
    with socket.socket() as client:
        return client.connect_ex((host, port)) == 0


def ended(process, *numbers):
    """Send signals; return the exit code and stderr."""
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.3)  # two signals, not one
    return process.wait(60), process.communicate()[1]


def test_a_port_that_is_taken_is_named_with_the_one_that_is_used_instead(capsys):
    with command.open_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        assert capsys.readouterr().err == ""
        with command.open_socket("127.0.0.1", port) as second:
            other = second.getsockname()[1]
    reason = os.strerror(errno.EADDRINUSE)
    line = f"note: --port {port}: {reason}; {other} is used instead\n"
    assert capsys.readouterr().err == line


@pytest.mark.slow
@pytest.mark.fault
def test_two_servers_have_two_ports_for_this_machine_and_end_by_a_signal(tmp_path):
    with (
        served.command("--port", "0", folder=tmp_path) as (first, port),
        served.command("--port", str(port), folder=tmp_path) as (second, other),
    ):
        assert port < other < port + 100
        assert served.get(other)[0] == 200
        reason = os.strerror(errno.EADDRINUSE)
        note = f"note: --port {port}: {reason}; {other} is used instead\n"
        for number in (port, other):
            assert is_open("127.0.0.1", number)
            assert not is_open("127.0.0.2", number)
        assert ended(second, signal.SIGINT) == (130, note)
        assert ended(first, signal.SIGTERM) == (143, "")


@pytest.mark.slow
@pytest.mark.fault
def test_another_host_is_warned_of(tmp_path):
    with served.command("--port", "0", "--host", "0.0.0.0", folder=tmp_path) as (
        process,
        port,
    ):
        assert is_open("127.0.0.2", port)
        for host, status in (("evil.example", 400), (socket.gethostname(), 200)):
            assert served.get(port, host=f"{host}:{port}")[0] == status
        process.terminate()
        (warning, *_) = process.communicate()[1].splitlines()
        assert warning.startswith("warning: --host 0.0.0.0")


def test_the_page_is_written_for_a_static_host_and_as_one_file(tmp_path):
    folder = tmp_path / "page"
    printed = commands.run(command, "--export", str(folder))
    for name in ("index.html", "offline.html"):
        assert 'id="data"' in (folder / name).read_text("utf-8")
    assert printed.out == f"wrote {folder / 'index.html'}\n"


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
@pytest.mark.parametrize("numbers", [[signal.SIGINT], [signal.SIGINT, signal.SIGINT]])
def test_a_signal_ends_it_with_an_open_stream_and_a_silent_socket(tmp_path, numbers):
    """It connects to nothing meanwhile."""
    with (
        served.command("--port", "0", folder=tmp_path, program=("-c", HOOK)) as (
            process,
            port,
        ),
        served.opened_stream(port, "a") as message,
        socket.create_connection(("127.0.0.1", port), 60) as silent,
    ):
        assert message()["state"] == "gone"
        silent.sendall(b"GET / HTTP/1.1\r\n")
        begin = time.monotonic()
        code, err = ended(process, *numbers)
        assert time.monotonic() - begin < 5
    assert code == 130
    # Its own address, which is a number, is all that it looks up.
    assert err == "dialled 127.0.0.1\n"
