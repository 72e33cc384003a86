"""Players in all forms, and the game that they share."""

import jax
import numpy as np
import pytest

import jax_ttt
from jax_ttt.api import player
from jax_ttt.players import user_players


def first_free(key, env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def test_every_form_of_a_player(agent, tmp_path):
    path = tmp_path / "agent.safetensors"
    jax_ttt.save(agent, path)
    forms = [agent, "minimax", str(path), path, first_free, jax_ttt.player("random")]
    named = ["agent of seed 1", "minimax", str(path), str(path), "first_free", "random"]
    players = [jax_ttt.player(form) for form in forms]
    assert [player.name for player in players] == named
    assert {player.env_id for player in players} == {"tic_tac_toe"}
    assert all(player.is_exact for player in players)


def test_a_policy_is_a_player():
    known = jax_ttt.player("minimax-first")
    policy = known.policy
    assert policy is not None
    same = jax_ttt.player(policy, name="copy")
    assert same.is_exact
    assert jax_ttt.prove(same).unbeatable
    mixed = (policy + jax_ttt.player("random").policy) / 2
    blend = jax_ttt.match("blend:0.5:minimax-first", "random")
    found = jax_ttt.match(mixed, "random")
    np.testing.assert_allclose(found.first.rates, blend.first.rates)
    assert found.player == "policy"
    key = jax.random.key(0)
    states = jax_ttt.new_game("random").game.state
    assert known.choose(key, states) == same.choose(key, states)


def test_what_is_no_policy_is_refused():
    policy = jax_ttt.player("minimax-first").policy
    assert policy is not None
    occupied = np.zeros_like(policy)
    occupied[:, 0] = 1
    for wrong in (policy / 2, -policy, occupied, policy * np.nan):
        with pytest.raises(jax_ttt.Refused, match="legal moves with the sum 1"):
            jax_ttt.player(wrong)
    with pytest.raises(jax_ttt.Refused, match=r"shape \(5478, 9\)"):
        jax_ttt.player(policy[1:])
    with pytest.raises(jax_ttt.Refused, match="too large"):
        jax_ttt.player(policy, env_id="connect_four")


def test_a_player_of_the_same_key_is_the_same():
    one, same, other = (
        jax_ttt.player("mcts:20", seed=seed).policy for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


def test_the_game_is_that_of_the_agents(agent):
    connect_four = jax_ttt.player("random", env_id="connect_four")
    assert player.common_game(["random", first_free], None) == "tic_tac_toe"
    assert player.common_game(["random", connect_four], None) == "connect_four"
    assert player.common_game(["random"], "connect_four") == "connect_four"
    named = r"tic_tac_toe \(agent of seed 1\) and connect_four \(random\)"
    with pytest.raises(jax_ttt.Refused, match=f"more than one game: {named}"):
        player.common_game([agent, connect_four], None)
    with pytest.raises(jax_ttt.Refused, match=r"connect_four \(env_id\) and tic_tac_"):
        player.common_game([agent], "connect_four")
    with pytest.raises(jax_ttt.Refused, match="env_id must be one of tic_tac_toe"):
        player.common_game([agent], "chess")


def test_players_with_the_same_name_get_numbers(agent):
    _, found = player.distinct_players(
        [agent, agent, "random"], None, jax.random.key(0)
    )
    names = [player.name for player in found]
    assert names == ["agent of seed 1", "agent of seed 1 (2)", "random"]
    for given, expected in (
        (["a", "a", "a (2)"], ["a", "a (3)", "a (2)"]),
        (["a (2)", "a", "a", "a"], ["a (2)", "a", "a (3)", "a (4)"]),
    ):
        several = [jax_ttt.player("random", name=name) for name in given]
        _, found = player.distinct_players(several, None, jax.random.key(0))
        assert [player.name for player in found] == expected


def test_a_name_for_a_player():
    player = jax_ttt.player(first_free, name="row by row")
    assert player.name == "row by row"
    assert user_players.from_function("x", first_free, "tic_tac_toe").name == "x"


def test_an_empty_name_is_refused():
    with pytest.raises(jax_ttt.Refused, match="name must be a text that is not empty"):
        jax_ttt.player(first_free, name="")


@pytest.mark.parametrize(
    ("who", "message"), [("nobody", "no known player"), ("mcts:0", "playouts|from 1")]
)
def test_an_unknown_player_is_refused(who, message):
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.player(who)
