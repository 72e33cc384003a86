"""The proof of a player, and the line that beats it."""

import jax
import pytest

import jax_ttt
from jax_ttt.games.played_game import Game


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


def last_free(env_state):
    return 8 - env_state.legal_action_mask[:, ::-1].argmax(axis=-1)


def test_an_agent_is_proven(agent):
    proof = jax_ttt.prove(agent)
    assert proof.unbeatable
    assert (proof.losing_line, proof.losing_seat) == (None, None)
    assert proof.seats == ("first", "second")
    game = Game.start("tic_tac_toe", proof.likeliest_game)
    assert game.result("first") == "drawn"


def test_the_losing_line_is_a_lost_game():
    proof = jax_ttt.prove(last_free)
    assert (proof.unbeatable, proof.losing_seat) == (False, "second")
    assert proof.losing_line is not None
    lost = Game.start("tic_tac_toe", proof.losing_line)
    assert lost.result("second") == "lost"
    assert len(proof.losing_line) == 5, "no game is shorter"


@pytest.mark.parametrize(
    ("player", "options", "message"),
    [
        (any_free, {}, "any_free: it takes a key, so its games are sampled"),
        ("random", {"env_id": "connect_four"}, "^random does not play one move"),
        (
            "random",
            {"env_id": "go_9x9"},
            "^random does not play one move in each position",
        ),
        ("minimax", {"max_positions": 10}, "max_positions must be left out"),
    ],
)
def test_a_proof_that_is_not_possible_is_refused(player, options, message):
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.prove(player, **options)


@pytest.mark.slow
def test_in_a_game_without_a_tree_the_reached_positions_are_searched(beaten):
    """An untrained agent loses; a search that ends too early is undecided."""
    proof = jax_ttt.prove(beaten)
    assert proof.unbeatable is False
    assert proof.losing_line is not None
    assert proof.losing_seat is not None
    lost = Game.start("connect_4x4", proof.losing_line)
    assert lost.result(proof.losing_seat) == "lost"
    assert Game.start("connect_4x4", proof.likeliest_game).is_over
    assert "<svg" in proof._repr_html_()

    cut = jax_ttt.prove(beaten, max_positions=20)
    assert (cut.unbeatable, cut.losing_line, cut.losing_seat) == (None, None, None)
    assert repr(cut).startswith("not decided: searched up to move ")
    longer = jax_ttt.prove(beaten, max_positions=1500)
    assert (longer.unbeatable, longer.losing_line) == (False, proof.losing_line)
    with pytest.raises(jax_ttt.Refused, match="max_positions"):
        jax_ttt.prove(beaten, max_positions=0)
