"""Correct an agent: find corrections that suffice, and prove the result.

Finding them uses exact play (`solver.find_corrections`). The proof does not: the agent
with its corrections is graded like any other agent, all replies followed.
"""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
from jax.tree_util import Partial

from jax_ttt.config.errors import Refused, SettingError, require_package
from jax_ttt.config.game_facts import (
    GAMES,
    EnvId,
    Goal,
    Seat,
    reason_goal_is_out_of_reach,
)
from jax_ttt.config.grade import Grade
from jax_ttt.config.settings import AgentPrecision
from jax_ttt.games import position_keys
from jax_ttt.games import tree as trees
from jax_ttt.grading import grader, search_grade
from jax_ttt.networks import integer_network, q_network
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.saved_agents import Agent
from jax_ttt.solver import find_corrections, losing_lines
from jax_ttt.solver.corrections import Corrections
from jax_ttt.solver.find_corrections import ExactPlay, SearchProgress
from jax_ttt.solver.reached_positions import OnBatch

_SAMPLE_SIZE = 128
"""Positions of each level whose activations set the scales of integers."""

_REACHED_BY: dict[Goal, tuple[Goal, ...]] = {
    "not-lose": ("not-lose", "win"),
    "win": ("win",),
}
"""The proven goals that are enough for each goal."""


def check_goal(env_id: EnvId, seats: tuple[Seat, ...], goal: Goal) -> None:
    """Raise `Refused` if no player can reach the goal, or exact play is missing."""
    game = GAMES[env_id]
    falls = game.moves_on == "columns" and game.packing == "columns"
    if not game.enumerable and not falls:
        raise Refused(
            f"corrections need exact play: here {env_id} has none, but tic_tac_toe and "
            "four in a row with falling stones do"
        )
    for seat in seats:
        if reason := reason_goal_is_out_of_reach(env_id, seat, goal):
            raise SettingError("goal", f"one that best play allows: {reason}", goal)


def find_in_seats(
    name: str, agent: Agent, seats: tuple[Seat, ...], goal: Goal, exact: ExactPlay
) -> Iterator[tuple[Seat, SearchProgress]]:
    """Yield what is found in a seat, seat by seat; see `find_corrections`.

    The last of a seat has the corrections of the agent's weights there. Nothing is
    proven.

    Raises:
        RuntimeError: exact play contradicts itself, or what is known of the game.
    """
    order_fn = Partial(saved_agents.ordered_actions, agent.network, agent.params)
    player = registry.agent_player(name, dataclasses.replace(agent, corrections=None))
    for seat in seats:
        searched = dataclasses.replace(
            search_grade.searched_player(player, seat),
            merge_symmetric=saved_agents.is_symmetric(agent.network),
        )
        for progress in find_corrections.find_corrections(
            player=searched, order_fn=order_fn, exact=exact, goal=goal
        ):
            yield seat, progress


def with_precision(name: str, agent: Agent, precision: AgentPrecision) -> Agent:
    """Return the agent with weights of this precision.

    If they become integers, corrections go: they were made for another network.

    Raises:
        SettingError: the network can't be made of integers, or is made of them.
    """
    is_integer = integer_network.is_integer(agent.params)
    reason = integer_network.reason_not_possible(agent.config.architecture)
    if precision == "auto":
        makes_integers = not GAMES[agent.config.env_id].enumerable and not reason
    else:
        makes_integers = precision == "int8"
        if makes_integers and reason:
            raise SettingError("precision", f"float32: {reason}", precision)
    if is_integer and precision == "float32":
        raise SettingError("precision", "int8: its weights are integers", precision)
    if is_integer or not makes_integers:
        return agent
    boards = _sample_boards(name, agent)
    try:
        params = q_network.to_integers(agent.network, agent.params, boards)
    except ValueError as error:
        raise SettingError("precision", f"float32: {error}", precision) from None
    return dataclasses.replace(agent, params=params, corrections=None)


def _sample_boards(name: str, agent: Agent) -> np.ndarray:
    """Return observations of boards that the agent meets, from all levels."""
    env_id = agent.config.env_id
    player = registry.agent_player(name, dataclasses.replace(agent, corrections=None))
    start = position_keys.first_number(env_id)
    keys: list[np.ndarray] = []
    for seat in player.seats:
        searched = dataclasses.replace(
            search_grade.searched_player(player, seat),
            merge_symmetric=player.is_symmetric,
        )
        samples = losing_lines.sample_levels(
            player=searched,
            level=0,
            keys=start,
            num_positions=_SAMPLE_SIZE,
            rng=np.random.default_rng(0),
        )
        keys += [
            sample for level, sample in enumerate(samples) if searched.moves_at(level)
        ]
    words = position_keys.numbers_to_keys(np.unique(np.concatenate(keys)))
    return position_keys.observation(env_id, position_keys.unpack(env_id, words))


def exact_play(env_id: EnvId, goal: Goal) -> ExactPlay:
    """Return exact play of the game: minimax over its tree, or a solver."""
    tree = trees.host_tree(env_id)
    if tree is not None:
        return find_corrections.tree_play(env_id, tree, goal)
    require_package("numba", "solver", "exact play")
    from jax_ttt.solver.connect_four_solver import Solver

    solver = Solver(env_id, goal)
    return ExactPlay(
        keeping_moves=solver.keeping_moves,
        first_level=solver.first_level,
        num_nodes=lambda: solver.num_nodes,
    )


def joined_corrections(
    agent: Agent, searches: Mapping[Seat, SearchProgress]
) -> Corrections | None:
    """Return those of the searches, and those that the agent had for other seats."""
    columns = [(np.zeros(0, "u8"), np.zeros(0, "u1"))]
    for progress in searches.values():
        columns += [(level.keys, level.actions) for level in progress.levels]
    if (old := agent.corrections) is not None:
        stays = np.array(
            [seat not in searches for seat in old.seats(agent.config.env_id)]
        )
        columns.append((old.keys[stays], old.actions[stays]))
    keys, actions = map(np.concatenate, zip(*columns, strict=True))
    order = np.argsort(keys)
    return Corrections(keys[order], actions[order]) if len(keys) else None


def prove_corrected(
    name: str,
    agent: Agent,
    seats: tuple[Seat, ...],
    goal: Goal,
    on_batch: OnBatch,
) -> Grade:
    """Return the grade of the corrected agent in these seats.

    Raises:
        Refused: a line does not end as the goal says, or memory is too small.
    """
    player = dataclasses.replace(registry.agent_player(name, agent), seats=seats)
    grade = grader.follow_lines(player, on_batch=on_batch, keep_interrupted=False)
    for seat in seats:
        followed = grade.seat(seat)
        if followed is not None and not followed.complete:
            raise Refused(f"{name}: memory ends before all lines are followed")
        if followed is None or followed.proven not in _REACHED_BY[goal]:
            rule = f"the walk with its corrections does not prove {goal}"
            if followed is not None and followed.near_loss is not None:
                rule += ": rounding may decide a move that loses; use --precision int8"
            raise Refused(f"{name}: {rule}")
    return grade
