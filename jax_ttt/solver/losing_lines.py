"""The lines of play that beat a player, among the positions that it reaches.

`levels` are the keys of each level's positions, ascending, as `Reach` holds them. Where
they are too many, a random sample of them holds some of the losing lines. A sample
proves nothing, but an agent can learn from it.

Axes: `P` positions of a level.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool

from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import position_keys
from jax_ttt.games.played_game import Game
from jax_ttt.games.position_keys import PositionKeys
from jax_ttt.games.state_keys import LOST, OPEN
from jax_ttt.solver import successors
from jax_ttt.solver.batches import SearchedPlayer

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
    game, here = Game.start(player.env_id), path[0][None]
    for level, keys in enumerate(levels):
        ((_, after),) = successors.expand_level(player, here, len(keys))
        on_path = after.result == LOST
        if level + 1 < len(levels):
            here = path[level + 1][None]
            on_path = (after.keys == here) & (after.result == OPEN)
        game = game.play(int(after.action[on_path][0]))
        if GAMES[player.env_id].packing is not None:
            here = position_keys.numbers_of(player.env_id, game.state)
    return game.moves


def mark_losing_lines(
    player: SearchedPlayer,
    levels: Sequence[PositionKeys],
    on_batch: OnLevel = lambda level, num_done: None,
) -> list[Bool[np.ndarray, "_"]]:
    """Return for each level which positions are on a line of play that loses.

    From the last level back: a move there loses, or leads to a marked position.
    """
    marks: list[np.ndarray] = []
    marked_after = levels[0][:0]
    for level, keys in reversed(list(enumerate(levels))):
        marks.append(np.zeros(len(keys), bool))
        for places, after in successors.expand_level(player, keys):
            to_marked = among(marked_after, after.keys) & (after.result == OPEN)
            is_on_line = to_marked | (after.result == LOST)
            marks[-1][places.start + after.row[is_on_line]] = True
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
    for keys, is_marked in zip(levels, marks, strict=True):
        marked = keys[is_marked]
        choices.append(marked[successors.has_choice(player, marked)])
    return choices


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
        for places, after in successors.expand_level(player, keys):
            next_keys.append(after.keys[after.result == OPEN])
            on_batch(level, places.stop)
        level, keys = level + 1, np.unique(np.concatenate(next_keys))
    return samples
