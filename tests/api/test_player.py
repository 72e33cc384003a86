"""Players in all forms, and the game that they share."""

import jax
import numpy as np
import pytest

import jax_ttt
from jax_ttt.api import player
from jax_ttt.games.played_game import choose_moves
from jax_ttt.runtime.devices import DeviceError


def first_free(env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def test_every_form_of_a_player(agent, tmp_path):
    path = tmp_path / "agent.safetensors"
    jax_ttt.save(agent, path)
    forms = {
        "agent of seed 1": agent,
        "minimax": "minimax",
        str(path): path,
        "first_free": first_free,
        "random": jax_ttt.player("random"),
    }
    players = [jax_ttt.player(form) for form in (*forms.values(), str(path))]
    assert [player.name for player in players] == [*forms, str(path)]
    assert {player.env_id for player in players} == {"tic_tac_toe"}
    assert all(player.is_exact for player in players)


def test_a_policy_is_a_player():
    minimax = jax_ttt.player("minimax-first")
    policy = minimax.policy
    assert policy is not None
    copy = jax_ttt.player(policy, name="copy")
    assert (copy.name, copy.is_exact) == ("copy", True)
    state, key = jax_ttt.new_game("random").game.state, jax.random.key(0)
    moves = [choose_moves(x.choose, key, state).tolist() for x in (minimax, copy)]
    assert moves[0] == moves[1]
    mixed = (policy + jax_ttt.player("random").policy) / 2
    match = jax_ttt.match(mixed, "random")
    blend = jax_ttt.match("blend:0.5:minimax-first", "random")
    np.testing.assert_allclose(match.first.rates, blend.first.rates)
    assert match.player == "policy"


def test_a_policy_has_legal_moves_with_the_sum_1():
    policy = jax_ttt.player("minimax-first").policy
    assert policy is not None
    occupied = np.zeros_like(policy)
    occupied[:, 0] = 1
    for wrong in (policy / 2, policy * 1.001, -policy, occupied, policy * np.nan):
        with pytest.raises(jax_ttt.Refused, match="legal moves with the sum 1"):
            jax_ttt.player(wrong)
    jax_ttt.player(policy * (1 + 1e-6))  # rounded
    with pytest.raises(jax_ttt.Refused, match=r"shape \(5478, 9\)"):
        jax_ttt.player(policy[1:])
    with pytest.raises(jax_ttt.Refused, match="too large"):
        jax_ttt.player(policy, env_id="connect_four")


def test_the_game_is_that_of_the_players(agent):
    connect_four = jax_ttt.player("random", env_id="connect_four")
    assert player.common_game(["random", first_free], None) == "tic_tac_toe"
    assert player.common_game(["random", connect_four], None) == "connect_four"
    assert player.common_game(["random"], "connect_four") == "connect_four"
    both = r"tic_tac_toe \(agent of seed 1\) and connect_four \(random\)"
    with pytest.raises(jax_ttt.Refused, match=f"more than one game: {both}"):
        player.common_game([agent, connect_four], None)
    with pytest.raises(jax_ttt.Refused, match=r"connect_four \(env_id\) and tic_tac_"):
        player.common_game([agent], "connect_four")
    unknown = r"env_id must be one of tic_tac_toe.*'chess'.* its file must run first"
    with pytest.raises(jax_ttt.Refused, match=unknown):
        player.common_game([agent], "chess")


@pytest.mark.parametrize(
    ("names", "distinct"),
    [
        (["a", "a", "b"], ["a", "a (2)", "b"]),
        (["a", "a", "a (2)"], ["a", "a (3)", "a (2)"]),
        (["a (2)", "a", "a", "a"], ["a (2)", "a", "a (3)", "a (4)"]),
    ],
)
def test_players_with_the_same_name_get_numbers(names, distinct):
    players = [jax_ttt.player("random", name=name) for name in names]
    _, numbered = player.distinct_players(players, None, jax.random.key(0))
    assert [player.name for player in numbered] == distinct


def test_a_name_is_not_empty():
    with pytest.raises(jax_ttt.Refused, match="name must be a text that is not empty"):
        jax_ttt.player(first_free, name="")


@pytest.mark.slow  # `make test-typed` would refuse it first
def test_a_run_is_refused_with_what_to_give_instead(run):
    with pytest.raises(jax_ttt.Refused, match=r"not a run: give run\.agent$"):
        jax_ttt.prove(run)


def test_numbers_of_64_bits_are_refused():
    jax.config.update("jax_enable_x64", True)
    try:
        with pytest.raises(DeviceError, match="unset JAX_ENABLE_X64"):
            jax_ttt.player("minimax")
    finally:
        jax.config.update("jax_enable_x64", False)
