"""What a player reaches, beside the tree, a recursive search and known counts."""

import collections
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rule_player
from jax.tree_util import Partial
from rule_player import RULE, reached

import jax_ttt
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.settings import Config
from jax_ttt.games import packing
from jax_ttt.games import positions as boards
from jax_ttt.games.game import Game
from jax_ttt.networks import q_network
from jax_ttt.players import basic, network_player
from jax_ttt.solver import (
    losing_lines,
    outcomes,
    policies,
    position_levels,
    proof,
    reach,
    successors,
)
from jax_ttt.solver.reach import Reach
from jax_ttt.solver.successors import SearchedPlayer

COUNTS = [
    ("connect_4x4", "first", 1_086, 26, 14),
    ("connect_4x4", "second", 2_093, 17, 15),
]


@pytest.mark.parametrize(
    ("env_id", "seat", "positions", "losing", "shortest"),
    [
        *COUNTS,
        pytest.param("connect_5x4", "first", 6_178, 141, 14, marks=pytest.mark.slow),
        pytest.param("connect_5x5", "second", 55_339, 1_277, 7, marks=pytest.mark.slow),
    ],
)
def test_the_counts_of_a_known_player(env_id, seat, positions, losing, shortest):
    """Counted elsewhere too, with bitboards in NumPy."""
    found = reached(env_id, RULE, seat)
    assert (found.num_positions, found.ends.lost.moves) == (positions, losing)
    assert found.is_complete
    assert found.losing_line is not None
    assert len(found.losing_line) == shortest
    chances = [end.chance for end in found.ends]
    assert sum(chances) == pytest.approx(1, abs=1e-12)


def test_a_limit_of_all_positions_before_the_last_move_is_enough():
    """Those after the last move have no moves: the search ends there in any case."""
    subject = SearchedPlayer(
        env_id="connect_4x4",
        choose=RULE,
        seat="first",
        merge_symmetric=False,
        batch=2048,
    )
    numbers = []
    whole = Reach(subject)
    reach.follow_all_lines(
        whole, 10**9, lambda found, done: numbers.append(found.num_positions)
    )
    assert whole.is_complete
    for limit, is_complete in ((numbers[-1], True), (numbers[-1] - 1, False)):
        found = Reach(subject)
        reach.follow_all_lines(found, limit)
        assert found.is_complete == is_complete


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_the_counts_of_the_player_in_connect_four():
    found = reached("connect_7x6", RULE, "first", batch=2**13)
    assert (found.num_positions, found.ends.lost.moves) == (7_362_237, 132_937)


def with_stone(board, column, who):
    """Return a board, columns of stones from below, after a move."""
    return tuple(
        (*stones, who) if number == column else stones
        for number, stones in enumerate(board)
    )


def wins(rows, board, column, who):
    """Return whether a stone in this column makes a row."""
    cells = {(column, len(board[column])): who} | {
        (number, height): stone
        for number, stones in enumerate(board)
        for height, stone in enumerate(stones)
    }
    return any(all(cells.get(cell) == who for cell in row) for row in rows)


def chosen(rows, board, who):
    """Return the move of the rule player, in plain Python."""
    order, other = rule_player.column_order(4), 1 - who

    def score(column):
        after = with_stone(board, column, who)
        on_top = len(after[column]) < 4 and wins(rows, after, column, other)
        win, block = (wins(rows, board, column, player) for player in (who, other))
        return 1000 * win + 100 * block - 50 * on_top - order.index(column)

    return max((c for c in order if len(board[c]) < 4), key=score)


def recursive(rows, seat):
    """Return what the rule player reaches on 4 x 4, and where it can still lose."""
    seen, losing, ends = set(), set(), set()
    lines, chances = collections.Counter(), collections.Counter()

    def follow(board, number, chance):
        seen.add(board)
        who, own = number % 2, SEATS[number % 2] == seat
        moves = [c for c in range(4) if len(board[c]) < 4]
        if not moves:
            lines["drawn"] += 1
            chances["drawn"] += chance
        elif own:
            moves = [chosen(rows, board, who)]
        for column in moves:
            share = chance / len(moves)
            if wins(rows, board, column, who):
                result = "won" if own else "lost"
                ends.add((result, board, column))
                lines[result] += 1
                chances[result] += share
                if not own:
                    losing.add(board)
            elif follow(with_stone(board, column, who), number + 1, share):
                losing.add(board)
        return board in losing

    follow(((),) * 4, 0, Fraction(1))
    found = collections.Counter(result for result, *_ in ends)
    return seen, found, lines, chances, losing


@pytest.fixture(scope="module")
def rows_of_4x4():
    """Return the cells (column, row) of the ten rows."""
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)]
    rows = [
        [(c + n * right, r + n * up) for n in range(4)]
        for c in range(4)
        for r in range(4)
        for right, up in steps
    ]
    found = [row for row in rows if all(0 <= c < 4 and 0 <= r < 4 for c, r in row)]
    assert len(found) == 10
    return found


@pytest.mark.parametrize("seat", SEATS)
def test_a_recursive_search_finds_the_same(seat, rows_of_4x4):
    seen, ends, lines, chances, losing = recursive(rows_of_4x4, seat)
    found = reached("connect_4x4", RULE, seat)
    assert found.num_positions == len(seen)
    won, drawn, lost = found.ends
    assert (won.moves, lost.moves) == (ends["won"], ends["lost"])
    for end, name in ((won, "won"), (drawn, "drawn"), (lost, "lost")):
        assert end.lines == lines[name]
        assert end.chance == pytest.approx(float(chances[name]), abs=1e-14)
    marks = losing_lines.mark_losing_lines(found.player, found.keys)
    assert [len(x) for x in marks] == [len(x) for x in found.keys]
    assert sum(int(x.sum()) for x in marks) == len(losing)


def check_beside_tree(tree, player, probs):
    """Compare a deterministic policy's results with those of the whole tree."""
    random = policies.uniform(tree)
    of_tree = {
        "first": outcomes.outcome(tree, probs, random),
        "second": outcomes.outcome(tree, random, probs)[::-1],
    }
    for seat in SEATS:
        found = reached("tic_tac_toe", player, seat, batch=256)
        chances = [end.chance for end in found.ends]
        np.testing.assert_allclose(chances, of_tree[seat], rtol=0, atol=1e-12)
        assert found.is_complete
        beaten = proof.beaten(tree, probs)[SEATS.index(seat)]
        assert (found.ends.lost.moves > 0) == beaten
        lines = proof.count_lines(tree, probs, seat)
        counts = lines.won, lines.drawn, lines.lost
        assert tuple(end.lines for end in found.ends) == counts
        line = proof.losing_line(tree, probs, seat)
        assert (found.losing_line is None) == (line is None)
        if line is not None:
            assert found.losing_line is not None
            assert len(found.losing_line) == len(line)
            check_line(found.losing_line, tree, probs, seat)


def check_line(actions, tree, probs, seat):
    """Check that the policy plays these moves, and loses."""
    position = 0
    for action in actions:
        assert tree.legal_action_mask[position, action]
        if tree.to_move(int(position)) == seat:
            assert probs[position, action] == 1
        position = tree.successor[position, action]
    assert tree.lost_by(seat)[position]


def random_policies(tree, count):
    """Yield deterministic policies that play a random legal move in each position."""
    for seed in range(count):
        noise = np.random.default_rng(seed).random(tree.legal_action_mask.shape)
        best = np.where(tree.legal_action_mask, noise, -1).argmax(axis=1)
        yield np.where(tree.terminal[:, None], 0.0, np.eye(9)[best])


@pytest.mark.slow
def test_random_policies_have_the_results_of_the_tree(host_tree):
    index = boards.position_index("tic_tac_toe")
    for probs in random_policies(host_tree, 4):
        check_beside_tree(host_tree, basic.policy_player(index, probs), probs)


def symmetric(key, env_state):
    """Play by the rule on the board or its mirror image, the lesser key of both."""
    stones = packing.stones_of(env_state)
    mirror = packing.all_views("connect_4x4").cells[1]
    keys = packing.pack("connect_4x4", stones)[:, 0]
    turned = (
        packing.pack("connect_4x4", packing.stones_in_view(stones, mirror))[:, 0] < keys
    )
    obs = env_state.observation
    first = jnp.where(turned[:, None, None, None], obs[:, :, ::-1], obs)
    legal = env_state.legal_action_mask
    mask = jnp.where(turned[:, None], legal[:, ::-1], legal)
    seen = env_state.replace(observation=first, legal_action_mask=mask)
    column = rule_player.rule_moves(key, seen)
    return jnp.where(turned, 3 - column, column)


@pytest.mark.slow
def test_merged_images_have_the_same_results():
    apart = reached("connect_4x4", Partial(symmetric), "second")
    merged = reached("connect_4x4", Partial(symmetric), "second", merged=True)
    assert merged.num_positions < 0.8 * apart.num_positions
    for end, other in zip(merged.ends, apart.ends, strict=True):
        assert end.chance == pytest.approx(other.chance, abs=1e-14)
        assert end.lines == other.lines
    lengths = [
        None if x.losing_line is None else len(x.losing_line) for x in (merged, apart)
    ]
    assert lengths[0] == lengths[1]


def of_network(seat, is_symmetric):
    """Return what a network with its first weights reaches on 4 x 4."""
    config = Config.of(env_id="connect_4x4", hidden_size=16)
    own = network_player.network_of(config.architecture)
    params = q_network.init_params(own, jax.random.key(1))
    subject = SearchedPlayer(
        env_id="connect_4x4",
        choose=network_player.greedy_player(own, params),
        seat=seat,
        merge_symmetric=True,
        is_symmetric=is_symmetric,
        batch=2048,
    )
    found = Reach(subject)
    reach.follow_all_lines(found, 10**9)
    return found


@pytest.mark.parametrize("seat", SEATS)
def test_a_canonical_network_plays_the_same_where_mirror_images_are_checked(seat):
    found, checked = of_network(seat, True), of_network(seat, False)
    for keys, wanted in zip(found.keys, checked.keys, strict=True):
        np.testing.assert_array_equal(keys, wanted)
    assert found.ends == checked.ends
    assert found.losing_line == checked.losing_line


def test_a_symmetric_player_is_asked_on_one_board_only():
    """It is taken at its word: the rule player's other move goes unnoticed."""
    boards = []

    def noted(key, env_state):
        jax.debug.callback(lambda obs: boards.append(obs), env_state.observation)
        return rule_player.rule_moves(key, env_state)

    for is_symmetric, times in ((True, 1), (False, 2)):
        boards.clear()
        subject = SearchedPlayer(
            env_id="connect_4x4",
            choose=Partial(noted),
            seat="first",
            merge_symmetric=True,
            is_symmetric=is_symmetric,
            batch=16,
        )
        keys = np.asarray(packing.keys_of("connect_4x4", first_state()))
        list(successors.expand_level(subject, 0, packing.keys_to_numbers(keys)))
        jax.effects_barrier()
        assert len(boards) == times


def first_state():
    """Return the game before its first move."""
    return Game.start("connect_4x4", []).state


def test_another_move_on_the_mirror_image_is_refused():
    with pytest.raises(reach.SymmetryError, match="another move on a symmetric board"):
        reached("connect_4x4", RULE, "second", merged=True)


@pytest.mark.parametrize(("most", "rows"), [(10, 2**22), (500, 16)])
def test_with_too_many_positions_the_rest_stays_open(most, rows, monkeypatch):
    """With few rows the search ends within a level."""
    monkeypatch.setattr(position_levels, "_BUFFER_ROWS", rows)
    whole = reached("connect_4x4", RULE, "first")
    cut = reached("connect_4x4", RULE, "first", most)
    assert not cut.is_complete
    assert cut.num_expanded < whole.num_expanded
    for end, final in zip(cut.ends, whole.ends, strict=True):
        assert end.chance <= final.chance <= end.chance + cut.open_chance + 1e-12
        assert end.moves <= final.moves
    total = sum(end.chance for end in cut.ends) + cut.open_chance
    assert total == pytest.approx(1, abs=1e-12)
    if cut.losing_line is not None:
        assert len(cut.losing_line) == len(whole.losing_line or ())


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_trained_policies_have_the_results_of_the_tree(tree, host_tree):
    proven = 0
    for run in jax_ttt.train_many(range(20), num_updates=300):
        agent = run.agent
        probs = np.asarray(
            network_player.greedy_policy(agent.network, agent.params, tree)
        )
        player = network_player.greedy_player(agent.network, agent.params)
        check_beside_tree(host_tree, player, probs.astype(float))
        proven += not proof.beaten(host_tree, probs.astype(float)).any()
    assert 0 < proven < 20
