"""The player registry: from names to players."""

import jax
import numpy as np
import pytest
import tiny

from jax_ttt.config.errors import Refused
from jax_ttt.players import saved_agents, search_players
from jax_ttt.solver import policies


@pytest.mark.slow
def test_a_player_around_an_agent_has_its_seat_and_its_gamma(
    tmp_path, player_of, undecided, host_tree
):
    fields = {"opponent": "random", "seat": "first", "gamma": 0.75}
    path = tiny.save_untrained(tmp_path / "agent.safetensors", **fields)
    for name in ("AGENT", "blend:0.5:AGENT", "lookahead:1:AGENT"):
        player = player_of(name.replace("AGENT", str(path)))
        assert player.seats == ("first",)
    agent = saved_agents.load_agent(path)
    few = jax.tree.map(lambda x: x[::100], undecided)
    decisions = host_tree.decisions[::100]
    for gamma in (0.75, -0.75):
        search = search_players.lookahead_player(agent.network, agent.params, gamma, 1)
        moves = np.asarray(jax.jit(search)(jax.random.key(1), few))
        assert player.policy[decisions, moves].all() == (gamma == 0.75)
    assert player_of("minimax").seats == ("first", "second")
    # A move of 9 to the 6th boards would take too long in a match.
    with pytest.raises(Refused, match="the depth is at most 5 in tic_tac_toe"):
        player_of(f"lookahead:6:{path}")


def test_a_player_does_not_depend_on_its_seed_unless_it_draws(host_tree, player_of):
    for name in ("random", "minimax", "blend:0.5:minimax"):
        one, other = (player_of(name, seed=seed) for seed in (0, 1))
        assert one.name == name
        np.testing.assert_array_equal(one.policy, other.policy)
    one, other = (player_of("mcts:3", seed=seed) for seed in (0, 1))
    assert (one.policy != other.policy).any()
    minimax = player_of("minimax").policy
    mixed = 0.25 * policies.uniform_policy(host_tree) + 0.75 * minimax
    blend = player_of("blend:0.25:minimax").policy
    np.testing.assert_allclose(blend, mixed, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "start", "won"),
    [
        ("minimax", range(9), (0, 2)),  # all that win
        ("minimax-first", [0], [0]),
        ("minimax-quick", [0], [2]),
    ],
)
def test_which_of_the_best_moves_minimax_plays(name, start, won, position, player_of):
    """On the empty board all draw; on the other, cell 2 wins at once, and 0 later."""
    probs = player_of(name).policy
    assert np.flatnonzero(probs[0]).tolist() == [*start]
    assert np.flatnonzero(probs[position["---O-XO-X"]]).tolist() == [*won]
