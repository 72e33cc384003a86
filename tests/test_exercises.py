"""The exercises: a right answer is proven, and a wrong one is explained."""

import faulthandler
import functools
import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
import rules

FOLDER = Path(__file__).parents[1] / "docs" / "exercises"


@functools.cache
def program(name):
    """Return a program of the folder as a module."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = program("check")
EXERCISES = check.EXERCISES


def filled(number, lines):
    """Return the file with holes, one of which is filled with these lines."""
    hole = check.hole_of(EXERCISES[number])
    indent = " " * (len(hole) - len(hole.lstrip()))
    lines = textwrap.indent(textwrap.dedent(lines).strip("\n") + "\n", indent)
    source = check.file_with_holes()
    assert source.count(hole) == 1
    return source.replace(hole, lines)


def line_of(source, lines):
    """Return the number of a line of a file."""
    return [line.strip() for line in source.splitlines()].index(lines) + 1


def run(number, folder, *flags):
    """Check exercises.py of a folder; return the exit code and what was printed."""
    done = subprocess.run(
        [sys.executable, FOLDER / "check.py", str(number), *flags],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stdout
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_one_file_fills_the_six_holes():
    source = check.file_with_holes()
    assert source.count("# your code here") == len(EXERCISES) == 6
    for exercise in EXERCISES.values():
        source = source.replace(check.hole_of(exercise), check.solution_of(exercise))
    assert source == check.ONE_FILE.read_text("utf-8")


def test_the_file_is_written_once_and_the_hole_is_named(tmp_path):
    file = tmp_path / "exercises.py"
    code, text = run(2, tmp_path)
    assert file.read_text("utf-8") == check.file_with_holes()
    lines = [line.strip() for line in check.file_with_holes().splitlines()]
    number = lines.index("values = ...  # your code here") + 1
    unfilled = f"exercises.py, line {number}: exercise 2 is not filled in\n"
    assert (code, text.splitlines(keepends=True)[-1]) == (1, unfilled)
    assert run(2, tmp_path) == (1, unfilled)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "x = 1\ndef best_legal(values, legal)\n    return 1\n",
            ", line 2: expected ':'",
        ),
        (
            "def best_legal(values, legal):\nreturn 1\n",
            ", line 2: expected an indented",
        ),
        ("", ": the function best_legal is missing"),
        ("\0", ": source code string cannot contain null bytes"),
    ],
)
def test_a_file_that_is_not_the_exercise_is_refused(source, message, tmp_path):
    (tmp_path / "exercises.py").write_text(source, "utf-8")
    code, text = run(1, tmp_path)
    assert code == 1
    assert text.startswith(f"exercises.py{message}")
    assert text.count("\n") == 1


TARGET = """
reward = after.rewards[game.current_player]
gamma = jnp.where(after.terminated, 0.0, GAMMA)
return jnp.array([reward + gamma * expected, -reward + gamma * to_other[reply]])
"""
EPSILON = "epsilon      0.5\nnoise[0]     0."
WEIGHT = "one weight of the network, after an update: "
POLYAK = "target_network=optax.incremental_update({}, {}, TAU),"
WALK = "playable = positions.legal & ({})"
WRONG = {
    1: {
        "return values.argmax()": "1 2 4 7\n\nexpected     7\nyours        0\n",
        "return jnp.where(legal, values, 0).argmax()": "0 1 2 4 7\n\nexpected     2",
        "return jnp.where(legal, values, -jnp.inf).argmin()": "legal moves  0 5\n",
        "return legal.argmax()": "\nyours        ",
    },
    2: {
        "values = to_mover": EPSILON,
        "values = noise[1:]": EPSILON,
        "values = jnp.where(noise[0] > epsilon, noise[1:], to_mover)": EPSILON,
        "values = jnp.nan": EPSILON,
    },
    3: {
        "return values": "O is to move\n\nmove         1\n",
        "return values[:, IMAGES[canonical]]": "O is to move\n\nmove         0\n",
        "return -values[:, PLACES[canonical]]": "O is to move\n\nmove         1\n",
    },
    4: {
        # Whose reward it is, the sign of a reply, and the end of a game.
        TARGET.replace("game.current", "after.current"): "1 -1\nyours        -1 1\n",
        TARGET.replace("reward + gamma * exp", "reward - gamma * exp"): "X is to move",
        TARGET.replace("-reward", "reward"): "1 -1\nyours        1 1\n",
        TARGET.replace("after.terminated", "False"): "1 -1\nyours        0.",
        "return jnp.log(jnp.array([-1.0, -1.0]))": "1 -1\nyours        nan nan\n",
    },
    5: {
        "target_network=network,": WEIGHT,
        "target_network=state.target_network,": WEIGHT,
        POLYAK.format("state.target_network", "network"): WEIGHT,
        POLYAK.format("network", "state.average"): WEIGHT,
    },
    6: {
        "playable = positions.legal": "Your line is no proof: the player never makes",
        WALK.format("policy != 0"): "This game does:\n\nX: 0   O: 1",
        WALK.format(
            "is_opponents_turn | (policy > 0.5)"
        ): "takes any free cell; it is X",
        "return None": "takes the first free cell; it is X.\nYour proof says",
        "return (0, 6, 1, 2, 3, 7, 4, 8)": "not a shortest one; this one is shorter:",
        "return (0, 1, 2, 3, 4, 6, 5, 8, 7)": "the player does not lose it",
    },
}
CASES = [(number, lines) for number, answers in WRONG.items() for lines in answers]


@pytest.fixture
def difference(tmp_path):
    """Return a function that compares an answer with one_file.py."""

    def difference(number, lines):
        file = tmp_path / "exercises.py"
        file.write_text(filled(number, lines), "utf-8")
        own = check.load(check.read_answer(file, number))
        return program("judge").DIFFERENCES[number](check.one_file(), own)

    return difference


@pytest.mark.parametrize(("number", "lines"), CASES)
def test_a_wrong_answer_has_a_first_difference(number, lines, difference):
    text = difference(number, lines)
    assert text is not None
    assert WRONG[number][lines] in text


@pytest.mark.parametrize(
    ("number", "lines", "end"),
    [
        (1, "return values.argmax()", "proven all the same. The difference remains.\n"),
        (6, "return None", ". O .\n\n"),  # no agent learns from its proof
    ],
)
def test_a_proven_agent_does_not_make_a_wrong_answer_right(
    number, lines, end, tmp_path, monkeypatch, capsys
):
    judge = program("judge")
    monkeypatch.setattr(judge, "train", lambda *args, **flags: (1800, 1, None))
    file = tmp_path / "exercises.py"
    file.write_text(filled(number, lines), "utf-8")
    own = check.load(check.read_answer(file, number))
    assert not judge.is_right(number, check.one_file(), own, "here")
    text = capsys.readouterr().out
    assert text.startswith("here: not right. The first difference:\n")
    assert text.endswith(end)


def test_only_the_training_of_a_right_answer_ends_at_the_first_proof(monkeypatch):
    judge = program("judge")
    agents = [(0, [4]), (100, None), (200, [4]), (300, None)]
    file = SimpleNamespace(NUM_UPDATES=300, enumerate_positions=lambda: None)
    own = SimpleNamespace(
        train=lambda seed: agents, losing_line=lambda _, agent, seat: agent
    )
    monkeypatch.setattr(judge, "policy_of", lambda file, own, agent, _: agent)
    for until_proven, end in ((True, 100), (False, 300)):
        num_updates, _, line = judge.train(file, own, until_proven=until_proven)
        assert (num_updates, line) == (end, None)


def test_the_line_to_look_at_is_in_the_function_or_in_one_that_the_student_added(
    tmp_path,
):
    file = tmp_path / "exercises.py"
    file.write_text(filled(6, "playable = helper(policy)"), "utf-8")
    answer = check.read_answer(file, 6)
    inside, before = answer.lines[2], answer.lines[0] - 2

    def line_to_name(*frames):
        return check.line_to_name(answer, [(str(file), *frame) for frame in frames])

    assert line_to_name((before, "helper"), (inside, "losing_line")) == inside
    assert line_to_name((before, "helper"), (1, "train")) == before
    assert line_to_name((before, "train")) is None
    assert check.line_to_name(answer, [("numpy.py", inside, "where")]) is None


@pytest.mark.parametrize("number", EXERCISES)
def test_one_file_has_no_difference(number, difference):
    assert difference(number, check.solution_of(EXERCISES[number])) is None


@pytest.mark.parametrize(
    ("number", "lines", "message"),
    [
        (1, "return values", r"returns the shape \(9,\) for a move, not \(\)"),
        (1, "return None", "returns no number for a move"),
        (1, "return values.max()", "returns float32 for a move, not an integer"),
        (3, "return values[0]", r"returns the shape \(9,\) for .*, not \(2, 9\)"),
        (4, "return jnp.zeros(3)", r"returns the shape \(3,\) for .*, not \(2,\)"),
        (5, "target_network=0.5,", "the new target network is not a network"),
    ],
)
def test_a_wrong_shape_or_type_is_named(number, lines, message, difference):
    with pytest.raises(program("judge").WrongAnswerError, match=message):
        difference(number, lines)


@pytest.fixture
def judged(tmp_path, monkeypatch, capsys):
    """Return a function that judges an answer here, and returns what was printed."""
    monkeypatch.setitem(sys.modules, "judge", program("judge"))

    def judged(number, source):
        file = tmp_path / "exercises.py"
        file.write_text(source, "utf-8")
        answer = check.read_answer(file, number)
        stderr = sys.stderr
        try:
            with pytest.raises(SystemExit) as end:
                check.judge_in_process(answer, 500, tmp_path / "stack.txt")
        finally:
            faulthandler.cancel_dump_traceback_later()
            sys.stderr = stderr
        assert end.value.code == check.WRONG
        return capsys.readouterr().out

    return judged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("playable = policy[0, 9, 0]", "IndexError: too many indices"),
        ("playable = unknown", "NameError: name 'unknown' is not defined"),
        ("import nothing_like_it", "ModuleNotFoundError: No module named"),
        ("raise SystemExit", "SystemExit"),
        # Versions of Python name different lines of the function.
        ("return losing_line(positions, policy, seat)", "RecursionError: max"),
    ],
)
def test_a_fault_is_named_with_its_line(lines, message, judged):
    source = filled(6, lines)
    number = line_of(source, lines)
    number = r"\d+" if "Recursion" in message else number
    text = judged(6, source)
    assert re.match(rf"exercises\.py, line {number}: {re.escape(message)}", text)


@pytest.mark.slow
def test_an_endless_loop_is_named_with_its_line(tmp_path):
    lines = "while True: __import__('time').sleep(1)"
    source = filled(6, lines)
    (tmp_path / "exercises.py").write_text(source, "utf-8")
    code, text = run(6, tmp_path, "--limit", "6")
    message = "no end after 6 s; is there an endless loop?"
    where = f"exercises.py, line {line_of(source, lines)}"
    assert (code, text.splitlines()[0]) == (1, f"{where}: {message}")


@pytest.mark.parametrize(
    ("number", "lines", "first"),
    [
        (1, "__import__('os')._exit(0)", "the function ended Python\n"),
        pytest.param(6, "return None", "not right. The first", marks=pytest.mark.slow),
    ],
)
def test_a_wrong_answer_is_explained_by_the_command(number, lines, first, tmp_path):
    (tmp_path / "exercises.py").write_text(filled(number, lines), "utf-8")
    code, text = run(number, tmp_path)
    assert code == 1
    assert re.match(rf"exercises\.py, line \d+: {first}", text)
    assert ("ended Python" in text) == (number == 1)
    assert re.search(r"\n\(\d+ s\)\n\Z", text)


@pytest.mark.slow
def test_a_right_answer_is_proven(tmp_path):
    """All right answers give one program, that of one_file.py."""
    source = filled(6, check.solution_of(EXERCISES[6]))
    (tmp_path / "exercises.py").write_text(source, "utf-8")
    code, text = run(6, tmp_path, "--limit", "500")
    assert code == 0
    assert "\nproven: after " in text


@pytest.mark.slow
def test_an_agent_of_a_wrong_answer_shows_how_it_loses(judged):
    text = judged(4, filled(4, TARGET.replace("game.current", "after.current")))
    assert "not right. The first difference:\n" in text
    verdict, _, boards = text.partition("the agent loses this game as ")
    assert "after 1,800 updates " in verdict
    moves, *rows, _ = boards.splitlines()[2:]
    winner = {"X": "O", "O": "X"}[boards[0]]
    assert moves.split()[-2] == f"{winner}:"
    board = "".join(row[-5::2] for row in rows)
    assert rules.winner(board) == winner
