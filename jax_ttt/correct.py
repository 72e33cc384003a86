"""Find the corrections that make an agent provable, and save the agent with them.

python -m jax_ttt.correct runs/RUN
"""

import dataclasses
import sys
from dataclasses import field
from pathlib import Path

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import Goal, SeatSetting
from jax_ttt.config.settings import AgentPrecision
from jax_ttt.config.shared_flags import MachineFlags
from jax_ttt.files import json_records, run_folder
from jax_ttt.files.run_folder import AGENT_NAME
from jax_ttt.runtime import atomic_files, standard_streams
from jax_ttt.text import tables

CORRECTED_NAME = "corrected.safetensors"
"""The name of a corrected agent's file where no flag names it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Find the corrections that make an agent provable, and save the agent with them.

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
    learner: Path | None = None
    """The file of the agent's own learner or network (docs/use/own_learner.md)."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the report."""
    machine: MachineFlags = field(default_factory=MachineFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    name = run_folder.player_or_newest_run(args.agent, quiet=args.json)
    hardware = cli.set_up_device(args.machine)

    from jax_ttt.api.correct import correct
    from jax_ttt.players import registry, saved_agents

    spec = registry.read_player_name(name)
    if spec.kind != "agent":
        raise Refused(f"correct needs a saved agent, not {name}")
    out = args.out or corrected_path(name, spec.path)
    atomic_files.check_output_path("--out", out)
    if out.exists() and out.samefile(spec.path):
        raise Refused(f"--out {out}: the agent's own file")
    agent = saved_agents.load_agent(spec.path)
    with standard_streams.status_line(f"correcting {name}") as status:
        try:
            result = correct(
                agent,
                seat=args.seat,
                goal=args.goal,
                precision=args.precision,
                name=name,
                say=status.set_description_str,
            )
        except KeyboardInterrupt as error:
            status.close()
            lines = ["interrupted; nothing is proven or saved"]
            lines += getattr(error, "__notes__", [])
            standard_streams.print_stderr("\n\n".join(lines))
            return 130
    if args.json:
        print(json_records.to_json(result))
    else:
        facts = f"{agent.config.env_id}, {result.precision}, on {hardware.name}"
        print(tables.fitted_text(f"{name}: {facts}\n\n{result}"))
    # Last, since the result must not be lost where the file can't be written.
    saved_agents.save_agent(result.agent, out)
    standard_streams.print_written(out, as_json=args.json)
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
