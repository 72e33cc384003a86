"""Exact grades where a tree is too large: from all positions that a player reaches."""

import contextlib
import dataclasses
import functools
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, EnvId, Seat
from jax_ttt.config.grade import Evidence, Lines, Rates, SeatGrade
from jax_ttt.games import position_keys
from jax_ttt.players.player import Player
from jax_ttt.players.user_players import AskedPlayer
from jax_ttt.runtime import devices
from jax_ttt.solver import losing_lines, merged_positions, reached_positions
from jax_ttt.solver.batches import IllegalMoveError, SearchedPlayer
from jax_ttt.solver.corrections import Corrections
from jax_ttt.solver.reached_positions import OnBatch, Reach

_CPU_BATCH = 2**13
"""Positions in a call of the compiled programs, on a CPU."""
_ACCELERATOR_BATCH = 2**17
"""The same on an accelerator, which a smaller batch does not fill."""
_BATCH_BYTES = 2**23
"""Bytes of such positions, at most: each has some dozens of moves."""
_ROW_BYTES = 20
"""Memory for each position in the widest level, besides its key."""
_MERGING = 10 / 7
"""How many times that memory merging the level takes, at most."""
_PARENT_BYTES = 4
"""Disk for each position, besides its key."""
_SPARE_BYTES = 2**29
"""Memory for the compiled programs, and for the rows that are sorted together."""
_MOST_ASKED = 50_000
"""Positions in a seat to which a player who is asked is followed by default."""
_SAMPLE_SIZE = 2**14
"""Positions of each level past `max_positions` that are sampled, to learn from."""


class TimeOverError(Exception):
    """Raised by an `OnBatch` to end a seat's search; its results so far are kept."""


class SearchResult(NamedTuple):
    """The grade in a seat, and the positions on losing lines with a choice."""

    grade: SeatGrade
    choices: np.ndarray | None  # (P,) keys; None if the search was ended


def reason_not_searchable(player: Player, has_limit: bool = False) -> str:
    """Return why no search follows the lines of play of a player; empty if it can.

    `has_limit` says whether it is asked for up to a number of positions.
    """
    if player.note:
        return f"{player.name}: {player.note}"
    if player.evidence == "none":
        return f"{player.name} does not play one move in each position"
    if GAMES[player.env_id].too_large and not has_limit:
        return f"{player.env_id} is too large, without a limit by max_positions"
    return ""


def most_positions(env_id: EnvId) -> int:
    """Return about how many positions fit into the free memory and on the disk."""
    key_bytes = position_keys.first_number(env_id).itemsize
    free = devices.free_host_bytes()
    # Where the system does not tell the free memory, 2 GB are assumed.
    free = 2**31 if free is None else free
    in_memory = (free - _SPARE_BYTES) / (_ROW_BYTES + key_bytes) / _MERGING
    on_disk = merged_positions.free_disk_bytes() / (_PARENT_BYTES + key_bytes)
    return max(int(min(in_memory, on_disk)), 1)


def search_by_seat(
    player: Player,
    max_positions: int | None = None,
    sharding: NamedSharding | None = None,
    on_batch: OnBatch = lambda reach, level, num_done: None,
    rng: np.random.Generator | None = None,
    keep_interrupted: bool = True,
) -> dict[Seat, SearchResult]:
    """Return the player's results against every opponent, by the seat that it learned.

    A seat with more than `max_positions` is not followed to the end; None means as many
    as memory and disk hold, or `_MOST_ASKED` of a player who is asked. After Ctrl-C,
    the seats after it are missing; without `keep_interrupted`, and of a player who is
    asked, it is raised. `sharding` splits the positions over devices. With `rng`, the
    choices past `max_positions` come from random samples of the levels there.

    Raises:
        ChangedAnswerError: a player who is asked answers differently the second time.
        Refused: `reason_not_searchable`, or the player plays an illegal move.
    """
    if reason := reason_not_searchable(player, has_limit=True):
        raise Refused(reason)
    is_asked = isinstance(player, AskedPlayer)
    most = max_positions
    if most is None:
        most = _MOST_ASKED if is_asked else most_positions(player.env_id)
    results: dict[Seat, SearchResult] = {}
    interrupted = False
    with contextlib.closing(player):
        for seat in player.seats:
            reach = Reach(searched_player(player, seat, sharding))
            near = None
            choices = None
            try:
                try:
                    reached_positions.follow_all_lines(reach, most, on_batch)
                except reached_positions.SymmetryError:
                    # Search again; a board and its mirror image are two positions.
                    reach = Reach(
                        dataclasses.replace(reach.player, merge_symmetric=False)
                    )
                    reached_positions.follow_all_lines(reach, most, on_batch)
                choices = _losing_choices(
                    reach, rng, functools.partial(on_batch, reach)
                )
                if player.near_best is not None and _never_loses(reach):
                    near = Reach(_near_best_player(reach.player, player, sharding))
                    reached_positions.follow_all_lines(near, most, on_batch)
            except IllegalMoveError as error:
                raise Refused(f"{player.name}: {error}") from None
            except TimeOverError:
                pass
            except KeyboardInterrupt:
                if is_asked or not keep_interrupted:
                    raise
                interrupted = True
            num_choices = None if choices is None else len(choices)
            grade = seat_grade(
                reach, player.evidence, num_choices, player.corrections, near
            )
            results[seat] = SearchResult(grade, choices)
            if interrupted:
                break
    return results


def _never_loses(reach: Reach) -> bool:
    return reach.is_complete and not reach.ends.lost.moves


def _near_best_player(
    searched: SearchedPlayer, player: Player, sharding: NamedSharding | None
) -> SearchedPlayer:
    """Return the searched player whose near-best moves all count as played."""
    near_best = jax.device_put(player.near_best, _replicated(sharding))
    # Whether they are alike on images is not checked.
    merge_symmetric = searched.merge_symmetric and player.is_symmetric
    return dataclasses.replace(
        searched, may_play=near_best, merge_symmetric=merge_symmetric
    )


def searched_player(
    player: Player,
    seat: Seat,
    sharding: NamedSharding | None = None,
) -> SearchedPlayer:
    """Return the player in a seat, whose positions `sharding` splits over devices.

    Its arrays, such as an agent's weights, are on the devices: a batch sends positions
    alone.
    """
    is_accelerator = devices.current_device().platform != "cpu"
    batch = _ACCELERATOR_BATCH if is_accelerator else _CPU_BATCH
    key_bytes = position_keys.first_number(player.env_id).itemsize
    batch = max(min(batch, _BATCH_BYTES // key_bytes // 16 * 16), 16)
    if sharding is not None:
        # Each sixteenth of a batch is split evenly, too.
        unit = 16 * sharding.num_devices
        batch = -(-batch // unit) * unit
    return SearchedPlayer(
        env_id=player.env_id,
        choose=jax.device_put(player.choose, _replicated(sharding)),
        seat=seat,
        merge_symmetric=merges_symmetric(player),
        is_symmetric=player.is_symmetric,
        asked=player.asked_moves(seat),
        sharding=sharding,
        batch=batch,
        sees_state=player.sees_state,
    )


def _replicated(sharding: NamedSharding | None) -> NamedSharding | None:
    """Return the sharding of arrays that every device holds."""
    return None if sharding is None else NamedSharding(sharding.mesh, PartitionSpec())


def merges_symmetric(player: Player) -> bool:
    """Return whether a search may count a board and its images as one position.

    Corrections of a player that does not move alike on all images are for single
    boards.
    """
    has_images = bool(GAMES[player.env_id].symmetries)
    if isinstance(player, AskedPlayer):  # with a line of play to each board
        return False
    return has_images and (player.corrections is None or player.is_symmetric)


def _losing_choices(
    reach: Reach, rng: np.random.Generator | None, on_batch: losing_lines.OnLevel
) -> np.ndarray:
    """Return the keys of positions on losing lines in which the player had a choice.

    With `rng`, samples of the levels past `max_positions` hold some of the lines.
    """
    levels = reach.keys[: reach.num_expanded]
    if rng is not None and not reach.is_complete:
        levels += losing_lines.sample_levels(
            player=reach.player,
            level=reach.num_expanded,
            keys=reach.keys[-1],
            num_positions=_SAMPLE_SIZE,
            rng=rng,
            on_batch=on_batch,
        )
    elif not reach.ends.lost.moves:
        return reach.keys[0][:0]
    choices = losing_lines.losing_choices(reach.player, levels, on_batch)
    return np.concatenate(choices)


def seat_grade(
    reach: Reach,
    evidence: Evidence,
    losing_choices: int | None = None,
    corrections: Corrections | None = None,
    near: Reach | None = None,
) -> SeatGrade:
    """Return the grade of a player in the seat of a search.

    `near` is the search in which its near-best moves count as played, too. What does
    not hold there is not proven.
    """
    won, drawn, lost = reach.ends
    is_unsure = near is not None and not _never_loses(near)
    is_beaten = None if is_unsure else lost.moves > 0
    # Where every line is won, the sum of their chances may miss 1 by rounding.
    wins_all = reach.is_complete and not drawn.moves and not lost.moves
    win_chance = 1.0 if wins_all else won.chance
    open_rate = 0.0 if reach.is_complete else reach.open_chance
    lines, known = None, wins_all
    if reach.counts_lines:
        lines = Lines(won=won.lines, drawn=drawn.lines, lost=lost.lines)
        known = None  # the lines say it

    chances = win_chance, drawn.chance, lost.chance
    rates = Rates.of(
        rates=chances,
        low=chances,
        high=[min(chance + open_rate, 1.0) for chance in chances],
        evidence=evidence,
    )
    return SeatGrade(
        **vars(rates),
        worst_loss_rate=None if is_unsure else _worst_loss_rate(reach),
        complete=reach.is_complete,
        beaten=is_beaten,
        losing_line=reach.losing_line,
        near_loss=None if near is None else near.losing_line,
        wins_all=False if wins_all and near and near.ends.drawn.moves else known,
        lines=lines,
        num_positions=reach.num_positions,
        positions=tuple(map(len, reach.keys)),
        merged=reach.player.merge_symmetric,
        num_moves=reach.num_expanded,
        open_rate=open_rate,
        losing_ends=lost.moves,
        losing_choices=losing_choices,
        corrections=None if corrections is None else _num_played(reach, corrections),
    )


def _num_played(reach: Reach, corrections: Corrections) -> tuple[int, ...]:
    """Return the number of corrections that are reached at each level."""
    return tuple(
        int(losing_lines.among(keys, corrections.keys).sum())
        if reach.player.moves_at(level)
        else 0
        for level, keys in enumerate(reach.keys)
    )


def _worst_loss_rate(reach: Reach) -> float | None:
    # The player has one move in each position, so against the opponent of a losing line
    # it loses every game.
    if reach.ends.lost.moves:
        return 1.0
    return 0.0 if reach.is_complete else None
