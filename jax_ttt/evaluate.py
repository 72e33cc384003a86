"""Grade a saved agent: exactly where the game's tree can be walked.

python -m jax_ttt.evaluate RUN_OR_FILE
"""

import csv
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from jax_ttt import cli
from jax_ttt.config import ENUMERABLE, SEED_RANGE, EnvId, SettingError

if TYPE_CHECKING:
    from jax_ttt.agents import Agent
    from jax_ttt.tree import Tree


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Grade a saved agent: exactly where the game's tree can be walked.

    Exit codes: 0 done, 1 failed, 2 bad flags or file.
    """

    agent: tyro.conf.Positional[Path]
    """A run's folder, or an agent.safetensors file."""
    env_id: EnvId = "tic_tac_toe"
    """The game that the agent has to be for; another is refused."""
    seed: int = 0
    """What the random numbers of the sampled match come from."""
    device: cli.Device = "auto"
    """Where to run; a device that is asked for and absent is refused."""
    policy_csv: Path | None = None
    """Write a row for each position to decide: board, to_move, q0 to q8, move."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object in place of the report."""


@cli.guarded
def main(argv: Sequence[str] | None) -> int:
    """Run the command and return its exit code."""
    args = cli.parse(Args, argv, "evaluate")
    SEED_RANGE.check("seed", args.seed)
    if args.policy_csv and args.env_id not in ENUMERABLE:
        rule = f"used with a game that can be walked: {', '.join(ENUMERABLE)}"
        raise SettingError("policy_csv", rule, args.env_id)
    device = cli.choose_device(args.device)

    import jax

    from jax_ttt import agents, evaluation, report
    from jax_ttt import tree as trees

    try:
        agent = agents.load(args.agent, args.env_id)
    except agents.AgentError as error:
        raise cli.UsageError(str(error)) from None
    tree = trees.of(args.env_id)
    key = jax.random.key(args.seed)
    graded = evaluation.evaluate(agent.config, agent.params, key, tree)
    summary = evaluation.summary(graded)
    probs = evaluation.policy(agent.config, agent.params, tree) if tree else None
    verdict = report.verdict(args.env_id, summary, tree, probs)
    if args.policy_csv and tree:
        write_policy(args.policy_csv, agent, tree)
    if args.json:
        about = {
            "agent": str(args.agent),
            "env_id": args.env_id,
            "seed": agent.seed,
            "num_updates": agent.num_updates,
            "config": dataclasses.asdict(agent.config),
            **summary,
            "verdict": verdict,
        }
        print(json.dumps(about))
        return 0
    print(
        f"{args.agent}: {args.env_id}, seed {agent.seed}, "
        f"{agent.num_updates:,} updates, on {device}\n"
    )
    print(f"{report.table(args.env_id, summary)}\n\n{verdict}")
    return 0


def write_policy(path: Path, agent: "Agent", tree: "Tree") -> None:
    """Write what the agent thinks and plays in each position to decide."""
    import jax
    import numpy as np

    from jax_ttt import dqn, evaluation, report

    q_values = evaluation.decision_values(agent.config, agent.params, tree)
    legal = tree.legal_action_mask[tree.decisions]
    moves = dqn.greedy(q_values, legal)
    q_values, legal, moves = jax.device_get((q_values, legal, moves))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = [f"q{action}" for action in range(legal.shape[1])]
        writer.writerow(["board", "to_move", *names, "move"])
        for row, position in enumerate(np.asarray(tree.decisions).tolist()):
            cells = [
                str(q) if ok else ""
                for q, ok in zip(q_values[row], legal[row], strict=True)
            ]
            to_move = "X" if tree.first_to_move[position] else "O"
            board = report.board(tree, position)
            writer.writerow([board, to_move, *cells, moves[row]])


if __name__ == "__main__":
    sys.exit(main(None))
