"""What a player reaches, beside the tree, a recursive search and known counts."""

import collections
from fractions import Fraction

import four_in_a_row
import numpy as np
import pytest
import rule_player
from rule_player import RULE, reached

from jax_ttt.config.game_facts import SEATS
from jax_ttt.games import tree as trees
from jax_ttt.players.player import policy_player
from jax_ttt.solver import losing_lines, merged_positions, outcomes, policies, proof
from jax_ttt.solver import reached_positions as reaches

ENV = "connect_4x4"
STONES = {"first": "X", "second": "O"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "seat", "num_positions", "losing_ends", "shortest"),
    [
        ("connect_5x4", "first", 6_178, 141, 14),
        ("connect_6x5", "first", 197_826, 2_527, 14),
    ],
)
def test_the_counts_of_a_known_player(
    env_id, seat, num_positions, losing_ends, shortest
):
    """Counted elsewhere too, with bitboards. Six columns need both words of a key."""
    search = reached(env_id, RULE, seat, batch=2**13)
    assert (search.num_positions, search.ends.lost.moves) == (
        num_positions,
        losing_ends,
    )
    assert search.is_complete
    assert len(search.losing_line or ()) == shortest


def wins(board, column, stone):
    """Return whether a stone in this column makes a row on 4 x 4."""
    after = four_in_a_row.with_stone(board, column, stone)
    return four_in_a_row.has_won(after, 4, stone)


def rule_move(board):
    """Return the move of the rule player, in plain Python."""
    order, own = rule_player.column_order(4), four_in_a_row.mover(board)
    other = {"X": "O", "O": "X"}[own]

    def score(column):
        after = four_in_a_row.after_move(board, column)
        on_top = len(after[column]) < 4 and wins(after, column, other)
        win, block = (wins(board, column, stone) for stone in (own, other))
        return 1000 * win + 100 * block - 50 * on_top - order.index(column)

    return max(four_in_a_row.moves(board, 4), key=score)


def recursive(own):
    """Return what the rule player of these stones reaches, and where it can lose."""
    seen, losing, ends = set(), set(), set()
    lines, chances = collections.Counter(), collections.Counter()

    def follow(board, chance):
        seen.add(board)
        stone, moves = four_in_a_row.mover(board), four_in_a_row.moves(board, 4)
        is_own = stone == own
        if not moves:
            lines["drawn"] += 1
            chances["drawn"] += chance
        elif is_own:
            moves = [rule_move(board)]
        for column in moves:
            share = chance / len(moves)
            if wins(board, column, stone):
                result = "won" if is_own else "lost"
                ends.add((result, board, column))
                lines[result] += 1
                chances[result] += share
                if not is_own:
                    losing.add(board)
            elif follow(four_in_a_row.after_move(board, column), share):
                losing.add(board)
        return board in losing

    follow(("",) * 4, Fraction(1))
    counts = collections.Counter(result for result, *_ in ends)
    return seen, counts, lines, chances, losing


@pytest.mark.parametrize("seat", SEATS)
def test_a_recursive_search_finds_the_same(seat):
    """Counted elsewhere too, with bitboards in NumPy."""
    seen, counts, lines, chances, losing = recursive(STONES[seat])
    search = reached(ENV, RULE, seat)
    expected = {"first": (1_086, 26, 14), "second": (2_093, 17, 15)}[seat]
    num_losing, length = search.ends.lost.moves, len(search.losing_line or ())
    assert (search.num_positions, num_losing, length) == expected
    assert search.is_complete
    assert search.num_positions == len(seen)
    assert (search.ends.won.moves, num_losing) == (counts["won"], counts["lost"])
    for name, end in search.ends._asdict().items():
        assert end.lines == lines[name]
        assert end.chance == pytest.approx(float(chances[name]), abs=1e-14)
    marks = losing_lines.mark_losing_lines(search.player, search.keys)
    assert sum(int(mark.sum()) for mark in marks) == len(losing)


@pytest.mark.parametrize("seat", SEATS)
def test_a_random_policy_has_the_results_of_the_tree(seat, host_tree):
    noise = np.random.default_rng(0).random(host_tree.legal_action_mask.shape)
    best = np.where(host_tree.legal_action_mask, noise, -1).argmax(axis=1)
    probs = np.where(host_tree.terminal[:, None], 0.0, np.eye(9)[best])
    index = trees.position_index("tic_tac_toe")
    player = policy_player(index, probs)
    search = reached("tic_tac_toe", player, seat, batch=256)
    assert search.is_complete
    random = policies.uniform_policy(host_tree)
    if seat == "first":
        rates = outcomes.outcome(host_tree, probs, random)
    else:
        rates = outcomes.outcome(host_tree, random, probs)[::-1]
    chances = [end.chance for end in search.ends]
    np.testing.assert_allclose(chances, rates, rtol=0, atol=1e-12)
    lines = outcomes.count_lines(host_tree, probs, seat)
    counts = lines.won, lines.drawn, lines.lost
    assert tuple(end.lines for end in search.ends) == counts
    line = proof.losing_line(host_tree, probs, seat)
    assert line is not None
    assert len(search.losing_line or ()) == len(line)
    position = 0
    for action in search.losing_line or ():
        assert host_tree.to_move(position) != seat or probs[position, action] == 1
        position = int(host_tree.successor[position, action])
    assert host_tree.lost_by(seat)[position]


def test_another_move_on_the_mirror_image_is_refused_where_it_is_checked():
    """The same search of a player that is symmetric by construction is not checked."""
    with pytest.raises(reaches.SymmetryError, match="another move on a symmetric"):
        reached(ENV, RULE, "second", merged=True)
    unchecked = reached(ENV, RULE, "second", merged=True, is_symmetric=True)
    assert unchecked.is_complete


@pytest.mark.parametrize(("most", "buffer_rows"), [(10, 2**22), (500, 16)])
def test_with_too_many_positions_the_rest_stays_open(most, buffer_rows, monkeypatch):
    """With few buffered rows the search ends within a level."""
    monkeypatch.setattr(merged_positions, "_BUFFER_ROWS", buffer_rows)
    whole, cut = reached(ENV, RULE, "first"), reached(ENV, RULE, "first", most)
    assert not cut.is_complete
    assert cut.num_expanded < whole.num_expanded
    for end, final in zip(cut.ends, whole.ends, strict=True):
        assert end.chance <= final.chance <= end.chance + cut.open_chance + 1e-12
        assert end.moves <= final.moves
    total = sum(end.chance for end in cut.ends) + cut.open_chance
    assert total == pytest.approx(1, abs=1e-12)


def test_a_limit_of_all_positions_before_the_last_move_is_enough():
    """Those after the last move have no moves: the search ends there in any case."""
    whole = reached(ENV, RULE, "first")
    limit = sum(map(len, whole.keys))
    assert reached(ENV, RULE, "first", limit).is_complete
    assert not reached(ENV, RULE, "first", limit - 1).is_complete
