"""Certificates of a game of four in a row, and their forgeries.

The rules of `small_boards`, which use nothing of the package, decide what is true.
"""

import copy
import json
import random
import runpy
from pathlib import Path

import pytest
import small_boards
from small_boards import ENV_ID

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import CERTIFIED
from jax_ttt.grading import certificates
from jax_ttt.players import basic
from jax_ttt.players.names import PlayerSpec
from jax_ttt.players.player import Player
from jax_ttt.text import decision_files

CHECKER = Path(__file__).parents[1] / "docs" / "check_certificate.py"
CHECKS = runpy.run_path(str(CHECKER))
STONES = {"first": "X", "second": "O"}


PERFECT = Player(
    env_id=ENV_ID, name="perfect", choose=small_boards.perfect(), is_deterministic=True
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return the certificate of the perfect player."""
    spec = PlayerSpec("perfect", "player")
    found, missing = decision_files.make_certificate(spec, PERFECT, None)
    assert missing == ""
    path = tmp_path_factory.mktemp("certificate") / "certificate.json"
    decision_files.write_certificate(path, found, missing, as_json=False)
    assert path.stat().st_size < CHECKS["MOST_BYTES"]
    return json.loads(path.read_text())


def refusal(certificate):
    """Return why a certificate is refused; empty if it is not."""
    try:
        CHECKS["check"](certificate)
    except ValueError as error:
        return str(error)
    return ""


def changed(certificate, seat, board, move):
    """Return the certificate with another move on a board; None for no move there."""
    found = copy.deepcopy(certificate)
    if move is None:
        del found["moves"][seat][board]
        found["num_positions"] -= 1
    else:
        found["moves"][seat][board] = move
    return found


def test_it_has_the_moves_of_the_player_and_is_accepted(certificate):
    assert certificate["env_id"] == ENV_ID
    sizes = {seat: len(moves) for seat, moves in certificate["moves"].items()}
    assert sizes == {"first": 767, "second": 1_753}
    number = 0
    for seat, moves in certificate["moves"].items():
        boards = small_boards.reached(small_boards.best, STONES[seat])
        assert moves == {board: small_boards.best(board) for board in boards}
        assert not small_boards.loses(moves.__getitem__, STONES[seat])
        assert [*moves] == sorted(moves, key=lambda b: (-b.count("-"), b))
        number += len(moves)
    expected = f"no line of play beats it, {number:,} positions (as X and as O)"
    assert CHECKS["check"](certificate) == expected


def places(certificate, seed):
    """Return the seats and boards in random order."""
    found = [(s, b) for s, moves in certificate["moves"].items() for b in moves]
    random.Random(seed).shuffle(found)
    return found


@pytest.mark.fault
def test_a_position_that_is_left_out_is_refused(certificate):
    for seat, board in places(certificate, 1)[:20]:
        reason = refusal(changed(certificate, seat, board, None))
        start = f"it has no legal move as {STONES[seat]} on {board} after "
        assert reason.startswith(start)


@pytest.mark.fault
def test_a_move_that_loses_is_refused_with_the_game(certificate):
    """The rest is complete: the moves after it are the best ones."""
    tried = 0
    for seat, board in places(certificate, 2):
        losing = [
            column
            for column in small_boards.columns_of(board)
            if small_boards.worth(board, column) < 0
        ]
        if not losing or small_boards.worth(board, small_boards.best(board)) < 0:
            continue

        def choose(on, board=board, move=losing[0]):
            return move if on == board else small_boards.best(on)

        found = copy.deepcopy(certificate)
        boards = small_boards.reached(choose, STONES[seat])
        found["moves"][seat] = {on: choose(on) for on in boards}
        found["num_positions"] = sum(map(len, found["moves"].values()))
        assert refusal(found).startswith(f"it has lost as {STONES[seat]} on ")
        assert "it " in refusal(changed(certificate, seat, board, losing[0]))
        tried += 1
        if tried == 10:
            break
    assert tried == 10


@pytest.mark.fault
def test_what_does_not_belong_there_is_refused(certificate):
    seat, board = next(
        (seat, board)
        for seat, board in places(certificate, 3)
        if len(small_boards.columns_of(board)) < 4
    )
    full = next(column for column in range(4) if board[column] != "-")
    for move in (full, -1, 4, 15, True, "0", 1.0):
        reason = refusal(changed(certificate, seat, board, move))
        assert reason.startswith(f"it has no legal move as {STONES[seat]} on {board}")
    floating = "X" + "-" * 15
    found = changed(certificate, "second", floating, 0)
    found["num_positions"] += 1
    assert refusal(found) == f"it never has to move as O on {floating!r}"
    for env_id in ("connect_5x4", "tic_tac_toe", "connect_7x6", "mnk_4x4_4"):
        assert refusal(certificate | {"env_id": env_id})


def test_the_checker_knows_the_rows_of_its_games():
    assert sorted(CHECKS["GAMES"]) == sorted(CERTIFIED)
    numbers = [
        len(CHECKS["rows_of"](w, h, n)) for w, h, n, _ in CHECKS["GAMES"].values()
    ]
    sizes = dict(zip(CHECKS["GAMES"], numbers, strict=True))
    assert sizes == {
        "tic_tac_toe": 8,
        "connect_4x4": 10,
        "connect_4x5": 17,
        "connect_5x4": 17,
        "connect_5x5": 28,
    }
    boards = [[*"----------------"] for _ in range(10)]
    for board, row in zip(boards, CHECKS["rows_of"](4, 4, 4), strict=True):
        for cell in row:
            board[cell] = "X"
    assert len({"".join(board) for board in boards}) == 10
    assert {small_boards.winner("".join(board)) for board in boards} == {"X"}


def test_a_player_that_loses_or_draws_lots_has_no_certificate(monkeypatch):
    def column_order(key, env_state):
        return env_state.legal_action_mask.argmax(axis=1)

    first_legal = Player(
        env_id=ENV_ID,
        name="left",
        choose=basic.Partial(column_order),
        is_deterministic=True,
    )
    pattern = "left: no certificate: as first it loses the game X0 O"
    with pytest.raises(PlayerError, match=pattern):
        certificates.proven_by_search(first_legal)
    lots = Player(env_id=ENV_ID, name="random", choose=basic.random_player)
    with pytest.raises(PlayerError, match="does not play one move in each position"):
        certificates.proven_by_search(lots)
    monkeypatch.setattr(certificates, "MOST_POSITIONS", 20)
    with pytest.raises(PlayerError, match="as first it reaches more than 20 positions"):
        certificates.proven_by_search(PERFECT)
