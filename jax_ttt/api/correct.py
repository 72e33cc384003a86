"""Corrections with which an agent is proven."""

import dataclasses
import itertools

from jax_ttt.api import html
from jax_ttt.api import player as players
from jax_ttt.api.agent import check_agent
from jax_ttt.config.game_facts import Goal, Seat, SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.config.ranges import check_value
from jax_ttt.config.settings import SEATS_OF_SETTING, AgentPrecision
from jax_ttt.grading import correcting
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import compiling
from jax_ttt.solver.find_corrections import LevelCounts
from jax_ttt.text import correction_text


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class CorrectionResult:
    """An agent with corrections with which it is proven.

    Attributes:
        agent: The corrected agent, for `save` and everything that takes a player.
        goal: What is proven: `"not-lose"` or `"win"`.
        grade: The grade of the corrected agent, which is the proof.
        levels: For each seat, the levels in which the agent is to move: `num_stones`,
            `num_positions` and `num_corrections`. Mirror images count once where the
            agent plays alike on them.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table", num_updates=40).agent
        >>> result = jax_ttt.correct(agent, seat="second")
        >>> result.num_corrections == len(result.agent.corrections)
        True
        >>> result.grade.unbeatable, result.grade.second.proven
        (True, 'not-lose')
    """

    agent: Agent
    goal: Goal
    grade: Grade
    levels: dict[Seat, tuple[LevelCounts, ...]]

    @property
    def num_corrections(self) -> int:
        """Corrections in these seats: at most so many are needed; 0 if none is."""
        levels = itertools.chain(*self.levels.values())
        return sum(level.num_corrections for level in levels)

    def __repr__(self) -> str:
        return correction_text.report(self.goal, self.levels)

    def _repr_html_(self) -> str:
        return html.preformatted(repr(self))


def correct(
    agent: Agent,
    *,
    seat: SeatSetting | None = None,
    goal: Goal = "not-lose",
    precision: AgentPrecision = "auto",
) -> CorrectionResult:
    """Return the agent with corrections, with which it is proven.

    A correction is a position and the move to play there in place of the network's:
    the one with the highest value that keeps the goal. The agent needs at most so many;
    0 means that it is proven as it is. Exact play finds the corrections; the proof uses
    none.

    Args:
        agent: An agent of `train` or `load`.
        seat: `"first"`, `"second"` or `"both"`; by default the seats that the agent
            learned.
        goal: `"not-lose"`: no opponent beats the agent. `"win"`: it wins every game,
            which is possible only where best play wins.
        precision: The weights of the corrected agent. `"float32"`: as they are.
            `"int8"`: a network of small integers, whose moves are the same on every
            machine. `"auto"`: int8 in games too large to enumerate, where the network
            allows it.

    Raises:
        Refused: `agent` is not an agent; the game has no exact play; best play does not
            reach the goal; the network can't be made of integers; or the game needs
            numba, which is not installed.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table").agent
        >>> jax_ttt.correct(agent).num_corrections
        0
    """
    compiling.use_user_cache()
    check_agent("correct", agent)
    check_value("goal", Goal, goal)
    check_value("precision", AgentPrecision, precision)
    seats = agent.config.seats
    if seat is not None:
        check_value("seat", SeatSetting, seat)
        seats = SEATS_OF_SETTING[seat]
    name = players.default_name(agent)
    corrected = correcting.correct_agent(
        name=name,
        agent=agent,
        seats=seats,
        goal=goal,
        precision=precision,
    )
    grade = dataclasses.replace(corrected.agent.grade, seats=seats, player=name)
    return CorrectionResult(
        agent=corrected.agent,
        goal=goal,
        grade=grade,
        levels={
            seat: tuple(search.levels) for seat, search in corrected.searches.items()
        },
    )
