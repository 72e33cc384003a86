"""The equations, compared with results by hand and with their known fixed point."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from learners import swap_player_ids

from jax_ttt.dqn import equations
from jax_ttt.games import pgx_games
from jax_ttt.solver import outcomes, policies

LEGAL = np.array([[True, True, False]])
Q = np.array([[0.2, -0.6, 0.9]], np.float32)  # the highest value is of an illegal move
td_target = jax.jit(equations.td_target)
two_ply_targets = jax.jit(equations.two_ply_targets)
greedy = jax.jit(equations.greedy)


def row(*numbers):
    return np.array(numbers, np.float32)


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
    found = td_target(row(reward), row(discount), Q, LEGAL, tremble)
    assert float(found[0]) == pytest.approx(target, abs=1e-6)


def test_double_dqn_by_hand():
    """One network chooses action 1; the other gives its value, -0.6."""
    target = functools.partial(td_target, row(0.5), row(-1.0), Q, LEGAL)
    chosen_by = np.array([[0.1, 0.3, 9.0]], np.float32)
    assert float(target(chosen_by=chosen_by)[0]) == pytest.approx(1.1)
    found = target(tremble=0.5, chosen_by=chosen_by)
    assert float(found[0]) == pytest.approx(0.5 + 0.5 * 0.6 + 0.5 * 0.2)
    assert target(tremble=0.25, chosen_by=Q) == pytest.approx(target(tremble=0.25))


def test_two_ply_targets_by_hand():
    """Rows: the opponent moves next, the mover moves next, the game is over."""
    mover, waiting = two_ply_targets(
        reward=row(0.25, 0.25, 1.0),
        discount=row(-0.5, 0.5, 0.0),
        next_q_values=np.array([[0.5, -0.25, 9.0]] * 3, np.float32),
        next_reply_values=np.array([[-0.75, 0.25, 9.0]] * 3, np.float32),
        next_legal_action_mask=np.repeat(LEGAL, 3, axis=0),
        tremble=0.5,
    )
    # The next mover plays action 0 (-0.75) or, half of the time, any (mean -0.25).
    trembled, best = -0.5, 0.5
    expected = [0.25 + 0.5 * trembled, 0.25 + 0.5 * best, 1.0]
    np.testing.assert_allclose(mover, expected, atol=1e-6)
    expected = [-0.25 + 0.5 * best, -0.25 + 0.5 * trembled, -1.0]
    np.testing.assert_allclose(waiting, expected, atol=1e-6)


@pytest.mark.parametrize("junk", [np.inf, -np.inf, np.nan])
def test_the_values_of_a_finished_board_have_no_effect(junk):
    values = np.full((1, 3), junk, np.float32)
    assert td_target(row(-1.0), row(0.0), values, LEGAL, 0.5).tolist() == [-1]
    targets = two_ply_targets(row(1.0), row(0.0), values, -values, LEGAL, 0.5)
    assert [float(target[0]) for target in targets] == [1, -1]


def test_no_gradient_flows_through_the_targets():
    def total(q_values, replies):
        one, legal = jnp.ones(1), jnp.asarray(LEGAL)
        one_ply = equations.td_target(one, -one, q_values, legal, 0.5)
        two_ply = equations.two_ply_targets(one, -one, q_values, replies, legal, 0.5)
        return sum(target.sum() for target in (one_ply, *two_ply))

    gradients = jax.jit(jax.grad(total, argnums=(0, 1)))(Q, -Q)
    assert not any(np.asarray(gradient).any() for gradient in gradients)


@pytest.mark.parametrize("x_is_player", [0, 1])
def test_the_exact_values_are_the_fixed_point_of_the_target(
    host_tree, q_star, x_is_player
):
    """Of all 16,167 moves, played in PGX."""
    parent, action = np.nonzero(host_tree.legal_action_mask)
    assert len(parent) == 16_167
    env_state = jax.tree.map(lambda leaf: leaf[parent], host_tree.env_state)
    if env_state.current_player[0] != x_is_player:
        env_state = swap_player_ids(env_state)
    env = pgx_games.make_env("tic_tac_toe")
    step = jax.jit(pgx_games.step, static_argnames=("env", "gamma"))
    after, move = step(env, env_state, action.astype(np.int32), 1.0)
    next_q_values = q_star[host_tree.successor[parent, action]]
    target = td_target(
        move.reward, move.discount, next_q_values, after.legal_action_mask
    )
    np.testing.assert_array_equal(target, q_star[parent, action])


def test_greedy_is_the_first_of_the_best_legal_actions(host_tree):
    q_values = np.array([[0.1, 0.5, 0.5, 0.9], [-1.0, -1.0, -1.0, 0.0]], np.float32)
    legal = np.array([[True, True, True, False], [False, True, True, False]])
    assert greedy(q_values, legal).tolist() == [1, 1]
    legal = host_tree.legal_action_mask[host_tree.decisions]
    q_values = np.random.default_rng(0).normal(size=legal.shape).astype(np.float32)
    action = np.asarray(greedy(q_values, legal))
    assert np.take_along_axis(legal, action[:, None], 1).all()


@pytest.mark.parametrize("epsilon", [1.0, 0.5, 0.05, 0.0])
def test_explored_moves_are_uniform_over_the_legal_ones(epsilon):
    legal = np.tile(np.array([[1, 0, 1, 1, 0, 1, 0, 0, 1]], bool), (40_000, 1))
    q_values = np.zeros((40_000, 9), np.float32)
    q_values[:, 3] = 1.0
    uniform = np.random.default_rng(0).random(40_000, np.float32)
    action = jax.jit(equations.epsilon_greedy)(
        uniform, q_values, legal, np.float32(epsilon)
    )
    counts = np.bincount(np.asarray(action), minlength=9)
    assert counts[[1, 4, 6, 7]].sum() == 0
    others = counts[[0, 2, 5, 8]]
    if not epsilon:
        assert counts[3] == 40_000
        return
    expected = others.sum() / 4
    chi_square = ((others - expected) ** 2 / expected).sum()
    assert chi_square < 16.27  # 99.9% with 3 degrees of freedom
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


def test_the_loss_and_its_gradient_by_hand():
    q_values = np.array([[0.5, 9.0], [0.0, 3.0], [7.0, 7.0], [0.0, 0.0]], np.float32)
    action = np.array([0, 1, 0, 1], np.int32)
    target, live = row(1, 1, -1, 0), np.array([True, True, False, True])
    loss = jax.jit(jax.value_and_grad(equations.loss), static_argnums=4)
    # Huber: 0.5 ** 2 / 2 = 0.125; 2 - 0.5 = 1.5; finished: 0; 0; mean of four games.
    huber, gradient = loss(q_values, action, target, live)
    assert float(huber) == pytest.approx(1.625 / 4)
    # Only the played action of an unfinished game has one; the slope is at most 1.
    np.testing.assert_allclose(gradient, [[-0.5 / 4, 0], [0, 1 / 4], [0, 0], [0, 0]])
    squared, _ = loss(q_values, action, target, live, optax.l2_loss)
    assert float(squared) == pytest.approx((0.125 + 2) / 4)


@pytest.mark.parametrize(
    ("span", "update", "tau"),
    [(1.0, 0, 1.0), (0.5, 0, 1.0), (0.0, 7, 1.0), (1.0, 3, 1 / 4), (0.5, 4, 1 / 3)],
)
def test_the_weight_of_an_update_in_the_average(span, update, tau):
    """With a span of 1, update `n` is one of `n + 1` that count the same."""
    assert equations.average_tau(span, update) == pytest.approx(tau)


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
    return outcomes.seat_results(tree, policies.deterministic_policy(tree, actions))


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
    rates, worst_loss_rate, worst_result = fixed_point(tree, backup, tremble)
    digits = 5e-4 if as_second[2] == 0 else 0.06
    np.testing.assert_allclose(100 * rates, [as_first, as_second], atol=digits)
    loses = as_second[2] > 0
    assert (worst_result == -1).tolist() == [False, loses]
    assert (worst_loss_rate > 0).tolist() == [False, loses]
