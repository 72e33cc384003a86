"""The values that the board of the page shows, and Python's of an agent's file."""

import re

from jax_ttt.games.played_game import replay
from jax_ttt.players import saved_agents


def table_values(page):
    """Return the table's values that the board shows, square by square."""
    return values_in(page.names())


def values_in(names):
    """Return the table's values in the names of the squares; None without one."""
    found = [re.search(r"table (plus |minus |)(\d\.\d\d)", name) for name in names]
    signs = {"plus ": 1, "minus ": -1, "": 1}
    return [match and signs[match[1]] * float(match[2]) for match in found]


def values_of(file, line=()):
    """Return an agent's values of the next move by Python, rounded as on the board."""
    agent = saved_agents.load_agent(file)
    now = replay("tic_tac_toe", [line])
    values = saved_agents.board_values(agent.network, agent.params, now.observation)
    return [round(float(value), 2) for value in values[0]]
