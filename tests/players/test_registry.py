"""The player registry: from names to players."""

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.settings import Config
from jax_ttt.players import lookahead, names, network_player, registry, saved_agents
from jax_ttt.solver import policies


@pytest.mark.parametrize(
    ("env_id", "name"),
    [
        ("tic_tac_toe", "AGENT"),
        ("connect_four", "AGENT"),
    ],
)
def test_weights_too_large_for_finite_values_are_refused_by_name(
    env_id, name, tmp_path
):
    config = Config.of(env_id=env_id, hidden_size=16)
    params = tiny.untrained(config).params
    huge = jax.tree.map(lambda x: np.full(x.shape, 3e38, x.dtype), params)
    # Infinite activations, half of them with the opposite sign: their sum is NaN.
    *others, last = jax.tree.leaves(huge)
    assert last.shape[1] == 16
    last = last * np.array([-1, 1] * 8, np.float32)
    huge = jax.tree.unflatten(jax.tree.structure(huge), [*others, last])
    path = tmp_path / "huge.safetensors"
    saved_agents.save_agent(tiny.ungraded(config, huge), path)
    spec = names.read_name(name.replace("AGENT", str(path)), env_id)
    with pytest.raises(
        saved_agents.AgentError, match=r"huge\.safetensors: .*not finite"
    ):
        registry.make_player(spec, env_id, jax.random.key(0))


def test_the_seat_travels_with_the_player(one_seat):
    for name, seats in {
        "AGENT": ("first",),
        "blend:0.5:AGENT": ("first",),
        "lookahead:1:AGENT": ("first",),
        "minimax": ("first", "second"),
    }.items():
        spec = names.read_name(name.replace("AGENT", str(one_seat)), "tic_tac_toe")
        entrant = registry.make_player(spec, "tic_tac_toe", jax.random.key(0))
        assert entrant.seats == seats


def test_a_player_does_not_depend_on_its_seed_unless_it_draws(host_tree):
    def probs(name, seed):
        spec = names.read_name(name, "tic_tac_toe")
        entrant = registry.make_player(spec, "tic_tac_toe", jax.random.key(seed))
        assert entrant.name == name
        assert entrant.policy is not None
        return entrant.policy

    for name in ("random", "minimax", "blend:0.5:minimax"):
        np.testing.assert_array_equal(probs(name, 0), probs(name, 1))
    assert (probs("mcts:3", 0) != probs("mcts:3", 1)).any()
    mixed = 0.25 * policies.uniform(host_tree) + 0.75 * probs("minimax", 0)
    np.testing.assert_allclose(probs("blend:0.25:minimax", 0), mixed, atol=1e-12)


def test_a_search_of_too_many_moves_is_refused(one_seat):
    """A move of 9 to the 6th boards would take too long in a match."""
    spec = names.read_name(f"lookahead:6:{one_seat}", "tic_tac_toe")
    with pytest.raises(PlayerError, match="the depth is at most 5 in tic_tac_toe"):
        registry.make_player(spec, "tic_tac_toe", jax.random.key(0))


def test_a_search_discounts_by_its_agents_gamma(tmp_path, monkeypatch):
    config = Config.of(hidden_size=4, gamma=0.75)
    path = tmp_path / "agent.safetensors"
    saved_agents.save_agent(tiny.untrained(config), path)
    seen = []

    def searching(net, params, gamma, depth):
        seen.append((gamma, depth))
        return network_player.greedy_player(net, params)

    monkeypatch.setattr(lookahead, "lookahead_player", searching)
    spec = names.read_name(f"lookahead:2:{path}", "tic_tac_toe")
    registry.make_player(spec, "tic_tac_toe", jax.random.key(0))
    assert seen == [(0.75, 2)]


@pytest.mark.parametrize(
    ("name", "start", "won"),
    [
        ("minimax", range(9), (0, 2)),  # all that win
        ("minimax-first", [0], [0]),
        ("minimax-quick", [0], [2]),
    ],
)
def test_which_of_the_best_moves_minimax_plays(name, start, won, position):
    """On the empty board all draw; on the other, cell 2 wins at once, and 0 later."""
    spec = names.read_name(name, "tic_tac_toe")
    probs = registry.make_player(spec, "tic_tac_toe", jax.random.key(0)).policy
    assert probs is not None
    assert np.flatnonzero(probs[0]).tolist() == [*start]
    assert np.flatnonzero(probs[position["---O-XO-X"]]).tolist() == [*won]
