"""`docs/examples/one_file.py` and the package: two programs that check each other."""

import ast
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
from jax_ttt.dqn import equations
from jax_ttt.dqn.equations import Transition
from jax_ttt.dqn.learner import Learner
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
    return Learner.of(DEFAULT)


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
    actions = jnp.asarray(chosen[:, 1], jnp.int32)
    return games, actions, jax.jit(jax.vmap(one_file.ENV.step))(games, actions)


def is_own_image(one_file, obs):
    """Return which boards are equal to one of their rotated or mirrored images."""
    boards = np.asarray(obs).reshape(-1, 9, 2) @ [1, -1]
    images = boards[:, np.asarray(one_file.IMAGES)]
    return (images[:, 1:] == images[:, :1]).all(axis=2).any(axis=1)


def as_params(learner, network):
    """Return the weights of the file's network as parameters of the package.

    The package's kernels are transposed.
    """
    params = jax.eval_shape(learner.init, jax.random.key(0)).params
    layers = (network.hidden_1, network.hidden_2, network.heads)
    weights = [leaf for layer in layers for leaf in (layer.bias[...], layer.kernel.T)]
    return jax.tree.unflatten(jax.tree.structure(params), weights)


def test_it_imports_nothing_of_the_package():
    tree = ast.parse(PATH.read_text("utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    packages = {name.partition(".")[0] for name in names} - {*sys.stdlib_module_names}
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


def as_batch(learner, transitions):
    """Return the transitions as a batch of the package."""
    games, actions, after = transitions
    return Transition(
        obs=jnp.asarray(games.observation),
        action=actions,
        reward=after.rewards[jnp.arange(len(actions)), games.current_player],
        discount=jnp.where(after.terminated, 0, -learner.hyper.gamma),
        next_obs=after.observation,
        next_legal_action_mask=after.legal_action_mask,
        live=jnp.ones(len(actions), bool),
    )


def noise_for(actions):
    """Return numbers with which `play` makes these moves, where epsilon is above 0."""
    highest = jax.nn.one_hot(actions, 9)
    return jnp.concatenate([jnp.zeros((len(actions), 1)), highest], axis=1)


def assert_same_weights(learner, network, params):
    jax.tree.map(
        lambda ours, theirs: np.testing.assert_allclose(ours, theirs, atol=2e-4),
        as_params(learner, network),
        params,
    )


@pytest.fixture(scope="module")
def update(one_file):
    return jax.jit(one_file.update)


@pytest.mark.parametrize("indices", [(0, 1, 2), (0, 900, 1799)])
def test_updates_of_both_give_the_same_weights(
    indices, one_file, update, learner, transitions
):
    games, actions, _ = transitions
    network, target = (one_file.init(jax.random.key(seed)).network for seed in (1, 2))
    opt_state = one_file.OPTIMIZER.init(network)
    state = one_file.State(network, target, target, opt_state, games)
    theirs = dataclasses.replace(
        learners.init(learner, jax.random.key(0)),
        params=as_params(learner, network),
        target_params=as_params(learner, target),
        average_params=as_params(learner, target),
    )
    batch = as_batch(learner, transitions)
    np.testing.assert_allclose(
        one_file.two_ply_target(target, *transitions).T,
        learners.td_targets(learner, theirs.params, theirs.target_params, batch),
        atol=1e-5,
    )
    for count, index in enumerate(indices):
        # The optimizer counts its steps by itself, for its learning rate.
        state, _ = update(state._replace(games=games), (index, noise_for(actions)))
        before = dataclasses.replace(theirs, update=jnp.int32(index))
        theirs, _ = learners.learn(
            learner, before, batch, jax.random.key(0), learner.learning_rate(count)
        )
        theirs = learner._update_average(before, theirs)
        assert_same_weights(learner, state.network, theirs.params)
        assert_same_weights(learner, state.target_network, theirs.target_params)
        assert_same_weights(learner, state.average, theirs.average_params)


def test_games_that_are_over_are_replaced(one_file, update, transitions):
    games, actions, after = transitions
    state = one_file.init(jax.random.key(1))._replace(games=games)
    updated, _ = update(state, (0, noise_for(actions)))
    ended = np.asarray(after.terminated)
    assert ended.any()
    stones = after.observation.sum(axis=(1, 2, 3))
    np.testing.assert_array_equal(
        updated.games.observation.sum(axis=(1, 2, 3)), np.where(ended, 0, stones)
    )


def test_epsilon_falls_from_1_to_a_tenth(one_file, update, transitions):
    games, _, _ = transitions
    state = one_file.init(jax.random.key(1))._replace(games=games)
    numbers = jax.random.uniform(jax.random.key(3), (one_file.NUM_GAMES, 9))

    def boards_after(index, first):
        noise = jnp.concatenate([jnp.full((len(numbers), 1), first), numbers], axis=1)
        return np.asarray(update(state, (index, noise))[0].games.observation)

    greedy, random = boards_after(1799, 0.5), boards_after(1799, 0.05)
    assert (greedy != random).any()
    np.testing.assert_array_equal(boards_after(0, 0.99), random)
    np.testing.assert_array_equal(boards_after(1799, 0.11), greedy)
    np.testing.assert_array_equal(boards_after(900, 0.56), greedy)
    np.testing.assert_array_equal(boards_after(900, 0.54), random)


def test_a_row_of_the_table_is_so_many_updates(one_file, update, monkeypatch):
    """The agents that are yielded are the averages; each row has other numbers."""
    monkeypatch.setattr(one_file, "UPDATES_PER_ROW", 2)
    monkeypatch.setattr(one_file, "NUM_UPDATES", 4)
    keys, states = [], []
    function = one_file.many_updates.__wrapped__

    def compiled(*args):  # another function than the file's, whose program is kept
        return function(*args)

    def by_hand(state, begin, key):
        keys.append(jax.random.key_data(key).tolist())
        noise = jax.random.uniform(key, (2, one_file.NUM_GAMES, 10))
        for place in range(2):
            state, _ = update(state, (begin + place, noise[place]))
        states.append(state)
        return state

    results = []
    for many_updates in (jax.jit(compiled), by_hand):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(one_file, "many_updates", many_updates)
            results.append([*one_file.train(3)])
    rows, expected = results
    assert [number for number, _ in rows] == [0, 2, 4]
    assert keys[0] != keys[1]
    for (_, agent), state in zip(expected[1:], states, strict=True):
        assert agent is state.average
    for (_, agent), (_, by_loop) in zip(rows, expected, strict=True):
        jax.tree.map(
            lambda ours, theirs: np.testing.assert_allclose(ours, theirs, atol=1e-5),
            agent,
            by_loop,
        )
    first, second = (
        np.asarray(agent.heads.kernel[...]) for _, agent in (rows[0], rows[2])
    )
    assert (first != second).any()


def test_moves_are_the_package_s_and_epsilon_is_the_share_of_random_ones(
    one_file, learner, transitions
):
    games, _, _ = transitions
    network = one_file.init(jax.random.key(1)).network
    noise = jax.random.uniform(jax.random.key(3), (150, one_file.NUM_GAMES, 10))
    moves = jax.jit(
        jax.vmap(
            lambda epsilon, noise: one_file.play(network, games, epsilon, noise)[0]
        )
    )
    epsilon = jnp.repeat(jnp.array([0.0, 0.5, 1.0]), 50)
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
    params = as_params(learner, network)
    values = q_network.action_values(learner.network, params, jnp.asarray(obs))
    return np.asarray(equations.greedy(values, jnp.asarray(legal)))


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
    changes = np.random.default_rng(4).permutation(np.argwhere(others))[:200]
    assert len(changes) == 200
    beaten = 0
    for position, action in changes:
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
    policy[rows] = policies.minimax_policy(host_tree, first_best=True)
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
