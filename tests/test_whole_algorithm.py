"""`docs/examples/one_file.py` and the package: two programs that check each other."""

import dataclasses
import re
import sys

import jax
import jax.numpy as jnp
import learners
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn.equations import Transition
from jax_ttt.dqn.learner import Learner
from jax_ttt.solver import minimax, outcomes, policies, proof
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
    return Learner.of(DEFAULT)


@pytest.fixture(scope="module")
def transitions(one_file, host_tree):
    """Return games, a move in each, and the games after it, without symmetric boards.

    On a board that is its own image, the package gives symmetric moves one value; the
    file does not.
    """
    boards = host_tree.obs.reshape(-1, 9, 2) @ [1, -1]
    views = boards[:, np.asarray(one_file.IMAGES)]
    is_own_image = (views[:, 1:] == views[:, :1]).all(axis=2).any(axis=1)
    moves = [
        (position, action)
        for position, action in np.argwhere(host_tree.legal_action_mask)
        if not is_own_image[[position, host_tree.successor[position, action]]].any()
    ]
    chosen = np.random.default_rng(1).permutation(moves)[: one_file.NUM_GAMES]
    games = jax.tree.map(lambda leaf: leaf[chosen[:, 0]], host_tree.env_state)
    actions = jnp.asarray(chosen[:, 1], jnp.int32)
    return games, actions, jax.jit(jax.vmap(one_file.ENV.step))(games, actions)


def as_params(learner, network):
    """Return the weights of the file's network as parameters of the package.

    The package's kernels are transposed.
    """
    params = jax.eval_shape(learner.init, jax.random.key(0)).params
    layers = (network.hidden_1, network.hidden_2, network.heads)
    weights = [leaf for layer in layers for leaf in (layer.bias[...], layer.kernel.T)]
    return jax.tree.unflatten(jax.tree.structure(params), weights)


def test_it_imports_nothing_of_the_package():
    modules = re.findall(r"^(?:import|from) (\w+)", PATH.read_text("utf-8"), re.M)
    ours = set(modules) - set(sys.stdlib_module_names)
    assert ours == {"flax", "jax", "numpy", "optax", "pgx"}


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


def test_targets_of_a_win_and_of_a_reply_by_hand(one_file, monkeypatch):
    """A function that values all boards alike stands in for the target network."""
    # With one image of a board, so that cell 0 is cell 0.
    monkeypatch.setattr(one_file, "IMAGES", one_file.IMAGES[:1])
    monkeypatch.setattr(one_file, "PLACES", one_file.PLACES[:1])
    to_other = [0.6, 0.2, -1.0, 0, 0, 0, 0, 0, 0]
    to_mover = [-0.6, -0.1, 1.0, 0, 0, 0, 0, 0, 0]
    values = jnp.array([to_other, to_mover])
    games = jax.tree.map(lambda leaf: leaf[None], one_file.NEW_GAME)
    after = dataclasses.replace(games, legal_action_mask=jnp.arange(9)[None] < 3)
    rewards = jnp.where(jnp.arange(2)[None] == games.current_player[:, None], 1.0, -1.0)
    won = dataclasses.replace(
        after, terminated=jnp.array([True]), rewards=rewards.astype(jnp.float32)
    )

    def target(after):
        network = Partial(lambda _: values)
        return one_file.two_ply_target(network, games, jnp.array([0]), after)

    np.testing.assert_allclose(target(after), [[-0.2125, 0.51]], atol=1e-6)
    np.testing.assert_array_equal(target(won), [[1, -1]])


def test_one_update_of_both_gives_the_same_weights(one_file, learner, transitions):
    """At epsilon 1, a move is random: the one with the highest random number."""
    games, actions, after = transitions
    network, target = (one_file.init(jax.random.key(seed)).network for seed in (1, 2))
    opt_state = one_file.OPTIMIZER.init(network)
    before = one_file.State(network, target, target, opt_state, games)
    random = jnp.concatenate(
        [jnp.zeros((len(actions), 1)), jax.nn.one_hot(actions, 9)], axis=1
    )
    updated, _ = jax.jit(one_file.update)(before, (0, random))

    params, target_params = (as_params(learner, net) for net in (network, target))
    rewards = after.rewards[jnp.arange(len(actions)), games.current_player]
    batch = Transition(
        obs=jnp.asarray(games.observation),
        action=actions,
        reward=rewards,
        discount=jnp.where(after.terminated, 0, -learner.hyper.gamma),
        next_obs=after.observation,
        next_legal_action_mask=after.legal_action_mask,
        live=jnp.ones(len(actions), bool),
    )
    state = dataclasses.replace(
        learners.init(learner, jax.random.key(0)),
        params=params,
        target_params=target_params,
    )
    key, rate = jax.random.key(0), learner.learning_rate(0)
    learned, _ = learners.learn(learner, state, batch, key, rate)

    np.testing.assert_allclose(
        one_file.two_ply_target(target, games, actions, after).T,
        learners.td_targets(learner, params, target_params, batch),
        atol=1e-5,
    )
    for ours, theirs in (
        (updated.network, learned.params),
        (updated.target_network, learned.target_params),
        (updated.average, learned.params),  # the first share of the average is 1
    ):
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, atol=1e-4),
            as_params(learner, ours),
            theirs,
        )
    ended = np.asarray(after.terminated)
    assert ended.any()
    stones = updated.games.observation.sum(axis=(1, 2, 3))
    np.testing.assert_array_equal(
        stones, np.where(ended, 0, after.observation.sum(axis=(1, 2, 3)))
    )


def test_the_target_network_follows_and_the_agent_averages(one_file):
    state = one_file.init(jax.random.key(1))
    random = jax.random.uniform(jax.random.key(2), (one_file.NUM_GAMES, 10))
    step = jax.jit(one_file.update)
    networks, averages, targets = [], [], []
    for number in range(3):
        state, _ = step(state, (number, random))
        networks.append(np.asarray(state.network.heads.kernel[...]))
        averages.append(np.asarray(state.average.heads.kernel[...]))
        targets.append(np.asarray(state.target_network.heads.kernel[...]))
    np.testing.assert_allclose(averages[0], networks[0], atol=1e-6)
    share = 1 / 1.3
    np.testing.assert_allclose(
        averages[2], share * networks[2] + (1 - share) * averages[1], atol=1e-6
    )
    np.testing.assert_allclose(
        targets[2], 0.12 * networks[2] + 0.88 * targets[1], atol=1e-6
    )


def test_moves_are_legal_and_epsilon_is_the_share_of_random_ones(
    one_file, host_tree, transitions
):
    games, _, _ = transitions
    network = one_file.init(jax.random.key(1)).network
    random = jax.random.uniform(jax.random.key(3), (200, one_file.NUM_GAMES, 10))
    moves = jax.jit(
        jax.vmap(lambda epsilon, r: one_file.play(network, games, epsilon, r)[0])
    )
    epsilon = jnp.repeat(jnp.array([0.0, 0.5, 1.0, 0.5]), 50)
    actions = np.asarray(moves(epsilon, random))
    legal = games.legal_action_mask
    assert np.take_along_axis(legal[None], actions[..., None], axis=2).all()

    greedy = actions[0]
    assert (actions[:50] == greedy).all()
    is_greedy = (actions == greedy).reshape(4, 50, -1).mean(axis=(1, 2))
    by_chance = (1 / legal.sum(axis=1)).mean()  # a random move can be the greedy one
    assert is_greedy[2] == pytest.approx(by_chance, abs=0.03)
    assert is_greedy[1] == pytest.approx((1 + by_chance) / 2, abs=0.03)


@pytest.fixture
def verdict(one_file, own_tree, host_tree, rows):
    """Return a function that compares both proofs of a policy of the package's tree.

    It returns by seat whether the policy can be beaten.
    """

    def compare(probs):
        policy = np.empty_like(probs)
        policy[rows] = probs
        lines = {}
        for seat, name in zip((1, -1), SEATS, strict=True):
            line = one_file.losing_line(own_tree, policy, seat)
            shortest = proof.losing_line(host_tree, probs, name)
            can_be_beaten = proof.can_be_beaten(host_tree, probs)[SEATS.index(name)]
            assert (line is None) == (shortest is None) == (not can_be_beaten)
            if line is not None and shortest is not None:
                assert len(line) == len(shortest)
                check_line(host_tree, probs, name, line)
            lines[seat] = line
        return {seat: line is not None for seat, line in lines.items()}

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


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_both_proofs_agree_on_random_policies(count, host_tree, q_star, verdict):
    """Some play any moves, others only the best ones except in a few positions."""
    legal = host_tree.legal_action_mask
    values = np.where(legal, q_star, -2)
    best = legal & (values == values.max(axis=1, keepdims=True))
    rng = np.random.default_rng(3)
    beaten = []
    for number in range(count):
        share = (0, 0.003, 0.03, 1)[number % 4]
        is_any = rng.random((len(best), 1)) < share
        allowed = np.where(is_any, legal, best)
        beaten.append(tuple(verdict(random_policy(host_tree, rng, allowed)).values()))
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
    assert verdict(trained_policy) == {1: False, -1: False}
    reached = proof.own_decisions(host_tree, trained_policy, "first")
    reached |= proof.own_decisions(host_tree, trained_policy, "second")
    others = host_tree.legal_action_mask & (trained_policy == 0) & reached[:, None]
    rng = np.random.default_rng(4)
    beaten = 0
    for position, action in rng.permutation(np.argwhere(others))[:200]:
        probs = trained_policy.copy()
        probs[position] = np.eye(9)[action]
        beaten += any(verdict(probs).values())
    assert 0 < beaten < 200


@pytest.mark.slow
def test_trained_agents_are_proven_by_both(capsys):
    """The agents' win rates can't be higher than 95.560 %."""
    assert one_file_tool.main(["--num-seeds", "3", "--first-seed", "1001"]) == 0
    output = capsys.readouterr().out
    assert "Proven by both programs: 3 of 3 agents." in output
    assert set(re.findall(r"^\| (\d+\.\d+) ", output, re.M)) <= {"95.560", "95.299"}


@pytest.mark.parametrize(("loser", "seat"), [("X", 1), ("O", -1)])
def test_the_program_prints_the_game_that_beats_an_agent(
    loser, seat, one_file, own_tree, host_tree, rows, monkeypatch, capsys
):
    """The agent is perfect in one seat, and takes the first free cell in the other."""
    policy = np.empty_like(own_tree.legal, float)
    policy[rows] = minimax.policy(host_tree, first_best=True)
    first_free = np.eye(9)[own_tree.legal.argmax(axis=1)] * own_tree.legal
    policy = np.where(own_tree.seat[:, None] == seat, first_free, policy)
    monkeypatch.setattr(one_file, "policy_of", lambda *_: policy)
    monkeypatch.setattr(one_file, "NUM_UPDATES", 0)  # only the first row of the table
    monkeypatch.setattr(sys, "argv", ["one_file.py", "--seed", "3"])
    one_file.main()
    *_, row, last = capsys.readouterr().out.splitlines()
    moves = one_file.losing_line(own_tree, policy, seat)
    assert row.endswith(f"   {moves}")
    assert last == f"beatable: as {loser} it loses this game: {moves}"
