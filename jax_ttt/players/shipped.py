"""The trained agents that come with the package.

`tools/make_agents.py` trains them, and `docs/results/shipped_agents.md` has their
grades.
"""

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "shipped"

SHIPPED: dict[str, Path] = {
    name: _FOLDER / f"{name}.safetensors" for name in ("network", "table")
}
"""The agents' files by name, all of tic-tac-toe; the first is the default agent."""
SNAPSHOTS: dict[str, Path] = {name: _FOLDER / f"{name}-snapshots" for name in SHIPPED}
"""The folders of the snapshots of their trainings, by the same names."""
CONNECT_FOUR: dict[str, Path] = {
    name: _FOLDER / f"{name}.safetensors" for name in ("connect-5x4", "connect-7x6")
}
"""Agents of Connect Four, by the preset of their training."""
ALL = SHIPPED | CONNECT_FOUR
