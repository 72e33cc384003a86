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

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import Seat
from jax_ttt.players import program
from jax_ttt.players.program import ProgramCopy

LINE = (4, 0)
WHERE = "after the moves 4 0"
SOON = 30.0
"""Seconds in which a program starts and answers on a busy machine."""


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
    gc.collect()
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


def refusal(process, lines=((), LINE)):
    """Return why the answers of a program are refused."""
    with pytest.raises(PlayerError) as error:
        list(program.answers_in_turn([process], lines))
    message = str(error.value)
    assert message.startswith("NAME: ")
    assert "\n" not in message
    return message.removeprefix("NAME: ")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("hello", "'hello'"),
        ("4 5", "'4 5'"),
        ("4\n5", r"'4\n5'"),
        ("4\n\n", r"'4'"),
        ("", "''"),
        ("-1", "'-1'"),
        ("4.0", "'4.0'"),
        ("\N{SUPERSCRIPT TWO}", "'\N{SUPERSCRIPT TWO}'"),
        ("\N{ARABIC-INDIC DIGIT TWO}", "'\N{ARABIC-INDIC DIGIT TWO}'"),
        ("x" * 61, f"'{'x' * 60}...'"),
        ("7" * 5000, f"'{'7' * 60}...'"),
    ],
)
def test_an_answer_is_one_number(said, shown, write, start):
    written = write(f"""
    sys.stdout.reconfigure(encoding="utf8")
    say({said!r} if moves else 3)
    """)
    assert refusal(start(written)) == f"answered {shown}, not one move, {WHERE}"


def test_blanks_around_a_number_and_zeros_before_it_do_not_matter(write, start):
    process = start(write('say(" \\t007\\r")'))
    assert [*program.answers_in_turn([process], [()])] == [7]


def test_bytes_that_are_no_text_are_shown_somehow(write, start):
    written = write("sys.stdout.buffer.write(bytes([0xFF, 10])); sys.stdout.flush()")
    message = refusal(start(written), [()])
    shown = "'\N{REPLACEMENT CHARACTER}'"
    assert message == f"answered {shown}, not one move, before the first move"


@pytest.mark.parametrize(
    ("statement", "end"),
    [("get()", ""), ('print(42, end="", flush=True)', "; it said only '42'")],
)
def test_an_answer_is_late(statement, end, write, start):
    process = start(
        write(f"""
    say(0) if not moves else {statement}
    """)
    )
    assert [*program.answers_in_turn([process], [()])] == [0]
    process.answer_seconds = 0.1
    begin = time.monotonic()
    message = refusal(process, [LINE])
    assert 0.1 <= time.monotonic() - begin < 5
    assert message == f"no answer within 0.1 s {WHERE}{end}"


def test_a_late_copy_is_seen_while_another_one_answers(write, start):
    """As long as the other one has something to do."""
    quick = start(write(), seconds=SOON)
    silent = start(write("get()", file="silent.py"), seconds=0.5)
    lines = [(), *[LINE] * 10**6]
    with pytest.raises(PlayerError, match=r"within 0\.5 s before the first move"):
        list(program.answers_in_turn([silent, quick], lines))


@pytest.mark.parametrize(
    ("statement", "how"),
    [
        ("sys.exit()", "ended with exit code 0"),
        ("sys.exit('one\\ntwo\\n\\n')", "ended with exit code 1 (two)"),
        ("sys.exit('x' * 999)", f"ended with exit code 1 ({'x' * 200})"),
        ("1 / 0", "ended with exit code 1 (ZeroDivisionError: division by zero)"),
        ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("os.kill(os.getpid(), 36)", "was ended by signal 36"),
        pytest.param(
            *("os.dup2(0, 1); time.sleep(600)", "closed its output"),
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
    with pytest.raises(PlayerError) as error:
        wait_for_output(process)
    assert (
        str(error.value)
        == f"NAME: wrote 'more' before it was asked for a move, {WHERE}"
    )


def test_what_a_program_can_not_be_started_from(tmp_path, start):
    path = tmp_path / "program"
    path.write_text("no shebang")
    path.chmod(0o755)
    with pytest.raises(PlayerError, match=r"^NAME: can't be started: Exec format "):
        start([str(path)])
    with pytest.raises(PlayerError, match=r"^NAME: can't be started: No such file"):
        start([str(tmp_path / "none")])


def wait_until_asked(written):
    deadline = time.monotonic() + SOON
    while not all(len(lines) > 1 for lines in written.told() or [[]]):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_program_that_does_not_listen_is_ended_with_its_children(write, start):
    written = write(
        code="""
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
get(), get(), time.sleep(600)
""",
        keeps_output=True,
    )
    process = start(written)
    process.ask(())
    wait_until_asked(written)
    begin = time.monotonic()
    process.end()
    assert 0.9 < time.monotonic() - begin < 10, "it has a second to end by itself"
    assert written.left_running() == []


def test_a_program_has_time_to_end_by_itself(write, start, tmp_path):
    path = tmp_path / "saved"
    code = f"get(); get(); say(0); get(); time.sleep(0.2); open({str(path)!r}, 'w')"
    process = start(write(code=code))
    assert [*program.answers_in_turn([process], [()])] == [0]
    process.end()
    assert path.exists()


@pytest.mark.slow
def test_a_program_ends_with_its_object(write):
    written = write("time.sleep(600)")
    process = ProgramCopy("NAME", written.command, "tic_tac_toe", "first", SOON)
    process.ask(())
    wait_until_asked(written)
    del process
    gc.collect()
    assert written.left_running() == []


@pytest.mark.slow
def test_a_program_ends_with_the_interpreter(write):
    written = write("time.sleep(600)")
    code = (
        "import sys, time; from jax_ttt.players.program import ProgramCopy;"
        f"kept = ProgramCopy('NAME', {written.command!r}, 'tic_tac_toe', 'first', 9.0);"
        "kept.ask(()); time.sleep(0.5); sys.exit(7)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 7
    assert written.left_running() == []


def test_a_position_in_words():
    assert program.position_phrase(()) == "before the first move"
    assert program.position_phrase((4, 0, 8)) == "after the moves 4 0 8"
