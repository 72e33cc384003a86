"""A line that beat an agent, and how a later agent plays instead."""

from collections.abc import Sequence

import jax
import pgx

from jax_ttt.config.catalogue import SEATS, Seat
from jax_ttt.players import network
from jax_ttt.players.agents import Agent
from jax_ttt.plotting import boards


def closed(
    agent: Agent, seat: Seat, line: Sequence[int]
) -> tuple[int, list[pgx.State]]:
    """Return how many moves of a line an agent plays in a seat, and its own game.

    The game begins with these moves; from then on the agent moves for both players.
    """
    game = agent.config.env_id
    player = network.greedy_player(agent.network, agent.params)
    own = SEATS.index(seat)
    moves, kept = [], None
    while True:
        states = boards.replay(game, moves)
        if states[-1].terminated:
            return len(moves) if kept is None else kept, states
        batch = jax.tree.map(lambda x: x[None], states[-1])
        move = int(player(jax.random.key(0), batch)[0])
        place = len(moves)
        if kept is None and place % 2 == own and move != line[place]:
            kept = place
        moves.append(move if kept is not None else line[place])
