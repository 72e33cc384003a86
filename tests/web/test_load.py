"""Many clients at once, over real sockets, against a server in its own process."""

import json
import random
import threading
import time
from pathlib import Path

import pytest
import rules
import served

CLIENTS, GAMES = 64, 20


def asked(port, method, path, body=None):
    """Return the status and the JSON of a reply, and how long it took."""
    begin = time.monotonic()
    text = None if body is None else json.dumps(body)
    reply = served.exchange(port, served.request(port, method, path, text), 30)
    took = time.monotonic() - begin
    return served.status_of(reply), json.loads(served.body_of(reply)), took


def memory(process):
    """Return the resident memory of a process in MB."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


class Person(threading.Thread):
    """Plays whole games against the three levels, at random, and checks each reply."""

    def __init__(self, port, number):
        super().__init__()
        self.port, self.rng = port, random.Random(number)
        self.times, self.ends, self.error = [], [], None

    def run(self):
        try:
            for n in range(GAMES):
                self.play(("expert", "medium", "beginner")[n % 3])
        except BaseException as error:
            self.error = error

    def ask(self, *request, expected=200):
        status, game, took = asked(self.port, *request)
        self.times.append(took)
        assert status == expected, game
        return game

    def play(self, level):
        side = self.rng.choice("xo")
        body = {"opponent": {"level": level}, "side": side}
        game = self.ask("POST", "/api/games", body, expected=201)
        path = f"/api/games/{game['id']}"
        while game["result"] is None:
            time.sleep(self.rng.random() * 0.02)
            square = self.rng.choice(rules.moves(served.check_game(game)))
            move = {"ply": len(game["moves"]), "square": square}
            before = game["moves"]
            game = self.ask("POST", f"{path}/moves", move)
            assert game["moves"][: len(before) + 1] == [*before, square]
            if self.rng.random() < 0.2:  # a second tab is behind
                self.ask("POST", f"{path}/moves", move, expected=409)
        served.check_game(game)
        self.ends.append((level, game["result"]))


@pytest.mark.fault
@pytest.mark.slow
def test_64_people_play_20_games_each_at_once(tmp_path):
    with served.command("--port", "0", folder=tmp_path) as (process, port):
        for level in ("beginner", "medium", "expert"):  # warm
            body = {"opponent": {"level": level}, "side": "o"}
            assert asked(port, "POST", "/api/games", body)[0] == 201
        assert asked(port, "GET", "/api/agents")[0] == 200
        before = memory(process)
        people = [Person(port, number) for number in range(CLIENTS)]
        begin = time.monotonic()
        for person in people:
            person.start()
        for person in people:
            person.join()
        took = time.monotonic() - begin
        growth = memory(process) - before
        assert [p.error for p in people if p.error] == []
        times = sorted(t for person in people for t in person.times)
        p99 = times[len(times) * 99 // 100]
        ends = [end for person in people for end in person.ends]
        print(
            f"{len(ends)} games, {len(times)} requests in {took:.1f} s; "
            f"median {1e3 * times[len(times) // 2]:.0f} ms, p99 {1e3 * p99:.0f} ms, "
            f"longest {1e3 * times[-1]:.0f} ms; memory +{growth:.1f} MB"
        )
        assert len(ends) == CLIENTS * GAMES
        assert ("expert", "won") not in ends
        assert ("medium", "won") not in ends, "the shipped agent is unbeatable"
        assert ("beginner", "won") in ends
        assert p99 < 1
        assert growth < 50
        counts = asked(port, "GET", "/api/statistics")[1]
        assert counts["games"] == CLIENTS * GAMES
