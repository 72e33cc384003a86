"""In an enumerable game, an agent plays the moves that were proven.

The agent here has a network that says another move if it sees a board alone than if it
sees all boards: see `rounded_agents`.
"""

import jax
import numpy as np
import pytest
from rounded_agents import rounding_decides

import jax_ttt
from jax_ttt.config.player_kinds import SNAPSHOTS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.games.played_game import Game, choose_moves
from jax_ttt.games.training_opponents import Versus
from jax_ttt.games.tree import position_index
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.registry import read_player_name
from jax_ttt.training.run_start import make_opponent

ENV_ID = "tic_tac_toe"
LOSING = 1
"""A reply to X4 that loses."""


def alone(agent, game):
    """Return the move of the agent's network, asked about one board."""
    play = greedy_player.GreedyPlayer(agent.network, agent.params)
    return int(choose_moves(play, jax.random.key(0), game.state)[0])


@pytest.fixture(scope="module")
def game():
    return Game.start(ENV_ID, [4])


@pytest.fixture(scope="module")
def position(game):
    return int(position_index(ENV_ID).of_states(game.state)[0])


@pytest.fixture(scope="module")
def agent(game, position):
    """Return an agent that is unbeatable by its policy, but not by its network."""
    good = saved_agents.load_agent(max(SNAPSHOTS["network"].iterdir()))
    planes = np.zeros(9, np.float32)
    planes[4] = -1
    for seed in range(60):
        agent = rounding_decides(good, planes, LOSING, seed)
        policy = registry.agent_player("forged", agent).policy
        assert policy is not None
        if alone(agent, game) == LOSING != policy[position].argmax():
            return agent
    return pytest.skip("this machine rounds alike for any number of boards")


@pytest.fixture(scope="module")
def path(agent, tmp_path_factory):
    path = tmp_path_factory.mktemp("forged") / "forged.safetensors"
    saved_agents.save_agent(agent, path)
    return path


def test_the_proof_and_every_game_have_the_same_move(agent, path, game, position):
    assert jax_ttt.prove(agent).unbeatable
    policy = jax_ttt.player(agent).policy
    assert policy is not None
    proven = int(policy[position].argmax())
    assert alone(agent, game) == LOSING != proven
    key = jax.random.key(0)
    assert game.move_of(agent.player, key) == proven
    assert jax_ttt.new_game(agent).play(4).moves == (4, proven)
    player = registry.make_player(read_player_name(str(path)), ENV_ID, key)
    assert player.move_in(game, key) == proven
    opponent = make_opponent(Config.of(opponent=str(path), backup="one-ply"), seed=0)
    assert isinstance(opponent, Versus)
    assert game.move_of(opponent.player, key) == proven
    assert jax_ttt.best_move(agent, [4]) == proven


def test_a_match_of_any_size_agrees_with_the_exact_rates(agent):
    """Against random it loses no game, where it would lose some by its network."""
    assert jax_ttt.match(agent, "random").second.loss_rate == 0


@pytest.mark.parametrize("name", ["blend:0.0:{}", "lookahead:1:{}"])
def test_players_around_it_play_their_policies_too(name, path, game, position):
    key = jax.random.key(0)
    spec = read_player_name(name.format(path))
    player = registry.make_player(spec, ENV_ID, key)
    assert player.policy is not None
    assert player.policy[position, player.move_in(game, key)] == 1
