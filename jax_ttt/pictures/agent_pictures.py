"""A trained agent as a picture, and as HTML in a notebook."""

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, games_with_all_boards
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.pictures import board_svg
from jax_ttt.players.saved_agents import Agent
from jax_ttt.text import grade_text, html


def agent_picture(agent: Agent, theme: Theme) -> Picture:
    """Draw the agent's likeliest game against itself, move by move.

    Raises:
        Refused: the game is too large to enumerate.
    """
    env_id = agent.config.env_id
    if not GAMES[env_id].enumerable:
        raise Refused(f"{env_id} is too large to draw an agent; draw a game")
    return board_svg.animation(agent.game_against_itself().states, theme)


def agent_html(agent: Agent) -> str:
    """Return what a notebook shows of the agent: its results, and a game."""
    rows = {
        "game": agent.config.env_id,
        "network": agent.config.network,
        "seed": agent.seed,
        "updates": f"{agent.num_updates:,}",
        "opponent": agent.config.opponent,
    }
    if agent.precision != "float32":
        rows["weights"] = agent.precision
    if agent.corrections is not None:
        rows["corrections"] = f"{len(agent.corrections):,}"
    text = html.html_table("Agent", [*rows.items()])
    text += html.preformatted(grade_text.rates_table(agent.grade))
    if agent.config.env_id not in games_with_all_boards():
        return text
    return html.with_picture(text, agent.picture)
