"""Results as text: the line of an evaluation, the table, the verdict, the boards."""

from typing import Any

import numpy as np
from jaxtyping import Array

from jax_ttt import exact, games
from jax_ttt.config import EnvId
from jax_ttt.matches import wilson_interval
from jax_ttt.tree import Tree

_RATES = ("win_rate", "draw_rate", "loss_rate")


def step_line(env_id: EnvId, update: int, summary: dict[str, Any]) -> str:
    """Return an evaluation in one line, for instance

    `Step 200: Wins: 92.19%  Ties: 4.59%  Losses: 3.22%  | as X 97.1/2.4/0.5
    as O 87.3/6.8/5.9  | beatable`: exact if it can be, else sampled, and then so
    marked.
    """  # noqa: D415
    result = summary.get("exact") or summary.get("sampled")
    if result is None:
        return f"Step {update}: not evaluated"
    wins, ties, losses = (f"{result[rate]:.2%}" for rate in _RATES)
    seats = "  ".join(
        f"as {name} " + "/".join(f"{100 * result[seat][rate]:.1f}" for rate in _RATES)
        for name, seat in _seats(env_id)
    )
    if "exact" in summary:
        mark = "unbeatable" if result["unbeatable"] else "beatable"
    else:
        mark = f"{result['num_games']} games sampled"
    return (
        f"Step {update}: Wins: {wins}  Ties: {ties}  Losses: {losses}"
        f"  | {seats}  | {mark}"
    )


def table(env_id: EnvId, summary: dict[str, Any]) -> str:
    """Return an evaluation as a table by seat; percentages."""
    exactly = "exact" in summary
    result = summary["exact"] if exactly else summary.get("sampled")
    if result is None:
        return "not evaluated"
    worst = "  worst case" if exactly else "     games"
    source = "exact" if exactly else "sampled"
    lines = [f"{'v random, ' + source:<18}{'wins':>9}{'ties':>9}{'losses':>9}{worst}"]
    rows = [(f"as {name}", result[seat]) for name, seat in _seats(env_id)]
    for name, row in [*rows, ("mean" if exactly else "all", result)]:
        cells = "".join(f"{row[rate]:>9.3%}" for rate in _RATES)
        if not exactly:
            cells += f"{row['num_games']:>10}"
        elif "worst_loss_rate" in row:
            lost = row["worst_loss_rate"]
            cells += f"{'never loses' if lost == 0 else f'loses {lost:.0%}':>13}"
        lines.append(f"{name:<18}{cells}")
    return "\n".join(lines)


def verdict(
    env_id: EnvId, summary: dict[str, Any], tree: Tree | None, probs: Array | None
) -> str:
    """Return the proof that a policy can't be beaten, or the line that beats it.

    Without a tree, what the sampled match can say.
    """
    if tree is None or probs is None:
        return sampled_verdict(summary)
    names = games.seat_names(env_id)
    found = [
        (line, name)
        for name, as_first in zip(names, (True, False), strict=True)
        if (line := exact.losing_line(tree, probs, as_first)) is not None
    ]
    if not found:
        return (
            "unbeatable: no line of play by any opponent wins against it, "
            f"as {names[0]} or as {names[1]} ({tree.num_positions:,} positions)"
        )
    line, name = min(found, key=lambda pair: len(pair[0]))
    return (
        f"beatable: the shortest line that beats it, playing as {name} "
        f"({len(line)} moves; cells 0 to 8, row by row)\n{boards(tree, line, names)}"
    )


def sampled_verdict(summary: dict[str, Any]) -> str:
    """Return how far a sampled match can be trusted."""
    result = summary.get("sampled")
    if result is None:
        return "not evaluated: nothing is proven"
    lost = round(result["loss_rate"] * result["num_games"])
    low, high = wilson_interval(lost, result["num_games"])
    return (
        f"nothing is proven: {lost} of {result['num_games']} sampled games against "
        f"random lost, a loss rate of {low:.2%} to {high:.2%} (95 % interval)"
    )


def boards(tree: Tree, line: list[tuple[int, int]], names: tuple[str, str]) -> str:
    """Return a game as boards side by side, each under the move that made it."""
    successor = np.asarray(tree.successor)
    columns = []
    for number, (position, action) in enumerate(line):
        after = board(tree, int(successor[position, action]))
        side = round(len(after) ** 0.5)
        rows = [" ".join(after[i : i + side]) for i in range(0, len(after), side)]
        head = f"{number + 1}. {names[number % 2]}{action}"
        columns.append([f"{cell:<8}" for cell in (head, *rows)])
    return "\n".join("  " + "".join(row).rstrip() for row in zip(*columns, strict=True))


def board(tree: Tree, position: int) -> str:
    """Return a position's cells row by row: `X` the first player's, `O`, `-` empty."""
    cells = np.asarray(games.features(tree.obs[position][None]))[0]
    mine, yours = ("X", "O") if tree.first_to_move[position] else ("O", "X")
    return "".join(mine if c > 0 else yours if c < 0 else "-" for c in cells)


def _seats(env_id: EnvId) -> list[tuple[str, str]]:
    return list(zip(games.seat_names(env_id), ("as_first", "as_second"), strict=True))
