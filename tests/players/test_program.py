"""Programs as players: what they are asked, what is refused, and that they end."""

import itertools
import re
import subprocess
import sys
import time
from typing import Any

import as_users
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
from jax_ttt.runtime.line_process import LineProcess

KEY = jax.random.key(0)
STONES = {"first": "X", "second": "O"}
PYTHON = sys.executable


def make(written, env_id="tic_tac_toe", in_advance=False, **options):
    """Return a program as a player, asked in each game or in advance."""
    spec = registry.read_player_name(written.name)
    player: Any = registry.make_player(spec, env_id, KEY, ProgramOptions(**options))
    return user_players.with_all_moves(player) if in_advance else player


def ask(player, *moves):
    """Return the player's move after these moves of tic-tac-toe."""
    return player.move_in(Game.start("tic_tac_toe", moves), KEY)


# The command.


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
    assert spec.is_program
    assert spec.command == [word.replace("PATH WITH SPACES", path) for word in words]
    assert registry.read_player_name(f"blend:0.5:{name}").innermost == spec


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
        ("program:./no-shebang", "can't be started: Exec format error"),
        ("lookahead:1:program:sh", "lookahead needs a saved agent, got 'program:sh'"),
    ],
)
def test_a_command_that_can_not_be_started_is_refused(
    name, reason, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for file in ("text", "no-shebang"):
        (tmp_path / file).write_text(file)
    (tmp_path / "no-shebang").chmod(0o755)
    with pytest.raises(Refused) as error:
        jax_ttt.player(name)
    assert str(error.value).startswith(f"{name}: {reason}")


# Its answers.


def say(output):
    return f"sys.stdout.buffer.write({output!r}), sys.stdout.flush()"


def not_one_move(shown):
    return f"answered {shown}, not one move,"


REFUSED = [
    (say(b"hello\n"), not_one_move("'hello'")),
    (say(b"4 5\n"), not_one_move("'4 5'")),
    (say(b"4\n5\n"), not_one_move(r"'4\n5'")),
    (say(b"\n"), not_one_move("''")),
    (say(b"-1\n"), not_one_move("'-1'")),
    (say(b"4.0\n"), not_one_move("'4.0'")),
    (say("\N{SUPERSCRIPT TWO}\n".encode()), not_one_move("'\N{SUPERSCRIPT TWO}'")),
    (say(b"\xff\n"), not_one_move("'\N{REPLACEMENT CHARACTER}'")),
    (say(b"7" * 5000 + b"\n"), not_one_move(f"'{'7' * 60}...'")),
    (say(b"4\n"), "answered 4 after the moves 4 0; legal are 1 2 3 5 6 7 8"),
    (say(b"9\n"), "answered 9 after the moves 4 0; legal are 1 2 3 5 6 7 8"),
    ("sys.exit()", "ended with exit code 0"),
    ("sys.exit('one\\ntwo\\n\\n')", "ended with exit code 1 (two)"),
    ("1 / 0", "ended with exit code 1 (ZeroDivisionError: division by zero)"),
    ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
    ("os.kill(os.getpid(), 36)", "was ended by signal 36"),
    ("os.dup2(0, 1), time.sleep(600)", "closed its output"),
]
"""What a program does when it is asked after 4 and 0, and why that is refused."""


@pytest.mark.parametrize(("statement", "reason"), REFUSED)
def test_what_is_not_a_legal_move_is_refused(statement, reason, write_program):
    """Before, a move between blanks is one."""
    first_answer = say(b" \t007\r\n")
    player = make(
        write_program(f"({first_answer}) if not moves else ({statement})"),
    )
    assert ask(player) == 7
    with pytest.raises(Refused) as error:
        ask(player, 4, 0)
    reason += "" if "after the moves" in reason else " after the moves 4 0"
    assert str(error.value) == f"{player.name}: {reason}"


def test_a_program_that_ended_before_it_is_asked_is_said_to_have_ended():
    process = LineProcess([sys.executable, "-S", "-c", "raise SystemExit(3)"])
    try:
        assert process.unread(seconds=60) == b""
        with pytest.raises(EOFError, match="ended with exit code 3"):
            process.answer(seconds=5)
    finally:
        process.end()


def test_a_program_that_never_answers_is_refused_with_advice(write_program):
    player = make(write_program("get()"), answer_seconds=0.5)
    reason = r"no answer within 0\.5 s before the first move; does it flush its output"
    with pytest.raises(Refused, match=reason):
        ask(player)


def test_a_late_answer_is_refused_and_not_taken_for_the_next_one(write_program):
    """The program would answer the first position when it gets the second one."""
    written = write_program("""
    if moves == [8]:
        print(4, end="", flush=True), get()
    say(len(moves))
    """)
    player = make(written, answer_seconds=3.0)
    assert ask(player, 0) == 1
    with pytest.raises(
        Refused, match=r"within 3 s after the moves 8; it said only '4'"
    ):
        ask(player, 8)
    assert ask(player, 0, 1, 2) == 3
    player.close()


@pytest.mark.parametrize("asks_again", [True, False])
def test_a_program_that_says_more_than_its_answer_is_refused(
    asks_again, write_program, tmp_path
):
    is_written = tmp_path / "written"
    player = make(
        write_program(f"""
    say(1)
    if moves:
        say("more")
        open({str(is_written)!r}, "w").close()
    """)
    )

    def go_on():
        ask(player, 4, 0)
        while not is_written.exists():
            time.sleep(0.01)
        time.sleep(0.05)
        ask(player, 8, 0) if asks_again else player.close()

    later = "before it was asked" if asks_again else "after its last answer"
    # Both lines may come at once.
    at_once = r"answered '1\\nmore', not one move, after the moves 4 0"
    with pytest.raises(Refused, match=f"{at_once}|wrote 'more' {later}"):
        go_on()


# What it is asked.


def test_a_program_in_a_game_is_asked_in_its_seat(write_program):
    """It is started when it is asked, not asked where a game is over, and goes on."""
    written = write_program()
    player = make(written)
    assert written.told() == []
    lines = [(0, 3, 1, 4, 2), (), (0,), (0, 1), (4,)]  # the first game is won
    states = replay("tic_tac_toe", lines)
    assert player.moves(lines, states, KEY)[1:].tolist() == [0, 1, 2, 0]
    assert ask(player, 0, 1, 2) == 3
    assert written.asked("first") == [["", "0 1"]]
    assert written.asked("second") == [["0", "4", "0 1 2"]]
    player.close()
    assert [lines[-1] for lines in written.told()] == ["quit", "quit"]
    assert ask(player, 0, 1, 2) == 3, "it is started again"
    player.close()


def test_copies_are_asked_at_once_and_answer_in_order(write_program, tmp_path):
    """Each answers only when three were asked; some answer late, and in two parts."""
    folder = tmp_path / "asked"
    folder.mkdir()
    written = write_program(f"""
    open(f"{folder}/{{os.getpid()}}", "w").close()
    while len(os.listdir("{folder}")) < 3:
        time.sleep(0.01)
    time.sleep(os.getpid() % 2 / 1000)
    free = sorted({{*range(9)}} - {{*moves}})
    print(free[(moves[0] - moves[1]) % 7], end="", flush=True)
    print(flush=True)
    """)
    player = make(written, copies=3)
    lines = [*itertools.permutations(range(9), 2)]
    moves = player.moves(lines, replay("tic_tac_toe", lines), KEY)
    texts = [" ".join(map(str, line)) for line in lines]
    for line, move in zip(lines, moves, strict=True):
        assert move == sorted({*range(9)} - {*line})[(line[0] - line[1]) % 7]
    asked = written.asked("first")
    assert len(asked) == 3
    assert all(asked)
    assert sorted(itertools.chain(*asked)) == texts, "each is asked once"
    player.close()


def board_of(line):
    """Return the board of tic-tac-toe after the moves of a line."""
    board = "-" * 9
    for move in line.split():
        board = rules.after(board, int(move))
    return board


def four_of(line):
    """Return the board of `connect_4x4` after the moves of a line."""
    board = "-" * 16
    for move in line.split():
        board = small_boards.after(board, int(move))
    return board


def assert_asked_once(written, seat, env_id, expected, to_board):
    """Check that a seat was asked for each board once, and new copies for some.

    Return the number of positions, and of those that were asked for twice.
    """
    asked_lines = written.asked(seat, env_id)
    number = len(asked_lines) // 2
    lines = [*itertools.chain(*asked_lines[:number])]
    check = [*itertools.chain(*asked_lines[number:])]
    boards, again = map(to_board, lines), [*map(to_board, check)]
    assert sorted(boards) == sorted(expected)
    assert len(set(again)) == len(again)
    assert 50 + 0.05 * len(lines) < len(again) < 50 + 0.15 * len(lines)
    lengths = [*map(len, check)]
    assert lengths != sorted(lengths), "in another order"
    assert set(check) - set(lines), "by another order of moves"
    return len(lines), len(check)


def test_every_position_of_an_enumerable_game_is_asked_once(
    write_program, host_tree, boards
):
    """The number of answers is shown meanwhile."""
    shown, written = {}, write_program()

    def show(text):
        shown[text] = sum(map(len, written.asked("first")))

    player = make(written, in_advance=True, say=show)
    assert isinstance(player, AskedPlayer)
    assert player.evidence == "asked"
    assert player.policy is not None
    for position in host_tree.decisions.tolist():
        (move,) = np.flatnonzero(player.policy[position])
        assert move == rules.moves(boards[position])[0]
    undecided = [board for board in boards if rules.moves(board)]
    numbers = [
        assert_asked_once(
            written,
            seat,
            "tic_tac_toe",
            [board for board in undecided if rules.mover(board) == stone],
            board_of,
        )
        for seat, stone in STONES.items()
    ]
    total, num_again = map(sum, zip(*numbers, strict=True))
    assert total == 4520
    assert player.questions.share_again == num_again / total
    assert len(written.told()) == 4, "a copy and a new one, in each seat"
    assert all(lines[-1] == "quit" for lines in written.told())
    asking = f"asking {written.name} as"
    assert f"{asking} O: 2,000 positions" in shown
    for number in range(0, 2500, 100):
        # It may have been asked for the next ones.
        assert shown[f"{asking} X: {number:,} positions"] >= number


def first_column(board):
    return next(column for column in (1, 2, 0, 3) if board[column] == "-")


def test_every_position_that_a_program_reaches_is_asked_once(write_program):
    written = write_program(player_programs.FIRST_COLUMN)
    player = make(written, "connect_4x4", in_advance=True, copies=2)
    assert (player.evidence, player.policy, written.told()) == ("asked", None, [])
    with pytest.raises(Refused, match="its moves must be known in advance"):
        player.choose(KEY, Game.start("connect_4x4").state)
    grade = grader.follow_lines(player)
    numbers = [
        assert_asked_once(
            written,
            seat,
            "connect_4x4",
            small_boards.reached(first_column, stone),
            four_of,
        )
        for seat, stone in STONES.items()
    ]
    total, num_again = map(sum, zip(*numbers, strict=True))
    assert grade.asked_twice == num_again / total
    started = len(written.told())
    assert grader.follow_lines(player) == grade
    assert len(written.told()) == started, "its moves are known"


@pytest.mark.parametrize(
    ("answer", "env_id"),
    [
        (
            "say(sorted({*range(9)} - {*moves})[os.getpid() % (9 - len(moves))])",
            "tic_tac_toe",
        ),
        # The order of the moves.
        (
            "say((min if sum(moves[:1]) % 2 else max)({*range(9)} - {*moves}))",
            "tic_tac_toe",
        ),
        (
            "say([c for c in range(4) if moves.count(c) < 4]"
            "[-1 if len(moves) == 4 and moves[1] < moves[3] else 0])",
            "connect_4x4",
        ),
        # The number of the positions that it was asked before, in the first position.
        (
            "n = globals().setdefault('n', 0); n += 1;"
            "say(8 if n > 1 and not moves else min({*range(9)} - {*moves}))",
            "tic_tac_toe",
        ),
    ],
    ids=["process", "order", "order-4x4", "history"],
)
def test_a_program_that_answers_differently_is_noticed(answer, env_id, write_program):
    player = make(write_program(answer), env_id, in_advance=True)
    note = player.note or str(grader.follow_lines(player).note)
    match = re.fullmatch(
        r"it does not play one move in each position \(once (\d+) and once (\d+), "
        r"(before the first move|after the moves [\d ]+)\), so its games are sampled",
        note,
    )
    assert match
    assert match[1] != match[2]
    assert player.policy is None
    grade = jax_ttt.grade(player, num_games=4)
    assert (grade.note, grade.evidence, grade.unbeatable) == (note, "none", None)
    with pytest.raises(Refused, match="it does not play one move in each position"):
        jax_ttt.prove(player)


# Its end.


IN_PYTHON = """
import sys
import jax_ttt

player = jax_ttt.new_game(sys.argv[1], seat="second")
sys.exit(7)
"""


@pytest.mark.slow
def test_a_program_ends_with_the_interpreter(write_program):
    written = write_program("say(0)")
    command = [sys.executable, "-c", IN_PYTHON, written.name]
    done = subprocess.run(command, env=as_users.environment(), check=False)
    assert done.returncode == 7
    assert written.left_running() == []
    assert written.told() == [["tic_tac_toe first", "", "quit"]]
