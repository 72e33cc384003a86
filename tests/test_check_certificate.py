"""docs/check_certificate.py: it accepts certificates that are true, and no others.

What is true is decided by the rules of `rules`, which use nothing of the package.
"""

import copy
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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jax_ttt import evaluate
from jax_ttt.players.shipped import CERTIFICATES

CHECKER = Path(__file__).parents[1] / "docs" / "check_certificate.py"
STONES = {"first": "X", "second": "O"}
SEATS = {stone: seat for seat, stone in STONES.items()}
NAMES = (*CERTIFICATES, "minimax-first", "minimax-quick", "one seat")


@pytest.fixture(scope="module")
def honest(one_seat, tmp_path_factory):
    """Return the file of each player's certificate, by the player's name."""
    folder = tmp_path_factory.mktemp("certificates")
    found = dict(CERTIFICATES)
    for name in NAMES[len(found) :]:
        player = one_seat if name == "one seat" else name
        found[name] = folder / f"{name}.json"
        argv = [str(player), "--json", "--certificate", str(found[name])]
        assert commands.run(evaluate, argv) == 0
    return found


def checked(path, capsys):
    """Return the checker's exit code and the line that it prints."""
    capsys.readouterr()
    code = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(CHECKER), str(path)])
        try:
            runpy.run_path(str(CHECKER), run_name="__main__")
        except SystemExit as end:
            code = end.code
    out = capsys.readouterr().out
    # The interpreter prints a text on stderr and exits with 1.
    assert isinstance(code, str)
    assert f"{out}{code}\n".count("\n") == 1 + bool(out)
    return (1, code) if code else (0, out.rstrip("\n"))


@pytest.fixture
def check(tmp_path, capsys):
    """Return a function that checks a certificate, or the text of one."""

    def check_one(certificate):
        path = tmp_path / "certificate.json"
        if not isinstance(certificate, bytes):
            certificate = json.dumps(certificate).encode()
        path.write_bytes(certificate)
        code, line = checked(path, capsys)
        start = "checked: " if code == 0 else f"{str(path)!r} is refused: "
        assert line.startswith(start)
        return code, line.removeprefix(start)

    return check_one


def is_true(certificate):
    """Return whether all that a certificate says about its moves is true."""
    for seat, moves in certificate["moves"].items():
        own = STONES[seat]
        played = functools.partial(one_move, moves)
        try:
            boards = rules.reached(played, own)
        except KeyError:
            return False
        if set(boards) != set(moves) or rules.worst_case(played, own) > 0:
            return False
    number = sum(map(len, certificate["moves"].values()))
    return certificate["num_positions"] == number


def one_move(moves, board):
    """Return the move on a board; raise KeyError if there is none that is legal."""
    if not rules.moves(board):
        return []
    if moves[board] not in rules.moves(board):
        raise KeyError(board)
    return [moves[board]]


@pytest.mark.parametrize("name", NAMES)
def test_an_honest_certificate_is_accepted(name, honest, capsys):
    certificate = json.loads(honest[name].read_text())
    assert is_true(certificate)
    seats = " and ".join(f"as {STONES[seat]}" for seat in certificate["moves"])
    assert seats == ("as X" if name == "one seat" else "as X and as O")
    number = f"{certificate['num_positions']:,} positions"
    line = f"checked: no line of play beats it, {number} ({seats})"
    assert checked(honest[name], capsys) == (0, line)


@pytest.fixture(scope="module")
def certificates(honest):
    """Return the certificates of three players."""
    names = ("network", "table", "minimax-first")
    return [json.loads(honest[name].read_text()) for name in names]


def changed(certificate, seat, board, move):
    """Return the certificate with another move on a board."""
    found = copy.deepcopy(certificate)
    found["moves"][seat][board] = move
    return found


def without(certificate, seat, board):
    """Return the certificate without a board, as if there had never been one."""
    found = copy.deepcopy(certificate)
    del found["moves"][seat][board]
    found["num_positions"] -= 1
    return found


def places(certificates, seed):
    """Return every certificate with each seat and board of it, in random order."""
    found = [
        (certificate, seat, board)
        for certificate in certificates
        for seat, moves in certificate["moves"].items()
        for board in moves
    ]
    random.Random(seed).shuffle(found)
    return found


@pytest.mark.fault
def test_another_legal_move_is_refused_unless_it_is_as_good(certificates, check):
    """Another move leads to other boards, except shortly before the end of a game."""
    refused, accepted = [], 0
    for certificate, seat, board in places(certificates, 1):
        others = set(rules.moves(board)) - {certificate["moves"][seat][board]}
        for move in others:
            found = changed(certificate, seat, board, move)
            code, line = check(found)
            assert (code == 0) == is_true(found)
            accepted += code == 0
            refused += [line] * code
        if len(refused) >= 40:
            break
    assert len(refused) >= 40
    assert accepted < len(refused) / 2
    kinds = {line.partition(" as ")[0] for line in refused}
    assert kinds == {"it has lost", "it has no legal move"}


@pytest.mark.fault
def test_a_dropped_position_is_refused(certificates, check):
    for certificate, seat, board in places(certificates, 2)[:30]:
        code, line = check(without(certificate, seat, board))
        pattern = rf"it has no legal move as {STONES[seat]} on {board} after (.*)"
        assert code == 1
        game = re.fullmatch(pattern, line)
        assert game
        assert replayed(game[1]) == board


def replayed(game):
    """Return the board after a game such as `X0 O4`."""
    board = "-" * 9
    for move in () if game == "no move" else game.split():
        assert rules.mover(board) == move[0]
        assert int(move[1:]) in rules.moves(board)
        board = rules.after(board, int(move[1:]))
    return board


NO_MOVES = (True, False, 4.0, "4", None, [4], {}, -1, 9, 10**40, float("nan"))


@pytest.mark.fault
def test_an_illegal_move_is_refused(certificates, check):
    for number, (certificate, seat, board) in enumerate(places(certificates, 3)[:40]):
        taken = [cell for cell in range(9) if board[cell] != "-"]
        wrong = [*NO_MOVES, *taken][number % (len(NO_MOVES) + len(taken))]
        code, line = check(changed(certificate, seat, board, wrong))
        assert code == 1
        assert line.startswith(f"it has no legal move as {STONES[seat]} on {board} aft")


@pytest.mark.fault
def test_a_position_that_never_comes_up_is_refused(certificates, check):
    for certificate, seat, board in places(certificates, 5)[:8]:
        moves = certificate["moves"][seat]
        (other,) = set(STONES) - {seat}
        boards = [*certificate["moves"][other], board.lower(), board + "-", "", "X" * 9]
        for never in sorted(set(boards) - moves.keys(), key=len)[:5]:
            found = changed(certificate, seat, never, 8)
            found["num_positions"] += 1
            code, line = check(found)
            assert code == 1
            refusal = f"it never has to move as {STONES[seat]} on {never[:9]!r}"
            assert line == refusal


@pytest.mark.fault
@pytest.mark.parametrize("own", ["X", "O"])
def test_a_complete_certificate_of_a_beatable_player_is_refused(own, check):
    """The player is perfect but for one move; the game that it loses is shown."""
    number = 0
    for certificate in beatable(own, 5):
        code, line = check(certificate)
        found = re.fullmatch(rf"it has lost as {own} on (\S+) after (.*)", line)
        assert code == 1
        assert found
        assert replayed(found[2]) == found[1]
        assert rules.winner(found[1]) not in (own, None)
        number += 1
    assert number == 5


def beatable(own, count):
    """Yield complete certificates of players that make one losing move."""
    boards = rules.reached(rules.first_best, own)
    random.Random(4).shuffle(boards)
    bad = ((b, c) for b in boards for c in set(rules.moves(b)) - {*rules.best_moves(b)})
    lost = (of_player(own, {board: cell}) for board, cell in bad)
    kept = (found for found in lost if not is_true(found))
    for certificate, _ in zip(kept, range(count), strict=False):
        yield certificate


def of_player(own, moves):
    """Return the certificate of the first best moves, except on some boards."""

    def played(board):
        return [moves[board]] if board in moves else rules.first_best(board)

    found = {board: played(board)[0] for board in rules.reached(played, own)}
    return {
        "format_version": 1,
        "env_id": "tic_tac_toe",
        "player": "player",
        "sha256": "",
        "result": "never loses",
        "num_positions": len(found),
        "moves": {SEATS[own]: found},
    }


def test_a_certificate_that_the_rules_give_is_accepted(check):
    for own in "XO":
        found = of_player(own, {})
        assert is_true(found)
        number = found["num_positions"]
        line = f"no line of play beats it, {number} positions (as {own})"
        assert check(found) == (0, line)


FALSE_CLAIMS = [
    *({"num_positions": n} for n in (0, 396, 398, 397.0, "397", None)),
    *({"result": text} for text in ("always wins", "never loses ", None)),
    *({"env_id": text} for text in ("connect_four", "", 3)),
    *({"format_version": n} for n in (0, 2, 1.0, "1", True, None, 10**30)),
    *({"player": value} for value in (None, ["AGENT"])),
    *({"sha256": value} for value in (None, {})),
    *({"moves": value} for value in (None, [], {}, 1, {"third": {}}, {"first": []})),
    *({"moves": {"first": {}}}, {"moves": {"first": None}}, {"seats": {}}),
    {"moves": {}, "num_positions": 0},
    *({name: None} for name in ("unbeatable", "", "Result")),
]


@pytest.mark.fault
@pytest.mark.parametrize("claim", FALSE_CLAIMS, ids=json.dumps)
def test_a_false_claim_is_refused(claim, certificates, check):
    assert certificates[0]["num_positions"] == 397
    assert check(certificates[0] | claim)[0] == 1


@pytest.mark.fault
def test_a_missing_field_is_refused(certificates, check):
    for name in certificates[0]:
        found = {key: certificates[0][key] for key in certificates[0] if key != name}
        code, line = check(found)
        assert code == 1
        assert line.startswith("it must have exactly the fields format_version, ")


@pytest.mark.fault
def test_swapped_seats_are_refused(certificates, check):
    for certificate in certificates:
        first, second = certificate["moves"].values()
        for moves in (
            {"first": second, "second": first},
            {"first": first, "second": first},
            {"first": first, "second": {}},
        ):
            number = sum(map(len, moves.values()))
            assert (
                check(certificate | {"moves": moves, "num_positions": number})[0] == 1
            )


def test_a_game_that_the_checker_does_not_know_is_named(certificates, check):
    _, line = check(certificates[0] | {"env_id": "connect_four"})
    assert line == "the game 'connect_four' can't be checked"


@pytest.mark.fault
@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ('"first": {', '"first": {"X": 0}, "first": {'),
        ('"---------": 0', '"---------": 8, "---------": 0'),
        ('"env_id"', '"env_id": "tic_tac_toe", "env_id"'),
        *(
            ('"---------": 0', f'"---------": {number}')
            for number in ("NaN", "1e999", "00", "-0.0")
        ),
        ('"---------": 0', '"---------": ' + "9" * 6000),
        ('"never loses"', '"never \\ud800loses"'),
        *(('"never loses"', f'"never loses{text}"') for text in ("\0", "\xe9")),
        *(("{\n", f"{text}{{\n") for text in ("\ufeff", "//\n")),
        ('"second": {', '"second": ' + "[" * 50_000),
        ('"second": {', '"second": ' + '{"a":' * 15_000),
        *(("\n}\n", f"\n}}{text}") for text in ("}", "{}", " " * 10_000_000)),
        *(("\n}\n", text) for text in ("", ",}")),
    ],
)
def test_a_file_that_is_no_strict_json_is_refused(text, becomes, honest, check):
    written = honest["minimax-first"].read_text()
    assert text in written
    code, line = check(written.replace(text, becomes, 1).encode())
    assert code == 1
    assert len(line) < 200


@pytest.mark.fault
def test_a_truncated_file_is_refused(honest, check):
    written = honest["network"].read_bytes()
    for length in range(0, len(written) - 1, len(written) // 60):
        assert check(written[:length])[0] == 1
    assert check(written.rstrip())[0] == 0


@pytest.mark.fault
def test_a_flipped_bit_is_refused_where_it_matters(honest, check):
    """A flip in a text that nothing depends on, or in white space, may do no harm."""
    written, pick = honest["table"].read_bytes(), random.Random(6)
    for _ in range(100):
        place = pick.randrange(len(written))
        found = bytearray(written)
        found[place] ^= 1 << pick.randrange(8)
        code, _ = check(bytes(found))
        assert code == 1 or still_true(bytes(found))


mutations = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True), st.integers(0, 12), st.binary(max_size=12)
    ),
    min_size=1,
    max_size=3,
)
"""Places, as parts of the file; how many bytes go there; what comes there."""


@pytest.mark.fault
@given(mutation=mutations)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_is_refused_where_it_matters(mutation, honest, check):
    content = honest["table"].read_bytes()
    for place, length, new in mutation:
        begin = int(place * len(content))
        content = content[:begin] + new + content[begin + length :]
    code, _ = check(content)
    assert code == 1 or still_true(content)


def still_true(written):
    """Return whether a file is JSON whose moves and claims are true."""
    found = json.loads(written)
    fixed = ("format_version", "env_id", "result")
    assert [found[name] for name in fixed] == [1, "tic_tac_toe", "never loses"]
    return is_true(found)


@pytest.mark.fault
def test_what_is_no_file_is_refused(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(2**40)  # it takes no space on the disk
    missing = [tmp_path / name for name in ("none", "a\nb", "x" * 300, "\udcff")]
    for path in (*missing, tmp_path, tmp_path / "pipe", big, Path("/dev/zero")):
        code, line = checked(path, capsys)
        assert code == 1
        assert line.endswith(" is refused: not a file of at most 10,000,000 bytes")


def pythons():
    """Return the interpreters of this machine that can run the checker."""
    versions = [f"3.{minor}" for minor in range(8, 16)]
    found = {shutil.which(f"python{version}") or sys.executable for version in versions}
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for version in versions:
        found |= {str(path) for path in root.glob(f"versions/{version}.*/bin/python")}
    return [sys.executable, *sorted(found - {sys.executable})]


@pytest.mark.slow
def test_it_runs_as_a_program_in_every_python_of_this_machine(honest, tmp_path):
    """Without any package, outside the checkout, with and without optimizations."""
    certificate = json.loads(honest["network"].read_text())
    false = tmp_path / "false.json"
    false.write_text(json.dumps(certificate | {"num_positions": 398}))
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 50_000)
    good = "checked: no line of play beats it, 397 positions (as X and as O)\n"
    tried = 0
    for python in pythons():
        if subprocess.run([python, "-c", ""], capture_output=True).returncode:
            continue  # a shim of pyenv without its version
        command = [python, "-I", "-S", "-OO", "-W", "error", str(CHECKER)]
        run = functools.partial(subprocess.run, capture_output=True, text=True)
        done = run([*command, str(honest["network"])], cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, good, ""), python
        for bad in (false, deep):
            done = run([*command, str(bad)], cwd=tmp_path)
            assert (done.returncode, done.stdout) == (1, ""), python
            assert done.stderr.startswith(f"{str(bad)!r} is refused: "), python
            assert done.stderr.count("\n") == 1
        done = run(command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, ""), python
        assert done.stderr == "usage: python check_certificate.py FILE\n"
        tried += 1
    assert tried > 0


def test_the_page_shows_what_the_command_prints(honest, capsys):
    page = (CHECKER.parent / "certificates.md").read_text("utf-8")
    _, line = checked(honest["network"], capsys)
    command = (
        "$ python docs/check_certificate.py jax_ttt/shipped/network.certificate.json"
    )
    assert f"\n{command}\n{line}\n" in page
    shown = re.search(r"```text\n(\{\n.*?)\n   \.\.\.\n```", page, re.DOTALL)
    assert shown
    assert honest["network"].read_text().startswith(shown[1])
