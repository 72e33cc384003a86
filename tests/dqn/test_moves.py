"""Playing: the transitions, rewards and counts of moves and replies."""

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.dqn import exploration, random_numbers
from jax_ttt.dqn.learner import DQN
from jax_ttt.games import pgx_games
from jax_ttt.networks import q_network

CONFIG = Config.of(
    opponent="scripted",
    seat="second",
    num_envs=1,
    hidden_size=1,
    canonical=False,
    reward_win=0.875,
    reward_draw=0.25,
    reward_loss=-0.75,
    gamma=0.5,
)
SELF_PLAY = Config.of(num_envs=1, hidden_size=1, canonical=False)
ENV = pgx_games.make_env("tic_tac_toe")


@jax.jit
def start(learner):
    return learner.opponent.start(jax.random.key(0))


@jax.jit
def play(learner, env_state, move):
    """Play `move`, the greedy one of a network whose values are set here."""
    params = q_network.init_params(learner.network, jax.random.key(0))
    bias = jax.nn.one_hot(move, 9)
    params = jax.tree.map(
        lambda leaf: bias if leaf.shape == (9,) else jnp.zeros_like(leaf), params
    )
    keys = jax.random.split(jax.random.key(1), 3)
    turn = random_numbers.draw_turn(keys, learner.config.num_envs)
    return learner.play(params, env_state, turn, jnp.float32(0))


def episode(replies, moves):
    """Return what was played at each of the agent's moves against scripted replies."""
    learner = DQN.of(CONFIG, learners.scripted(CONFIG, replies))
    env_state, rows = start(learner), []
    for move in moves:
        env_state, row = play(learner, env_state, np.int32(move))
        rows.append(jax.device_get(row))
    return rows


@pytest.mark.parametrize(
    ("replies", "moves", "reward", "counts", "last_steps"),
    [
        # X8 O0 X6 O1 X7: lost by the reply; the mover gets the reward.
        ([8, 6, 7], [0, 1], -0.75, (1, 0, 1), 2),
        # X8 O0 X7 O1 X4 O2: won by the agent's move.
        ([8, 7, 4], [0, 1, 2], 0.875, (1, 1, 0), 1),
        # X0 O1 X2 O4 X3 O5 X7 O6 X8: the reply fills the board.
        ([0, 2, 3, 7, 8], [1, 4, 5, 6], 0.25, (1, 0, 0), 2),
    ],
    ids=["lost", "won", "drawn"],
)
def test_a_result_reaches_the_agents_last_move(
    replies, moves, reward, counts, last_steps
):
    *before, last, after_end = episode(replies, [*moves, 2])
    for row in before:
        assert (row.transition.reward[0], row.transition.discount[0]) == (0, 0.5)
        assert row.counts[:3] == (0, 0, 0)
    assert (last.transition.reward[0], last.transition.discount[0]) == (reward, 0)
    assert last.counts[:3] == counts
    # The opponent's opening counts, too.
    num_steps = [int(row.counts.env_steps) for row in (*before, last)]
    assert num_steps == [3, *[2] * (len(before) - 1), last_steps]
    # A finished game is not learned from or counted.
    assert not after_end.transition.live[0]
    assert not any(map(float, jax.tree.leaves(after_end[1:])))


def test_the_next_board_is_the_one_after_the_reply():
    first, second = episode([8, 6, 3], [0, 1])
    mine = [row.transition.next_obs[0, ..., 0].ravel() for row in (first, second)]
    yours = [row.transition.next_obs[0, ..., 1].ravel() for row in (first, second)]
    assert [np.flatnonzero(x).tolist() for x in mine] == [[0], [0, 1]]
    assert [np.flatnonzero(x).tolist() for x in yours] == [[6, 8], [3, 6, 8]]
    legal = first.transition.next_legal_action_mask[0]
    assert np.flatnonzero(legal).tolist() == [1, 2, 3, 4, 5, 7]
    assert np.array_equal(second.transition.obs, first.transition.next_obs)
    assert first.transition.action[0] == 0


def test_in_self_play_results_are_the_first_players():
    learner = learners.learner_of(SELF_PLAY)
    env_state = pgx_games.init(ENV, jax.random.key(0), 1)
    for move in (0, 8, 1, 7, 3):  # X and O in turn; O then wins with 6
        env_state, row = play(learner, env_state, np.int32(move))
        assert row.counts == (0, 0, 0, 1)
    _, row = play(learner, env_state, np.int32(6))
    assert row.counts == (1, 0, 1, 1)
    assert row.transition.reward.tolist() == [1]  # the mover's


@pytest.mark.parametrize("rewards", [(1, 0, -0.5), (1, 0.5, -1), (0, 0, -1)])
def test_a_win_a_draw_and_a_loss_have_the_rewards_of_the_settings(rewards):
    names = ("reward_win", "reward_draw", "reward_loss")
    config = CONFIG.replace(**dict(zip(names, rewards, strict=True)))
    results = np.array([1, 0, -1, 0], np.float32)
    ended = np.array([True] * 3 + [False])
    scored = jax.jit(learners.learner_of(config).scored_reward)
    assert scored(results, ended).tolist() == [*rewards, 0]


@pytest.mark.parametrize(
    ("config", "actions", "stones"),
    [
        (SELF_PLAY, [4, 8], [{4}, {8}]),
        (CONFIG.replace(seat="first"), [4, 8], [{4, 8}, {0, 1}]),
        (CONFIG.replace(seat="second"), [8], [{8}, {1, 4}]),
    ],
    ids=["self", "first", "second"],
)
def test_a_forced_first_move_is_the_first_move_of_a_game_alone(config, actions, stones):
    """The agent wants to play cell 8, and the opponent cell 0 and then cell 1."""
    config = config.replace(first_move=4)
    opponent = None if config.is_self_play else learners.scripted(config, [0, 1])
    learner = DQN.of(config, opponent)
    env_state = start(learner)
    for action in actions:
        env_state, row = play(learner, env_state, np.int32(8))
        assert row.transition.action.tolist() == [action]
    assert env_state.terminated.tolist() == [False], "no move was illegal"
    (board,) = np.asarray(env_state.observation)
    assert [{*np.flatnonzero(board[..., i])} for i in (0, 1)] == stones


def test_random_openings_have_all_lengths_by_the_place_of_a_game():
    settings = Config.of(random_opening=8)
    start = pgx_games.init(ENV, jax.random.key(0), 48)
    opening = jax.jit(exploration.opening_epsilon, static_argnums=0)
    lengths = np.zeros(48, int)
    for num_moves in range(10):
        state = start.replace(_step_count=np.full(48, num_moves, np.int32))
        epsilon = np.asarray(opening(settings, state, np.float32(0.25)))
        assert set(epsilon.tolist()) <= {0.25, 1.0}
        lengths += epsilon == 1
    assert lengths[:4].tolist() == [0, 0, 1, 2]
    assert not lengths[::4].any()
    others = np.delete(lengths, np.s_[::4])
    assert np.bincount(others).tolist() == [4] * 9  # 0 to 8 moves, as frequent


def test_openings_are_random_and_the_moves_after_them_are_not():
    """The network prefers cell 8, then the first cell."""
    learner = DQN.of(SELF_PLAY.replace(random_opening=2, num_envs=2048))
    states = pgx_games.init(ENV, jax.random.key(0), 2048)
    place = np.arange(2048)
    length = np.where(place % 4 == 0, 0, (place - place // 4 - 1) % 3)
    for num_moves, greedy in enumerate((8, 0, 1)):
        states, row = play(learner, states, np.int32(8))
        action = np.asarray(row.transition.action)
        assert (action[length == 0] == greedy).all()
        if num_moves < 2:
            assert len(np.unique(action[length > num_moves])) == 9
