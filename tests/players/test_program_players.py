"""Programs as players: names, what they are asked, and when they are deterministic."""

import itertools
import re
import sys
from typing import Any

import jax
import numpy as np
import player_programs
import pytest
import rules
import small_boards
from player_programs import PlayerProgram

import jax_ttt
from jax_ttt.config.errors import Refused
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.games.played_game import Game, replay
from jax_ttt.grading import grader
from jax_ttt.players import registry, user_players
from jax_ttt.players.user_players import AskedPlayer

STONES = {"first": "X", "second": "O"}
PYTHON = sys.executable


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a program; nothing of it may go on."""
    written = []

    def new(*args, **kwargs):
        written.append(PlayerProgram(tmp_path, *args, **kwargs))
        return written[-1]

    yield new
    assert [number for each in written for number in each.left_running()] == []


def make(written, env_id="tic_tac_toe", in_advance=True, **options):
    """Return a program as a player, asked for all its moves if they can be known."""
    spec = registry.read_player_name(written.name)
    key, options = jax.random.key(0), ProgramOptions(**options)
    player: Any = registry.make_player(spec, env_id, key, options)
    return user_players.with_all_moves(player) if in_advance else player


def board_of(line):
    """Return the board of tic-tac-toe after the moves of a line."""
    board = "-" * 9
    for move in line.split():
        board = rules.after(board, int(move))
    return board


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (PYTHON, [PYTHON]),
        (f"  {PYTHON} a 'b c' \"d\"", [PYTHON, "a", "b c", "d"]),
        ("PATH WITH SPACES", ["PATH WITH SPACES"]),
        ("'PATH WITH SPACES' a", ["PATH WITH SPACES", "a"]),
        ("sh -c 'a | b:c'", ["sh", "-c", "a | b:c"]),
    ],
)
def test_a_command_is_split_into_words(command, words, tmp_path):
    path = str(PlayerProgram(tmp_path / "a folder", file="a player").path)
    name = f"program:{command}".replace("PATH WITH SPACES", path)
    spec = registry.read_player_name(name)
    assert (spec.name, spec.kind) == (name, "program")
    assert spec.command == [word.replace("PATH WITH SPACES", path) for word in words]
    assert spec.is_program
    blend = registry.read_player_name(f"blend:0.5:{name}")
    assert blend.innermost == spec


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("program", "program needs a command after it: program:COMMAND"),
        ("program: ", "program needs a command after it: program:COMMAND"),
        ("program:sh -c 'a", "No closing quotation"),
        ("program:no-such-program x", "no-such-program: no such program"),
        ("program:A=1 sh", "A=1: no such program"),
        ("program:./text", "./text: not executable; name its interpreter too, such"),
        ("program:.", ".: is a folder"),
        ("lookahead:1:program:sh", "lookahead needs a saved agent, got 'program:sh'"),
    ],
)
def test_other_commands_are_refused(name, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").touch()
    with pytest.raises(Refused) as error:
        registry.read_player_name(name)
    assert str(error.value).startswith(f"{name}: {reason}")


@pytest.mark.parametrize("name", ["program:sh", "blend:0.5:program:sh"])
def test_a_program_is_no_opponent_in_training(name):
    with pytest.raises(Refused, match=r"not possible as an opponent .* be slow"):
        registry.read_opponent(name)


def assert_asked_once(written, seat, env_id, expected, to_board):
    """Check that a seat was asked for each board once, and new copies for some."""
    asked_lines = written.asked(seat, env_id)
    number = len(asked_lines) // 2
    copies, check = asked_lines[:number], [*itertools.chain(*asked_lines[number:])]
    boards = [to_board(line) for asked in copies for line in asked]
    assert sorted(boards) == sorted(expected)
    again = [to_board(line) for line in check]
    assert len(set(again)) == len(again)
    assert set(again) <= set(boards)
    assert 50 + 0.05 * len(boards) < len(again) < 50 + 0.15 * len(boards)
    lengths = [*map(len, check)]
    assert lengths != sorted(lengths), "in another order"
    return [line for asked in copies for line in asked], check


@pytest.mark.slow
def test_every_position_of_an_enumerable_game_is_asked_once(write, host_tree, boards):
    """The number of answers is shown meanwhile."""
    shown, written = {}, write()

    def say(text):
        shown[text] = sum(map(len, written.asked("first")))

    player = make(written, say=say)
    assert isinstance(player, AskedPlayer)
    assert player.evidence == "asked"
    assert player.policy is not None
    for position in host_tree.decisions.tolist():
        (move,) = np.flatnonzero(player.policy[position])
        assert move == rules.moves(boards[position])[0]
    undecided = [board for board in boards if rules.moves(board)]
    total = num_again = 0
    for seat, stone in STONES.items():
        expected = [board for board in undecided if rules.mover(board) == stone]
        lines, check = assert_asked_once(
            written, seat, "tic_tac_toe", expected, board_of
        )
        assert len(set(check) - set(lines)) > 100, "by another order of moves"
        total += len(lines)
        num_again += len(check)
    assert total == 4520
    assert player.questions.share_again == num_again / total
    assert len(written.told()) == 4, "a copy and a new one, in each seat"
    assert all(lines[-1] == "quit" for lines in written.told())
    asking = f"asking {written.name} as"
    assert f"{asking} O: 2,000 positions" in shown
    for number in range(0, 2500, 100):
        # It may have been asked for the next ones.
        assert shown[f"{asking} X: {number:,} positions"] >= number


def four_of(line):
    """Return the board of `connect_4x4` after the moves of a line."""
    board = "-" * 16
    for move in line.split():
        board = small_boards.dropped(board, int(move), small_boards.mover(board))
    return board


def first_column(board):
    return next(column for column in (1, 2, 0, 3) if board[column] == "-")


@pytest.mark.slow
def test_every_position_that_a_program_reaches_is_asked_once(write):
    written = write(player_programs.FIRST_COLUMN)
    player = make(written, "connect_4x4", copies=2)
    assert isinstance(player, AskedPlayer)
    assert (player.evidence, player.policy, written.told()) == ("asked", None, [])
    grade = grader.follow_lines(player)
    total = num_again = 0
    for seat, stone in STONES.items():
        expected = small_boards.reached(first_column, stone)
        lines, check = assert_asked_once(
            written, seat, "connect_4x4", expected, four_of
        )
        assert set(check) - set(lines), "by another order of moves"
        total += len(lines)
        num_again += len(check)
    assert grade.asked_twice == num_again / total
    started = len(written.told())
    assert grader.follow_lines(player) == grade
    assert len(written.told()) == started, "its moves are known"


def test_a_search_ends_at_a_limit_of_positions(write):
    """As the first player it reaches 1, 4 and 13 positions with 0, 2 and 4 moves."""
    written = write(player_programs.FIRST_COLUMN)
    boards = small_boards.reached(first_column, "X")
    sizes = [sum(b.count("-") == 16 - n for b in boards) for n in (0, 2, 4)]
    assert sizes == [1, 4, 13]
    player = make(written, "connect_4x4")
    grade: Any = grader.follow_lines(player, max_positions=17)
    assert (grade.first.complete, grade.unbeatable) == (False, None)
    assert len(written.asked("first", "connect_4x4")[0]) < 17
    with pytest.raises(Refused, match="its moves must be known in advance"):
        player.choose(jax.random.key(0), Game.start("connect_4x4").state)


@pytest.mark.parametrize(
    ("answer", "env_id"),
    [
        ("say(sorted({*range(9)} - {*moves})[os.getpid() % (9 - len(moves))])", "ttt"),
        # The order of the moves.
        ("say((min if sum(moves[:1]) % 2 else max)({*range(9)} - {*moves}))", "ttt"),
        (
            "say([c for c in range(4) if moves.count(c) < 4]"
            "[-1 if len(moves) == 4 and moves[1] < moves[3] else 0])",
            "connect_4x4",
        ),
        # The number of the positions that it was asked before, in the first position.
        (
            "n = globals().setdefault('n', 0); n += 1;"
            "say(8 if n > 1 and not moves else min({*range(9)} - {*moves}))",
            "ttt",
        ),
    ],
    ids=["process", "order", "order-4x4", "history"],
)
def test_a_program_that_answers_differently_is_noticed(answer, env_id, write):
    written = write(answer)
    env_id = env_id.replace("ttt", "tic_tac_toe")
    player = make(written, env_id)
    note = player.note or str(grader.follow_lines(player).note)
    found = re.fullmatch(
        r"it does not play one move in each position \(once (\d+) and once (\d+), "
        r"(before the first move|after the moves [\d ]+)\), so its games are sampled",
        note,
    )
    assert found
    assert found[1] != found[2]
    assert player.policy is None
    grade = jax_ttt.grade(player, num_games=4)
    assert (grade.note, grade.evidence, grade.unbeatable) == (note, "none", None)
    with pytest.raises(Refused, match="it does not play one move in each position"):
        jax_ttt.prove(player)


def test_a_program_is_asked_only_in_games_that_go_on(write):
    written = write()
    player = make(written, in_advance=False)
    lines = [(0, 3, 1, 4, 2), (0,), ()]  # the first game is won
    states = replay("tic_tac_toe", lines)
    moves = player.moves(lines, states, jax.random.key(0))
    assert moves[1:].tolist() == [1, 0]
    player.close()
    assert written.asked("first") == [[""]]
    assert written.asked("second") == [["0"]]


def test_a_program_in_a_game_is_asked_in_its_seat(write):
    written = write()
    player = make(written, in_advance=False)
    assert written.told() == []
    lines = [(), (0,), (0, 1), (4,)]
    states = replay("tic_tac_toe", lines)
    moves = player.moves(lines, states, jax.random.key(0))
    assert moves.tolist() == [0, 1, 2, 0]
    game = Game.start("tic_tac_toe", [0, 1, 2])
    assert player.move_in(game, jax.random.key(0)) == 3
    assert written.asked("first") == [["", "0 1"]]
    assert written.asked("second") == [["0", "4", "0 1 2"]], "it goes on"
    player.close()
    assert player.move_in(game, jax.random.key(0)) == 3, "it is started again"
    player.close()


def test_an_illegal_move_is_refused_with_the_position(write):
    player = make(write("say(4)"), in_advance=False)
    with pytest.raises(Refused) as error:
        player.move_in(Game.start("tic_tac_toe", (0, 4)), jax.random.key(0))
    player.close()
    message = f"{player.name}: answered 4 after the moves 0 4; legal are 1 2 3 5 6 7 8"
    assert str(error.value) == message


def test_an_answer_that_was_late_is_not_taken_for_the_next_one(write):
    """The program would answer the first position when it gets the second one."""
    written = write("moves == [8] and get(); say(len(moves))")
    player = make(written, in_advance=False, answer_seconds=5.0)
    with pytest.raises(Refused, match="no answer within"):
        player.move_in(Game.start("tic_tac_toe", (8,)), jax.random.key(0))
    game = Game.start("tic_tac_toe", (0, 1, 2))
    assert player.move_in(game, jax.random.key(0)) == 3
    player.close()
