"""A program as a process: what it is told, what is refused, and that it ends."""

import gc
import subprocess
import sys
import time

import player_programs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from player_programs import PlayerProgram

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import Seat
from jax_ttt.players import program
from jax_ttt.players.program import ProgramCopy

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
    """Return a function that starts a program, which is ended after the test."""
    started = []

    def new(written, seat: Seat = "first", seconds=SOON):
        command = getattr(written, "command", written)
        started.append(ProgramCopy("NAME", command, "tic_tac_toe", seat, seconds))
        return started[-1]

    yield new
    for each in started:
        each.end()


def test_the_lines_of_a_program(write, start):
    written = write()
    process = start(written, "second")
    assert [*program.answers_in_turn([process], [(4,), (0, 1, 2), ()])] == [0, 3, 0]
    assert [*program.answers_in_turn([process], [(0,)])] == [1], "it goes on"
    process.end()
    assert written.told() == [["tic_tac_toe second", "4", "0 1 2", "", "0", "quit"]]


def test_copies_are_asked_at_the_same_time(write, start, tmp_path):
    """Each answers only when all three were asked."""
    written = write(f"""
    open(f"{tmp_path}/{{line.strip()}}.asked", "w").close()
    while not all(os.path.exists(f"{tmp_path}/{{n}}.asked") for n in range(3)):
        time.sleep(0.01)
    say(moves[0])
    """)
    copies = [start(written) for _ in range(3)]
    assert [*program.answers_in_turn(copies, [(n,) for n in range(8)])] == [*range(8)]
    assert all(written.asked("first"))
    lines = [line for asked in written.asked("first") for line in asked]
    assert sorted(lines) == [*map(str, range(8))], "each is asked once"


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Return four copies of a program that answers with the sum of the moves.

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
    started = [
        ProgramCopy("NAME", written.command, "tic_tac_toe", "first", SOON)
        for _ in range(4)
    ]
    yield started
    for each in started:
        each.end()


@settings(max_examples=8)
@given(st.data())
def test_answers_have_the_order_of_the_lines(copies, data):
    lines = data.draw(st.lists(st.lists(st.integers(0, 99)).map(tuple), max_size=30))
    number = data.draw(st.integers(1, 4))
    assert [*program.answers_in_turn(copies[:number], lines)] == [*map(sum, lines)]


def refusal(process, lines, others=()):
    """Return why the answers of a program are refused, beside other copies."""
    with pytest.raises(Refused) as error:
        list(program.answers_in_turn([process, *others], lines))
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
    process = start(written)
    assert [*program.answers_in_turn([process], [()])] == [7]
    assert refusal(process, [LINE]) == f"answered {shown}, not one move, {WHERE}"


@pytest.mark.parametrize(
    ("statement", "end"),
    [("get()", ""), ('print(42, end="", flush=True)', "; it said only '42'")],
)
def test_an_answer_is_late(statement, end, write, start):
    """It is seen while another copy answers."""
    quick = start(write())
    process = start(write(f"say(0) if not moves else {statement}", file="late.py"))
    assert [*program.answers_in_turn([process], [()])] == [0]
    process.answer_seconds = 0.2
    message = refusal(process, [LINE] * 10**6, others=[quick])
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
    process = start(written)
    assert [*program.answers_in_turn([process], [(), LINE])] == [0, 0]
    assert refusal(process, [(8,)]) == f"{how} after the moves 8"


def wait_for_output(process):
    while True:  # `no_hang` ends it
        process.check_silence()


def test_a_program_that_writes_before_it_is_asked(write, start, tmp_path):
    is_read = tmp_path / "read"
    written = write(f"""
    say(0)
    while moves and not os.path.exists({str(is_read)!r}):
        time.sleep(0.01)
    moves and say("more")
    """)
    process = start(written)
    assert [*program.answers_in_turn([process], [LINE])] == [0]
    is_read.touch()
    with pytest.raises(Refused) as error:
        wait_for_output(process)
    assert (
        str(error.value)
        == f"NAME: wrote 'more' before it was asked for a move, {WHERE}"
    )


def test_what_a_program_can_not_be_started_from(tmp_path, start):
    path = tmp_path / "program"
    path.write_text("no shebang")
    path.chmod(0o755)
    with pytest.raises(Refused, match=r"^NAME: can't be started: Exec format "):
        start([str(path)])
    with pytest.raises(Refused, match=r"^NAME: can't be started: No such file"):
        start([str(tmp_path / "none")])


@pytest.mark.slow
def test_a_program_that_does_not_listen_is_ended_with_its_children(write, start):
    """It has a second to end by itself."""
    written = write(code=player_programs.DEAF, keeps_output=True)
    process = start(written)
    process.ask(())
    written.wait_until_asked()
    begin = time.monotonic()
    process.end()
    assert time.monotonic() - begin > 0.9
    assert written.left_running() == []


@pytest.mark.slow
def test_a_program_ends_with_its_object(write):
    written = write("time.sleep(600)")
    process = ProgramCopy("NAME", written.command, "tic_tac_toe", "first", SOON)
    process.ask(())
    written.wait_until_asked()
    del process
    gc.collect()
    assert written.left_running() == []


@pytest.mark.slow
def test_a_program_ends_with_the_interpreter(write):
    written = write("time.sleep(600)")
    code = (
        "import sys; from jax_ttt.players.program import ProgramCopy;"
        f"kept = ProgramCopy('NAME', {written.command!r}, 'tic_tac_toe', 'first', 9.0);"
        "kept.ask(()); sys.stdin.read(); sys.exit(7)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as ours:
        written.wait_until_asked()
    assert ours.returncode == 7
    assert written.left_running() == []


def test_a_position_in_words():
    assert program.position_phrase(()) == "before the first move"
    assert program.position_phrase((4, 0, 8)) == "after the moves 4 0 8"
