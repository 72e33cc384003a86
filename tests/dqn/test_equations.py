"""The equations, compared with results by hand and with their known fixed point."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.solver import outcomes, policies

LEGAL = np.array([[True, True, False]])
Q = np.array([[0.2, -0.6, 0.9]], np.float32)  # the highest value is of an illegal move
td_target = jax.jit(equations.td_target)
greedy = jax.jit(equations.greedy)
polyak = jax.jit(equations.polyak)
epsilon_greedy = jax.jit(equations.epsilon_greedy)
two_ply_targets = jax.jit(equations.two_ply_targets)


@pytest.mark.parametrize(
    ("reward", "discount", "tremble", "target"),
    [
        (1.0, 0.0, 0.0, 1.0),  # won
        (0.0, 0.0, 0.5, 0.0),  # drawn
        (0.0, -1.0, 0.0, -0.2),  # the opponent plays its best move
        (0.0, 1.0, 0.0, 0.2),  # the same player moves again
        (0.5, -0.5, 0.0, 0.4),
        (0.0, -1.0, 1.0, 0.2),  # the opponent plays at random: mean -0.2
        (0.0, -1.0, 0.5, 0.0),  # half of each
    ],
)
def test_td_target_by_hand(reward, discount, tremble, target):
    found = td_target(
        np.array([reward], np.float32),
        np.array([discount], np.float32),
        Q,
        LEGAL,
        tremble,
    )
    assert float(found[0]) == pytest.approx(target, abs=1e-6)


def test_double_dqn_by_hand():
    """One network chooses action 1; the other gives its value, -0.6."""
    chosen_by = np.array([[0.1, 0.3, 9.0]], np.float32)
    args = np.array([0.5], np.float32), np.array([-1.0], np.float32), Q, LEGAL
    assert float(td_target(*args, chosen_by=chosen_by)[0]) == pytest.approx(1.1)
    found = td_target(*args, tremble=0.5, chosen_by=chosen_by)
    assert float(found[0]) == pytest.approx(0.5 + 0.5 * 0.6 + 0.5 * 0.2)
    same = td_target(*args, tremble=0.25, chosen_by=Q)
    assert float(same[0]) == pytest.approx(float(td_target(*args, 0.25)[0]))


@pytest.mark.parametrize("junk", [jnp.inf, -jnp.inf, jnp.nan])
def test_the_values_of_a_finished_board_have_no_effect(junk):
    q_values = np.full((1, 3), junk, np.float32)
    found = td_target(
        np.array([-1.0], np.float32), np.array([0.0], np.float32), q_values, LEGAL, 0.5
    )
    assert float(found[0]) == -1


@pytest.mark.parametrize("x_is_player", [0, 1])
def test_the_exact_values_are_the_fixed_point_of_the_target(tree, q_star, x_is_player):
    """Of all 16,167 moves, played in PGX."""
    parent, action = np.nonzero(np.asarray(tree.legal_action_mask))
    assert len(parent) == 16_167
    states = trees.enumerated("tic_tac_toe").env_state
    env_state = jax.tree.map(lambda leaf: leaf[parent], states)
    if env_state.current_player[0] != x_is_player:
        env_state = env_state.replace(
            current_player=1 - env_state.current_player,
            rewards=env_state.rewards[:, ::-1],
        )
    assert env_state.current_player[0] == x_is_player
    env = pgx_games.make_env("tic_tac_toe")
    step = jax.jit(pgx_games.step, static_argnames=("env", "gamma"))
    after, move = step(env, env_state, action.astype(np.int32), 1.0)
    child = np.asarray(tree.successor)[parent, action]
    target = td_target(
        move.reward, move.discount, q_star[child], after.legal_action_mask
    )
    assert (np.asarray(target) != q_star[parent, action]).sum() == 0


def test_greedy_is_the_first_of_the_best_legal_actions():
    q_values = np.array([[0.1, 0.5, 0.5, 0.9], [-1.0, -1.0, -1.0, 0.0]], np.float32)
    legal = np.array([[True, True, True, False], [False, True, True, False]])
    assert greedy(q_values, legal).tolist() == [1, 1]


def test_greedy_is_always_legal(tree):
    legal = np.asarray(tree.legal_action_mask)[np.asarray(tree.decisions)]
    rng = np.random.default_rng(0)
    for _ in range(20):
        q_values = rng.normal(size=legal.shape).astype(np.float32) * 100
        chosen = np.asarray(greedy(q_values, legal))
        assert np.take_along_axis(legal, chosen[:, None], 1).all()


def chi_square(counts):
    expected = counts.sum() / len(counts)
    return ((counts - expected) ** 2 / expected).sum()


def explore(epsilon, seed=0, num_games=40_000):
    legal = np.tile(np.array([[1, 0, 1, 1, 0, 1, 0, 0, 1]], bool), (num_games, 1))
    q_values = np.zeros((num_games, 9), np.float32)
    q_values[:, 3] = 1.0
    uniform = np.random.default_rng(seed).random(num_games, np.float32)
    action = epsilon_greedy(uniform, q_values, legal, np.float32(epsilon))
    return np.bincount(np.asarray(action), minlength=9)


def test_epsilon_zero_is_greedy():
    assert explore(0.0)[3] == 40_000


@pytest.mark.parametrize("epsilon", [1.0, 0.5, 0.05])
def test_explored_moves_are_uniform_over_the_legal_ones(epsilon):
    counts = explore(epsilon)
    assert counts[[1, 4, 6, 7]].sum() == 0
    others = counts[[0, 2, 5, 8]]
    assert chi_square(others) < 16.27  # 99.9 % with 3 degrees of freedom
    explored = others.sum() / 4 * 5  # the greedy move is explored as often
    deviation = np.sqrt(40_000 * epsilon * (1 - epsilon) + 1)
    assert abs(explored - 40_000 * epsilon) < 5 * deviation + 5 * np.sqrt(others.sum())


def test_random_moves_are_uniform_and_always_legal():
    uniform = np.linspace(0, np.nextafter(np.float32(1), 0), 30_000, dtype=np.float32)
    legal = np.tile(np.array([[False, True, False, True, True]]), (30_000, 1))
    action = jax.jit(equations.random_legal)(uniform, legal)
    assert np.bincount(np.asarray(action), minlength=5) == pytest.approx(
        [0, 10_000, 0, 10_000, 10_000], abs=1
    )


def test_the_loss_by_hand():
    q_values = np.array([[0.5, 9.0], [0.0, 3.0], [7.0, 7.0], [0.0, 0.0]], np.float32)
    action = np.array([0, 1, 0, 1], np.int32)
    target = np.array([1.0, 1.0, -1.0, 0.0], np.float32)
    live = np.array([True, True, False, True])
    loss = jax.jit(equations.loss, static_argnums=4)
    # Huber: 0.5 ** 2 / 2 = 0.125; 2 - 0.5 = 1.5; finished: 0; 0; mean of four games.
    assert float(loss(q_values, action, target, live)) == pytest.approx(1.625 / 4)
    squared = loss(q_values, action, target, live, optax.l2_loss)
    assert float(squared) == pytest.approx((0.125 + 2) / 4)


def test_only_the_played_cell_of_an_unfinished_game_has_a_gradient():
    q_values = np.random.default_rng(0).normal(size=(6, 9)).astype(np.float32)
    action = np.array([0, 3, 8, 1, 2, 4], np.int32)
    live = np.array([True, True, False, True, False, True])
    target = np.full(6, 5, np.float32)
    grads = np.asarray(
        jax.jit(jax.grad(equations.loss))(q_values, action, target, live)
    )
    played = np.eye(9, dtype=bool)[action] & live[:, None]
    assert ((grads != 0) == played).all()
    assert grads[0, 0] == pytest.approx(-1 / 6)  # slope 1 of Huber, mean of 6 games


def test_no_gradient_flows_through_the_target():
    def target(q_values):
        return td_target(
            np.zeros(1, np.float32), -np.ones(1, np.float32), q_values, LEGAL, 0.5
        ).sum()

    assert not np.asarray(jax.jit(jax.grad(target))(Q)).any()


@pytest.mark.parametrize(("tau", "expected"), [(0.0, 2.0), (1.0, 6.0), (0.25, 3.0)])
def test_one_polyak_step(tau, expected):
    new = polyak({"w": np.array([6.0])}, {"w": np.array([2.0])}, tau)
    assert new["w"].tolist() == [expected]


@pytest.mark.parametrize(
    ("span", "update", "tau"),
    [(1.0, 0, 1.0), (0.5, 0, 1.0), (0.0, 7, 1.0), (1.0, 3, 1 / 4), (0.5, 4, 1 / 3)],
)
def test_the_weight_of_an_update_in_the_average(span, update, tau):
    """With a span of 1, update `n` is one of `n + 1` that count the same."""
    found = jax.jit(equations.average_tau)(span, update)
    assert float(found) == pytest.approx(tau)


def test_two_ply_targets_by_hand():
    """Rows: the opponent moves next, the mover moves next, the game is over."""
    reward = np.array([0.25, 0.25, 1.0], np.float32)
    discount = np.array([-0.5, 0.5, 0.0], np.float32)
    q_values = np.array([[0.5, -0.25, 9.0]] * 3, np.float32)
    replies = np.array([[-0.75, 0.25, 9.0]] * 3, np.float32)
    legal = np.array([[True, True, False]] * 3)
    mover, waiting = two_ply_targets(reward, discount, q_values, replies, legal, 0.5)
    # The next mover plays action 0 (-0.75) or, half of the time, any (mean -0.25).
    trembled, best = -0.5, 0.5
    expected = [0.25 + 0.5 * trembled, 0.25 + 0.5 * best, 1.0]
    np.testing.assert_allclose(mover, expected, atol=1e-6)
    expected = [-0.25 + 0.5 * best, -0.25 + 0.5 * trembled, -1.0]
    np.testing.assert_allclose(waiting, expected, atol=1e-6)


def test_two_ply_targets_ignore_the_values_of_a_finished_board():
    junk = np.full((1, 2), np.inf, np.float32)
    legal = np.ones((1, 2), bool)
    one = np.ones(1, np.float32)
    mover, waiting = two_ply_targets(one, 0 * one, junk, -junk, legal, 0.5)
    assert (float(mover[0]), float(waiting[0])) == (1, -1)


@functools.partial(jax.jit, static_argnames="backup")
def fixed_point(tree, backup, tremble):
    """Return the report and proof of the greedy policy over the target's fixed point.

    Nine sweeps over all positions are enough, as a game has at most nine moves.
    """
    legal, over = tree.legal_action_mask, tree.terminal
    # Reward of the move into each position, to the player who made it.
    reward = jnp.where(tree.first_to_move, -tree.outcome, tree.outcome) * 1.0
    discount = jnp.where(over, 0.0, -1.0)

    def sweep(_, values):
        q_values, replies = values
        if backup == "one-ply":
            target = equations.td_target(reward, discount, q_values, legal, tremble)
            return target[tree.successor], replies
        targets = equations.two_ply_targets(
            reward, discount, q_values, replies, legal, tremble
        )
        return tuple(target[tree.successor] for target in targets)

    start = (jnp.zeros(legal.shape), jnp.zeros(legal.shape))
    q_values, _ = jax.lax.fori_loop(0, 9, sweep, start)
    actions = equations.greedy(q_values[tree.decisions], legal[tree.decisions])
    probs = policies.deterministic(tree, actions)
    return outcomes.seat_report(tree, probs)


CORNER, CENTRE = [99.479, 0.521, 0], [98.958, 1.042, 0]
TRAPS = [91.640, 8.360, 0]


@pytest.mark.parametrize(
    ("backup", "tremble", "as_first", "as_second"),
    [
        ("one-ply", 0.0, CORNER, [80.635, 19.365, 0]),  # minimax
        *(("one-ply", tremble, CENTRE, TRAPS) for tremble in (0.01, 0.3, 0.7)),
        *(("two-ply", tremble, CENTRE, TRAPS) for tremble in (0.01, 0.3)),
        *(("two-ply", tremble, CORNER, TRAPS) for tremble in (0.6, 0.7)),  # the ceiling
        ("two-ply", 0.9, CORNER, [92.9, 6.7, 0.4]),
        ("two-ply", 1.0, CORNER, [93.2, 6.0, 0.7]),
    ],
)
def test_results_of_the_targets_fixed_points(
    backup, tremble, as_first, as_second, tree
):
    """Their greedy policies never lose, except at a tremble of 0.9 or more.

    A two-ply backup at 0.6 or 0.7 wins as often as is possible without a loss.
    """
    found = fixed_point(tree, backup, tremble)
    digits = 5e-4 if as_second[2] == 0 else 0.06
    for seat, expected in zip(found, (as_first, as_second), strict=True):
        percent = [100 * float(rate) for rate in seat.random]
        assert percent == pytest.approx(expected, abs=digits)
    assert not found.first.beaten
    assert bool(found.second.beaten) == (as_second[2] > 0)
    assert (float(found.second.worst_loss_rate) == 0) == (as_second[2] == 0)


def test_no_gradient_flows_through_two_ply_targets():
    def target(q_values, replies):
        one, legal = jnp.ones(1), jnp.asarray(LEGAL)
        targets = equations.two_ply_targets(one, -one, q_values, replies, legal, 0.5)
        return sum(map(jnp.sum, targets))

    gradients = jax.jit(jax.grad(target, argnums=(0, 1)))(Q, -Q)
    assert not any(np.asarray(gradient).any() for gradient in gradients)
