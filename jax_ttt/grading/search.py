"""Exact grades in games whose tree is too large: of what one player reaches in them."""

import dataclasses
import functools
from typing import NamedTuple

import jax
import numpy as np

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import GAMES, Seat
from jax_ttt.grading.grade import Lines, SeatGrade
from jax_ttt.players.player import Player
from jax_ttt.runtime import devices
from jax_ttt.solver import losing_lines, position_levels, reach
from jax_ttt.solver.reach import OnBatch, Reach
from jax_ttt.solver.successors import SearchedPlayer

_BATCH = 2**13
_BYTES = 40
"""Memory of a position, at most: its row, and other rows of the widest level."""
_DISK_BYTES = 12
"""Of a position: its key and its parent."""
_SPARE = 2**29
"""Memory for the compiled programs, and for what is sorted at a time."""
_SAMPLE = 2**14
"""Positions of a level that are followed past `max_positions`, to learn from."""


class TimeOverError(Exception):
    """Raised by an `OnBatch`: the seat's search ends with what is known."""


class SearchResult(NamedTuple):
    """The grade in a seat, and the positions on losing lines with a choice."""

    grade: SeatGrade
    choices: np.ndarray | None  # (P,) uint64 keys; None if the search was ended


def reason_not_searchable(player: Player) -> str:
    """Return why the positions that a player reaches can't be enumerated; or empty."""
    if GAMES[player.env_id].packing is None:
        return f"positions of {player.env_id} have no keys (see docs/adding_a_game.md)"
    if not player.is_deterministic:
        return f"{player.name} does not play one move in each position"
    return ""


def most_positions() -> int:
    """Return how many positions fit into the free memory and on the disk, about."""
    free = devices.free_host_bytes()
    fit = ((2**31 if free is None else free) - _SPARE) // _BYTES
    return max(min(fit, position_levels.free_disk_bytes() // _DISK_BYTES), 1)


def search_by_seat(
    player: Player,
    max_positions: int | None = None,
    sharding: jax.sharding.Sharding | None = None,
    on_batch: OnBatch = lambda found, level, done: None,
    rng: np.random.Generator | None = None,
) -> dict[Seat, SearchResult]:
    """Return the player's results against every opponent, by the seat that it learned.

    A seat with more than `max_positions` is not followed to the end; None means as many
    as memory and disk hold. After Ctrl-C, the seats after it are missing. `sharding`
    splits the positions over devices. With `rng`, the choices past `max_positions` come
    from random samples of the levels there.

    Raises:
        PlayerError: `reason_not_searchable`, or the player plays an illegal move.
    """
    if reason := reason_not_searchable(player):
        raise PlayerError(reason)
    most = most_positions() if max_positions is None else max_positions

    def on_latest(reached: Reach, done: int) -> None:
        on_batch(reached, reached.num_expanded, done)

    results: dict[Seat, SearchResult] = {}
    interrupted = False
    for seat in player.seats:
        reached = Reach(_subject(player, seat, sharding))
        choices = None
        try:
            try:
                reach.follow(reached, most, on_latest)
            except reach.DiffersError:  # a board and its mirror image are two positions
                apart = dataclasses.replace(reached.subject, merged=False)
                reached = Reach(apart)
                reach.follow(reached, most, on_latest)
            choices = _choices(reached, rng, functools.partial(on_batch, reached))
        except reach.IllegalMoveError as error:
            raise PlayerError(f"{player.name}: {error}") from None
        except TimeOverError:
            pass
        except KeyboardInterrupt:
            interrupted = True
        number = None if choices is None else len(choices)
        results[seat] = SearchResult(seat_grade(reached, number), choices)
        if interrupted:
            break
    return results


def _subject(
    player: Player,
    seat: Seat,
    sharding: jax.sharding.Sharding | None,
) -> SearchedPlayer:
    """Return the player in a seat, whose positions `sharding` splits over devices."""
    batch = _BATCH
    if sharding is not None:
        unit = 16 * sharding.num_devices
        batch = -(-_BATCH // unit) * unit
    return SearchedPlayer(
        env_id=player.env_id,
        player=player.choose,
        seat=seat,
        merged=bool(GAMES[player.env_id].symmetries),
        is_symmetric=player.is_symmetric,
        sharding=sharding,
        batch=batch,
    )


def _choices(
    reached: Reach, rng: np.random.Generator | None, on_batch: losing_lines.OnLevel
) -> np.ndarray:
    """Return the positions on losing lines in which the player had a choice.

    With `rng`, samples of the levels past `max_positions` have some of the lines.
    """
    levels = reached.keys[: reached.num_expanded]
    if rng is not None and not reached.is_complete:
        number, last = reached.num_expanded, reached.keys[-1]
        levels += losing_lines.follow_sample(
            reached.subject, number, last, _SAMPLE, rng, on_batch
        )
    elif not reached.ends.lost.moves:
        return np.zeros(0, np.uint64)
    return np.concatenate(losing_lines.choices(reached.subject, levels, on_batch))


def seat_grade(reached: Reach, losing_choices: int | None = None) -> SeatGrade:
    """Return what a search found in its seat."""
    won, drawn, lost = reached.ends
    left = 0.0 if reached.is_complete else reached.open_chance

    def possible(chance: float) -> tuple[float, float] | None:
        return None if reached.is_complete else (chance, min(chance + left, 1.0))

    return SeatGrade(
        win_rate=won.chance,
        draw_rate=drawn.chance,
        loss_rate=lost.chance,
        win_rate_interval=possible(won.chance),
        draw_rate_interval=possible(drawn.chance),
        loss_rate_interval=possible(lost.chance),
        # The player has one move in each position, so a line that loses always does.
        worst_loss_rate=_worst_loss_rate(reached),
        complete=reached.is_complete,
        beaten=lost.moves > 0,
        losing_line=reached.losing_line,
        lines=Lines(won=won.lines, drawn=drawn.lines, lost=lost.lines),
        num_positions=reached.num_positions,
        positions=tuple(map(len, reached.keys)),
        merged=reached.subject.merged,
        num_moves=reached.num_expanded,
        open_rate=left,
        losing_ends=lost.moves,
        losing_choices=losing_choices,
    )


def _worst_loss_rate(reached: Reach) -> float | None:
    if reached.ends.lost.moves:
        return 1.0
    return 0.0 if reached.is_complete else None
