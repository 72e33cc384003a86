"""Train the agents that come with the package, and write docs/shipped_agents.md.

python -m tools.make_agents
"""

import dataclasses
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import jax

from jax_ttt import evaluate
from jax_ttt.__main__ import run_command
from jax_ttt.config.game_facts import DEFAULT_GAME, seat_name
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.games import tree as trees
from jax_ttt.grading import exam, grader, search_grade
from jax_ttt.grading.grade import Grade, SeatGrade
from jax_ttt.players import player_names, registry, saved_agents
from jax_ttt.players.player import Player
from jax_ttt.players.shipped import ALL, CERTIFICATES, CONNECT_FOUR, SHIPPED, SNAPSHOTS
from jax_ttt.solver.reached_positions import Reach

_MAX_POSITIONS = 10**6  # a search of these agents meets fewer
HEAD = ("agent", "trained with", "size")
SEARCH_HEAD = (
    *("agent", "seat", "positions", "losing ends"),
    *("vs. random: wins / draws / losses", "unbeatable"),
)
EXAM_HEAD = ("agent", "all positions", "random ones", "tactical ones")
PAGE = Path(__file__).parents[1] / "docs" / "shipped_agents.md"
FLAGS = {
    "network": ("--preset", "default", "--seed", "1"),
    # Its rows are after-states: they have one value each, so the file is small.
    "table": ("--preset", "table", "--table-key", "after-state", "--seed", "1"),
    "connect-5x4": ("--preset", "connect-5x4", "--seed", "1000", "--until-proven"),
    "connect-7x6": ("--preset", "connect-7x6", "--seed", "1000", "--no-prove"),
}
"""The flags of the training of each agent."""
TEXT = """# Shipped agents

<!-- Made by `make agents`, which trains the agents: run that instead of editing. -->

Some trained agents come with the package. Every command that takes a player takes them
by name, for instance `python -m jax_ttt.play shipped:network`. Each was trained by one
command. On the same machine and versions, `make agents` writes the same bytes again.

## Tic-tac-toe

{agents}

A [certificate](certificates.md) is a proof that can be checked without this package, by
`python docs/check_certificate.py FILE`:

{certificates}

The grades are exact, over all {positions:,} positions. A test computes them
again from the files. [players.md](players.md) explains the rows.

{grades}

## Connect Four

{boards}

[connect_four.md](connect_four.md) explains how they learn. The figures of
`shipped:connect-5x4` are exact, over all positions that it reaches against every
opponent. A position and its mirror image count once.

{reached}

`shipped:connect-7x6` [can be beaten](connect_four.md#the-usual-board); its file has the
shortest line that beats it as X, and as O.
[An exam](large_searches.md#an-exam-of-connect-four) counts the share of its moves that
keep the value of the position (in brackets: 95 % intervals):

{exam}
"""


def train() -> None:
    """Train each agent in a new process, and copy its files into the package."""
    for name, path in ALL.items():
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            command = (sys.executable, "-m", "jax_ttt.train", *FLAGS[name])
            subprocess.run([*command, "--run-dir", str(run)], check=True)
            path.parent.mkdir(exist_ok=True)
            shutil.copyfile(RunFolder(run).agent, path)
            if name in SNAPSHOTS:
                shutil.rmtree(SNAPSHOTS[name], ignore_errors=True)
                shutil.copytree(RunFolder(run).snapshots, SNAPSHOTS[name])


def add_losing_lines(name: str) -> None:
    """Add the shortest lines that beat an agent to the grade in its file.

    In each seat all lines are followed until one beats the agent. The weights stay the
    same.
    """

    def stop_when_beaten(reach: Reach, level: int, num_done: int) -> None:
        if reach.losing_line is not None:
            raise search_grade.TimeOverError

    results = search_grade.search_by_seat(
        shipped_player(name), _MAX_POSITIONS, on_batch=stop_when_beaten
    )
    agent = saved_agents.load_agent(ALL[name])
    seats = {seat: result.grade for seat, result in results.items()}
    grade = dataclasses.replace(
        agent.grade, first=seats["first"], second=seats["second"]
    )
    saved_agents.save_agent(dataclasses.replace(agent, grade=grade), ALL[name])


def certify() -> None:
    """Write the certificate of each agent into the package."""
    for name, path in CERTIFICATES.items():
        code = run_command(
            evaluate.COMMAND, [f"shipped:{name}", "--certificate", str(path)]
        )
        if code:
            raise SystemExit(code)


def page() -> str:
    """Return the text of the page: how the agents were made, proofs and grades."""
    agents = agent_rows(SHIPPED)
    certificates = [
        (f"`shipped:{name}`", f"[{path.name}](../jax_ttt/shipped/{path.name})")
        for name, path in CERTIFICATES.items()
    ]
    columns = [grade_cells(grade_of(f"shipped:{name}")) for name in SHIPPED]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return TEXT.format(
        agents=table(HEAD, agents),
        certificates=table(("agent", "certificate"), certificates),
        positions=trees.enumerated(DEFAULT_GAME).num_positions,
        grades=table(("", *(name for name, *_ in agents)), rows),
        boards=table(HEAD, agent_rows(CONNECT_FOUR)),
        reached=table(SEARCH_HEAD, list(search_rows("connect-5x4"))),
        exam=table(EXAM_HEAD, [exam_scores("connect-7x6")]),
    )


def agent_rows(files: Mapping[str, Path]) -> list[tuple[str, ...]]:
    """Return the rows of a table of agents: name, command, size."""
    return [
        (f"`shipped:{name}`", f"`{command(name)}`", f"{path.stat().st_size:,} bytes")
        for name, path in files.items()
    ]


def search_rows(name: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each seat: what an agent of Connect Four reaches."""
    player = shipped_player(name)
    grade = grader.follow_lines(player, _MAX_POSITIONS)
    for seat, result in grade.searched.items():
        yield (
            f"`{player.name}`",
            f"as {seat_name(seat)}",
            f"{result.num_positions:,}",
            f"{result.losing_ends:,}",
            percent(result),
            "proven" if result.unbeatable else "no",
        )


def exam_scores(name: str) -> tuple[str, ...]:
    """Return the scores of an agent in the exam of Connect Four."""
    player = shipped_player(name)
    questions = exam.read_exam(player.env_id, None)
    exam_key = jax.random.key(0)
    scores = exam.take_exam(player.env_id, player, questions, exam_key)
    cells = [
        f"{score.share:.1%} ({score.interval[0]:.1%} to {score.interval[1]:.1%})"
        for score in (scores.all, *scores.by_kind.values())
    ]
    return (f"`{player.name}`", *cells)


def shipped_player(name: str) -> Player:
    """Return a shipped agent as a player."""
    full_name = f"shipped:{name}"
    env_id = player_names.game_of_players(
        [player_names.read_name(full_name, DEFAULT_GAME)], None
    )
    spec = player_names.read_name(full_name, env_id)
    return registry.make_player(spec, env_id, jax.random.key(0))


def command(name: str) -> str:
    """Return the command that trained the agent of this name."""
    return f"python -m jax_ttt.train {shlex.join(FLAGS[name])}"


def grade_of(player: str) -> Grade:
    """Return the exact grade of a player of tic-tac-toe."""
    key = jax.random.key(0)  # unused: nothing is sampled
    spec = player_names.read_name(player, DEFAULT_GAME)
    return grader.follow_lines(registry.make_player(spec, DEFAULT_GAME, key))


def grade_cells(grade: Grade) -> dict[str, str]:
    """Return a grade as cells of a table, by the names of their rows."""
    cells = {"unbeatable, both seats": "proven" if grade.unbeatable else "no"}
    for seat, followed in grade.followed.items():
        as_seat = f"as {seat_name(seat)}"
        cells[f"vs. random {as_seat}: wins / draws / losses"] = percent(followed)
        lines = followed.lines
        assert lines is not None, "the game is enumerable"
        cells[f"lines of play {as_seat}: won / drawn / lost"] = (
            f"{lines.won:,} / {lines.drawn:,} / {lines.lost:,}"
        )
    details = grade.details
    assert details is not None, "the game is enumerable"
    cells["optimal moves, all positions"] = f"{details.optimal_move_rate:.3%}"
    cells["optimal moves, positions that it can reach"] = (
        f"{details.reachable_optimal_move_rate:.3%} of {details.num_reachable:,}"
    )
    return cells | {"exploitability": f"{details.exploitability:.6f}"}


def percent(seat: SeatGrade) -> str:
    """Return the rates of wins, draws and losses in percent."""
    return " / ".join(f"{rate.value:.3%}" for rate in seat.rates)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    train()
    add_losing_lines("connect-7x6")
    certify()
    PAGE.write_text(page(), "utf-8")
