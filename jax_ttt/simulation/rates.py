"""Rates on many devices, from measured computing, counted exchanges and assumed links.

What is left out: the host's work, and the wait for the slowest device. Imports no JAX.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jax_ttt.simulation import collectives
from jax_ttt.simulation.collectives import LINKS, Exchange, Link

Row = list[int | float | None]
"""A value for each number of devices; None where it is not known."""


class Traffic(NamedTuple):
    """What the programs for a number of devices exchange."""

    update: Sequence[Exchange]  # in an update of a run
    agents: Sequence[Exchange]  # in a chunk of a sweep with one agent on each device


class Measured(NamedTuple):
    """The times on one device."""

    update_seconds: Mapping[int, float]  # by the number of games
    agent_seconds: float  # of all updates of an agent
    num_chunks: int  # of an agent's updates


def table(
    measured: Measured, traffic: Mapping[int, Traffic], links: Sequence[Link] = LINKS
) -> dict[str, Row]:
    """Return the exchanges and the rates by number of devices, and what they are.

    A run has as many games in all as the largest update that was measured, or on each
    device as many as the next smaller one. In a sweep each device trains agents of its
    own.
    """
    rows: dict[str, Row] = {"devices": [*traffic]}
    for part, text in (("update", "an update"), ("agents", "a chunk of agents")):
        found = {n: getattr(one, part) for n, one in traffic.items()}
        rows[f"exchanges in {text}"] = [len(some) for some in found.values()]
        rows[f"bytes each device sends in {text}"] = [
            sum(collectives.sent_bytes(one, n) for one in some)
            for n, some in found.items()
        ]
    for link in links:
        for n, (update, agents) in traffic.items():
            in_update, in_chunk = (
                collectives.transfer_seconds(some, n, link) for some in (update, agents)
            )
            for text, value in {
                **_agents_a_minute(measured, n, in_chunk),
                **_moves_a_second(measured, n, in_update),
            }.items():
                rows.setdefault(f"{text}, {link.name}", []).append(value)
    return rows


def _agents_a_minute(
    measured: Measured, size: int, moving: float | None
) -> dict[str, float | None]:
    """Return the rate of a sweep, given the seconds of a chunk's exchanges."""
    whole = None if moving is None else measured.num_chunks * moving
    return {"agents/min": _rate(60 * size, measured.agent_seconds, whole)}


def _moves_a_second(
    measured: Measured, size: int, moving: float | None
) -> dict[str, float | None]:
    """Return the rates of a run, given the seconds of an update's exchanges."""
    seconds = measured.update_seconds
    *_, share, whole = sorted(seconds)
    return {
        f"moves/s, {whole:,} games": _rate(whole, seconds.get(whole // size), moving),
        f"moves/s, {share:,} games each": _rate(share * size, seconds[share], moving),
    }


def _rate(count: int, computing: float | None, moving: float | None) -> float | None:
    if computing is None or moving is None:
        return None
    return count / (computing + moving)
