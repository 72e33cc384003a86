"""docs/check_certificate.py: it accepts certificates that are true, and no others.

What is true is decided by the rules of `rules` and, of four in a row on 4 x 4 cells, of
`small_boards`, which use nothing of the package.
"""

import functools
import json
import os
import random
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest
import rules
import small_boards
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jax_ttt import evaluate
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import CERTIFIED
from jax_ttt.config.player_kinds import SHIPPED
from jax_ttt.grading import certificates as package
from jax_ttt.players.player import Player
from jax_ttt.players.registry import PlayerSpec
from jax_ttt.text import policy_files

CHECKER = Path(__file__).parents[1] / "docs" / "check_certificate.py"
STONES = {"first": "X", "second": "O"}


@pytest.fixture(scope="module")
def paths(one_seat, tmp_path_factory):
    """Return the file of each player's certificate, by the player's name."""
    folder = tmp_path_factory.mktemp("certificates")
    paths = {
        name: path.with_suffix(".certificate.json") for name, path in SHIPPED.items()
    }
    for name, player in (("minimax-first", "minimax-first"), ("one seat", one_seat)):
        paths[name] = folder / f"{name}.json"
        argv = [str(player), "--json", "--certificate", str(paths[name])]
        commands.run(evaluate, *argv)
    return paths


@pytest.fixture(scope="module")
def certificates(paths):
    """Return the certificates of three players."""
    names = ("network", "table", "minimax-first")
    return [json.loads(paths[name].read_text()) for name in names]


def run_checker(path, capsys):
    """Return the checker's exit code and the line that it prints."""
    capsys.readouterr()
    error = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(CHECKER), str(path)])
        try:
            runpy.run_path(str(CHECKER), run_name="__main__")
        except SystemExit as end:
            # The interpreter prints a text on stderr and exits with 1.
            error = end.code
    out = capsys.readouterr().out
    assert isinstance(error, str)
    assert f"{out}{error}\n".count("\n") == 1 + bool(out)
    return (1, error) if error else (0, out.rstrip("\n"))


@pytest.fixture
def check(tmp_path, capsys):
    """Return a function that checks a certificate, or the bytes of one."""

    def check_one(certificate):
        path = tmp_path / "certificate.json"
        if not isinstance(certificate, bytes):
            certificate = json.dumps(certificate).encode()
        path.write_bytes(certificate)
        code, line = run_checker(path, capsys)
        start = "checked: " if code == 0 else f"{str(path)!r} is refused: "
        assert line.startswith(start)
        return code, line.removeprefix(start)

    return check_one


def is_true(certificate):
    """Return whether all that a certificate says about its moves is true."""
    for seat, moves in certificate["moves"].items():
        player = functools.partial(certified_move, moves)
        try:
            boards = rules.reached(player, STONES[seat])
        except KeyError:
            return False
        if set(boards) != set(moves) or rules.worst_case(player, STONES[seat]) > 0:
            return False
    number = sum(map(len, certificate["moves"].values()))
    return certificate["num_positions"] == number


def certified_move(moves, board):
    """Return the move on a board; raise KeyError if there is none that is legal."""
    if not rules.moves(board):
        return []
    if moves[board] not in rules.moves(board):
        raise KeyError(board)
    return [moves[board]]


@pytest.mark.parametrize("name", [*SHIPPED, "minimax-first", "one seat"])
def test_an_honest_certificate_is_accepted(name, paths, capsys, check):
    """Its own words are not repeated as checked: it may name any player."""
    certificate = json.loads(paths[name].read_text())
    assert is_true(certificate)
    seats = "as X" if name == "one seat" else "as X and as O"
    line = verdict("tic_tac_toe", certificate["num_positions"], seats)
    assert run_checker(paths[name], capsys) == (0, line)
    words = {"player": "Stockfish\n\x1b[1mchecked: it wins", "sha256": "0" * 64}
    assert check(certificate | words) == (0, line.removeprefix("checked: "))


def verdict(env_id, num_positions, seats):
    """Return what the checker prints of moves that nothing beats."""
    where = f"in {env_id}, {num_positions:,} positions ({seats})"
    words = "player and sha256 are the file's words, not checked"
    return f"checked: no line of play beats these moves {where}; {words}"


def places(certificates, seed):
    """Return every certificate with each seat and board of it, in random order."""
    rows = [
        (certificate, seat, board)
        for certificate in certificates
        for seat, moves in certificate["moves"].items()
        for board in moves
    ]
    random.Random(seed).shuffle(rows)
    return rows


def with_moves(certificate, seat, moves):
    """Return the certificate with other moves of a seat."""
    all_moves = certificate["moves"] | {seat: moves}
    number = sum(map(len, all_moves.values()))
    return certificate | {"moves": all_moves, "num_positions": number}


def with_move(certificate, seat, board, move):
    """Return the certificate with another move on a board; None for no move there."""
    moves = certificate["moves"][seat] | {board: move}
    if move is None:
        del moves[board]
    return with_moves(certificate, seat, moves)


def replayed(game):
    """Return the board after a game such as `X0 O4`."""
    board = "-" * 9
    for move in () if game == "no move" else game.split():
        assert rules.mover(board) == move[0]
        assert int(move[1:]) in rules.moves(board)
        board = rules.after(board, int(move[1:]))
    return board


@pytest.mark.fault
def test_another_legal_move_is_refused_unless_it_is_as_good(certificates, check):
    """Another move leads to other boards, except shortly before the end of a game."""
    reasons, num_accepted = set(), 0
    for certificate, seat, board in places(certificates, 1)[:20]:
        for move in set(rules.moves(board)) - {certificate["moves"][seat][board]}:
            other = with_move(certificate, seat, board, move)
            code, line = check(other)
            assert (code == 0) == is_true(other)
            if code == 0:
                num_accepted += 1
                continue
            pattern = rf"(it has .*) as {STONES[seat]} on (\S+) after (.*)"
            match = re.fullmatch(pattern, line)
            assert match
            assert replayed(match[3]) == match[2]
            reasons.add(match[1])
            if match[1] == "it has lost":
                assert rules.winner(match[2]) not in (STONES[seat], None)
    assert reasons == {"it has lost", "it has no legal move"}
    assert num_accepted


WRONG_MOVES = (None, True, False, 4.0, "4", [4], {}, -1, 9, 10**40, float("nan"))


@pytest.mark.fault
def test_a_missing_or_illegal_move_is_refused_with_the_game(certificates, check):
    for number, (certificate, seat, board) in enumerate(places(certificates, 3)[:33]):
        occupied = [cell for cell in range(9) if board[cell] != "-"]
        wrong = [*WRONG_MOVES, *occupied][number % (len(WRONG_MOVES) + len(occupied))]
        code, line = check(with_move(certificate, seat, board, wrong))
        start = f"it has no legal move as {STONES[seat]} on {board} after "
        assert code == 1
        assert line.startswith(start)
        assert replayed(line.removeprefix(start)) == board


@pytest.mark.fault
def test_a_position_that_never_comes_up_is_refused(certificates, check):
    certificate, seat, board = places(certificates, 5)[0]
    (other,) = set(STONES) - {seat}
    other_board = next(iter(certificate["moves"][other]))
    for never in (other_board, board.lower(), board + "-", "", "X" * 9):
        code, line = check(with_move(certificate, seat, never, 8))
        refusal = f"it never has to move as {STONES[seat]} on {never[:9]!r}"
        assert (code, line) == (1, refusal)


FALSE_CLAIMS = [
    *({"num_positions": n} for n in (0, 396, 398, 397.0, "397", None)),
    *({"result": text} for text in ("always wins", "never loses ", None)),
    *({"env_id": text} for text in ("connect_four", "", 3)),
    *({"version": n} for n in (0, 2, 1.0, "1", True, None, 10**30)),
    *({"player": value} for value in (None, ["AGENT"])),
    *({"sha256": value} for value in (None, {})),
    *({"moves": value} for value in (None, [], {}, 1, {"third": {}}, {"first": []})),
    {"moves": {"first": {}}},
    {"moves": {"first": None}},
    {"seats": {}},
    {"moves": {}, "num_positions": 0},
    *({name: None} for name in ("unbeatable", "", "Result")),
]


@pytest.mark.fault
def test_false_claims_and_swapped_seats_are_refused(certificates, check):
    certificate = certificates[0]
    assert certificate["num_positions"] == 397
    for claim in FALSE_CLAIMS:
        assert check(certificate | claim)[0] == 1, claim
    for name in certificate:
        other = {key: certificate[key] for key in certificate if key != name}
        code, line = check(other)
        assert code == 1
        assert line.startswith("it must have exactly the fields version, ")
    first, second = certificate["moves"].values()
    for moves in ({"first": second, "second": first}, {"first": first, "second": {}}):
        number = sum(map(len, moves.values()))
        assert check(certificate | {"moves": moves, "num_positions": number})[0] == 1
    _, line = check(certificate | {"env_id": "connect_four"})
    assert line == "the game 'connect_four' can't be checked"


FIRST_MOVE = '"---------": 0'


@pytest.mark.fault
@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ('"first": {', '"first": {"X": 0}, "first": {'),
        (FIRST_MOVE, f'"---------": 8, {FIRST_MOVE}'),
        *((FIRST_MOVE, f'"---------": {x}') for x in ("NaN", "1e999", "00", "-0.0")),
        (FIRST_MOVE, '"---------": ' + "9" * 6000),
        *(('"never loses"', f'"never{x}loses"') for x in (" \\ud800", "\0", "\xe9")),
        *(("{\n", f"{text}{{\n") for text in ("\ufeff", "//\n")),
        ('"second": {', '"second": ' + "[" * 50_000),
        ('"second": {', '"second": ' + '{"a":' * 15_000),
        *(("\n}\n", f"\n}}{text}") for text in ("}", "{}", " " * 10_000_000)),
        *(("\n}\n", text) for text in ("", ",}")),
    ],
)
def test_a_file_that_is_not_strict_json_is_refused(text, becomes, paths, check):
    written = paths["minimax-first"].read_text()
    assert text in written
    code, line = check(written.replace(text, becomes, 1).encode())
    assert code == 1
    assert len(line) < 200


edits = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),  # the place, as part of the file
        st.integers(0, 12),  # bytes that go there
        st.binary(max_size=12),  # bytes that come there
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.fault
@given(edits=edits)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_is_refused_where_it_matters(edits, paths, check):
    """Damage of a text that nothing depends on, or of white space, may do no harm."""
    content = paths["table"].read_bytes()
    for place, length, new in edits:
        begin = int(place * len(content))
        content = content[:begin] + new + content[begin + length :]
    code, _ = check(content)
    if code == 0:
        certificate = json.loads(content)
        claims = [certificate[name] for name in ("version", "env_id", "result")]
        assert claims == [1, "tic_tac_toe", "never loses"]
        assert is_true(certificate)


@pytest.mark.fault
def test_what_is_not_a_file_is_refused(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(2**40)  # it takes no space on the disk
    missing = [tmp_path / name for name in ("none", "a\nb", "x" * 300, "\udcff")]
    for path in (*missing, tmp_path, tmp_path / "pipe", big, Path("/dev/zero")):
        code, line = run_checker(path, capsys)
        assert code == 1
        assert line.endswith(" is refused: not a file of at most 10,000,000 bytes")


def pythons():
    """Return the interpreters of this machine that can run the checker."""
    versions = [f"3.{minor}" for minor in range(8, 16)]
    paths = {shutil.which(f"python{version}") or sys.executable for version in versions}
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for version in versions:
        paths |= {str(path) for path in root.glob(f"versions/{version}.*/bin/python")}
    return [sys.executable, *sorted(paths - {sys.executable})]


@pytest.mark.slow
def test_it_runs_as_a_program_in_every_python_of_this_machine(paths, tmp_path):
    """Without any package, outside the checkout, with and without optimizations."""
    certificate = json.loads(paths["network"].read_text())
    bad = tmp_path / "false.json"
    bad.write_text(json.dumps(certificate | {"num_positions": 398}))
    good = verdict("tic_tac_toe", 397, "as X and as O") + "\n"
    run = functools.partial(subprocess.run, capture_output=True, text=True)
    num_tried = 0
    for python in pythons():
        if run([python, "-c", ""]).returncode:
            continue  # a shim of pyenv without its version
        command = [python, "-I", "-S", "-OO", "-W", "error", str(CHECKER)]
        done = run([*command, str(paths["network"])], cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, good, ""), python
        done = run([*command, str(bad)], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, ""), python
        assert done.stderr.startswith(f"{str(bad)!r} is refused: "), python
        done = run(command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, ""), python
        assert done.stderr == "usage: python check_certificate.py FILE\n"
        num_tried += 1
    assert num_tried > 0


# Four in a row on 4 x 4 cells.


@pytest.fixture(scope="module")
def perfect():
    """Return the perfect player."""
    return Player(
        env_id=small_boards.ENV_ID,
        name="perfect",
        choose=small_boards.perfect(),
        evidence="construction",
    )


@pytest.fixture(scope="module")
def four_in_a_row(perfect, tmp_path_factory):
    """Return the certificate of the perfect player."""
    spec = PlayerSpec("perfect", "player")
    certificate, missing = policy_files.make_certificate(spec, perfect)
    assert missing == ""
    path = tmp_path_factory.mktemp("certificate") / "certificate.json"
    policy_files.write_certificate(path, certificate, missing, as_json=False)
    return json.loads(path.read_text())


def test_a_certificate_of_four_in_a_row_has_the_moves_of_the_player(
    four_in_a_row, check
):
    sizes = {seat: len(moves) for seat, moves in four_in_a_row["moves"].items()}
    assert sizes == {"first": 767, "second": 1_753}
    for seat, moves in four_in_a_row["moves"].items():
        boards = small_boards.reached(small_boards.best, STONES[seat])
        assert moves == {board: small_boards.best(board) for board in boards}
        assert not small_boards.loses(moves.__getitem__, STONES[seat])
        assert [*moves] == sorted(moves, key=lambda b: (-b.count("-"), b))
    line = verdict(small_boards.ENV_ID, 2_520, "as X and as O")
    assert check(four_in_a_row) == (0, line.removeprefix("checked: "))


@pytest.mark.fault
@pytest.mark.parametrize("seat", STONES)
def test_moves_of_four_in_a_row_that_lose_or_are_not_legal_are_refused(
    seat, four_in_a_row, check
):
    moves, stone = four_in_a_row["moves"][seat], STONES[seat]
    losing = [
        (board, column)
        for board, best in moves.items()
        if small_boards.worth(board, best) == 0
        for column in small_boards.moves(board)
        if small_boards.worth(board, column) < 0
    ]
    for board, column in random.Random(2).sample(losing, 5):

        def choose(on, board=board, column=column):
            return column if on == board else small_boards.best(on)

        other = {on: choose(on) for on in small_boards.reached(choose, stone)}
        _, line = check(with_moves(four_in_a_row, seat, other))
        assert line.startswith(f"it has lost as {stone} on ")
    board = next(b for b in moves if len(small_boards.moves(b)) < 4)
    full = next(column for column in range(4) if board[column] != "-")
    for move in (full, -1, 4, 15):
        _, line = check(with_move(four_in_a_row, seat, board, move))
        assert line.startswith(f"it has no legal move as {stone} on {board} after ")
    floating = "X" + "-" * 15
    _, line = check(with_move(four_in_a_row, seat, floating, 0))
    assert line == f"it never has to move as {stone} on {floating!r}"
    for env_id in ("connect_5x4", "tic_tac_toe", "connect_7x6", "mnk_4x4_4"):
        assert check(four_in_a_row | {"env_id": env_id})[0] == 1


def test_the_checker_knows_the_rows_of_its_games():
    checker = runpy.run_path(str(CHECKER))
    assert sorted(checker["GAMES"]) == sorted(CERTIFIED)
    numbers = {
        env_id: len(checker["rows_of"](width, height, length))
        for env_id, (width, height, length, _) in checker["GAMES"].items()
    }
    four = {"connect_4x4": 10, "connect_4x5": 17, "connect_5x4": 17, "connect_5x5": 28}
    assert numbers == {"tic_tac_toe": 8} | four
    rows = checker["rows_of"](4, 4, 4)
    boards = {"".join("X" if c in row else "-" for c in range(16)) for row in rows}
    assert len(boards) == 10
    assert all(small_boards.winner(board) == "X" for board in boards)


def test_a_player_of_too_many_positions_has_no_certificate(perfect, monkeypatch):
    monkeypatch.setattr(package, "MAX_POSITIONS", 20)
    with pytest.raises(Refused, match="as X it reaches more than 20 positions"):
        package.proven_moves(perfect)
