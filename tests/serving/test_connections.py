"""Connections that are slow, many, or end too early; a small application."""

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import served
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from jax_ttt.serving import connections

SOON = 0.2
"""Seconds until the deadline of a request in tests of deadlines."""


async def answer(request):
    return PlainTextResponse("answered")


async def echo(request):
    return PlainTextResponse(str(len(await request.body())))


async def large(request):
    return Response(b"x" * 2**23)


async def slow(request):
    await asyncio.sleep(3 * SOON)
    return PlainTextResponse("late")


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
        Route("/echo", echo, methods=["POST"]),
        Route("/large", large),
        Route("/slow", slow),
        Route("/held", HELD.answer),
        Route("/files", echo, methods=["POST"]),
    ]
)


@pytest.fixture
def port():
    with served.serving(APP, large=("/files",)) as found:
        yield found


@pytest.fixture
def soon(monkeypatch):
    """Let the deadlines come soon."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", SOON)
    monkeypatch.setattr(connections, "LINGER_SECONDS", 0.1)


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
    begin = time.monotonic()
    reply = served.exchange(port, served.request(port))
    return served.body_of(reply) == b"answered" and time.monotonic() - begin < 4


@pytest.mark.fault
def test_half_a_request_is_refused_in_time(port, soon):
    def exchange(sent):
        begin = time.monotonic()
        reply = rest_of(opened(port, sent))
        return reply, time.monotonic() - begin

    halves = b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"
    with ThreadPoolExecutor(len(halves)) as pool:
        for reply, seconds in pool.map(exchange, halves):
            assert 0.8 * SOON < seconds < 8
            assert served.status_of(reply) == 408
            assert "content-security-policy" in served.headers_of(reply)


@pytest.mark.fault
def test_a_byte_now_and_then_does_not_move_the_deadline(port, soon):
    client = opened(port, served.request(port, "POST", "/echo", "x" * 100)[:-90])
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 9:
            client.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        pass
    assert 0.8 * SOON < time.monotonic() - begin < 8
    client.close()


@pytest.mark.slow
def test_an_answer_may_take_longer_than_a_request(port, soon):
    reply = served.exchange(port, served.request(port, path="/slow"))
    assert served.body_of(reply) == b"late"


@pytest.mark.slow
@pytest.mark.fault
def test_a_client_that_does_not_read_is_left(port, soon):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(5)
    client.connect(("127.0.0.1", port))
    client.sendall(served.request(port, path="/large"))
    time.sleep(3 * SOON)
    assert len(rest_of(client)) < 2**23


def test_a_client_that_reads_gets_everything(port):
    reply = served.exchange(port, served.request(port, path="/large"))
    assert len(served.body_of(reply)) == 2**23


@pytest.mark.fault
def test_waiting_connections_make_room_for_a_new_one(port):
    held = [opened(port, b"GET") for _ in range(connections.MOST_CONNECTIONS + 5)]
    begin = time.monotonic()
    assert is_answered(port)
    replies = [rest_of(client) for client in held[:5]]
    assert {served.status_of(reply) for reply in replies} == {408}
    assert time.monotonic() - begin < 8, "not only at their deadline"
    for client in held[5:]:
        client.close()


@pytest.mark.fault
def test_more_requests_than_places_are_refused_and_the_others_answered(port):
    request = served.request(port, path="/held")
    most = connections.MOST_CONNECTIONS
    held = [opened(port, request) for _ in range(most)]
    served.wait_until(lambda: HELD.num == most)
    begin = time.monotonic()
    assert served.status_of(served.exchange(port, request)) == 503
    assert time.monotonic() - begin < 4
    HELD.let_go.set()
    assert {served.status_of(rest_of(client)) for client in held} == {200}
    assert is_answered(port)


def test_few_large_bodies_at_once(port):
    begun = served.request(port, "POST", "/files", "x" * 2**20)[:-10]
    held = [opened(port, begun) for _ in range(connections.MOST_LARGE)]
    time.sleep(0.3)
    assert served.status_of(served.exchange(port, begun)) == 503
    assert (
        served.body_of(
            served.exchange(port, served.request(port, "POST", "/echo", "abc"))
        )
        == b"3"
    )
    for client in held:
        client.sendall(b"x" * 10)
        assert served.body_of(rest_of(client)) == b"%d" % 2**20


def num_descriptors():
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.fault
@pytest.mark.slow
def test_500_slow_clients_do_not_keep_anybody_out(port, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 4)
    assert is_answered(port)
    before, threads = num_descriptors(), threading.active_count()
    ended, lock = [], threading.Lock()
    body = served.request(port, "POST", "/echo", "x" * 60_000)

    def attack(n):
        begin = time.monotonic()
        try:
            client = opened(
                port, [b"", b"GET / HTTP/1.1\r\nX: ", body[:-50_000]][n % 3]
            )
            if n % 4 == 3:  # reset in the middle
                client.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
                )
                client.close()
            else:
                client.settimeout(1)
                while time.monotonic() - begin < 30:
                    try:
                        client.sendall(b"x")
                        if not client.recv(1000):
                            break
                    except TimeoutError:
                        continue
                client.close()
        except OSError:
            pass
        with lock:
            ended.append(time.monotonic() - begin)

    attackers = [threading.Thread(target=attack, args=(n,)) for n in range(500)]
    for one in attackers:
        one.start()
    answers = []
    while any(one.is_alive() for one in attackers):
        answers.append(is_answered(port))
        time.sleep(0.1)
    assert all(answers), answers
    assert len(answers) > 20
    assert max(ended) < 14, "each was closed within 4 s, and what it takes to see that"
    served.wait_until(lambda: num_descriptors() <= before)
    assert threading.active_count() <= threads
