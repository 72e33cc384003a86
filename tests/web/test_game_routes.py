"""Games, statistics and backups by HTTP, compared with the rules written once more."""

import base64
import json
import random

import pytest
import rules
import served

from jax_ttt.players.shipped import SHIPPED

BAD_MOVES = {
    "above the board": ({"ply": 0, "square": 9}, 400),
    "below the board": ({"ply": 0, "square": -1}, 400),
    "a float": ({"ply": 0, "square": 4.0}, 400),
    "text": ({"ply": 0, "square": "4"}, 400),
    "true": ({"ply": 0, "square": True}, 400),
    "no square": ({"ply": 0}, 400),
    "an extra field": ({"ply": 0, "square": 4, "side": "o"}, 400),
    "no object": ([0, 4], 400),
    "a later ply": ({"ply": 1, "square": 4}, 409),
    "an earlier ply": ({"ply": -1, "square": 4}, 409),
    "ply is true": ({"ply": False, "square": 4}, 400),
}


@pytest.mark.fault
def test_a_move_that_is_not_possible_changes_nothing(client, started):
    game = started()
    path = f"/api/games/{game['id']}"
    for name, (body, status) in BAD_MOVES.items():
        reply = client.post(f"{path}/moves", json=body)
        assert (reply.status_code, [*reply.json()]) == (status, ["error"]), name
        assert client.get(path).json() == game, name


@pytest.mark.fault
def test_moves_are_played_once_in_turn_and_not_after_the_end(client, started):
    game = started("o")
    path = f"/api/games/{game['id']}"
    (taken,) = game["moves"]
    reply = client.post(f"{path}/moves", json={"ply": 1, "square": taken})
    assert (reply.status_code, reply.json()) == (
        409,
        {"error": f"square {taken} is taken"},
    )
    free = rules.moves(served.board_after(game["moves"]))
    first = {"ply": 1, "square": free[0]}
    after = client.post(f"{path}/moves", json=first)
    assert after.status_code == 200
    assert client.post(f"{path}/moves", json=first).status_code == 409, "sent again"
    assert client.get(path).json() == after.json()
    game = after.json()
    while game["result"] is None:
        free = rules.moves(served.check_game(game))
        body = {"ply": len(game["moves"]), "square": free[0]}
        game = client.post(f"{path}/moves", json=body).json()
    board = served.check_game(game)
    for square in range(9):
        body = {"ply": len(game["moves"]), "square": square}
        assert client.post(f"{path}/moves", json=body).status_code == 409
    assert served.check_game(client.get(path).json()) == board


@pytest.mark.fault
def test_a_game_that_is_not_there(client):
    for game_id in ("none", "..%2f..", "%00"):
        path = f"/api/games/{game_id}"
        for reply in (
            client.get(path),
            client.post(f"{path}/moves", json={"ply": 0, "square": 4}),
            client.post(f"{path}/undo", json={"ply": 0}),
        ):
            assert reply.status_code == 404, reply.path
            assert reply.json()["error"]


BAD_STARTS = [
    {"opponent": {"level": "master"}, "side": "x"},
    {"opponent": {}, "side": "x"},
    {"opponent": {"agent": "shipped/network", "update": -1}, "side": "x"},
    {"opponent": {"agent": 4}, "side": "x"},
    {"opponent": {"level": "expert", "name": "x"}, "side": "x"},
    {"opponent": {"level": "expert"}, "side": "X"},
    {"opponent": {"level": "expert"}},
    {},
    [],
]


@pytest.mark.fault
def test_a_game_that_can_not_be_started(client, made):
    for body in BAD_STARTS:
        reply = client.post("/api/games", json=body)
        assert (reply.status_code, [*reply.json()]) == (400, ["error"]), body
    assert not len(made.games)


@pytest.mark.fault
def test_an_agent_that_is_not_there(client):
    other = {"agent": "shipped/table", "update": 3}
    names = ("shipped/none", "run/../../etc", "/etc/passwd", "live", "")
    for opponent in (other, *({"agent": name} for name in names)):
        body = {"opponent": opponent, "side": "x"}
        assert client.post("/api/games", json=body).status_code == 404, opponent


def fuzz(client, started, number, seed):
    """Send random requests about some games; the rules say what each must do."""
    rng = random.Random(seed)
    games = [started(rng.choice("xo"), level="beginner") for _ in range(4)]
    odd = [9, -1, 10**9, 4.0, "4", True, None, [], {}, 1e300, "\0", "é"]
    for _ in range(number):
        n = rng.randrange(len(games))
        game = games[n]
        path = f"/api/games/{game['id']}"
        square = rng.choice([*range(9), *range(9), rng.choice(odd)])
        ply = rng.choice([len(game["moves"])] * 4 + [rng.randrange(-1, 10)])
        if rng.random() < 0.15:
            reply = client.post(f"{path}/undo", json={"ply": ply})
            own = [i for i in range(len(game["moves"])) if "xo"[i % 2] == game["side"]]
            good = ply == len(game["moves"]) and bool(own)
            expected = {**game, "moves": game["moves"][: own[-1]]} if good else game
        else:
            reply = client.post(f"{path}/moves", json={"ply": ply, "square": square})
            board = served.board_after(game["moves"])
            right = type(square) is int and 0 <= square < 9
            good = right and ply == len(game["moves"]) and square in rules.moves(board)
            expected = game
            assert reply.status_code == (200 if good else 409 if right else 400)
        after = client.get(path).json()
        served.check_game(after)
        if good:
            assert reply.json() == after
            if reply.path.endswith("undo"):
                assert after["moves"] == expected["moves"]
            else:
                assert after["moves"][: ply + 1] == [*game["moves"], square]
        else:
            assert after == game
            assert reply.status_code in (400, 409)
        games[n] = after
        if after["result"] is not None and rng.random() < 0.5:
            games[n] = started(rng.choice("xo"), level="beginner")


def test_random_requests_leave_every_game_legal(client, started):
    fuzz(client, started, 200, seed=0)


def play_out(client, game, choose):
    """Play a game to its end and return it."""
    while game["result"] is None:
        board = served.check_game(game)
        body = {"ply": len(game["moves"]), "square": choose(board)}
        reply = client.post(f"/api/games/{game['id']}/moves", json=body)
        assert reply.status_code == 200, reply.text
        game = reply.json()
    served.check_game(game)
    return game


def test_the_expert_and_the_shipped_agents_never_lose(client, started):
    rng = random.Random(0)
    for opponent in (
        {"level": "expert"},
        {"level": "medium"},
        {"agent": "shipped/table"},
    ):
        for side in "xo" * 10:
            game = started(side, **opponent)
            assert game["opponent"] == opponent
            end = play_out(client, game, lambda b: rng.choice(rules.moves(b)))
            assert end["result"] != "won"


def best(board):
    return rules.best_moves(board)[0]


def test_a_finished_game_is_counted_and_learned_once(client, started, training):
    game = play_out(client, started("x"), best)
    assert training.learned == [tuple(game["moves"])]
    path = f"/api/games/{game['id']}"
    body = {"ply": len(game["moves"])}
    game = client.post(f"{path}/undo", json=body).json()
    play_out(client, game, best)
    counts = client.get("/api/statistics").json()
    assert (counts["games"], counts["draws"], counts["x"]["draws"]) == (1, 1, 1)
    assert counts["by_opponent"][0]["opponent"] == "expert"
    assert len(training.learned) == 1


def test_undo_takes_the_latest_own_move_back(client, started):
    game = started("o")
    path = f"/api/games/{game['id']}"
    assert client.post(f"{path}/undo", json={"ply": 1}).status_code == 409
    moved = client.post(
        f"{path}/moves",
        json={"ply": 1, "square": rules.moves(served.check_game(game))[0]},
    ).json()
    assert client.post(f"{path}/undo", json={"ply": 1}).status_code == 409, "stale"
    assert client.post(f"{path}/undo", json={"ply": len(moved["moves"])}).json() == game


def test_statistics_are_cleared(client, started):
    play_out(client, started(), best)
    assert client.get("/api/statistics").json()["games"] == 1
    assert client.delete("/api/statistics").json()["games"] == 0


def test_a_backup_brings_back_games_and_agents_and_adds_nothing_twice(
    client, started, made
):
    play_out(client, started(), best)
    agent = SHIPPED["table"].read_bytes()
    made.opponents.listed.add("<b>mine</b>", agent)
    file = client.get("/api/backup")
    assert file.headers["content-disposition"].startswith("attachment")
    client.delete("/api/statistics")
    send = {"content": file.content, "headers": {"content-type": "application/json"}}
    assert client.post("/api/backup", **send).json() == {"games": 1, "agents": 0}
    assert client.post("/api/backup", **send).json() == {"games": 0, "agents": 0}
    assert client.get("/api/statistics").json()["games"] == 1
    content = json.loads(file.content)
    assert [base64.b64decode(one["file"]) for one in content["agents"]] == [agent]


@pytest.mark.fault
def test_a_bad_backup_is_refused_with_the_reason_and_nothing_changes(client, started):
    game = play_out(client, started(), best)
    before = client.get("/api/statistics").json()
    file = client.get("/api/backup").json()
    worse = [
        ("no object", "a backup of"),
        ({}, "not a backup"),
        (file | {"version": 2}, "format version 2; this program reads 1"),
        (file | {"games": None}, "no list"),
        (file | {"games": [*file["games"], {"id": 1}]}, "game 2 needs the fields"),
        (file | {"agents": [{"name": "x", "file": "!"}]}, "agent 1: its file is not"),
        (file | {"agents": [{"name": "x", "file": "AAAA"}]}, "agent 1: damaged"),
        (file | {"agents": [{"name": "x"}]}, "agent 1 needs the fields"),
    ]
    for field, value in (
        ("moves", "".join(map(str, game["moves"][:-1]))),
        ("moves", "00"),
        ("moves", "x"),
        ("result", "won"),
        ("side", "y"),
        ("finished", "now"),
        ("finished", -1),
        ("id", "../x"),
        ("opponent", ""),
        ("opponent", 4),
    ):
        changed = file["games"][0] | {field: value, "id": "another-game"}
        changed |= {"id": value} if field == "id" else {}
        worse.append((file | {"games": [changed]}, "game 1"))
    for body, reason in worse:
        reply = client.post("/api/backup", json=body)
        assert reply.status_code == 400, body
        assert reason in reply.json()["error"] or body == "no object"
    assert client.get("/api/statistics").json() == before
