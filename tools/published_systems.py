"""The published systems, which `published_systems.toml` describes."""

import dataclasses
from pathlib import Path

import msgspec


@dataclasses.dataclass(frozen=True, kw_only=True)
class PublishedFigures:
    """The figures of a system from one source."""

    source: str
    """Who measured them, and over how many seeds or runs."""
    first: str | None = None
    """Wins/draws/losses in % against random as the agent moves first."""
    second: str | None = None
    """The same as it moves second."""
    unbeatable: str | None = None
    """Unbeatable agents, "n of N" seeds."""
    seconds: str | None = None
    """Seconds of one training."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PublishedSystem:
    """A published learner, which the preset of its name reproduces."""

    title: str
    """What it learns, and who published it."""
    results: tuple[PublishedFigures, ...] = ()
    """Its figures."""
    explanation: str
    """Why our figures differ from the published ones."""
    curve: tuple[tuple[int, float], ...] = ()
    """Published points of a training: games played, wins in %."""


SYSTEMS = msgspec.toml.decode(
    Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, PublishedSystem]
)
"""The published systems and ours, by the preset that trains them."""
