"""Sessions as data: moves, replies, undo, values and results."""

import jax
import numpy as np
import pytest
import rules

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import agents, names, registry, session
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of

KEY = jax.random.key(0)


def entrant(name, env_id: EnvId = "tic_tac_toe"):
    return registry.enter(names.read_name(name, env_id), env_id, jax.random.key(0))


def played(opponent, moves, seat: Seat = "first", key=KEY):
    """Return the session after these moves of the person, all replies made."""
    game = answered(session.start_session("tic_tac_toe", opponent, seat, key))
    for move in moves:
        game = answered(session.play_move(game, move))
    return game


def answered(game):
    while not (session.is_over(game) or session.is_persons_turn(game)):
        game = session.play_reply(game)
    return game


def facts(game):
    """Return the parts of a session that can be compared."""
    leaves = [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(game.states)]
    return game.env_id, game.seat, game.moves, leaves


def test_a_game_move_by_move(row_by_row):
    game = session.start_session("tic_tac_toe", row_by_row, "first", KEY)
    assert (game.moves, len(game.states)) == ((), 1)
    assert session.legal_moves(game) == tuple(range(9))
    assert session.to_move(game) == "first"
    assert session.is_persons_turn(game)
    game = session.play_move(game, 4)
    assert session.to_move(game) == "second"
    assert not session.is_persons_turn(game)
    game = session.play_reply(game)
    assert (game.moves, len(game.states)) == ((4, 0), 3)
    assert session.legal_moves(game) == (1, 2, 3, 5, 6, 7, 8)
    assert session.result(game) is None


def test_results_are_a_seats(row_by_row):
    won = played(row_by_row, (4, 6, 2))
    lost = played(entrant("minimax-first"), (1, 8, 2), "second")
    drawn = played(entrant("minimax-first"), (4, 2, 3, 7, 8))
    for game, own, other in (
        (won, "won", "lost"),
        (lost, "lost", "won"),
        (drawn, "drawn", "drawn"),
    ):
        assert session.is_over(game)
        assert not session.is_persons_turn(game)
        assert session.legal_moves(game) == ()
        assert session.move_values(game) == ()
        assert session.result(game) == session.result(game, game.seat) == own
        beside: Seat = "second" if game.seat == "first" else "first"
        assert session.result(game, beside) == other
    assert [len(game.moves) for game in (won, lost, drawn)] == [5, 7, 9]


@pytest.mark.parametrize("move", [-1, 9, 4, 2**40])
def test_an_illegal_move_is_refused(row_by_row, move):
    """Out of range or an occupied cell; PGX would count it as a loss."""
    game = played(row_by_row, (4,))
    before = facts(game)
    with pytest.raises(ValueError, match=f"{move} is not a legal move of tic_tac_toe"):
        session.play_move(game, move)
    assert facts(game) == before


def test_nobody_moves_out_of_turn_or_after_the_end(row_by_row):
    game = session.start_session("tic_tac_toe", row_by_row, "second", KEY)
    with pytest.raises(ValueError, match="the opponent's turn"):
        session.play_move(game, 4)
    with pytest.raises(ValueError, match="the person's turn"):
        session.play_reply(session.play_reply(game))
    over = played(row_by_row, (4, 6, 2))
    with pytest.raises(ValueError, match="the game is over"):
        session.play_move(over, 8)
    with pytest.raises(ValueError, match="the game is over"):
        session.play_reply(over)


def test_undo_goes_back_to_the_persons_latest_decision(row_by_row):
    game = played(row_by_row, (4, 8))
    assert game.moves == (4, 0, 8, 1)
    once = session.undo(game)
    assert once.moves == (4, 0)
    assert facts(once) == facts(played(row_by_row, (4,)))
    twice = session.undo(once)
    assert twice.moves == ()
    assert session.undo(twice) is twice
    # Before the reply, and after the end.
    assert session.undo(session.play_move(once, 8)).moves == (4, 0)
    assert session.undo(played(row_by_row, (4, 6, 2))).moves == (4, 0, 6, 1)
    assert session.undo(played(row_by_row, (4, 6, 2))).state.terminated.tolist() == [
        False
    ]


def test_the_opponents_first_move_is_not_undone():
    game = played(entrant("minimax-first"), (), "second")
    assert game.moves == (0,)
    assert session.undo(game) is game
    assert session.undo(played(entrant("minimax-first"), (8,), "second")).moves == (0,)
    start = session.start_session("tic_tac_toe", entrant("random"), "second", KEY)
    assert session.undo(start) is start


@pytest.mark.parametrize("seed", range(2))
def test_every_position_is_that_of_the_moves(seed):
    game = played(entrant("random"), (), "second", jax.random.key(seed))
    while not session.is_over(game):
        game = answered(session.play_move(game, session.legal_moves(game)[-1]))
    board = "-" * 9
    for count, move in enumerate(game.moves):
        obs = np.asarray(game.states[count].observation[0]).reshape(9, 2)
        own, other = ("X", "O") if rules.mover(board) == "X" else ("O", "X")
        assert obs.tolist() == [[cell == own, cell == other] for cell in board]
        board = rules.after(board, move)
    ends = {"X": "won", "O": "lost", None: "drawn"}
    assert session.result(game, "first") == ends[rules.winner(board)]


def test_values_are_exact_and_the_agents_own(tmp_path):
    """O must take the centre after a corner."""
    config = Config.of(hidden_size=8)
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    path = tmp_path / "agent.safetensors"
    agents.save_agent(Agent(config, params, 0, 0), path)
    opponent = entrant(str(path))
    start = session.start_session("tic_tac_toe", opponent, "first", KEY)
    game = session.play_move(start, 0)
    worth = session.move_values(game)
    assert tuple(row.move for row in worth) == session.legal_moves(game)
    assert {row.move: row.minimax_value for row in worth} == {
        move: 0.0 if move == 4 else -1.0 for move in range(1, 9)
    }
    q_values = jax.jit(q_network.q_values)(
        network_of(config.architecture), params, game.state.observation
    )[0]
    assert [row.q_value for row in worth] == q_values[1:].tolist()
    reply = session.play_reply(game).moves[-1]
    (played,) = [row.q_value for row in worth if row.move == reply]
    assert played == max(row.q_value for row in worth if row.q_value is not None)


def test_without_a_tree_or_an_agent_there_are_no_values():
    game = session.start_session("tic_tac_toe", entrant("random"), "first", KEY)
    assert {row.q_value for row in session.move_values(game)} == {None}
    assert {row.minimax_value for row in session.move_values(game)} == {0.0}
    other = entrant("random", "connect_4x4")
    game = session.start_session("connect_4x4", other, "first", KEY)
    assert session.move_values(game) == tuple(
        session.MoveValue(move, None, None) for move in range(4)
    )
