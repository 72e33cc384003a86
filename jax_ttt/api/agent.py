"""Trained agents: loaded, saved, drawn and shown in notebooks."""

import os
from pathlib import Path

from flax import nnx

from jax_ttt.api.train import OwnLearner, own_code
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, games_with_all_boards
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.pictures import board_svg
from jax_ttt.players import saved_agents
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import compiling
from jax_ttt.runtime.words import argument_phrase
from jax_ttt.text import grade_text, html


def load(
    path: str | os.PathLike[str],
    *,
    learner: OwnLearner | None = None,
    network: type[nnx.Module] | None = None,
) -> Agent:
    """Return the agent of a file, or of a run's folder.

    Args:
        path: An `agent.safetensors` file, or the folder of a run that has one.
        learner: The learner of your own that trained it, or the file that defines it.
        network: The network of your own that it was trained with.

    Raises:
        Refused: `path` is no path, the file does not exist, or it holds no usable
            agent.

    Examples:
        >>> run = jax_ttt.train(seed=1, preset="table")
        >>> jax_ttt.save(run.agent, "agent.safetensors")
        >>> jax_ttt.load("agent.safetensors")
        <agent of tic_tac_toe: table, seed 1, 400 updates>
    """
    file = _as_path("load", path)
    compiling.use_user_cache()
    own_code(learner, network)
    return saved_agents.load_agent(file)


def save(agent: Agent, path: str | os.PathLike[str]) -> None:
    """Write an agent to a file, completely or not at all.

    The file holds everything needed to use the agent: weights, settings, seed and last
    grades. Commands such as `python -m jax_ttt.play` read it too.

    Args:
        agent: An agent of `train` or `load`.
        path: The file, usually named `agent.safetensors`.

    Raises:
        Refused: `agent` is not an agent, or `path` is no path.
        FloatingPointError: a weight is not finite.
        OSError: the file can't be written.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.save(agent, "agent.safetensors")
    """
    check_agent("save", agent)
    saved_agents.save_agent(agent, _as_path("save", path))


def _as_path(function: str, path: object) -> Path:
    """Return the path of a file that `function` needs, or raise `Refused`."""
    if not isinstance(path, str | os.PathLike):
        rule = "needs the path of an agent's file"
        raise Refused(f"{function} {rule}, got {argument_phrase(path)}")
    return Path(path)


def check_agent(function: str, agent: object) -> None:
    """Raise `Refused` unless `agent` is a trained agent.

    The message names `function`, which needs the agent.
    """
    if not isinstance(agent, Agent):
        rule = "needs an agent of train or load"
        raise Refused(f"{function} {rule}, got {argument_phrase(agent)}")


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
        "network": agent.config.network_name,
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
