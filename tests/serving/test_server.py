"""The socket of the server, and its end."""

import signal
import socket
import threading
from pathlib import Path

import pytest
import served
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from jax_ttt.serving import server as servers


async def answer(request):
    return PlainTextResponse("answered")


APP = Starlette(routes=[Route("/", answer)])


def listeners(port):
    """Return the local addresses at which a port is listened to."""
    found = []
    for name in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            local, state = row.split()[1], row.split()[3]
            address, _, number = local.partition(":")
            if state == "0A" and int(number, 16) == port:
                found.append(address)
    return found


@pytest.mark.fault
def test_the_default_host_is_reached_from_this_machine_only():
    with servers.listening("127.0.0.1", 0) as bound:
        assert listeners(bound.getsockname()[1]) == ["0100007F"]


def test_every_address_if_asked_for():
    with servers.listening("0.0.0.0", 0) as bound:
        assert listeners(bound.getsockname()[1]) == ["00000000"]


@pytest.mark.fault
def test_the_next_port_if_one_is_taken():
    with servers.listening("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with servers.listening("127.0.0.1", port) as second:
            assert port < second.getsockname()[1] < port + servers.MOST_PORTS


@pytest.mark.fault
def test_a_port_that_is_the_last_and_taken(monkeypatch):
    monkeypatch.setattr(servers, "MOST_PORTS", 1)
    with (
        servers.listening("127.0.0.1", 0) as first,
        pytest.raises(OSError, match=r"(?i)address (already )?in use"),
    ):
        servers.listening("127.0.0.1", first.getsockname()[1])


def test_a_host_of_another_machine():
    with pytest.raises(OSError):  # noqa: PT011  its words are the system's
        servers.listening("192.0.2.1", 0)


@pytest.mark.fault
def test_a_signal_ends_the_server_and_the_handlers_come_back():
    before = signal.getsignal(signal.SIGTERM)
    ended = []
    server = servers.Server(APP, lambda: ended.append(True))
    with servers.listening("127.0.0.1", 0) as bound:
        threading.Timer(0.3, signal.raise_signal, [signal.SIGTERM]).start()
        assert servers.serve(server, bound) == signal.SIGTERM
    assert ended == [True]
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.fault
def test_connections_do_not_delay_the_end():
    with served.serving(APP) as port:
        held = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(5)]
        held[0].sendall(b"GET / HTTP/1.1\r\n")
        assert served.status_of(served.exchange(port, served.request(port))) == 200
    for client in held:
        client.close()
