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
from jax.tree_util import Partial
from small_boards import ENV_ID

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import CERTIFIED
from jax_ttt.grading import certificates
from jax_ttt.players.player import Player, random_player
from jax_ttt.players.registry import PlayerSpec
from jax_ttt.text import policy_files

CHECKER = runpy.run_path(
    str(Path(__file__).parents[1] / "docs" / "check_certificate.py")
)
STONES = {"first": "X", "second": "O"}


@pytest.fixture(scope="module")
def perfect():
    """Return the perfect player."""
    choose = small_boards.perfect()
    return Player(env_id=ENV_ID, name="perfect", choose=choose, evidence="construction")


@pytest.fixture(scope="module")
def certificate(perfect, tmp_path_factory):
    """Return the certificate of the perfect player."""
    spec = PlayerSpec("perfect", "player")
    certificate, missing = policy_files.make_certificate(spec, perfect)
    assert missing == ""
    path = tmp_path_factory.mktemp("certificate") / "certificate.json"
    policy_files.write_certificate(path, certificate, missing, as_json=False)
    assert path.stat().st_size < CHECKER["MAX_BYTES"]
    return json.loads(path.read_text())


def refusal(certificate):
    """Return why a certificate is refused; empty if it is not."""
    try:
        CHECKER["check"](certificate)
    except ValueError as error:
        return str(error)
    return ""


def with_moves(certificate, seat, moves):
    """Return the certificate with other moves of a seat."""
    other = copy.deepcopy(certificate)
    other["moves"][seat] = moves
    other["num_positions"] = sum(map(len, other["moves"].values()))
    return other


@pytest.mark.slow
def test_it_has_the_moves_of_the_player_and_is_accepted(certificate):
    assert certificate["env_id"] == ENV_ID
    sizes = {seat: len(moves) for seat, moves in certificate["moves"].items()}
    assert sizes == {"first": 767, "second": 1_753}
    for seat, moves in certificate["moves"].items():
        boards = small_boards.reached(small_boards.best, STONES[seat])
        assert moves == {board: small_boards.best(board) for board in boards}
        assert not small_boards.loses(moves.__getitem__, STONES[seat])
        assert [*moves] == sorted(moves, key=lambda b: (-b.count("-"), b))
    line = "no line of play beats these moves in connect_4x4, 2,520 positions "
    assert CHECKER["check"](certificate).startswith(f"{line}(as X and as O); ")


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("seat", STONES)
def test_a_complete_certificate_with_a_move_that_loses_is_refused(seat, certificate):
    boards = [
        (board, column)
        for board, best in certificate["moves"][seat].items()
        if small_boards.worth(board, best) == 0
        for column in small_boards.columns_of(board)
        if small_boards.worth(board, column) < 0
    ]
    for board, column in random.Random(2).sample(boards, 5):

        def choose(on, board=board, column=column):
            return column if on == board else small_boards.best(on)

        moves = {on: choose(on) for on in small_boards.reached(choose, STONES[seat])}
        reason = refusal(with_moves(certificate, seat, moves))
        assert reason.startswith(f"it has lost as {STONES[seat]} on ")


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("seat", STONES)
def test_missing_illegal_and_other_moves_are_refused(seat, certificate):
    moves = certificate["moves"][seat]
    board = next(b for b in moves if len(small_boards.columns_of(b)) < 4)
    full = next(column for column in range(4) if board[column] != "-")
    start = f"it has no legal move as {STONES[seat]} on {board} after "
    for move in (full, None, -1, 4, 15, True, "0", 1.0):
        other = with_moves(certificate, seat, moves | {board: move})
        assert refusal(other).startswith(start)
    missing = {on: move for on, move in moves.items() if on != board}
    assert refusal(with_moves(certificate, seat, missing)).startswith(start)
    floating = "X" + "-" * 15
    reason = refusal(with_moves(certificate, seat, moves | {floating: 0}))
    assert reason == f"it never has to move as {STONES[seat]} on {floating!r}"
    for env_id in ("connect_5x4", "tic_tac_toe", "connect_7x6", "mnk_4x4_4"):
        assert refusal(certificate | {"env_id": env_id})


def test_the_checker_knows_the_rows_of_its_games():
    assert sorted(CHECKER["GAMES"]) == sorted(CERTIFIED)
    numbers = {
        env_id: len(CHECKER["rows_of"](width, height, length))
        for env_id, (width, height, length, _) in CHECKER["GAMES"].items()
    }
    four = {"connect_4x4": 10, "connect_4x5": 17, "connect_5x4": 17, "connect_5x5": 28}
    assert numbers == {"tic_tac_toe": 8} | four
    rows = CHECKER["rows_of"](4, 4, 4)
    boards = {"".join("X" if c in row else "-" for c in range(16)) for row in rows}
    assert len(boards) == 10
    assert all(small_boards.winner(board) == "X" for board in boards)


@pytest.mark.slow
def test_a_player_that_loses_or_draws_lots_has_no_certificate(perfect, monkeypatch):
    def first_legal(key, env_state):
        return env_state.legal_action_mask.argmax(axis=1)

    left = Player(
        env_id=ENV_ID,
        name="left",
        choose=Partial(first_legal),
        evidence="construction",
    )
    with pytest.raises(Refused, match="left: no certificate: as X it loses"):
        certificates.proven_moves(left)
    by_chance = Player(env_id=ENV_ID, name="random", choose=random_player)
    with pytest.raises(Refused, match="does not play one move in each position"):
        certificates.proven_moves(by_chance)
    monkeypatch.setattr(certificates, "MAX_POSITIONS", 20)
    with pytest.raises(Refused, match="as X it reaches more than 20 positions"):
        certificates.proven_moves(perfect)
