"""A program as a process: what it is told, what is refused, and that it ends."""

import subprocess
import sys
import time

import as_users
import jax
import numpy as np
import player_programs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from player_programs import PlayerProgram

from jax_ttt.config.errors import Refused
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.games import pgx_games
from jax_ttt.players import user_players
from jax_ttt.players.user_players import AskedProgram

LINE = (4, 0)
WHERE = "after the moves 4 0"
SOON = 60.0
"""Seconds after which a program that hangs is ended."""


@pytest.fixture(autouse=True)
def no_hang():
    with player_programs.limited():
        yield


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a program; nothing of it may go on."""
    written = []

    def new(*args, **kwargs):
        written.append(PlayerProgram(tmp_path, *args, **kwargs))
        return written[-1]

    yield new
    assert [number for each in written for number in each.left_running()] == []


@pytest.fixture
def start():
    """Return a function that makes a program, which is ended after the test."""
    made = []

    def new(written, seconds=SOON, copies=1):
        command = getattr(written, "command", written)
        options = ProgramOptions(copies=copies, answer_seconds=seconds)
        made.append(AskedProgram("NAME", command, "tic_tac_toe", options))
        return made[-1]

    yield new
    for each in made:
        each.end()


def ask(asked, lines, seat="first"):
    """Return the answers after these lines, where all numbers to 1,999 are legal."""
    states = pgx_games.init(
        pgx_games.make_env("tic_tac_toe"), jax.random.key(0), len(lines)
    )
    states = states.replace(legal_action_mask=np.ones((len(lines), 2000), bool))
    return [*asked.answers(seat, lines, states)]


def test_the_lines_of_a_program(write, start):
    written = write()
    asked = start(written)
    assert ask(asked, [(4,), (0, 1, 2), ()], "second") == [0, 3, 0]
    assert ask(asked, [(0,)], "second") == [1], "it goes on"
    asked.end()
    assert written.told() == [["tic_tac_toe second", "4", "0 1 2", "", "0", "quit"]]


def test_copies_are_asked_at_the_same_time(write, start, tmp_path):
    """Each answers only when all three were asked."""
    written = write(f"""
    open(f"{tmp_path}/{{line.strip()}}.asked", "w").close()
    while not all(os.path.exists(f"{tmp_path}/{{n}}.asked") for n in range(3)):
        time.sleep(0.01)
    say(moves[0])
    """)
    asked = start(written, copies=3)
    assert ask(asked, [(n,) for n in range(8)]) == [*range(8)]
    assert all(written.asked("first"))
    lines = [line for asked in written.asked("first") for line in asked]
    assert sorted(lines) == [*map(str, range(8))], "each is asked once"


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Return a program that answers with the sum of the moves, in four processes.

    Two answer late, and two in parts.
    """
    written = PlayerProgram(
        tmp_path_factory.mktemp("copies"),
        """
    time.sleep(os.getpid() % 2 / 1000)
    for part in (str(sum(moves)), "\\n"):
        sys.stdout.write(part)
        os.getpid() % 4 < 2 and sys.stdout.flush()
    sys.stdout.flush()
    """,
    )
    asked = AskedProgram(
        "NAME", written.command, "tic_tac_toe", ProgramOptions(copies=4)
    )
    yield asked
    asked.end()


@settings(max_examples=8)
@given(st.data())
def test_answers_have_the_order_of_the_lines(copies, data):
    lines = data.draw(
        st.lists(
            st.lists(st.integers(0, 99), max_size=20).map(tuple),
            min_size=1,
            max_size=30,
        )
    )
    assert ask(copies, lines) == [*map(sum, lines)]


def refusal(asked, lines):
    """Return why the answers of a program are refused."""
    with pytest.raises(Refused) as error:
        ask(asked, lines)
    message = str(error.value)
    assert message.startswith("NAME: ")
    assert "\n" not in message
    return message.removeprefix("NAME: ")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (b"hello\n", "'hello'"),
        (b"4 5\n", "'4 5'"),
        (b"4\n5\n", r"'4\n5'"),
        (b"\n", "''"),
        (b"-1\n", "'-1'"),
        (b"4.0\n", "'4.0'"),
        ("\N{SUPERSCRIPT TWO}\n".encode(), "'\N{SUPERSCRIPT TWO}'"),
        (b"\xff\n", "'\N{REPLACEMENT CHARACTER}'"),
        (b"7" * 5000 + b"\n", f"'{'7' * 60}...'"),
    ],
)
def test_an_answer_is_one_number(said, shown, write, start):
    written = write(f"""
    sys.stdout.buffer.write({said!r} if moves else b" \\t007\\r\\n")
    sys.stdout.flush()
    """)
    asked = start(written)
    assert ask(asked, [()]) == [7]
    assert refusal(asked, [LINE]) == f"answered {shown}, not one move, {WHERE}"


@pytest.mark.parametrize(
    ("statement", "end"),
    [("get()", ""), ('print(42, end="", flush=True)', "; it said only '42'")],
)
def test_an_answer_is_late(statement, end, write, start):
    asked = start(write(f"say(0) if not moves else {statement}"), seconds=5.0)
    assert ask(asked, [()]) == [0]
    asked.options = ProgramOptions(answer_seconds=0.2)
    message = refusal(asked, [LINE])
    assert message == f"no answer within 0.2 s {WHERE}{end}"


@pytest.mark.parametrize(
    ("statement", "how"),
    [
        ("sys.exit()", "ended with exit code 0"),
        ("sys.exit('one\\ntwo\\n\\n')", "ended with exit code 1 (two)"),
        ("1 / 0", "ended with exit code 1 (ZeroDivisionError: division by zero)"),
        ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("os.kill(os.getpid(), 36)", "was ended by signal 36"),
        pytest.param(
            "os.dup2(0, 1); time.sleep(600)",
            "closed its output",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_program_that_ends_early(statement, how, write, start):
    written = write(f"""
    say(0)
    if moves:
        {statement}
    """)
    asked = start(written)
    assert ask(asked, [(), LINE]) == [0, 0]
    assert refusal(asked, [(8,)]) == f"{how} after the moves 8"


def test_a_program_that_writes_before_it_is_asked(write, start, tmp_path):
    is_written = tmp_path / "written"
    written = write(f"""
    say(0)
    if moves:
        say("more")
        open({str(is_written)!r}, "w").close()
        get()
    """)
    asked = start(written)
    assert ask(asked, [()]) == [0]
    message = refusal(asked, [LINE, (8,)])
    # Both lines may come at once, or the second one before or after the next question.
    assert message in (
        rf"answered '0\nmore', not one move, {WHERE}",
        "answered 'more', not one move, after the moves 8",
        "wrote 'more' before it was asked for a move, after the moves 8",
    )


def wait_for_output(asked):
    while True:  # `no_hang` ends it
        asked.check_silence()


def test_a_program_that_writes_after_its_last_answer(write, start):
    asked = start(write("say(0); moves and (time.sleep(0.01), say('more'))"))
    assert ask(asked, [(), LINE]) == [0, 0]
    with pytest.raises(Refused, match="NAME: wrote 'more' after its last answer"):
        wait_for_output(asked)


def test_what_a_program_can_not_be_started_from(tmp_path, start):
    path = tmp_path / "program"
    path.write_text("no shebang")
    path.chmod(0o755)
    with pytest.raises(Refused, match=r"^NAME: can't be started: Exec format "):
        ask(start([str(path)]), [()])
    with pytest.raises(Refused, match=r"^NAME: can't be started: No such file"):
        ask(start([str(tmp_path / "none")]), [()])


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1, 3])
def test_a_program_that_does_not_listen_is_ended_with_its_children(
    copies, write, start
):
    """All processes have the same second to end by themselves."""
    written = write(code=player_programs.DEAF, keeps_output=True)
    asked = start(written, seconds=2.0, copies=copies)
    begin = time.monotonic()
    with pytest.raises(Refused):
        ask(asked, [()])
    assert 0.9 < time.monotonic() - begin < 30
    assert written.left_running() == []


IN_PYTHON = """
import sys
import jax_ttt

player = jax_ttt.new_game(sys.argv[1], seat="second")
sys.exit(7)
"""


@pytest.mark.slow
def test_a_program_ends_with_the_interpreter(write):
    written = write("say(0)")
    command = [sys.executable, "-c", IN_PYTHON, written.name]
    done = subprocess.run(command, env=as_users.environment(), check=False)
    assert done.returncode == 7
    assert written.left_running() == []
    assert written.told() == [["tic_tac_toe first", "", "quit"]]


def test_a_position_in_words():
    assert user_players.position_phrase(()) == "before the first move"
    assert user_players.position_phrase((4, 0, 8)) == "after the moves 4 0 8"
