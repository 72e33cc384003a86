"""The addresses of live training."""

import json
import socket

import pytest
import served

from jax_ttt.config.errors import SettingError, UsageError
from jax_ttt.web import training_routes


def test_status_commands_and_sliders_reach_the_training(client, training):
    training.shown = {"status": "idle", "run": 0}
    assert client.get("/api/training").json() == training.shown
    body = {"command": "start", "learner": "table"}
    assert client.post("/api/training", json=body).json() == training.shown
    client.post("/api/training", json={"command": "pause"})
    assert training.commands == [("start", "table"), ("pause", None)]
    sliders = {"gamma": 0.9, "learn_from_people": True}
    assert client.patch("/api/training/settings", json=sliders).status_code == 200
    assert training.settings == [sliders]


@pytest.mark.parametrize(
    "body",
    [[], {"command": 1}, {"command": "start", "x": 1}],
    ids=json.dumps,
)
def test_commands_that_are_refused(client, training, body):
    assert client.post("/api/training", json=body).status_code == 400
    assert not training.commands


@pytest.mark.parametrize(
    "body",
    [{}, 3, {"gamma": "0.9"}],
    ids=json.dumps,
)
def test_sliders_that_are_refused(client, training, body):
    reply = client.patch("/api/training/settings", json=body)
    assert reply.status_code == 400
    assert not training.settings


def test_reasons_of_the_training_reach_the_page(client, training, monkeypatch):
    def command(name, learner=None):
        raise UsageError("start: an agent is in training already")

    def change(settings):
        raise SettingError("gamma", "0 to 1", 2)

    monkeypatch.setattr(training, "command", command)
    monkeypatch.setattr(training, "change", change)
    reply = client.post("/api/training", json={"command": "start"})
    assert (reply.status_code, reply.json()["error"]) == (
        409,
        "start: an agent is in training already",
    )
    reply = client.patch("/api/training/settings", json={"gamma": 2})
    assert (reply.status_code, reply.json()["error"]) == (
        400,
        "gamma must be 0 to 1, got 2",
    )


class Stream:
    """An open event stream."""

    def __init__(self, port):
        self.client = socket.create_connection(("127.0.0.1", port), 5)
        self.client.sendall(served.request(port, path="/api/training/events"))
        self.heard = b""

    def next(self):
        """Return the next event's data."""
        while self.heard.count(b"\n\n") < 1 or b"data: " not in self.heard:
            part = self.client.recv(65536)
            if not part:
                return None
            self.heard += part
        _, _, rest = self.heard.partition(b"data: ")
        data, _, self.heard = rest.partition(b"\n\n")
        return json.loads(data.partition(b"\r\n")[0])

    def close(self):
        self.client.close()


def test_events_begin_with_everything_and_go_on_with_what_changes(port, training):
    training.shown = {"run": 1, "update": 0, "history": [{"update": 0}]}
    stream = Stream(port)
    assert stream.next() == {"run": 1, "update": 0, "rows": [{"update": 0}]}
    (box,) = training.boxes
    box.put({"run": 1, "update": 5, "rows": [{"update": 5}]})
    assert stream.next() == {"run": 1, "update": 5, "rows": [{"update": 5}]}
    stream.close()
    served.wait_until(lambda: not training.boxes)


def test_a_comment_keeps_a_quiet_stream_open(port, training, monkeypatch):
    monkeypatch.setattr(training_routes, "COMMENT_SECONDS", 0.1)
    stream = Stream(port)
    stream.next()
    while b": still here" not in stream.heard:
        part = stream.client.recv(1000)
        assert part
        stream.heard += part
    stream.close()


def test_streams_leave_places_for_other_requests(port, training, monkeypatch):
    monkeypatch.setattr(training_routes, "MOST_STREAMS", 3)
    streams = [Stream(port) for _ in range(3)]
    assert all(stream.next() for stream in streams)
    again = served.request(port, path="/api/training/events")
    assert served.status_of(served.exchange(port, again)) == 503
    assert served.status_of(served.exchange(port, served.request(port))) == 200
    for stream in streams:
        stream.close()
    served.wait_until(lambda: not training.boxes)
    stream = Stream(port)
    assert stream.next()
    stream.close()


def test_the_end_of_the_server_ends_the_streams(page_app, loaded, training):
    with served.serving(page_app, loaded.end) as port:
        stream = Stream(port)
        stream.next()
    assert stream.next() is None
    assert not training.boxes
    stream.close()
