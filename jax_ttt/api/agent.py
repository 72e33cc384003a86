"""Trained agents: loaded, saved, printed and drawn."""

import dataclasses
import os
from pathlib import Path

from jax_ttt.api import html
from jax_ttt.config.errors import GameError, PlayerError
from jax_ttt.config.game_facts import GAMES
from jax_ttt.files.json_records import JsonObject
from jax_ttt.pictures import board_svg
from jax_ttt.pictures.picture import Picture, Theme
from jax_ttt.players import saved_agents
from jax_ttt.runtime.words import argument_phrase, count_phrase
from jax_ttt.text import grade_text


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Agent(saved_agents.SavedAgent):
    """A trained agent; a notebook shows its results and a game against itself.

    Attributes:
        config: The settings of its training.
        params: The weights of its network, a pytree.
        network: The network without its weights, for `jax_ttt.networks.q_network`.
        seed: The seed of its training.
        num_updates: The number of updates that it learned from.
        grade: The grade of its last evaluation.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> agent
        <agent of tic_tac_toe: table, seed 1, 400 updates>
        >>> agent.config.env_id, agent.config.seats
        ('tic_tac_toe', ('first', 'second'))
    """

    @classmethod
    def of(cls, agent: saved_agents.SavedAgent) -> "Agent":
        """Return an agent of a file as one that notebooks show."""
        fields = dataclasses.fields(agent)
        return cls(**{field.name: getattr(agent, field.name) for field in fields})

    def picture(self, theme: Theme = "light") -> Picture:
        """Draw the agent's likeliest game against itself, move by move.

        Raises:
            GameError: the game is too large to enumerate.
        """
        if not GAMES[self.config.env_id].enumerable:
            raise GameError(
                f"{self.config.env_id} is too large to draw an agent; draw a game"
            )
        return board_svg.animation(self.game_against_itself().states, theme)

    def _summary(self) -> JsonObject:
        settings = self.config.as_dict()
        return {
            "game": self.config.env_id,
            "network": settings["network"],
            "seed": self.seed,
            "updates": f"{self.num_updates:,}",
            "opponent": settings["opponent"],
        }

    def __repr__(self) -> str:
        summary = self._summary()
        return (
            f"<agent of {summary['game']}: {summary['network']}, seed {self.seed}, "
            f"{count_phrase(self.num_updates, 'update')}>"
        )

    def _repr_html_(self) -> str:
        env_id = self.config.env_id
        text = html.html_table("Agent", list(self._summary().items()))
        text += html.preformatted(grade_text.rates_table(self.grade))
        if not GAMES[env_id].enumerable:
            return text
        return html.with_picture(text, self.picture)


def load(path: str | os.PathLike[str]) -> Agent:
    """Return the agent of a file, or of a run's folder.

    Args:
        path: An `agent.safetensors` file, or the folder of a run that has one.

    Raises:
        Refused: the file does not exist, or it holds no usable agent.

    Example:
        >>> run = jax_ttt.train(seed=1, preset="table")
        >>> jax_ttt.save(run.agent, "agent.safetensors")
        >>> jax_ttt.load("agent.safetensors")
        <agent of tic_tac_toe: table, seed 1, 400 updates>
    """
    return Agent.of(saved_agents.load_agent(Path(path)))


def save(agent: saved_agents.SavedAgent, path: str | os.PathLike[str]) -> None:
    """Write an agent to a file, completely or not at all.

    The file holds everything needed to use the agent: weights, settings, seed and last
    grades. Commands such as `python -m jax_ttt.play` read it too.

    Args:
        agent: An agent of `train` or `load`.
        path: The file, usually named `agent.safetensors`.

    Raises:
        Refused: `agent` is not an agent.
        FloatingPointError: a weight is not finite.
        OSError: the file can't be written.

    Example:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.save(agent, "agent.safetensors")
    """
    check_agent("save", agent)
    saved_agents.save_agent(agent, Path(path))


def check_agent(function: str, agent: object) -> None:
    """Raise `PlayerError` unless `agent` is a trained agent.

    The message names `function`, which needs the agent.
    """
    if not isinstance(agent, saved_agents.SavedAgent):
        rule = "needs an agent of train or load"
        raise PlayerError(f"{function} {rule}, got {argument_phrase(agent)}")
