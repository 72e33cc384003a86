"""Programs as players in the commands: right ones, wrong ones, and signals."""

import csv
import io
import json
import re
import runpy
import shlex
import signal
import time
from pathlib import Path
from typing import Any

import as_users
import commands
import jax.numpy as jnp
import player_programs
import pytest
import rules
from player_programs import PlayerProgram

import jax_ttt
from jax_ttt import arena, evaluate, play
from jax_ttt.runtime import interrupts

CHECKER = runpy.run_path(
    str(Path(__file__).parents[1] / "docs" / "check_certificate.py")
)


@pytest.fixture(autouse=True)
def same_handlers():
    """Let the handlers of signals be the same after a command in this process."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def no_hang():
    with player_programs.limited():
        yield


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a program; nothing of it may go on."""
    written = []

    def new(*args, **kwargs):
        folder = kwargs.pop("folder", tmp_path)
        written.append(PlayerProgram(folder, *args, **kwargs))
        return written[-1]

    yield new
    assert [number for each in written for number in each.left_running()] == []


@pytest.fixture
def run(capsys):
    """Return a function that runs a command and returns its output and errors."""

    def run(module, *argv, code=0):
        capsys.readouterr()
        assert commands.run(module, [str(arg) for arg in argv]) == code
        return capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("answer", "seconds", "reason"),
    [
        (
            "get()",
            0.5,
            r"no answer within 0\.5 s before the first move; does it flush.*",
        ),
        # Any position with two moves: they are asked after the one without moves.
        ("say(0)", 60, r"answered 0 after the moves \d \d; legal are [1-8]( [1-8]){6}"),
    ],
)
def test_a_wrong_answer_is_refused_in_one_line(answer, seconds, reason, write, run):
    written = write(answer)
    out, err = run(evaluate, written.name, "--answer-seconds", seconds, code=2)
    assert out == ""
    assert re.fullmatch(f"error: {re.escape(written.name)}: {reason}\n", err)
    assert written.left_running() == []
    assert len(written.told()) <= 1, "it was started once"


@pytest.mark.slow
def test_minimax_has_the_grade_and_the_certificate_of_minimax(write, run, tmp_path):
    written = write(player_programs.MINIMAX, folder=tmp_path / "one")
    path = tmp_path / "certificate.json"
    out, err = run(evaluate, written.name, "--json", "--certificate", path)
    expected, _ = run(evaluate, "minimax-first", "--json")
    result, expected = json.loads(out), json.loads(expected)
    # Of each seat 50 positions and about a tenth of the others are asked for twice.
    asked_twice = result["grade"].pop("asked_twice")
    assert asked_twice == pytest.approx((100 + 0.1 * 4420) / 4520, abs=0.02)
    verdict = (
        expected["verdict"]
        .replace(
            "positions)",
            f"positions; it was asked for {asked_twice:.0%} twice; another answer "
            "would be another player)",
        )
        .replace("unbeatable:", "unbeatable by the moves that it gave:")
    )
    text = json.dumps(expected["grade"]).replace('"construction"', '"asked"')
    expected["grade"] = json.loads(text) | {"player": written.name}
    assert result == expected | {"verdict": verdict}
    assert err.startswith(f"wrote {path}: ")
    certificate = json.loads(path.read_text())
    assert str(tmp_path) not in path.read_text(), "nothing but the moves"
    assert certificate["sha256"] == ""
    assert CHECKER["check"](certificate).startswith("no line of play beats these moves")
    for seat, stone in (("first", "X"), ("second", "O")):
        boards = rules.reached(rules.first_best, stone)
        moves = {board: rules.first_best(board)[0] for board in boards}
        assert certificate["moves"][seat] == moves
    assert len(written.told()) == 4, "a copy in each seat, and one that checks it"
    assert written.left_running() == []


@pytest.mark.slow
def test_copies_give_the_same_grade(write, run):
    written = write()
    outs = [run(evaluate, written.name, "--json").out]
    assert len(written.told()) == 4
    outs.append(run(evaluate, written.name, "--json", "--copies", "3").out)
    assert len(written.told()) == 4 + 2 * (3 + 3)
    assert outs[0] == outs[1]
    # Three are asked for all positions, and three more for some of them again.
    first = sorted(written.asked("first")[2:], key=len)[3:]
    assert all(len(asked) > 1 for asked in first), "none is asked for all"
    assert "note" not in json.loads(outs[0])


def test_a_program_in_a_folder_with_a_space_and_in_a_shell(write, run, tmp_path):
    folder = tmp_path / "my bots"
    written = write(folder=folder, file="my player")
    shell = f"cd {shlex.quote(str(folder))} && ./*player | cat"
    for command in (f"{folder}/my player", f"sh -c {shlex.quote(shell)}"):
        game = jax_ttt.new_game(f"program:{command}", seat="second")
        assert game.moves == (0,)
        game.opponent.close()
    assert len(written.told()) == 2
    _, err = run(evaluate, f"program:{shell}", code=2)
    assert err.count("\n") == 1
    assert err.startswith(f"error: program:{shell}: cd: ")


CHANCE = """
    import random
    chance = globals().setdefault("chance", random.Random(1))
    say(chance.choice([*{*range(9)} - {*moves}]))
"""


@pytest.mark.slow
def test_a_program_of_chance_is_sampled_and_the_report_says_why(write, run):
    written = write(CHANCE)
    out, err = run(evaluate, written.name, "--games", "200")
    assert err == ""
    _, note, *_ = out.split("\n\n")
    assert note.startswith("note: it does not play one move in each position (")
    assert "nothing is proven" in out
    assert "exact" not in out.replace(note, "")


@pytest.mark.slow
def test_a_program_of_chance_has_no_certificate(write, run, tmp_path):
    written = write(CHANCE)
    path = tmp_path / "certificate.json"
    out, err = run(evaluate, written.name, "--certificate", path, code=2)
    assert (out, err.count("\n")) == ("", 1)
    assert "no certificate" in err
    assert not path.exists()
    with pytest.raises(
        jax_ttt.Refused, match="it does not play one move in each position"
    ):
        jax_ttt.prove(written.name)


@pytest.mark.slow
def test_pairs_with_a_program_of_chance_are_sampled_in_a_table(write, run, tmp_path):
    """Those of a program that plays one move are exact."""
    chance, one_move = write(CHANCE).name, write(file="one_move.py").name
    path = tmp_path / "pairs.csv"
    names = [chance, one_move, "random"]
    out, err = run(arena, *names, "--games", "16", "--csv", path)
    assert err == ""
    assert f"\n{chance}: it does not play one move in each position" in out
    table = out.partition("row as X, column as O")[2].splitlines()
    assert "of some players by the moves that they gave" in " ".join(table[:2])
    cells = [line.split()[-3:] for line in table[3:6]]
    is_sampled = [[cell.startswith("~") for cell in row] for row in cells]
    assert is_sampled == [[True] * 3, [True, False, False], [True, False, False]]
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            games = "16" if chance in (row["first"], row["second"]) else "0"
            assert row["num_games"] == games


def test_a_whole_game_against_a_program(write, run, monkeypatch):
    written = write()
    monkeypatch.setattr("sys.stdin", io.StringIO("8\n7\n6\n"))
    out, err = run(play, written.name)
    assert err == ""
    assert re.findall(r"\(O\) plays (\d)", out) == ["0", "1"]
    assert "you win" in out
    assert written.told() == [["tic_tac_toe second", "8", "8 0 7", "quit"]]


def test_a_wrong_answer_ends_a_game(write, run, monkeypatch):
    written = write("say(0)")
    monkeypatch.setattr("sys.stdin", io.StringIO("8\n7\n6\n"))
    _, err = run(play, written.name, code=2)
    reason = "answered 0 after the moves 8 0 7; legal are 1 2 3 4 5 6"
    assert err == f"error: {written.name}: {reason}\n"


def first_column(env_state):
    order = jnp.array([1, 2, 0, 3])
    return order[env_state.legal_action_mask[:, order].argmax(axis=1)]


@pytest.mark.slow
def test_where_there_is_no_tree_the_grade_is_that_of_a_search(write, run):
    """That of the same player as a function, whose mirrored boards are not merged."""
    written = write(player_programs.FIRST_COLUMN)
    words = [written.name, "--env-id", "connect_4x4", "--max-positions", 10_000]
    result = json.loads(run(evaluate, *words, "--json").out)
    grade = jax_ttt.grade(written.name, env_id="connect_4x4")
    expected = jax_ttt.grade(first_column, env_id="connect_4x4")
    assert (grade.unbeatable, grade.sampled) == (False, None)
    assert (result["grade"]["unbeatable"], "sampled" in result["grade"]) == (
        False,
        False,
    )
    for seat in ("first", "second"):
        one, other = grade.followed[seat], expected.followed[seat]
        assert one.rates == other.rates
        assert one.losing_line == other.losing_line
        assert (one.lines, one.complete) == (other.lines, True)
        assert result["grade"][seat]["loss_rate"] == pytest.approx(one.loss_rate)


@pytest.mark.slow
def test_a_limit_of_positions_leaves_games_open(write, run):
    written = write(player_programs.FIRST_COLUMN)
    flags = ["--env-id", "connect_4x4", "--max-positions", "10", "--games", "20"]
    out, err = run(evaluate, written.name, *flags)
    assert err == ""
    assert "not decided: searched up to move 4 as X" in out
    result = json.loads(run(evaluate, written.name, *flags, "--json").out)
    assert result["grade"]["first"]["complete"] is False
    assert result["grade"]["sampled"]["first"]["num_games"] == 20


@pytest.mark.slow
def test_programs_in_python(write):
    written = write(player_programs.MINIMAX, file="minimax.py")
    player: Any = jax_ttt.player(written.name)
    assert player.is_exact
    started = len(written.told())
    proof = jax_ttt.prove(player)
    assert proof.unbeatable is True
    grade = jax_ttt.grade(player)
    assert proof.grade.asked_twice == grade.asked_twice == pytest.approx(0.12, abs=0.02)
    assert proof.verdict == grade.verdict
    assert re.search(
        r"^unbeatable by the moves that it gave: .* asked for 1\d% twice; another",
        str(proof),
    )
    match = jax_ttt.match(player, "minimax")
    assert (match.is_exact, match.first.draw_rate) == (True, 1)
    assert len(written.told()) == started, "its moves are known"
    chance = write(CHANCE, file="chance.py")
    match = jax_ttt.match(chance.name, player, num_games=8)
    assert not match.is_exact
    assert (match.first.num_games, match.first.win_rate) == (8, 0)
    blend = jax_ttt.grade(f"blend:1:{written.name}")
    assert blend.followed["first"].win_rate == pytest.approx(737 / 1260)
    with pytest.raises(jax_ttt.Refused, match="it does not play one move"):
        jax_ttt.grade(f"blend:0.5:{chance.name}")


def test_a_game_in_python(write):
    written = write()
    game = jax_ttt.new_game(written.name, seat="second")
    assert game.moves == (0,)
    assert game.play(4).moves == (0, 4, 1)
    game.opponent.close()
    chance = write(CHANCE, file="chance.py")
    game = jax_ttt.new_game(chance.name)
    while not game.is_over:
        game = game.play(game.legal_moves[0])
    assert chance.left_running() == [], "the game is over"
    told = chance.told()[-1]
    asked = [" ".join(map(str, game.moves[:n])) for n in (1, 3, 5, 7)]
    assert told[0] == "tic_tac_toe second"
    assert told[1:-1] == asked[: len(told) - 2]
    assert told[-1] == "quit"


def test_a_player_of_a_program_ends_its_processes_when_it_is_closed(write):
    written = write(CHANCE)
    player = jax_ttt.player(written.name)
    games = [jax_ttt.new_game(player, seat="second") for _ in range(2)]
    player.close()
    assert written.left_running() == []
    assert len(games[0].play(games[0].legal_moves[0]).moves) > 1, "it starts again"
    player.close()
    jax_ttt.player("random").close()


@pytest.mark.slow
def test_errors_have_the_name_that_a_program_was_given(write):
    """While it is asked in advance, and in a game."""
    with pytest.raises(jax_ttt.Refused, match=r"^my bot: answered 0 after the moves"):
        jax_ttt.player(write("say(0)").name, name="my bot")
    written = write(CHANCE, file="chance.py")
    player = jax_ttt.player(written.name, name="my bot")
    written.path.write_text("input(), input(), print('?')")
    with pytest.raises(jax_ttt.Refused, match=r"^my bot: answered '\?', not one move"):
        jax_ttt.grade(player, num_games=2)


@pytest.mark.fault
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("train --opponent blend:0.5:program:cat", "would be slow"),
        ("sweep --grid opponent=program:cat", "would be slow"),
        ("arena random program:no-such-program", "no-such-program: no such program"),
        ("evaluate program:cat --copies 0", "--copies"),
        ("evaluate program:cat --answer-seconds nan", "--answer-seconds"),
    ],
)
def test_wrong_names_and_flags_are_refused(line, reason):
    as_users.assert_refused(as_users.run_here(line), "program", reason)


@pytest.mark.fault
def test_a_training_refuses_a_program_in_python():
    with pytest.raises(jax_ttt.Refused, match="would be slow"):
        jax_ttt.train(opponent="program:cat")


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(
    ("command", "number", "code", "message"),
    [
        ("evaluate", signal.SIGINT, 130, "error: interrupted\n"),
        ("evaluate", signal.SIGTERM, 143, ""),
        ("arena random", signal.SIGHUP, 129, ""),
        ("play --side o", signal.SIGTERM, 143, ""),
    ],
)
def test_a_signal_ends_the_program_too(command, number, code, message, write, tmp_path):
    """Although it ignores signals, the end of its input and `quit`.

    As by `timeout`, the signal comes twice: to the process and to its group.
    """
    written = write(code=player_programs.DEAF, keeps_output=True)
    process = as_users.start(
        command, written.name, "--answer-seconds", 300, cwd=tmp_path
    )
    try:
        written.wait_until_asked()
        process.send_signal(number)
        if number != signal.SIGINT:
            process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (code, message)
    assert written.left_running() == []


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_leaves_no_program(number, write, tmp_path):
    """It comes while the command waits a second for the programs to end."""
    written = write(code=player_programs.DEAF, keeps_output=True)
    process = as_users.start(
        "evaluate", written.name, "--copies", 3, "--answer-seconds", 300, cwd=tmp_path
    )
    try:
        written.wait_until_asked()
        process.send_signal(number)
        time.sleep(interrupts.SAME_REQUEST + 0.1)
        process.send_signal(number)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode in (-number, 128 + number)
    assert written.left_running() == []


@pytest.mark.slow
@pytest.mark.fault
def test_ctrl_c_ends_a_search_that_asks_a_program(write, tmp_path):
    written = write(
        "time.sleep(0.05); say([m for m in range(4) if moves.count(m) < 4][0])"
    )
    process = as_users.start(
        "evaluate", written.name, "--env-id", "connect_4x4", cwd=tmp_path
    )
    try:
        written.wait_until_asked()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")
    assert written.left_running() == []


@pytest.mark.slow
@pytest.mark.fault
def test_a_program_whose_command_is_killed_reads_the_end_of_its_input(write, tmp_path):
    written = write("get(); os.killpg(0, 9)")
    process = as_users.start("evaluate", written.name, cwd=tmp_path)
    written.wait_until_asked()
    process.kill()
    process.communicate()
    assert written.left_running() == []


@pytest.mark.fault
def test_a_program_that_calls_us_keeps_its_handlers(write, run):
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    run(evaluate, write("say(0)").name, code=2)
    assert [signal.getsignal(number) for number in numbers] == before
