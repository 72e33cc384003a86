"""Corrections with which an agent is proven."""

from collections.abc import Callable

from jax_ttt.api import player as players
from jax_ttt.api.agent import check_agent
from jax_ttt.config.game_facts import Goal, Seat, SeatSetting
from jax_ttt.config.ranges import Text, check_value
from jax_ttt.config.settings import SEATS_OF_SETTING, AgentPrecision
from jax_ttt.grading import correcting
from jax_ttt.grading.correcting import CorrectionResult
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import compiling
from jax_ttt.solver.find_corrections import Search
from jax_ttt.text import correction_text, grade_text


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
    show = correction_text.correcting_progress(agent.config.env_id, say)
    searches: dict[Seat, Search] = {}

    def on_search(search: Search, *progress: int) -> None:
        searches[search.player.seat] = search
        show(search, *progress)

    try:
        return correcting.correct_agent(
            name=name,
            agent=agent,
            seats=seats,
            goal=goal,
            precision=precision,
            on_search=on_search,
            on_proof=grade_text.search_progress(name, say),
        )
    except KeyboardInterrupt as error:
        levels = [level for search in searches.values() for level in search.levels]
        for table in grade_text.level_tables(levels):
            error.add_note(f"found so far {table}")
        raise
