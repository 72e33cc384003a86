"""`docs/examples/one_file.py` and the package: two programs that check each other."""

import dataclasses
import functools
import re
import sys

import jax
import learners
import numpy as np
import pytest

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn import equations
from jax_ttt.dqn.equations import Transition
from jax_ttt.dqn.learner import DQN
from jax_ttt.networks import q_network
from jax_ttt.solver import outcomes, policies, proof
from tools import one_file as one_file_tool
from tools.one_file import PATH, load_file, rows_of_tree

DEFAULT = PRESETS["default"].replace(precision="float32")


@pytest.fixture(scope="module")
def one_file():
    """Return the file as a module."""
    return load_file()


@pytest.fixture(scope="module")
def own_tree(one_file):
    """Return the file's tree."""
    return one_file.enumerate_positions()


@pytest.fixture(scope="module")
def rows(own_tree):
    """Return the row in the file's tree of each position of the package's."""
    return rows_of_tree(own_tree.obs)


@pytest.fixture(scope="module")
def learner():
    return DQN.of(DEFAULT)


@pytest.fixture(scope="module")
def transitions(one_file, host_tree):
    """Return games, a move in each, and the games after it, without symmetric boards.

    On a board that is its own image, the package gives symmetric moves one value; the
    file does not.
    """
    own_images = is_own_image(one_file, host_tree.obs)
    moves = [
        (position, action)
        for position, action in np.argwhere(host_tree.legal_action_mask)
        if not own_images[[position, host_tree.successor[position, action]]].any()
    ]
    chosen = np.random.default_rng(1).permutation(moves)[: one_file.NUM_GAMES]
    games = jax.tree.map(lambda leaf: leaf[chosen[:, 0]], host_tree.env_state)
    actions = chosen[:, 1].astype(np.int32)
    after = jax.jit(jax.vmap(one_file.ENV.step))(games, actions)
    return games, actions, jax.device_get(after)


def is_own_image(one_file, obs):
    """Return which boards are equal to one of their rotated or mirrored images."""
    boards = np.asarray(obs).reshape(-1, 9, 2) @ [1, -1]
    images = boards[:, np.asarray(one_file.IMAGES)]
    return (images[:, 1:] == images[:, :1]).all(axis=2).any(axis=1)


@functools.cache
def structure_of_params():
    """Return the structure of the package's parameters."""
    state = jax.eval_shape(DQN.of(DEFAULT).init, jax.random.key(0))
    return jax.tree.structure(state.params)


def as_params(network):
    """Return the weights of the file's network as parameters of the package.

    The package's kernels are transposed.
    """
    layers = (network.hidden_1, network.hidden_2, network.heads)
    weights = [np.asarray(part[...]).T for x in layers for part in (x.bias, x.kernel)]
    return jax.tree.unflatten(structure_of_params(), weights)


def test_it_imports_nothing_of_the_package():
    source = PATH.read_text("utf-8")
    packages = set(re.findall(r"^\s*(?:import|from) (\w+)", source, re.MULTILINE))
    packages -= {*sys.stdlib_module_names}
    assert packages == {"flax", "jax", "numpy", "optax", "pgx"}


def test_its_settings_are_those_of_the_default_preset(one_file, learner):
    settings = {
        "num_envs": one_file.NUM_GAMES,
        "num_updates": one_file.NUM_UPDATES,
        "eval_every": one_file.UPDATES_PER_ROW,
        "gamma": one_file.GAMMA,
        "tremble": one_file.TREMBLE,
        "tau": one_file.TAU,
        "average_span": one_file.AVERAGE_SPAN,
    }
    assert DEFAULT.replace(**settings) == DEFAULT
    for update in (0, 1, 900, 1798, 1799):
        assert one_file.EPSILON(update) == pytest.approx(learner.epsilon(update, 0))
        rate = one_file.LEARNING_RATE(update)
        assert rate == pytest.approx(learner.learning_rate(update))


def test_both_enumerate_the_same_tree(own_tree, host_tree, rows):
    """The order of the positions differs; `rows` maps it."""
    assert len(own_tree.obs) == len(set(rows)) == 5478
    np.testing.assert_array_equal(own_tree.legal[rows], host_tree.legal_action_mask)
    successors = np.where(host_tree.legal_action_mask, rows[host_tree.successor], 0)
    np.testing.assert_array_equal(own_tree.successor[rows], successors)
    np.testing.assert_array_equal(own_tree.winner[rows], host_tree.outcome)
    turns = np.where(host_tree.first_to_move, 1, -1)
    np.testing.assert_array_equal(own_tree.seat[rows], turns)


def as_batch(learner, transitions):
    """Return the transitions as a batch of the package."""
    games, actions, after = transitions
    discount = np.where(after.terminated, 0, -learner.config.gamma).astype(np.float32)
    return Transition(
        obs=games.observation,
        action=actions,
        reward=after.rewards[np.arange(len(actions)), games.current_player],
        discount=jax.device_put(discount),
        next_obs=after.observation,
        next_legal_action_mask=after.legal_action_mask,
        live=jax.device_put(np.ones(len(actions), bool)),
    )


def noise_for(actions):
    """Return numbers with which `play` makes these moves, where epsilon is above 0."""
    return np.insert(np.eye(9, dtype=np.float32)[actions], 0, 0, axis=1)


def assert_same_weights(network, params):
    jax.tree.map(
        lambda ours, theirs: np.testing.assert_allclose(ours, theirs, atol=2e-4),
        as_params(network),
        params,
    )


@pytest.mark.slow
def test_updates_of_both_give_the_same_weights(one_file, learner, transitions):
    """Games that are over begin anew."""
    games, actions, after = transitions
    update = jax.jit(one_file.update)
    update_average = jax.jit(DQN._update_average)
    state = one_file.init(jax.random.key(1))
    network, target = state.network, one_file.init(jax.random.key(2)).network
    state = state._replace(target_network=target, average=target)
    theirs = dataclasses.replace(
        learners.init(learner, jax.random.key(0)),
        params=as_params(network),
        target_params=as_params(target),
        average_params=as_params(target),
    )
    batch = as_batch(learner, transitions)
    np.testing.assert_allclose(
        jax.jit(one_file.two_ply_target)(target, *transitions).T,
        learners.td_targets(learner, theirs.params, theirs.target_params, batch),
        atol=1e-5,
    )
    for count, index in enumerate((0, 1, 900, 1799)):
        # The optimizer counts its steps by itself, for its learning rate.
        state, _ = update(state._replace(games=games), (index, noise_for(actions)))
        before = dataclasses.replace(theirs, update=np.int32(index))
        theirs, _ = learners.learn(
            learner, before, batch, jax.random.key(0), learner.learning_rate(count)
        )
        theirs = update_average(learner, before, theirs)
        assert_same_weights(state.network, theirs.params)
        assert_same_weights(state.target_network, theirs.target_params)
        assert_same_weights(state.average, theirs.average_params)
    stones = after.observation.sum(axis=(1, 2, 3))
    np.testing.assert_array_equal(
        np.asarray(state.games.observation).sum(axis=(1, 2, 3)),
        np.where(after.terminated, 0, stones),
    )


def test_moves_are_the_package_s_and_epsilon_is_the_share_of_random_ones(
    one_file, learner, transitions
):
    games, _, _ = transitions
    network = one_file.init(jax.random.key(1)).network
    noise = np.random.default_rng(3).random((150, one_file.NUM_GAMES, 10), np.float32)
    moves = jax.jit(
        jax.vmap(
            lambda epsilon, noise: one_file.play(network, games, epsilon, noise)[0]
        )
    )
    epsilon = np.repeat(np.array([0, 0.5, 1], np.float32), 50)
    actions = np.asarray(moves(epsilon, noise))
    legal = games.legal_action_mask
    assert np.take_along_axis(legal[None], actions[..., None], axis=2).all()

    greedy = greedy_moves(learner, network, games.observation, legal)
    assert (actions[:50] == greedy).all()
    is_greedy = (actions == greedy).reshape(3, 50, -1).mean(axis=(1, 2))
    by_chance = (1 / legal.sum(axis=1)).mean()  # a random move can be the greedy one
    assert is_greedy[2] == pytest.approx(by_chance, abs=0.03)
    assert is_greedy[1] == pytest.approx((1 + by_chance) / 2, abs=0.03)


def greedy_moves(learner, network, obs, legal):
    """Return the package's moves for a network of the file."""
    params = as_params(network)
    values = jax.jit(q_network.action_values)(learner.network, params, obs)
    return np.asarray(jax.jit(equations.greedy)(values, legal))


def test_policies_are_the_package_s(one_file, own_tree, learner):
    """On a board that is its own image, symmetric moves may differ, not their class.

    The package gives all of them the value of the one with the lowest index on the
    canonical board, so only the others' values differ.
    """
    agent = one_file.init(jax.random.key(4)).network
    policy = np.asarray(one_file.policy_of(agent, own_tree.obs, own_tree.legal))
    assert (policy.sum(axis=1) == own_tree.legal.any(axis=1)).all()
    is_asymmetric = ~is_own_image(one_file, own_tree.obs) & own_tree.legal.any(axis=1)
    assert is_asymmetric.sum() > 3000
    expected = greedy_moves(learner, agent, own_tree.obs, own_tree.legal)
    np.testing.assert_array_equal(
        policy.argmax(axis=1)[is_asymmetric], expected[is_asymmetric]
    )


@pytest.fixture
def verdict(one_file, own_tree, host_tree, rows):
    """Return a function that compares both proofs of a policy of the package's tree.

    It returns whether the policy can be beaten, as X and as O.
    """

    def compare(probs):
        policy = np.empty_like(probs)
        policy[rows] = probs
        can_be_beaten = tuple(map(bool, proof.can_be_beaten(host_tree, probs)))
        for seat, name, beaten in zip((1, -1), SEATS, can_be_beaten, strict=True):
            line = one_file.losing_line(own_tree, policy, seat)
            shortest = proof.losing_line(host_tree, probs, name)
            assert (line is None) == (shortest is None) == (not beaten)
            if line is not None and shortest is not None:
                assert len(line) == len(shortest)
                check_line(host_tree, probs, name, line)
        return can_be_beaten

    return compare


def check_line(tree, probs, seat, line):
    """Check that a line is legal, that the policy can play it, and that it loses."""
    position = 0
    for action in line:
        assert tree.legal_action_mask[position, action]
        assert tree.to_move(position) != seat or probs[position, action] != 0
        position = int(tree.successor[position, action])
    assert tree.lost_by(seat)[position]


def test_exact_results_are_those_of_the_package(one_file, own_tree, host_tree, rows):
    random = policies.uniform_policy(host_tree)
    rng = np.random.default_rng(2)
    for _ in range(5):
        probs = random_policy(host_tree, rng)
        policy = np.empty_like(probs)
        policy[rows] = probs
        as_x = outcomes.outcome(host_tree, probs, random)
        np.testing.assert_allclose(
            one_file.results_against_random(own_tree, policy, 1), as_x, atol=1e-12
        )
        as_o = outcomes.outcome(host_tree, random, probs)
        np.testing.assert_allclose(
            one_file.results_against_random(own_tree, policy, -1),
            as_o[::-1],  # the rates are the first player's
            atol=1e-12,
        )


def random_policy(tree, rng, allowed=None):
    """Return a policy that mixes a random number of moves in each position.

    Only moves of the mask `allowed`, by default all legal ones, are played.
    """
    allowed = tree.legal_action_mask if allowed is None else allowed
    weights = np.where(allowed, rng.random(allowed.shape), 0)
    highest = weights.max(axis=1, keepdims=True)
    weights *= weights >= rng.choice([0.0, 0.7, 1.0], highest.shape) * highest
    return weights / np.where(highest == 0, 1, weights.sum(axis=1, keepdims=True))


@pytest.mark.slow
def test_both_proofs_agree_on_random_policies(host_tree, q_star, verdict):
    """Some play any moves, others only the best ones except in a few positions."""
    legal = host_tree.legal_action_mask
    values = np.where(legal, q_star, -2)
    best = legal & (values == values.max(axis=1, keepdims=True))
    rng = np.random.default_rng(3)
    beaten = []
    for number in range(40):
        share = (0, 0.003, 0.03, 1)[number % 4]
        is_any = rng.random((len(best), 1)) < share
        allowed = np.where(is_any, legal, best)
        beaten.append(verdict(random_policy(host_tree, rng, allowed)))
    assert {*beaten} == {(x, o) for x in (False, True) for o in (False, True)}
    assert set(beaten[::4]) == {(False, False)}


@pytest.fixture(scope="module")
def trained_policy(one_file, own_tree, rows):
    """Return the policy of a trained agent, in the order of the package's tree."""
    *_, (num_updates, agent) = one_file.train(1000)
    assert num_updates == one_file.NUM_UPDATES
    policy = one_file.policy_of(agent, own_tree.obs, own_tree.legal)
    return np.asarray(policy, float)[rows]


@pytest.mark.slow
def test_both_proofs_agree_on_agents_broken_in_one_position(
    host_tree, trained_policy, verdict
):
    assert verdict(trained_policy) == (False, False)
    reached = proof.own_decisions(host_tree, trained_policy, "first")
    reached |= proof.own_decisions(host_tree, trained_policy, "second")
    others = host_tree.legal_action_mask & (trained_policy == 0) & reached[:, None]
    changes = np.random.default_rng(4).permutation(np.argwhere(others))[:60]
    assert len(changes) == 60
    beaten = 0
    for position, action in changes:
        probs = trained_policy.copy()
        probs[position] = np.eye(9)[action]
        beaten += any(verdict(probs))
    assert 0 < beaten < 60


@pytest.mark.slow
def test_a_trained_agent_is_proven_by_both(capsys):
    """The win rates can't be higher than 95.560%."""
    assert one_file_tool.main(["--num-seeds", "1", "--first-seed", "1001"]) == 0
    output = capsys.readouterr().out
    assert "Proven by both programs: 1 of 1 agents." in output
    assert set(re.findall(r"^\| (\d+\.\d+) ", output, re.M)) <= {"95.560", "95.299"}
