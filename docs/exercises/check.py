"""Check an exercise on one_file.py.

python docs/exercises/check.py 1

If there is no exercises.py yet, this writes it: a copy of one_file.py with a hole in
six functions. Fill the hole of exercise 1, and run the same command again. It answers
with a proof, with a game that your agent loses, or with the first input for which your
function returns something else.

The other five functions are taken from one_file.py, so the order of the exercises is
free. All else in your file is used as it is.
"""

import argparse
import ast
import faulthandler
import functools
import multiprocessing
import os
import re
import sys
import tempfile
import textwrap
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ONE_FILE = Path(__file__).parents[1] / "examples" / "one_file.py"
RIGHT, WRONG = 10, 1  # exit codes of a judged answer; 0 may be of a student's function


class Exercise(NamedTuple):
    """A function, the lines of it that are cut out, and what stands in their place."""

    function: str
    first: str  # how the first of the lines begins
    last: str  # how the last of them begins
    hole: str


EXERCISES = {
    1: Exercise(
        function="best_legal",
        first="return jnp.where(legal",
        last="return jnp.where(legal",
        hole="""\
            # Exercise 1: the rules. `legal` (9,) is True at the legal moves. The value
            # of an illegal move means nothing; it may be the highest.
            return ...  # your code here
        """,
    ),
    2: Exercise(
        function="play",
        first="values = jnp.where(noise",
        last="values = jnp.where(noise",
        hole="""\
            # Exercise 2: exploration. `to_mover` (9,) has the values of the moves. Read
            # above what `noise` is; the move with the highest of `values` is played.
            values = ...  # your code here
        """,
    ),
    3: Exercise(
        function="action_values",
        first="return values[:, PLACES",
        last="return values[:, PLACES",
        hole="""\
            # Exercise 3: symmetry. `values` (2, 9) are for the cells of the canonical
            # image. Return them for the cells of the board; see IMAGES and PLACES.
            return ...  # your code here
        """,
    ),
    4: Exercise(
        function="two_ply_target",
        first="reward = after.rewards",
        last="return jnp.array([reward",
        hole="""\
            # Exercise 4: the target. Return what the move was worth to its mover, then
            # to the other player: the reward, and GAMMA times what the other player's
            # reply is worth to each: `expected`, and `to_other[reply]`. After the last
            # move (`after.terminated`) there is no reply. `after.rewards` has a reward
            # for each player; the mover was `game.current_player`. What one player
            # wins, the other loses.
            return ...  # your code here
        """,
    ),
    5: Exercise(
        function="update",
        first="target_network=optax",
        last="target_network=optax",
        hole="""\
            # Exercise 5: the teacher. Its new weights are TAU times those of `network`
            # plus 1 - TAU times those it had. Hint: the average, one line below.
            target_network=...,  # your code here
        """,
    ),
    6: Exercise(
        function="losing_line",
        first="playable = positions.legal",
        last="playable = positions.legal",
        hole="""\
            # Exercise 6: the proof. `playable` (P, 9) is True at the moves that the
            # search follows; `policy` (P, 9) has the probability of each move.
            playable = ...  # your code here
        """,
    ),
}


class Answer(NamedTuple):
    """A student's file, and where in it the function of the exercise stands."""

    number: int
    path: Path
    source: bytes
    lines: range  # of the function

    def at(self, line: int | None = None) -> str:
        """Return where a line is, by default the first of the function."""
        return f"{self.path.name}, line {line or self.lines[0]}"


def main() -> int:
    """Check one exercise, and return 0 if it is solved."""
    parser = argparse.ArgumentParser(description="Check an exercise on one_file.py.")
    parser.add_argument("number", type=int, choices=EXERCISES, help="the exercise")
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        default="exercises.py",
        help="the file to check, written if it is missing (default: exercises.py)",
    )
    parser.add_argument(
        "--limit", type=int, default=120, help="seconds until it ends (default: 120)"
    )
    args = parser.parse_args()
    try:
        if not args.file.exists():
            args.file.write_text(file_with_holes(), encoding="utf-8")
            print(f"Wrote {args.file}; search in it for: Exercise {args.number}")
        answer = read_answer(args.file, args.number)
    except (OSError, ValueError) as error:
        print(error)
        return 1
    return run(answer, max(args.limit, 1))


def file_with_holes() -> str:
    """Return one_file.py with the six holes."""
    source = ONE_FILE.read_text(encoding="utf-8")
    for exercise in EXERCISES.values():
        source = source.replace(solution_of(exercise), hole_of(exercise))
    return source


def hole_of(exercise: Exercise) -> str:
    """Return the lines of a hole, indented as those that it replaces."""
    solution = solution_of(exercise)
    indent = " " * (len(solution) - len(solution.lstrip()))
    return textwrap.indent(textwrap.dedent(exercise.hole), indent)


def solution_of(exercise: Exercise) -> str:
    """Return the lines of one_file.py that an exercise cuts out."""
    lines = ONE_FILE.read_text(encoding="utf-8").splitlines(keepends=True)
    starts = [line.lstrip() for line in lines]
    first = next(i for i, x in enumerate(starts) if x.startswith(exercise.first))
    last = next(i for i, x in enumerate(starts) if x.startswith(exercise.last))
    return "".join(lines[first : last + 1])


def read_answer(path: Path, number: int) -> Answer:
    """Return the answer to an exercise that stands in a file.

    Raises:
        ValueError: the file is not a program, or the function is missing or has still
            its hole.
    """
    source = path.read_bytes()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path.name}, line {line}" if line else path.name
        raise ValueError(f"{where}: {getattr(error, 'msg', error)}") from None
    name = EXERCISES[number].function
    functions = functions_of(tree)
    if name not in functions:
        raise ValueError(f"{path.name}: the function {name} is missing")
    function = functions[name]
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Assign | ast.keyword) and is_dots(node):
            where = f"{path.name}, line {node.lineno}"
            raise ValueError(f"{where}: exercise {number} is not filled in")
    lines = range(function.lineno, (function.end_lineno or 0) + 1)
    return Answer(number=number, path=path, source=source, lines=lines)


def functions_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Return the functions of a file, by name."""
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def is_dots(node: ast.Return | ast.Assign | ast.keyword) -> bool:
    """Return whether the value of a statement or of an argument is `...`."""
    return isinstance(node.value, ast.Constant) and node.value.value is ...


def run(answer: Answer, limit: int) -> int:
    """Judge an answer in a process that ends after `limit` seconds; return its code."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        stack = Path(folder) / "stack.txt"
        process = multiprocessing.get_context("spawn").Process(
            target=judge_in_process, args=(answer, limit, stack)
        )
        process.start()
        try:
            process.join()
        except KeyboardInterrupt:
            process.kill()
            return 130
        text = stack.read_text(encoding="utf-8") if stack.exists() else ""
    if text:  # written at the limit
        frames = re.findall(r'File "(.*)", line (\d+) in (.*)', text)
        line = line_to_name(answer, [(file, int(n), name) for file, n, name in frames])
        print(f"{answer.at(line)}: no end after {limit} s; is there an endless loop?")
    elif process.exitcode not in (RIGHT, WRONG):
        print(f"{answer.at()}: the function ended Python")
    print(f"({time.monotonic() - begin:.0f} s)")
    return 0 if process.exitcode == RIGHT else 1


def judge_in_process(answer: Answer, limit: int, stack: Path) -> None:
    """Judge an answer, and exit with RIGHT or WRONG; write the stack at the limit."""
    with open(os.devnull, "w") as nowhere, stack.open("w") as file:
        sys.stderr = nowhere  # no traceback, whatever happens
        try:
            import judge  # it imports JAX

            original = one_file()
        except ModuleNotFoundError as error:
            print(f"{error}: pip install jax flax optax pgx")
            sys.exit(WRONG)
        is_right = False
        faulthandler.dump_traceback_later(limit, exit=True, file=file)
        try:
            own = load(answer)
            is_right = judge.is_right(answer.number, original, own, answer.at())
        except judge.WrongAnswerError as error:
            print(f"{answer.at()}: {error}")
        except KeyboardInterrupt:
            pass
        except (Exception, SystemExit) as error:
            stack_of_error = reversed(traceback.extract_tb(error.__traceback__))
            frames = [(f.filename, f.lineno or 0, f.name) for f in stack_of_error]
            message = str(error).partition("\n")[0]
            where = answer.at(line_to_name(answer, frames))
            print(f"{where}: {type(error).__name__}: {message}")
    sys.exit(RIGHT if is_right else WRONG)


@functools.cache
def one_file() -> ModuleType:
    """Return one_file.py as a module."""
    module = ModuleType("one_file")
    exec(compile(ONE_FILE.read_bytes(), ONE_FILE, "exec"), vars(module))
    return module


def load(answer: Answer) -> ModuleType:
    """Return the student's file as a module, with five functions of one_file.py."""
    module = ModuleType("exercises")
    exec(compile(answer.source, answer.path, "exec"), vars(module))
    functions = functions_of(ast.parse(ONE_FILE.read_bytes()))
    for number, exercise in EXERCISES.items():
        if number != answer.number:
            tree = ast.Module([functions[exercise.function]], type_ignores=[])
            exec(compile(tree, ONE_FILE, "exec"), vars(module))
    return module


def line_to_name(answer: Answer, frames: Iterable[tuple[str, int, str]]) -> int | None:
    """Return the line of the student's file at which to look; None if none is known.

    The frames (file, line, function) are those of an error, the innermost first. A
    wrong result of the function may fail later, in a function of one_file.py.
    """
    lines = [(line, name) for file, line, name in frames if file == str(answer.path)]
    given = functions_of(ast.parse(ONE_FILE.read_bytes()))
    inside = [line for line, _ in lines if line in answer.lines]
    added = [line for line, name in lines if name not in given]
    return next(iter(inside + added), None)


if __name__ == "__main__":
    sys.exit(main())
