"""The socket of the server, and its end."""

import signal
import socket
import threading

import pytest
import served
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from jax_ttt.serving import server as servers


async def answer(request):
    return PlainTextResponse("answered")


APP = Starlette(routes=[Route("/", answer)])


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
