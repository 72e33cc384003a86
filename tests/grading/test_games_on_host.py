"""Games of programs that are asked in each game."""

from typing import Any

import chance
import jax
import player_programs
import pytest
import rules

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.grading import grader
from jax_ttt.grading.sampled_match import play_on_host
from jax_ttt.players import registry
from jax_ttt.players.player import Player, random_player

ENV = "tic_tac_toe"
GAMES = 256
"""Games in a seat: one number, since programs are compiled for it."""
RANDOM = Player(env_id=ENV, name="random", choose=random_player)


@pytest.fixture
def asked(write_program):
    """Return a function that returns a program as a player that is asked in games."""
    players = []

    def new(answer=player_programs.FIRST_FREE, env_id=ENV, **options):
        written = write_program(answer, file=f"{len(players)}.py")
        spec = registry.read_player_name(written.name)
        key, options = jax.random.key(0), ProgramOptions(**options)
        player: Any = registry.make_player(spec, env_id, key, options)
        players.append(player)
        return player, written

    yield new
    for player in players:
        player.close()


def counts_of(result):
    return [*map(int, result)]


def test_two_programs_that_play_one_move_play_one_game(asked):
    """Of two players of the first free cell, X wins with its fourth move: 0 2 4 6."""
    player, written = asked()
    result = play_on_host(player, player, jax.random.key(0), GAMES)
    assert counts_of(result) == [GAMES, 0, 0]
    lines = ["", "0 1", "0 1 2 3", "0 1 2 3 4 5"]
    assert written.asked("first") == [[line for line in lines for _ in range(GAMES)]]
    lines = ["0", "0 1 2", "0 1 2 3 4"]
    assert written.asked("second") == [[line for line in lines for _ in range(GAMES)]]


def test_games_agree_with_exact_results_in_both_seats(asked, row_by_row):
    """The first free cell; random opponents win some games sooner than others."""
    player, written = asked(copies=2)
    exact = {
        "first": rules.outcome(lambda board: rules.moves(board)[:1], rules.moves),
        "second": rules.outcome(rules.moves, lambda b: rules.moves(b)[:1])[::-1],
    }
    first_key, second_key = jax.random.split(jax.random.key(1))
    counts_in = {
        "first": counts_of(play_on_host(player, RANDOM, first_key, GAMES)),
        "second": counts_of(play_on_host(RANDOM, player, second_key, GAMES))[::-1],
    }
    for seat, counts in counts_in.items():
        assert sum(counts) == GAMES
        assert chance.within(counts, exact[seat])
        for line in (line for lines in written.asked(seat) for line in lines):
            board = "-" * 9
            for move in map(int, line.split()):
                assert move in rules.moves(board)
                board = rules.after(board, move)
            assert rules.moves(board), "no game that is over"
    assert len(written.told()) == 4


def test_a_program_that_never_loses_loses_in_neither_seat(asked):
    best, _ = asked(player_programs.MINIMAX)
    nothing = Grade(env_id="tic_tac_toe", seats=SEATS)
    match = grader.with_match(nothing, best, jax.random.key(3), GAMES).sampled
    assert match is not None
    for seat in SEATS:
        assert match.seat(seat).num_games == GAMES
        assert match.seat(seat).loss_rate == 0
        assert match.seat(seat).win_rate > 0.7


def test_games_are_random_by_their_key(asked):
    player, _ = asked()
    results = [
        counts_of(play_on_host(player, RANDOM, jax.random.key(seed), GAMES))
        for seed in (0, 1, 0)
    ]
    assert results[0] == results[2] != results[1]


@pytest.mark.slow
def test_a_game_without_keys(asked):
    """The first legal cell of Hex, which the program knows from the moves."""
    answer = "say(min({*range(121)} - {*moves}))"
    player, written = asked(answer, env_id="hex")
    opponent = Player(env_id="hex", name="random", choose=random_player)
    result = play_on_host(player, opponent, jax.random.key(0), 2)
    assert sum(counts_of(result)) == 2
    assert written.told()[0][:3] == ["hex first", "", ""]
