"""The corrections that make an agent provable."""

import dataclasses
import time
from collections.abc import Callable, Mapping

from jax_ttt.api import player as players
from jax_ttt.api.agent import check_agent
from jax_ttt.config.game_facts import GAMES, EnvId, Goal, Seat, SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.config.ranges import Text, check_value
from jax_ttt.config.settings import SEATS_OF_SETTING, AgentPrecision
from jax_ttt.files import json_records
from jax_ttt.grading import correcting
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import compiling
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver.find_corrections import LevelCounts, SearchProgress
from jax_ttt.text import grade_text, html

_AIMS: dict[Goal, str] = {"not-lose": "is unbeatable", "win": "wins every game"}


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class CorrectionResult:
    """An agent with the corrections that make it provable.

    Its fields but `agent` are what `correct --json` prints.

    Attributes:
        agent: The corrected agent, for `save` and everything that takes a player.

    Examples:
        >>> agent = jax_ttt.train(seed=1, preset="table", num_updates=40).agent
        >>> result = jax_ttt.correct(agent, seat="second")
        >>> result.num_corrections == len(result.agent.corrections)
        True
        >>> result.grade.unbeatable, result.grade.second.proven
        (True, 'not-lose')
    """

    agent: Agent = dataclasses.field(metadata=json_records.NOT_WRITTEN)
    goal: Goal
    """What is proven."""
    precision: str
    """The weights: float32, or int8 for a network of integers."""
    num_corrections: int = dataclasses.field(init=False)
    """Corrections in the corrected seats: the agent needs at most so many."""
    levels: tuple[LevelCounts, ...]
    """The corrections by seat and level."""
    num_nodes: int
    """Nodes that exact play searched; 0 in an enumerable game."""
    grade: Grade
    """The grade of the corrected agent in these seats, which is the proof."""

    def __post_init__(self) -> None:
        number = sum(map(self.num_corrections_in, self.grade.seats))
        object.__setattr__(self, "num_corrections", number)

    def num_corrections_in(self, seat: Seat) -> int:
        """Return the number of corrections in a seat."""
        return sum(x.num_corrections for x in self.levels if x.seat == seat)

    def __repr__(self) -> str:
        parts = []
        for seat in self.grade.seats:
            number = count_phrase(self.num_corrections_in(seat), "correction")
            parts.append(f"{grade_text.seat_phrase(seat)} with {number}")
        proven = f"proven: it {_AIMS[self.goal]} {' and '.join(parts)}"
        rule = "it needs at most so many: one rule finds them, and fewer may suffice"
        return "\n\n".join([*grade_text.level_tables(self.levels), f"{proven}\n{rule}"])

    def _repr_html_(self) -> str:
        return html.preformatted(repr(self))


def correct(
    agent: Agent,
    *,
    seat: SeatSetting | None = None,
    goal: Goal = "not-lose",
    precision: AgentPrecision = "auto",
    name: str | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> CorrectionResult:
    """Return the agent with corrections, with which it is proven.

    A correction is a position and the move to play there in place of the network's:
    the one with the highest value that keeps the goal. The agent needs at most so many;
    0 means that it is proven as it is. Exact play finds the corrections; the proof uses
    none. After Ctrl-C, the notes of the `KeyboardInterrupt` say what was found until
    then.

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
        name: The agent's name in the grade and in messages.
        say: A function that gets the progress as a line, a few times a second; for
            instance `print`.

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
    if name is not None:
        check_value("name", Text, name)
    name = players.default_name(agent) if name is None else name
    correcting.check_goal(agent.config.env_id, seats, goal)
    exact = correcting.exact_play(agent.config.env_id, goal)
    agent = correcting.with_precision(name, agent, precision)
    show = _search_progress(agent.config.env_id, say)
    searches: dict[Seat, SearchProgress] = {}
    try:
        for in_seat, progress in correcting.find_in_seats(
            name, agent, seats, goal, exact
        ):
            searches[in_seat] = progress
            show(in_seat, progress, exact.num_nodes())
        corrections = correcting.joined_corrections(agent, searches)
        agent = dataclasses.replace(agent, corrections=corrections)
        on_proof = grade_text.search_progress(name, say)
        proven = correcting.prove_corrected(name, agent, seats, goal, on_proof)
    except KeyboardInterrupt as error:
        for table in grade_text.level_tables(_level_counts(searches)):
            error.add_note(f"found so far {table}")
        raise
    agent = agent.with_grade(dataclasses.replace(proven, seats=agent.config.seats))
    return CorrectionResult(
        agent=agent,
        goal=goal,
        precision=agent.precision,
        levels=_level_counts(searches),
        num_nodes=exact.num_nodes(),
        grade=dataclasses.replace(proven, player=name),
    )


def _level_counts(searches: Mapping[Seat, SearchProgress]) -> tuple[LevelCounts, ...]:
    return tuple(
        level.counts for progress in searches.values() for level in progress.levels
    )


def _search_progress(
    env_id: EnvId, say: Callable[[str], None]
) -> Callable[[Seat, SearchProgress, int], None]:
    """Return a function that shows the progress of a search, a few times a second.

    It takes the seat, the progress there, and the nodes that exact play has searched.
    The time left is that of the level.
    """
    last_time = level_start = 0.0
    level = -1
    rows, columns = GAMES[env_id].shape

    def show(seat: Seat, progress: SearchProgress, nodes: int) -> None:
        nonlocal last_time, level_start, level
        now = time.monotonic()
        if progress.num_stones != level:
            level, level_start = progress.num_stones, now
        if now - last_time < 0.2:
            return
        last_time = now
        num_positions, num_done = progress.num_positions, progress.num_done
        left = (now - level_start) * (num_positions - num_done) / num_done
        say(
            f"correcting {grade_text.seat_phrase(seat)}: {level} of "
            f"{rows * columns} stones, {num_done:,} of {num_positions:,} positions, "
            f"{count_phrase(progress.num_corrections, 'correction')}, exact play "
            f"searched {nodes:,}, {left:.0f} s left here"
        )

    return show
