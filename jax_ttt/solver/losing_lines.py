"""The lines of play that beat a player, among the positions that it reaches.

`levels` are the keys of each level's positions, ascending, as `Reach` holds them. Where
they are too many, a random sample of them holds some of the losing lines. A sample
proves nothing, but an agent can learn from it.

Axes: `P` positions of a level.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, UInt64

from jax_ttt.games import position_keys
from jax_ttt.games.played_game import Game
from jax_ttt.solver import successors
from jax_ttt.solver.successors import ILLEGAL, LOST, OPEN, WON, SearchedPlayer

PositionKeys = UInt64[np.ndarray, "_"]
OnLevel = Callable[[int, int], None]
"""A function of a level and of how many of its positions are done."""


def losing_line_to(
    player: SearchedPlayer,
    levels: Sequence[PositionKeys],
    parents: Sequence[np.ndarray],
    place: int,
) -> tuple[int, ...]:
    """Return the actions of a game whose last move loses in a position.

    `place` is the position's place in the last level; `parents` leads from each level
    to the one before. The line is played, since with merged images a key stands for
    several boards, whose actions differ.
    """
    places = [place]
    for parent in reversed(parents[1:]):
        places.append(int(parent[places[-1]]))
    path = [keys[at] for keys, at in zip(levels, places[::-1], strict=True)]
    game = Game.start(player.env_id)
    for level, keys in enumerate(levels):
        words = np.asarray(position_keys.keys_of(player.env_id, game.state))
        here = position_keys.keys_to_numbers(words)
        ((_, after),) = successors.expand_level(player, level, here, len(keys))
        if level + 1 < len(levels):
            is_next = after.keys[after.place] == path[level + 1]
            on_path = is_next & (after.result == OPEN)
        else:
            on_path = after.result == _losing_result(player, level)
        game = game.play(int(after.action[on_path][0]))
    return game.moves


def _losing_result(player: SearchedPlayer, level: int) -> int:
    """Return the mover's result, at a level, with which the player loses."""
    return LOST if player.moves_at(level) else WON


def mark_losing_lines(
    player: SearchedPlayer,
    levels: Sequence[PositionKeys],
    on_batch: OnLevel = lambda level, num_done: None,
) -> list[Bool[np.ndarray, "_"]]:
    """Return for each level which positions are on a line of play that loses.

    From the last level back: a move there loses, or leads to a marked position.
    """
    marks: list[np.ndarray] = []
    marked_after = np.zeros(0, np.uint64)
    for level, keys in reversed(list(enumerate(levels))):
        marks.append(np.zeros(len(keys), bool))
        for places, after in successors.expand_level(player, level, keys):
            to_marked = among(marked_after, after.keys)[after.place]
            loses = after.result == _losing_result(player, level)
            is_on_line = loses | (to_marked & (after.result == OPEN))
            marks[-1][places] = is_on_line.any(axis=1)
            on_batch(level, places.stop)
        marked_after = keys[marks[-1]]
    return marks[::-1]


def among(ascending: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return which `numbers` are in `ascending`, whose numbers ascend."""
    if not len(ascending):
        return np.zeros(numbers.shape, bool)
    place = np.searchsorted(ascending, numbers).clip(max=len(ascending) - 1)
    return ascending[place] == numbers


def losing_choices(
    player: SearchedPlayer,
    levels: Sequence[PositionKeys],
    on_batch: OnLevel = lambda level, num_done: None,
) -> list[PositionKeys]:
    """Return for each level the positions on losing lines where the player can choose.

    It is to move there, and has more than one legal move.
    """
    choices = []
    marks = mark_losing_lines(player, levels, on_batch)
    for level, (keys, is_marked) in enumerate(zip(levels, marks, strict=True)):
        marked = keys[is_marked] if player.moves_at(level) else keys[:0]
        choices.append(marked[_has_choice(player, marked)])
    return choices


def _has_choice(player: SearchedPlayer, keys: PositionKeys) -> Bool[np.ndarray, " P"]:
    has_choice = np.zeros(len(keys), bool)
    for places, after in successors.expand_all_moves(player, keys):
        has_choice[places] = (after.result != ILLEGAL).sum(axis=1) > 1
    return has_choice


def sample_levels(
    player: SearchedPlayer,
    level: int,
    keys: PositionKeys,
    num_positions: int,
    rng: np.random.Generator,
    on_batch: OnLevel = lambda level, num_done: None,
) -> list[PositionKeys]:
    """Return samples of a level and of all after it, `num_positions` in each at most.

    The first sample is drawn from `keys`, the positions of `level`. Each later one is
    drawn from the positions that moves in the sample before lead to. Keys ascend.
    """
    samples: list[np.ndarray] = []
    while len(keys):
        if len(keys) > num_positions:
            keys = np.sort(rng.choice(keys, num_positions, replace=False))
        samples.append(keys)
        next_keys = []
        for places, after in successors.expand_level(player, level, keys):
            next_keys.append(after.keys_after(after.result == OPEN))
            on_batch(level, places.stop)
        level, keys = level + 1, np.unique(np.concatenate(next_keys))
    return samples
