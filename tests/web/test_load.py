"""Many clients at once, over real sockets, against a server in its own process."""

import json
import random
import threading
import time

import pytest
import rules
import served

CLIENTS, GAMES = 8, 3


def asked(port, method, path, body=None):
    """Return the status and the JSON of a reply."""
    text = None if body is None else json.dumps(body)
    reply = served.exchange(port, served.request(port, method, path, text), 30)
    return served.status_of(reply), json.loads(served.body_of(reply))


class Person(threading.Thread):
    """Plays whole games against the three levels, at random, and checks each reply."""

    def __init__(self, port, number):
        super().__init__()
        self.port, self.rng = port, random.Random(number)
        self.ends, self.error = [], None

    def run(self):
        try:
            for n in range(GAMES):
                self.play(("expert", "medium", "beginner")[n % 3])
        except BaseException as error:
            self.error = error

    def ask(self, *request, expected=200):
        status, game = asked(self.port, *request)
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
def test_many_people_play_at_once(tmp_path):
    with served.command("--port", "0", folder=tmp_path) as (_, port):
        people = [Person(port, number) for number in range(CLIENTS)]
        for person in people:
            person.start()
        for person in people:
            person.join()
        assert [p.error for p in people if p.error] == []
        ends = [end for person in people for end in person.ends]
        assert len(ends) == CLIENTS * GAMES
        assert ("expert", "won") not in ends
        assert ("medium", "won") not in ends, "the shipped agent is unbeatable"
        counts = asked(port, "GET", "/api/statistics")[1]
        assert counts["games"] == CLIENTS * GAMES
