"""Lines of play that beat a player, and the positions on them.

That as many positions are marked as a recursive search finds is in test_reach.py.
"""

import jax
import numpy as np
import pytest
from rule_player import RULE, reached

from jax_ttt.games import packing, pgx_games
from jax_ttt.solver import losing_lines

ENV = "connect_4x4"


def played(actions):
    """Yield each level of a game with the state before its move."""
    env = pgx_games.make_env(ENV)
    state = pgx_games.init(env, jax.random.key(0), 1)
    for level, action in enumerate(actions):
        yield level, state
        assert np.asarray(state.legal_action_mask)[0, action]
        assert not np.asarray(state.terminated).any()
        state = pgx_games.play_moves(env, state, np.array([action], np.int32))
    yield len(actions), state


@pytest.fixture(scope="module")
def found():
    """Return what a player reaches who can be beaten."""
    return reached(ENV, RULE, "second")


def test_the_line_is_legal_and_ends_with_the_loss(found):
    assert found.losing_line is not None
    *_, (_, last) = played(found.losing_line)
    assert bool(last.terminated[0])
    # Who is to move would be next: the other one has won.
    winner = 1 - int(last.current_player[0])
    assert float(last.rewards[0, winner]) == 1
    assert not found.player.moves_at(len(found.losing_line) - 1)


def test_the_player_plays_its_own_moves_of_the_line(found):
    play = jax.jit(RULE)
    for level, state in played(found.losing_line):
        if found.player.moves_at(level) and level < len(found.losing_line):
            action = play(jax.random.key(0), state)
            assert action.tolist() == [found.losing_line[level]]


def test_each_position_of_the_line_is_marked(found):
    marks = losing_lines.mark_losing_lines(found.player, found.keys)
    words_of = jax.jit(lambda state: packing.pack(ENV, packing.stones_of(state)))
    for level, state in list(played(found.losing_line))[:-1]:
        words = np.asarray(words_of(state))
        place = np.searchsorted(found.keys[level], packing.keys_to_numbers(words)[0])
        assert marks[level][place]


def test_choices_are_marked_positions_of_the_player_with_two_moves(found):
    marks = losing_lines.mark_losing_lines(found.player, found.keys)
    chosen = losing_lines.losing_choices(found.player, found.keys)
    own = [found.player.moves_at(level) for level in range(len(marks))]
    rows = zip(found.keys, marks, own, strict=True)
    marked = np.concatenate([keys[mark] for keys, mark, is_own in rows if is_own])
    states = jax.jit(lambda words: packing.to_states(ENV, packing.unpack(ENV, words)))(
        packing.numbers_to_keys(marked)
    )
    several = np.asarray(states.legal_action_mask).sum(axis=1) > 1
    np.testing.assert_array_equal(np.concatenate(chosen), marked[several])
    assert 10 < several.sum() < len(marked)
    assert not any(len(x) for x, is_own in zip(chosen, own, strict=True) if not is_own)


def test_without_losses_nothing_is_marked(found):
    """The levels up to the one before the first loss."""
    shortest = len(found.losing_line)
    marks = losing_lines.mark_losing_lines(found.player, found.keys[: shortest - 1])
    assert not any(mark.any() for mark in marks)
    marks = losing_lines.mark_losing_lines(found.player, found.keys[:shortest])
    assert all(mark.any() for mark in marks)
