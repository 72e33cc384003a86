"""The record of a certificate, which `docs/check_certificate.py` checks.

The same player gives the same bytes: there is no time, path or version. Imports no JAX.
"""

import dataclasses

from jax_ttt.config.catalogue import Seat

Moves = dict[Seat, dict[str, int]]
"""A player's moves in each seat, by board: its cells, such as `X---O----`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Certificate:
    """A player's move in every position that it can reach, and what the moves prove."""

    format_version: int = 1
    env_id: str
    player: str  # its name, with AGENT for a saved agent
    sha256: str  # of the saved agent's file; empty for other players
    result: str = "never loses"
    num_positions: int
    moves: Moves  # in each seat that is proven
