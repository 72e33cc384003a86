"""Find corrections with which an agent is proven, and save the agent with them.

python -m jax_ttt.correct runs/RUN
"""

import dataclasses
import sys
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import EnvId, Goal, Seat, SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import SEATS_OF_SETTING, AgentPrecision
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import AGENT_NAME
from jax_ttt.runtime import standard_streams

if TYPE_CHECKING:
    from jax_ttt.solver.find_corrections import LevelCounts

CORRECTED_NAME = "corrected.safetensors"
"""The name of a corrected agent's file where no flag names it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Find corrections with which an agent is proven, and save the agent with them.

    A correction is a position and the move to play there in place of the network's: the
    next best one that keeps the goal. An agent needs at most as many as are found; with
    0 it is proven as it is. Exact play finds them; the proof uses none: the agent with
    its corrections is graded as by evaluate, against every opponent. Ctrl-C prints what
    was found so far.

    Exit codes: 0 done, 1 failed, 2 bad flags or file, 130 Ctrl-C.
    """

    agent: tyro.conf.Positional[str | None] = None
    """A run's folder or an agent's file, or shipped:network and so on; by default the
    newest run below runs/."""
    seat: SeatSetting | None = None
    """The seat in which the agent must reach the goal; by default those that it
    learned."""
    goal: Goal = "not-lose"
    """not-lose: no opponent beats the agent. win: the agent wins every game, which is
    possible only where best play wins."""
    precision: AgentPrecision = "auto"
    """Weights of the corrected agent. float32: as they are. int8: a network of small
    integers, whose moves are the same on every machine. auto: int8 in games too large
    to enumerate, where the network allows it."""
    out: Path | None = None
    """File to write the corrected agent to; by default corrected.safetensors, in the
    run's folder if the agent is given by it, else in the current folder."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the report."""
    machine: cli.MachineFlags = field(default_factory=cli.MachineFlags)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorrectedLevel:
    """A level of the game in which the agent is to move."""

    seat: Seat
    """The agent's seat."""
    num_stones: int
    """Moves made."""
    num_positions: int
    """Positions that the agent reaches; mirror images count once where it plays alike
    on them."""
    num_corrections: int
    """Those of them that have a correction."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorrectResult:
    """The output of `correct --json`."""

    agent: str
    """The agent, as named on the command line."""
    env_id: EnvId
    """The game."""
    goal: Goal
    """What is proven."""
    precision: str
    """The weights: float32, or int8 for a network of integers."""
    num_corrections: int
    """Corrections in the seats below: the agent needs at most so many."""
    levels: list[CorrectedLevel]
    """The corrections by seat and level."""
    num_nodes: int
    """Nodes that exact play searched; 0 in an enumerable game."""
    out: str
    """The file of the corrected agent."""
    grade: Grade
    """Its grade, which is the proof."""


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    name = cli.player_or_newest_run(args.agent, quiet=args.json)
    hardware = cli.set_up_device(args.machine)

    from jax_ttt.grading import correcting
    from jax_ttt.players import registry, saved_agents
    from jax_ttt.text import correction_text, grade_text, tables

    spec = registry.read_player_name(name)
    if spec.kind != "agent":
        raise Refused(f"correct needs a saved agent, not {name}")
    out = args.out or corrected_path(name, spec.path)
    cli.check_output_path("--out", out)
    if out.exists() and out.samefile(spec.path):
        raise Refused(f"--out {out}: the agent's own file")
    agent = saved_agents.load_agent(spec.path)
    env_id = agent.config.env_id
    seats = agent.config.seats if args.seat is None else SEATS_OF_SETTING[args.seat]
    started: dict[Seat, correcting.Search] = {}
    with standard_streams.status_line(f"correcting {name}") as status:
        show = correction_text.correcting_progress(env_id, status.set_description_str)

        def on_search(search: correcting.Search, *progress: int) -> None:
            started[search.player.seat] = search
            show(search, *progress)

        try:
            result = correcting.correct_agent(
                name=name,
                agent=agent,
                seats=seats,
                goal=args.goal,
                precision=args.precision,
                on_search=on_search,
                on_proof=grade_text.search_progress(name, status.set_description_str),
            )
        except KeyboardInterrupt:
            status.close()
            standard_streams.print_stderr("interrupted; nothing is proven or saved")
            for seat, search in started.items():
                title = f"found so far {grade_text.seat_phrase(seat)}"
                table = grade_text.levels_table(search.levels)
                standard_streams.print_stderr(f"\n{title}\n{table}")
            return 130
    saved_agents.save_agent(result.agent, out)
    levels_of: dict[Seat, list[LevelCounts]] = {
        seat: search.levels for seat, search in result.searches.items()
    }
    if args.json:
        levels = [
            CorrectedLevel(seat=seat, **level._asdict())
            for seat, levels in levels_of.items()
            for level in levels
        ]
        record = CorrectResult(
            agent=name,
            env_id=env_id,
            goal=args.goal,
            precision=result.agent.precision,
            num_corrections=sum(level.num_corrections for level in levels),
            levels=levels,
            num_nodes=result.num_nodes,
            out=str(out),
            grade=result.agent.grade,
        )
        print(json_records.to_json(record))
        return 0
    title = f"{name}: {env_id}, {result.agent.precision}, on {hardware.name}"
    report = correction_text.report(args.goal, levels_of)
    print(tables.fitted_text(f"{title}\n\n{report}"))
    standard_streams.print_written(out)
    return 0


def corrected_path(name: str, path: Path) -> Path:
    """Return the path of a corrected agent where no flag gives it."""
    if path.name == AGENT_NAME and Path(name).is_dir():
        return path.parent / CORRECTED_NAME
    return Path(CORRECTED_NAME)


COMMAND = cli.Command(
    module="jax_ttt.correct",
    args_type=Args,
    main=main,
    examples={
        "runs/RUN": "Correct an agent until no opponent beats it.",
        "runs/RUN --seat first --goal win": "Correct it until it wins every game.",
        "shipped:network --json": "Print the number of corrections, as JSON.",
    },
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
