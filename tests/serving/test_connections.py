"""Connections that are slow, many, or end too early; a small application."""

import asyncio
import socket
import threading
import time

import pytest
import served
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from jax_ttt.serving import connections


async def answer(request):
    return PlainTextResponse("answered")


async def echo(request):
    return PlainTextResponse(str(len(await request.body())))


class Held:
    """Requests that are answered only when a test says so."""

    def __init__(self):
        self.num, self.let_go = 0, threading.Event()

    async def answer(self, request):
        self.num += 1
        while not self.let_go.is_set():
            await asyncio.sleep(0.01)
        return PlainTextResponse("let go")


HELD = Held()
APP = Starlette(
    routes=[
        Route("/", answer),
        Route("/held", HELD.answer),
        Route("/files", echo, methods=["POST"]),
    ]
)


@pytest.fixture
def port():
    with served.serving(APP, large=("/files",)) as found:
        yield found


def opened(port, data=b""):
    client = socket.create_connection(("127.0.0.1", port), 5)
    client.sendall(data)
    return client


def rest_of(client):
    """Return what still comes until the end."""
    client.settimeout(15)
    found = b""
    try:
        while part := client.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    client.close()
    return found


def is_answered(port):
    reply = served.exchange(port, served.request(port))
    return served.body_of(reply) == b"answered"


@pytest.mark.slow
@pytest.mark.fault
def test_half_a_request_is_refused(port, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(connections, "LINGER_SECONDS", 0.1)
    for sent in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"):
        assert served.status_of(rest_of(opened(port, sent))) == 408


@pytest.mark.fault
def test_waiting_connections_make_room_for_a_new_one(port):
    held = [opened(port, b"GET") for _ in range(connections.MOST_CONNECTIONS + 5)]
    assert is_answered(port)
    replies = [rest_of(client) for client in held[:5]]
    assert {served.status_of(reply) for reply in replies} == {408}
    for client in held[5:]:
        client.close()


@pytest.mark.fault
def test_more_requests_than_places_are_refused_and_the_others_answered(port):
    request = served.request(port, path="/held")
    most = connections.MOST_CONNECTIONS
    held = [opened(port, request) for _ in range(most)]
    served.wait_until(lambda: HELD.num == most)
    assert served.status_of(served.exchange(port, request)) == 503
    HELD.let_go.set()
    assert {served.status_of(rest_of(client)) for client in held} == {200}
    assert is_answered(port)


@pytest.mark.slow
def test_few_large_bodies_at_once(port):
    begun = served.request(port, "POST", "/files", "x" * 2**20)[:-10]
    held = [opened(port, begun) for _ in range(connections.MOST_LARGE)]
    time.sleep(0.3)  # the server has read them
    assert served.status_of(served.exchange(port, begun)) == 503
    for client in held:
        client.sendall(b"x" * 10)
        assert served.body_of(rest_of(client)) == b"%d" % 2**20
