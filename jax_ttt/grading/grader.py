"""The grade of any player: exact where that is possible, and by sampling."""

import dataclasses

import numpy as np
from jax.sharding import NamedSharding
from jaxtyping import Array, Key

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import Seat, seat_name
from jax_ttt.config.grade import Grade, SeatGrade
from jax_ttt.games import tree as trees
from jax_ttt.games.tree import Tree
from jax_ttt.grading import sampled_match, search_grade, tree_grade
from jax_ttt.players import saved_agents
from jax_ttt.players.player import Player, random_player
from jax_ttt.players.registry import AgentPlayer
from jax_ttt.players.user_players import AskedPlayer
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver.asked_moves import ChangedAnswerError
from jax_ttt.solver.reached_positions import OnBatch

DEFAULT_NUM_GAMES = 512
"""Games in each seat of a match against random where the rates are not exact."""


def follow_lines(
    player: Player,
    max_positions: int | None = None,
    sharding: NamedSharding | None = None,
    on_batch: OnBatch = lambda reach, level, num_done: None,
    keep_interrupted: bool = True,
) -> Grade:
    """Return the exact part of a player's grade: what its lines of play show.

    In an enumerable game the whole tree is known. Elsewhere all positions that the
    player reaches are enumerated, at most `max_positions` in a seat; None means as many
    as memory and disk hold. A random player whose policy is unknown has no such part.
    After Ctrl-C, the grade has what was found until then; without `keep_interrupted`,
    and of a player who is asked, it is raised.

    Raises:
        Refused: the player plays an illegal move, or a correction is for a board that
            it never reaches.
    """
    env_id = player.env_id
    tree = trees.host_tree(env_id)
    if tree is not None and player.policy is not None:
        grade = tree_grade.grade_policy(
            env_id=env_id,
            tree=tree,
            probs=player.policy,
            evidence=player.evidence,
            seats=player.seats,
            corrections=player.corrections,
            mean_abs_q_error=_q_error(player, tree),
        )
    else:
        seats: dict[Seat, SeatGrade] = {}
        note = None
        if tree is None and not search_grade.reason_not_searchable(
            player, has_limit=max_positions is not None
        ):
            try:
                results = search_grade.search_by_seat(
                    player=player,
                    max_positions=max_positions,
                    sharding=sharding,
                    on_batch=on_batch,
                    keep_interrupted=keep_interrupted,
                )
                seats = {seat: result.grade for seat, result in results.items()}
            except ChangedAnswerError as error:
                note = str(error)
        grade = Grade(
            env_id=env_id,
            seats=player.seats,
            first=seats.get("first"),
            second=seats.get("second"),
            note=note,
        )
    _check_corrections(player, grade)
    is_asked = isinstance(player, AskedPlayer)
    asked_twice = player.questions.share_again if is_asked else None
    return dataclasses.replace(grade, asked_twice=asked_twice)


def _check_corrections(player: Player, grade: Grade) -> None:
    """Raise `Refused` if a correction is for a board that is never reached.

    Only seats whose lines are all followed are checked. Such a correction belongs to
    another network, or to another rounding of its values.
    """
    if player.corrections is None:
        return
    made_for = player.corrections.seats(player.env_id)
    for seat, followed in grade.followed.items():
        num_made = sum(made == seat for made in made_for)
        if seat not in player.seats or not followed.complete:
            continue
        if num_unused := num_made - (followed.num_corrections or 0):
            boards = count_phrase(num_unused, "correction")
            rule = f"{boards} {seat_name(seat)} never needs: they are not its own"
            raise Refused(f"{player.name}: {rule}")


def with_match(
    grade: Grade, player: Player, key: Key[Array, ""], num_games: int | None = None
) -> Grade:
    """Return the grade with a match of `num_games` in each seat against random.

    None means no game if the rates of the graded seats are exact, else
    `DEFAULT_NUM_GAMES`. `key` is consumed.

    Raises:
        Refused: `num_games` is 0, and the grade has no exact part either.
    """
    if num_games is None:
        is_exact = grade.mean_rates(grade.seats) is not None
        num_games = 0 if is_exact else DEFAULT_NUM_GAMES
    if not num_games:
        if not grade.followed:
            rule = "nothing is exact, so a grade needs at least one game against random"
            reason = grade.note or rule
            raise Refused(f"{player.name} in {grade.env_id}: {reason}")
        return grade
    random = Player(env_id=grade.env_id, name="random", choose=random_player)
    match = sampled_match.sample_match(player, random, key, num_games)
    return dataclasses.replace(grade, sampled=match)


def _q_error(player: Player, tree: Tree[np.ndarray]) -> float | None:
    """Return the mean error of a saved agent's action values, or None."""
    if not isinstance(player, AgentPlayer):
        return None
    agent = player.agent
    q_values = saved_agents.decision_values(agent.network, agent.params, tree)
    return tree_grade.q_error(tree, np.asarray(q_values))
