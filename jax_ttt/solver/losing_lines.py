"""The lines of play that beat a player, among the positions that it reaches.

`levels` are the keys of the positions of each level, ascending, as `reach` finds them.
Where they are too many, a random sample has some of the lines, which prove nothing but
can be learned from.

Axes: `P` positions of a level.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, UInt64

from jax_ttt.games import packing
from jax_ttt.games.game import Game
from jax_ttt.solver import successors
from jax_ttt.solver.successors import ILLEGAL, LOST, OPEN, WON, SearchedPlayer

PositionKeys = UInt64[np.ndarray, "_"]
OnLevel = Callable[[int, int], None]
"""A function of a level and of how many of its positions are searched."""


def line_to(
    subject: SearchedPlayer,
    levels: Sequence[PositionKeys],
    parents: Sequence[np.ndarray],
    losing: int,
) -> tuple[int, ...]:
    """Return the actions of a line that ends with a lost move in position `losing`.

    It is a position of the last level; `parents` leads from each level to the one
    before. With merged images a key stands for several boards, so the line is played.
    """
    places = [losing]
    for parent in reversed(parents[1:]):
        places.append(int(parent[places[-1]]))
    wanted = [levels[number][place] for number, place in enumerate(places[::-1])]
    game = Game.start(subject.env_id)
    for number in range(len(wanted)):
        keys = packing.keys_of(subject.env_id, game.state)
        here = packing.keys_to_numbers(np.asarray(keys))
        size = len(levels[number])
        ((_, after),) = successors.expand(subject, number, here, size)
        if number + 1 < len(wanted):
            there = packing.keys_to_numbers(after.keys) == wanted[number + 1]
            fits = there & (after.result == OPEN)
        else:
            fits = after.result == _lost(subject, number)
        game = game.play(int(after.action[fits][0]))
    return game.moves


def marked(
    subject: SearchedPlayer,
    levels: Sequence[PositionKeys],
    on_batch: OnLevel = lambda level, done: None,
) -> list[Bool[np.ndarray, "_"]]:
    """Return for each level which positions are on a line of play that loses."""
    marks: list[np.ndarray] = []
    losing = np.zeros(0, np.uint64)  # of the level after
    for number, keys in reversed(list(enumerate(levels))):
        marks.append(np.zeros(len(keys), bool))
        for rows, after in successors.expand(subject, number, keys):
            there = _among(losing, packing.keys_to_numbers(after.keys))
            lost = after.result == _lost(subject, number)
            leads = lost | (there & (after.result == OPEN))
            marks[-1][rows] = leads.any(axis=1)
            on_batch(number, rows.stop)
        losing = keys[marks[-1]]
    return marks[::-1]


def choices(
    subject: SearchedPlayer,
    levels: Sequence[PositionKeys],
    on_batch: OnLevel = lambda level, done: None,
) -> list[PositionKeys]:
    """Return for each level the positions on losing lines where the player can choose.

    It is to move there, and has more than one legal move.
    """
    found = []
    marks = marked(subject, levels, on_batch)
    for number, (keys, lost) in enumerate(zip(levels, marks, strict=True)):
        own, keys = subject.is_own(number), keys[lost]
        found.append(keys[_has_choice(subject, keys)] if own else keys[:0])
    return found


def follow_sample(
    subject: SearchedPlayer,
    number: int,
    keys: PositionKeys,
    num_positions: int,
    rng: np.random.Generator,
    on_batch: OnLevel = lambda level, done: None,
) -> list[PositionKeys]:
    """Return samples of a level and of all after it, `num_positions` in each at most.

    The first sample is drawn from `keys`, the positions of level `number`. Each later
    one is drawn from the positions that moves in the sample before lead to. Keys
    ascend. `on_batch` gets a level and how many of its positions are done.
    """
    levels: list[np.ndarray] = []
    while len(keys):
        if len(keys) > num_positions:
            keys = np.sort(rng.choice(keys, num_positions, replace=False))
        levels.append(keys)
        led_to = []
        for rows, after in successors.expand(subject, number, keys):
            led_to.append(packing.keys_to_numbers(after.keys[after.result == OPEN]))
            on_batch(number, rows.stop)
        number, keys = number + 1, np.unique(np.concatenate(led_to))
    return levels


def _has_choice(subject: SearchedPlayer, keys: PositionKeys) -> Bool[np.ndarray, " P"]:
    has = np.zeros(len(keys), bool)
    for rows, after in successors.expand_all_moves(subject, keys):
        has[rows] = (after.result != ILLEGAL).sum(axis=1) > 1
    return has


def _lost(subject: SearchedPlayer, number: int) -> int:
    """Return the result, for who moves at a level, of a move that the player loses."""
    return LOST if subject.is_own(number) else WON


def _among(ascending: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return which numbers are among others, in ascending order."""
    if not len(ascending):
        return np.zeros(numbers.shape, bool)
    place = np.searchsorted(ascending, numbers).clip(max=len(ascending) - 1)
    return ascending[place] == numbers
