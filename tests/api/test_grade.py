"""Grades, proofs and matches: exact, searched and sampled."""

import jax
import pytest

import jax_ttt
from jax_ttt.games.played_game import Game


def any_free(key, env_state):
    return jax.random.categorical(key, jax.numpy.log(env_state.legal_action_mask))


def last_free(env_state):
    return 8 - env_state.legal_action_mask[:, ::-1].argmax(axis=-1)


def test_an_agent_is_graded_exactly_and_proven(agent):
    grade, proof = jax_ttt.grade(agent), jax_ttt.prove(agent)
    assert (grade.unbeatable, grade.loss_rate, grade.sampled) == (True, 0, None)
    assert grade.win_rate + grade.draw_rate == pytest.approx(1)
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
    ("function", "player", "options", "message"),
    [
        ("grade", "random", {"num_games": -1}, "num_games must be"),
        ("grade", any_free, {"num_games": 0}, r"any_free .* nothing is exact"),
        ("match", "random", {"opponent": any_free, "num_games": 0}, "num_games must"),
        ("grade", "minimax", {"max_positions": 5}, "max_positions must be left out"),
        ("prove", any_free, {}, "any_free: it takes a key, so its games are sampled"),
        ("prove", "random", {"env_id": "go_9x9"}, "^random does not play one move in"),
        ("prove", "minimax", {"max_positions": 10}, "max_positions must be left out"),
    ],
)
def test_what_is_not_possible_or_has_no_effect_is_refused(
    function, player, options, message
):
    with pytest.raises(jax_ttt.Refused, match=message):
        getattr(jax_ttt, function)(player, **options)


@pytest.mark.slow
def test_in_a_game_without_a_tree_the_reached_positions_are_searched(beaten):
    """An untrained agent loses; a search that ends too early is undecided."""
    grade, proof = jax_ttt.grade(beaten), jax_ttt.prove(beaten)
    assert (grade.unbeatable, grade.sampled, proof.unbeatable) == (False, None, False)
    wins = [seat.win_rate for seat in grade.searched.values()]
    assert grade.win_rate == pytest.approx(sum(wins) / 2)
    assert proof.verdict == grade.verdict in repr(grade)
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


def test_an_exact_match_has_both_seats():
    match = jax_ttt.match("minimax", "random")
    reverse = jax_ttt.match("random", "minimax")
    assert match.is_exact
    assert match.first.win_rate == reverse.second.loss_rate > 0.9
    assert match.second.loss_rate == reverse.first.win_rate == 0
    assert match.second.win_rate == reverse.first.loss_rate
    assert sum(match.first.rates) == pytest.approx(1)


def test_the_seats_of_a_sampled_match_are_drawn_independently():
    """With the same draws, a player against itself has the same games in both seats."""
    match = jax_ttt.match(any_free, any_free, num_games=200)
    first, second = match.first, match.second
    as_x = first.win_rate, first.draw_rate, first.loss_rate
    assert as_x != (second.loss_rate, second.draw_rate, second.win_rate)
