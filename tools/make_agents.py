"""Train the agents that come with the package, and write their page.

python -m tools.make_agents
"""

import dataclasses
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import jax

from docs.examples.exam import examine
from jax_ttt import evaluate
from jax_ttt.__main__ import run_command
from jax_ttt.config.game_facts import DEFAULT_GAME, seat_name
from jax_ttt.config.grade import Grade, SeatGrade
from jax_ttt.config.player_kinds import ALL, SHIPPED, SNAPSHOTS
from jax_ttt.correct import CORRECTED_NAME
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.games import tree as trees
from jax_ttt.grading import grader, search_grade
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.player import Player
from jax_ttt.solver.reached_positions import Reach
from tools.markdown import table

CERTIFICATES = {
    name: path.with_suffix(".certificate.json") for name, path in SHIPPED.items()
}
"""The certificates of the agents of tic-tac-toe: the proofs that they never lose."""
_MAX_POSITIONS = 10**6  # a search of these agents meets fewer
HEAD = ("agent", "trained with", "size")
SEARCH_HEAD = (
    "agent",
    "seat",
    "positions",
    "winning replies",
    "vs. random: wins / draws / losses",
    "unbeatable",
)
EXAM_HEAD = ("agent", "all positions", "random ones", "tactical ones")
PAGE = Path(__file__).parents[1] / "docs" / "results" / "shipped_agents.md"
FLAGS = {
    "network": ("--preset", "default", "--seed", "1"),
    # Its rows are after-states: they have one value each, so the file is small.
    "table": ("--preset", "table", "--table-key", "after-state", "--seed", "1"),
    "connect-5x4": ("--preset", "connect-5x4", "--seed", "1000", "--until-proven"),
}
"""The flags of the training of each agent; that of 7 x 6 needs a GPU."""
LARGE = "connect-7x6"
"""The agent of 7 x 6: its file stays, and only its rows are written."""
TEXT = """# Shipped agents

<!-- Made by `make agents`, which trains the agents: run that instead of editing. -->

Some trained agents come with the package. Every command that takes a player takes them
by name, for instance `python -m jax_ttt.play shipped:network`. All but the last were
trained by one command each. A second command made the networks
[networks of integers](../learn/connect_four.md#a-network-of-integers), which choose the
same moves on every machine: `python -m jax_ttt.correct RUN --precision int8`. They need
0 corrections, else `make agents` fails. On the CPU of one machine, with the same
versions and number of threads, it writes the same bytes again. A training can't start
from a network of integers (`--start-agent`). Files of the training of
`shipped:network` in float32 are in
[network-snapshots](../../jax_ttt/shipped/network-snapshots).

## Tic-tac-toe

{agents}

A [certificate](../learn/proof.md#certificates) is a proof that can be checked without
this package, by `python docs/check_certificate.py FILE`:

{certificates}

The grades are exact, over all {positions:,} positions. A test computes them
again from the files. [players.md](../use/players.md) explains the rows.

{grades}

## Connect Four

{boards}

[connect_four.md](../learn/connect_four.md) explains how they learn. The figures of
`shipped:connect-5x4` are exact, over all positions that it reaches against every
opponent. A position and its mirror image count once.
[`check_strategy.py`](../learn/proof.md#check-an-agent-of-connect-four) checks it
without this package: `python docs/check_strategy.py
jax_ttt/shipped/connect-5x4.safetensors --goal not-lose`, and with `--seat second`.

{reached}

## Connect Four, 7 x 6

`shipped:connect-7x6` ({size})
[wins every game as X](../learn/connect_four.md#7-x-6-moving-first), with
{corrections:,} corrections: `python -m jax_ttt.evaluate shipped:connect-7x6 --seat
first` proves it again in some minutes. As O it can be beaten, as every player can; its
file has a line. It was made by these commands, the trainings on a GPU, and its scales
are not powers of two. `correct` now makes powers of two, so it finds other corrections:

```
{commands}
```

[An exam](../learn/connect_four.md#an-exam-of-connect-four) counts the share of its
moves that keep the value of the position, `python docs/examples/exam.py
shipped:connect-7x6` (in brackets: 95% intervals):

{exam}
"""
LARGE_COMMANDS = r"""# 1.9 billion moves of self-play
python -m jax_ttt.train --preset connect-7x6-large --num-updates 228000 --seed 1 \
    --eval-every 22800 --no-prove --run-dir runs/one
python -m jax_ttt.correct runs/one --seat first --goal win
# 1.8 billion more: it was ended after 225,054 updates
python -m jax_ttt.train --preset connect-7x6-large --num-updates 240000 --seed 2 \
    --start-agent runs/one --start-share 0.5 \
    --start-positions runs/one/corrected.safetensors \
    --learning-rate 2e-4 --learning-rate-end 1e-5 \
    --epsilon-start 0.15 --epsilon-end 0.1 \
    --eval-every 60000 --no-prove --run-dir runs/two
python -m jax_ttt.correct runs/two --seat first --goal win"""
"""The commands that made the agent of 7 x 6."""


def train() -> None:
    """Train each agent in a new process, and copy its files into the package."""
    for name in FLAGS:
        path = ALL[name]
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            run_module("jax_ttt.train", *FLAGS[name], "--run-dir", str(run))
            path.parent.mkdir(exist_ok=True)
            shutil.copyfile(agent_to_ship(run), path)
            if name in SNAPSHOTS:
                shutil.rmtree(SNAPSHOTS[name], ignore_errors=True)
                shutil.copytree(RunFolder(run).snapshots, SNAPSHOTS[name])


def agent_to_ship(run: Path) -> Path:
    """Return the file of a run's agent: a table, or a network made of integers."""
    path = RunFolder(run).agent
    if saved_agents.load_agent(path).config.is_table:
        return path
    run_module("jax_ttt.correct", str(run), "--precision", "int8")
    path = run / CORRECTED_NAME
    if saved_agents.load_agent(path).corrections is not None:
        raise SystemExit(f"{path}: the network of integers needs corrections")
    return path


def run_module(name: str, *argv: str) -> None:
    """Run a command in a new process."""
    subprocess.run([sys.executable, "-m", name, *argv], check=True)


def grade_snapshots() -> None:
    """Add the exact grade of each snapshot to its file, for the curves of the page."""
    for folder in SNAPSHOTS.values():
        for path in sorted(folder.iterdir()):
            agent = saved_agents.load_agent(path)
            grade = dataclasses.replace(
                grade_of(str(path)), player=None, likeliest_game=None, details=None
            )
            saved_agents.save_agent(agent.with_grade(grade), path)


def add_losing_line() -> None:
    """Add the shortest line that beats the agent of 7 x 6 as O to its file.

    All lines are followed until one beats it. Nothing else in the file changes.
    """

    def stop_when_beaten(reach: Reach, level: int, num_done: int) -> None:
        if reach.losing_line is not None:
            raise search_grade.TimeOverError

    player = dataclasses.replace(shipped_player(LARGE), seats=("second",))
    results = search_grade.search_by_seat(
        player, _MAX_POSITIONS, on_batch=stop_when_beaten
    )
    agent = saved_agents.load_agent(ALL[LARGE])
    grade = dataclasses.replace(agent.grade, second=results["second"].grade)
    saved_agents.save_agent(agent.with_grade(grade), ALL[LARGE])


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
    columns = [grade_cells(grade_of(f"shipped:{name}")) for name in SHIPPED]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return TEXT.format(
        agents=table(HEAD, agents),
        certificates=table(("agent", "certificate"), certificate_rows()),
        positions=trees.enumerated(DEFAULT_GAME).num_positions,
        grades=table(("", *(name for name, *_ in agents)), rows),
        boards=table(HEAD, agent_rows({"connect-5x4": ALL["connect-5x4"]})),
        reached=table(SEARCH_HEAD, list(search_rows("connect-5x4"))),
        size=f"{ALL[LARGE].stat().st_size:,} bytes",
        corrections=len(saved_agents.load_agent(ALL[LARGE]).corrections or ()),
        commands=LARGE_COMMANDS,
        exam=table(
            EXAM_HEAD,
            [(f"`shipped:{LARGE}`", *dict(examine(shipped_player(LARGE))).values())],
        ),
    )


def agent_rows(files: Mapping[str, Path]) -> list[tuple[str, ...]]:
    """Return the rows of a table of agents: name, command, size."""
    return [
        (f"`shipped:{name}`", f"`{command(name)}`", f"{path.stat().st_size:,} bytes")
        for name, path in files.items()
    ]


def certificate_rows() -> list[tuple[str, str]]:
    """Return the rows of a table of certificates: the agent, a link to its file."""
    return [
        (f"`shipped:{name}`", f"[{path.name}](../../jax_ttt/shipped/{path.name})")
        for name, path in CERTIFICATES.items()
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


def shipped_player(name: str) -> Player:
    """Return a shipped agent as a player."""
    spec = registry.read_player_name(f"shipped:{name}")
    env_id = registry.game_of_players([spec])
    return registry.make_player(spec, env_id, jax.random.key(0))


def command(name: str) -> str:
    """Return the command that trained the agent of this name."""
    return f"python -m jax_ttt.train {shlex.join(FLAGS[name])}"


def grade_of(player: str) -> Grade:
    """Return the exact grade of a player of tic-tac-toe."""
    key = jax.random.key(0)  # unused: nothing is sampled
    spec = registry.read_player_name(player)
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
    return " / ".join(f"{rate:.3%}" for rate in seat.rates)


if __name__ == "__main__":
    train()
    grade_snapshots()
    add_losing_line()
    certify()
    PAGE.write_text(page(), "utf-8")
