"""The examples in each command's help. Imports no JAX."""

EXAMPLES: dict[str, dict[str, str]] = {
    "train": {
        "--seed 2": "Train the default agent with another seed.",
        "--preset table --until-proven": "Train a table until it is proven unbeatable.",
        "--opponent minimax --num-updates 2000": "Train against best play.",
        "--config runs/RUN/config.json --seed 3": "Train again, with another seed.",
        "--resume runs/RUN": "Continue a run that was interrupted.",
    },
    "evaluate": {
        "runs/RUN": "Grade a saved agent, and prove whether it can be beaten.",
        "minimax --json": "Grade a player, as JSON.",
        "runs/RUN --policy-csv policy.csv": "Write its move in every position.",
        "runs/RUN --certificate proof.json": "Write a proof that others can check.",
    },
    "play": {
        "--side o": "Play second, against the agent that was saved last.",
        "minimax": "Play against best play.",
    },
    "runs": {
        "": "List the runs below runs/.",
        "--json": "List them as JSON.",
    },
    "arena": {
        "": "Compare the players that need no file.",
        "random minimax runs/RUN --csv pairs.csv": "Compare three, and keep the pairs.",
    },
    "sweep": {
        "--num-seeds 64": "Count how many of 64 agents are proven.",
        "--preset table --grid tremble=0.5,0.7 tau=0.05,0.1": "Compare four settings.",
        "--resume runs/SWEEP.jsonl": "Continue a sweep that was interrupted.",
    },
    "plot": {
        "runs/RUN": "Draw how a run learned.",
        "runs/RUN --values X...O...X": "Draw what the agent expects of each move.",
    },
}
"""What stands after a command's name, with what it does."""


def examples(command: str) -> str:
    """Return the examples of a command, two lines each; "" if there are none."""
    lines = [
        f"  {f'python -m jax_ttt.{command} {words}'.rstrip()}\n      {text}"
        for words, text in EXAMPLES.get(command, {}).items()
    ]
    return "\n".join(["Examples:", *lines]) if lines else ""
