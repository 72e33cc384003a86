"""Searches of an agent in training: the positions that beat it, and its proof."""

import time
from collections.abc import Callable, Mapping

import jax
import numpy as np
from flax import nnx
from jax.sharding import Mesh

from jax_ttt.config.game_facts import GAMES, Seat
from jax_ttt.config.grade import Grade, SeatGrade
from jax_ttt.config.settings import Config
from jax_ttt.games import position_keys
from jax_ttt.grading import search_grade
from jax_ttt.grading.search_grade import SearchResult
from jax_ttt.players.registry import AgentPlayer
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import distributed
from jax_ttt.runtime import mesh as meshes
from jax_ttt.solver.reached_positions import OnBatch, Reach


def may_find_more(config: Config, grade: Grade, seconds: float | None) -> bool:
    """Return whether a search may find more about an agent than its grade says.

    `seconds` is the search's limit, None without one. A run that trains on
    counterexamples has searched the agent already, so only a search without a limit
    finds more.
    """
    game = GAMES[config.env_id]
    if game.enumerable or (game.too_large and seconds is not None):
        return False
    searched = (grade.searched.get(seat) for seat in config.seats)
    is_decided = all(seat is not None and seat.complete for seat in searched)
    return not is_decided and (seconds is None or not config.finds_counterexamples)


def merge_searches(
    before: Mapping[Seat, SeatGrade], after: Mapping[Seat, SeatGrade]
) -> dict[Seat, SeatGrade]:
    """Return in each seat the search that went further, of two searches of an agent."""
    best = dict(before)
    for seat, new in after.items():
        old = best.get(seat)
        if old is None or _progress(old) <= _progress(new):
            best[seat] = new
    return best


def _progress(searched: SeatGrade) -> tuple[bool, int]:
    return bool(searched.complete), searched.num_moves or 0


def search_agent(
    config: Config,
    params: nnx.State,
    max_positions: int,
    on_batch: OnBatch,
    mesh: Mesh | None = None,
    rng: np.random.Generator | None = None,
) -> dict[Seat, SearchResult]:
    """Search the greedy player of `params` in each seat that it learned.

    See `search_grade.search_by_seat`; after Ctrl-C seats are missing.
    """
    # Processes do not share memory, so each one searches alone, on one device, with its
    # own copy of the weights.
    if distributed.num_processes() > 1:
        mesh, params = None, jax.tree.map(np.asarray, params)
    agent = Agent.of(config, params)
    player = AgentPlayer(
        env_id=config.env_id,
        name="the agent",
        choose=agent.player,
        agent=agent,
        seats=config.seats,
        evidence="construction",
        near_best=agent.near_best,
    )
    return search_grade.search_by_seat(
        player=player,
        max_positions=max_positions,
        sharding=None if mesh is None else meshes.split_sharding(mesh),
        on_batch=on_batch,
        rng=rng,
    )


def find_counterexamples(
    config: Config,
    params: nnx.State,
    rng: np.random.Generator,
    mesh: Mesh | None,
    stop: Callable[[], bool],
) -> tuple[dict[Seat, SeatGrade], np.ndarray]:
    """Return the agent's results by seat, and the keys of counterexamples.

    A counterexample is a position on a losing line in which the agent had a choice.
    Past the setting `max_positions` they come from a sample, which `rng` draws. If
    `stop()` becomes true, there are no results and no positions.
    """
    stopped = False

    def on_batch(reach: Reach, level: int, num_done: int) -> None:
        nonlocal stopped
        del reach, level, num_done
        if stop():
            stopped = True
            raise KeyboardInterrupt

    results = search_agent(
        config=config,
        params=params,
        max_positions=config.max_positions,
        on_batch=on_batch,
        mesh=mesh,
        rng=rng,
    )
    if stopped:
        results = {}
    choices = [result.choices for result in results.values()]
    none = position_keys.first_number(config.env_id)[:0]
    keys = [none, *(x for x in choices if x is not None)]
    grades: dict[Seat, SeatGrade] = {
        seat: result.grade for seat, result in results.items()
    }
    return grades, np.concatenate(keys)


def prove_within(
    config: Config,
    params: nnx.State,
    seconds: float | None,
    stop: Callable[[], bool],
    show: OnBatch = lambda reach, level, num_done: None,
    mesh: Mesh | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[Seat, SeatGrade]:
    """Return the agent's results by seat, within these seconds; None is no limit.

    Each seat gets an equal part of the time. `show` gets how far the search is. Once
    `stop()` is true the search ends, and seats may be missing. `clock` is read after
    each batch.
    """
    start, num_seats = clock(), len(config.seats)
    places = {seat: place for place, seat in enumerate(config.seats, 1)}

    def on_batch(reach: Reach, level: int, num_done: int) -> None:
        if stop():
            raise KeyboardInterrupt
        share = places[reach.player.seat] / num_seats  # of the time, up to this seat
        if seconds is not None and clock() - start > seconds * share:
            raise search_grade.TimeOverError
        show(reach, level, num_done)

    results = search_agent(
        config=config,
        params=params,
        max_positions=search_grade.most_positions(config.env_id),
        on_batch=on_batch,
        mesh=mesh,
    )
    return {seat: result.grade for seat, result in results.items()}
