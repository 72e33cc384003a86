"""Players as functions and as matrices: both views agree."""

import dataclasses
import itertools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt import arena, evaluate, play, plot
from jax_ttt.config.choices import SEATS_OF
from jax_ttt.config.settings import Config
from jax_ttt.envs import pgx_games
from jax_ttt.evaluation import evaluation, grades
from jax_ttt.networks import q_network
from jax_ttt.players import agents, names, network, players, registry
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of
from jax_ttt.solver import minimax, policies, proof

CONFIG = Config(hidden_size=16, eval_games=0)
NUM_KEYS = 100


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    """Return the file of an agent that has learned nothing."""
    path = tmp_path_factory.mktemp("players") / "agent.safetensors"
    params = q_network.init_params(network_of(CONFIG), jax.random.key(5))
    agents.save(Agent(CONFIG, params, 5, 0, {}), path)
    return path


def enter(name):
    """Return the player of this name and its policy."""
    spec = names.read(name, "tic_tac_toe")
    entrant = registry.enter(spec, "tic_tac_toe", jax.random.key(0))
    assert entrant.probs is not None
    return entrant.player, entrant.probs


@pytest.fixture(scope="module")
def deciding(tree):
    """Return the PGX states of all positions to decide."""
    return jax.tree.map(lambda x: x[tree.decisions], tree.env_state)


@jax.jit
def frequencies(player, states):
    """Return how often each action is played, over keys: `(D, A)`."""
    keys = jax.random.split(jax.random.key(7), NUM_KEYS)
    return jax.lax.fori_loop(
        0,
        NUM_KEYS,
        lambda i, counts: counts + jax.nn.one_hot(player(keys[i], states), 9),
        jnp.zeros((len(states.current_player), 9)),
    )


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in names.BUILT_IN if name != "mcts-online"),
        *("mcts:50", "blend:0.25:random", "AGENT", "blend:0.1:AGENT"),
        "lookahead:1:AGENT",
    ],
)
def test_function_and_matrix_agree(name, agent_path, tree, deciding):
    player, probs = enter(name.replace("AGENT", str(agent_path)))
    probs = probs[tree.decisions]
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-12)
    counts = np.asarray(frequencies(player, deciding))
    assert counts[probs == 0].sum() == 0
    expected = NUM_KEYS * probs
    certain = probs.max(axis=1) == 1
    assert (counts[certain] == expected[certain]).all()
    # Chi-square over all rows that leave a choice: near its degrees of freedom.
    drawn = probs[~certain] > 0
    error = (counts - expected)[~certain][drawn] ** 2 / expected[~certain][drawn]
    freedom = drawn.sum() - len(drawn)
    assert abs(error.sum() - freedom) < 5 * np.sqrt(4 * max(freedom, 1)) + 1


@pytest.mark.parametrize("num_legal", range(1, 10))
def test_random_moves_are_uniform(num_legal):
    """Chi-square of 40,000 moves, for each number of legal ones."""
    mask = np.random.default_rng(num_legal).permutation(np.arange(9) < num_legal)
    env_state = pgx_games.init(pgx_games.make("tic_tac_toe"), jax.random.key(0), 40_000)
    env_state = env_state.replace(
        legal_action_mask=jnp.broadcast_to(jnp.asarray(mask), (40_000, 9))
    )
    actions = players.random_player(jax.random.key(num_legal), env_state)
    counts = np.bincount(actions, minlength=9)
    assert counts[~mask].sum() == 0
    expected = 40_000 / num_legal
    chi_square = ((counts[mask] - expected) ** 2 / expected).sum()
    assert (
        chi_square
        < (10.8, 13.8, 16.3, 18.5, 20.5, 22.5, 24.3, 26.1, 27.9)[max(num_legal - 2, 0)]
    )  # the 99.9 % points of 1 to 8 degrees of freedom


def test_keys_decide_what_is_drawn(deciding):
    few = jax.tree.map(lambda x: x[:64], deciding)
    player, _ = enter("blend:0.7:random")
    one, same, other = (player(jax.random.key(k), few) for k in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()


def test_the_matrix_of_an_agent_is_its_greedy_policy(agent_path, tree):
    agent = agents.load(agent_path)
    expected = network.policy(network_of(agent.config), agent.params, tree)
    np.testing.assert_array_equal(enter(str(agent_path))[1], expected)


def test_ties_go_to_the_lowest_index(agent_path, tree, tmp_path, deciding):
    agent = agents.load(agent_path)
    flat = jax.tree.map(jnp.zeros_like, agent.params)
    path = tmp_path / "flat.safetensors"
    agents.save(Agent(CONFIG, flat, 0, 0, {}), path)
    legal = np.asarray(deciding.legal_action_mask)
    assert (enter(str(path))[1][tree.decisions].argmax(axis=1) == legal.argmax(1)).all()


@pytest.mark.parametrize(
    ("env_id", "name"),
    [
        ("tic_tac_toe", "AGENT"),
        ("tic_tac_toe", "lookahead:1:AGENT"),
        ("connect_four", "AGENT"),
    ],
)
def test_weights_too_large_for_finite_values_are_refused_by_name(
    env_id, name, tmp_path
):
    config = Config(env_id=env_id, hidden_size=16)
    agent = Agent(
        config, q_network.init_params(network_of(config), jax.random.key(0)), 0, 0, {}
    )
    huge = jax.tree.map(lambda x: jnp.full_like(x, 3e38), agent.params)
    # Infinite neurons, half of them counted against the other half: not a number.
    *others, last = jax.tree.leaves(huge)
    assert last.shape[0] == 16
    last = last * jnp.where(jnp.arange(16) % 2, 1, -1)[:, None]
    huge = jax.tree.unflatten(jax.tree.structure(huge), [*others, last])
    path = tmp_path / "huge.safetensors"
    agents.save(Agent(config, huge, 0, 0, {}), path)
    spec = names.read(name.replace("AGENT", str(path)), env_id)
    with pytest.raises(agents.AgentError, match=r"huge\.safetensors: .*not finite"):
        registry.enter(spec, env_id, jax.random.key(0))


def test_a_network_of_nan_has_no_evaluation(agent_path, tree):
    agent = agents.load(agent_path)
    params = jax.tree.map(lambda x: jnp.full_like(x, jnp.nan), agent.params)
    result = evaluation.evaluate(
        network_of(agent.config), params, jax.random.key(0), tree
    )
    with pytest.raises(FloatingPointError, match="not finite"):
        evaluation.summary(result)


def test_a_proof_is_of_the_seats_that_were_learned(tree, host_tree):
    """One who is best as X and random as O can be beaten, but not where it learned."""
    probs = np.where(
        host_tree.first_to_move[:, None],
        minimax.policy(host_tree),
        policies.uniform(host_tree),
    )
    proven = {
        setting: grades.exactly(host_tree, probs, seats)["unbeatable"]
        for setting, seats in SEATS_OF.items()
    }
    assert proven == {"both": False, "first": True, "second": False}
    for setting, seats in SEATS_OF.items():
        traced = jax.jit(proof.unbeatable, static_argnums=2)
        found = traced(tree, jnp.asarray(probs, jnp.float32), seats)
        assert bool(found) == proven[setting]


@pytest.fixture(scope="module")
def one_seat(host_tree, q_star, tmp_path_factory):
    """Return the file of a table that is perfect as X and the worst as O."""
    path = tmp_path_factory.mktemp("one-seat") / "agent.safetensors"
    config = Config(
        network="table", canonical=False, opponent="random", seat="first", eval_games=0
    )
    first = host_tree.first_to_move[:, None]
    params = q_network.init_params(network_of(config), jax.random.key(0))
    worst_as_second = jnp.asarray(np.where(first, q_star, -q_star))
    params = jax.tree.map(lambda _: worst_as_second, params)
    agents.save(Agent(config, params, 5, 0, {}), path)
    return path


@pytest.mark.parametrize("name", ["AGENT", "blend:0:AGENT"])
def test_evaluate_proves_the_seat_that_was_learned(name, one_seat, capsys):
    assert evaluate.main([name.replace("AGENT", str(one_seat)), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["exact"]["as_second"]["worst_loss_rate"] == 1
    assert about["exact"]["unbeatable"] is True
    assert about["verdict"] == (
        "unbeatable: no line of play by any opponent wins against it, "
        "as X (5,478 positions)"
    )


def test_the_seat_travels_with_the_player(one_seat):
    for name, seats in {
        "AGENT": ("first",),
        "blend:0.5:AGENT": ("first",),
        "lookahead:1:AGENT": ("first",),
        "minimax": ("first", "second"),
    }.items():
        spec = names.read(name.replace("AGENT", str(one_seat)), "tic_tac_toe")
        entrant = registry.enter(spec, "tic_tac_toe", jax.random.key(0))
        assert entrant.seats == seats


@pytest.mark.parametrize("setting", SEATS_OF)
def test_training_and_evaluate_agree_on_the_seat(
    setting, one_seat, tree, host_tree, q_star
):
    """Tables that are perfect or the worst in each seat, for every setting."""
    agent = agents.load(one_seat)
    config = dataclasses.replace(agent.config, seat=setting)
    first = host_tree.first_to_move[:, None]
    for safe in itertools.product([True, False], repeat=2):
        signs = np.where(first, *(1.0 if perfect else -1.0 for perfect in safe))
        values = jnp.asarray(signs * q_star, jnp.float32)
        params = jax.tree.map(lambda _, v=values: v, agent.params)
        found = evaluation.evaluate(network_of(config), params, jax.random.key(0), tree)
        is_safe = dict(zip(("first", "second"), safe, strict=True))
        expected = all(is_safe[seat] for seat in SEATS_OF[setting])
        assert evaluation.summary(found)["exact"]["unbeatable"] is expected


def test_commands_say_which_seat_an_agent_learned(one_seat, monkeypatch, capsys):
    learned = "learned to move first only, as X"
    assert evaluate.main([str(one_seat)]) == 0
    assert learned in capsys.readouterr().out.splitlines()[0]
    assert arena.main([str(one_seat), "random"]) == 0
    assert f"{one_seat} {learned}" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda _: "q")
    assert play.main([str(one_seat)]) == 0
    assert f"({one_seat} {learned})" in capsys.readouterr().out
    assert plot.main([str(one_seat.parent), "--game"]) == 0
    assert f"{one_seat.parent} {learned}" in capsys.readouterr().out
