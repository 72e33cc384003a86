"""Games in a terminal against players, with scripted input."""

import jax
import pytest

from jax_ttt.config.catalogue import EnvId, Seat
from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players import agents, names, registry
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of
from jax_ttt.players.session import MoveValue
from jax_ttt.reports import session_text

QUESTION = "(v for the values, u to undo, q to quit): "


@pytest.fixture(scope="module")
def agent_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("play") / "agent.safetensors"
    config = Config.of(hidden_size=8)
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    agents.save_agent(Agent(config, params, 0, 0), path)
    return path


def entrant(name, env_id: EnvId = "tic_tac_toe"):
    return registry.enter(names.read_name(name, env_id), env_id, jax.random.key(0))


def script(words, asked):
    """Return an `ask` that returns these words, then raises `EOFError`."""
    words = iter(words)

    def ask(prompt):
        asked.append(prompt)
        for word in words:
            return word
        raise EOFError

    return ask


def game(opponent, words, seat: Seat = "first", env_id: EnvId = "tic_tac_toe"):
    """Play a game; return the result, the prompts and the messages."""
    asked, said = [], []
    ask, key = script(words, asked), jax.random.key(0)
    if isinstance(opponent, str):
        opponent = entrant(opponent, env_id)
    result = session_text.play_session(opponent, env_id, seat, key, ask, said.append)
    return result, asked, said


def test_a_person_beats_a_beatable_player(row_by_row):
    result, asked, said = game(row_by_row, "462")
    assert result == "you win: X (you) vs. O (row by row)"
    assert asked[0] == f"legal moves: 0 1 2 3 4 5 6 7 8\nX {QUESTION}"
    assert asked[1] == f"legal moves: 1 2 3 5 6 7 8\nX {QUESTION}"
    assert said[:2] == ["  0 1 2\n  3 4 5\n  6 7 8", "row by row (O) plays 0"]
    assert said[2] == "  O 1 2\n  3 X 5\n  6 7 8"
    assert said[-1] == "  O O X\n  . X .\n  X . ."


def test_a_person_loses_and_draws():
    result, _, said = game("minimax-first", "182", seat="second")
    assert said[0] == "minimax-first (X) plays 0"
    assert result == "you lose: O (you) vs. X (minimax-first)"
    result, *_ = game("minimax-first", "42378")
    assert result == "a draw: X (you) vs. O (minimax-first)"


def test_after_an_illegal_move_it_asks_again(row_by_row):
    wrong = ["", "9", "-1", "x", "4 4", "²", "1" * 99]
    result, asked, said = game(row_by_row, [*wrong, " 4 ", "0", "V", "6", "2"])
    assert result.startswith("you win")
    assert said[1].startswith("'' is not a legal move: type a legal move, v for")
    refusals = [line for line in said if "is not a legal move" in line]
    assert len(refusals) == len(wrong) + 1
    assert asked[: len(wrong) + 1] == asked[:1] * (len(wrong) + 1)


def test_a_move_is_undone(row_by_row):
    result, asked, said = game(row_by_row, "u48uu482uuu462")
    assert result == "you win: X (you) vs. O (row by row)"
    assert asked[0] == asked[1] == asked[5]
    assert said.count("  0 1 2\n  3 4 5\n  6 7 8") == 4


def test_the_input_ends():
    assert game("minimax", "")[0] == "left after 0 moves: nobody wins"
    assert game("minimax-first", "4")[0] == "left after 2 moves: nobody wins"
    assert game("minimax-first", "4q8")[0] == "left after 2 moves: nobody wins"


def test_values_are_shown_best_first(agent_path):
    said = game("minimax-first", "v", seat="second")[2]
    table = said[2].splitlines()
    assert table[0].split() == ["move", "best", "play"]
    assert table[1].split() == ["4", "draws"]
    assert [line.split() for line in table[2:]] == [
        [str(move), "loses"] for move in (1, 2, 3, 5, 6, 7, 8)
    ]
    table = game(str(agent_path), "v")[2][1].splitlines()
    assert table[0].split() == ["move", "best", "play", "the", "agent"]
    shown = [float(line.split()[2]) for line in table[1:]]
    assert sorted(shown, reverse=True) == shown
    assert len(shown) == 9
    assert {line.split()[1] for line in table[1:]} == {"draws"}


def test_stones_fall_in_columns():
    _, asked, said = game("random", "33v", env_id="connect_four")
    assert asked[0].startswith("legal moves: 0 1 2 3 4 5 6\nX (")
    rows = said[0].splitlines()
    assert rows == ["  . . . . . . ."] * 6 + ["  0 1 2 3 4 5 6"]
    assert said[2].count("X") == said[2].count("O") == 1
    assert said[-2] == "random has no values to show"


def test_moves_are_ordered_by_the_opponents_values_if_it_has_any():
    """Of equal moves, the lowest comes first."""
    worth = [MoveValue(0, 1.0, -0.5), MoveValue(4, -1.0, 0.25), MoveValue(8, 0.0, 0.25)]
    assert session_text.values_table("it", worth).splitlines() == [
        "       move  best play  the agent",
        "          4      loses     +0.250",
        "          8      draws     +0.250",
        "          0       wins     -0.500",
    ]
    without = [row._replace(q_value=None) for row in worth]
    table = session_text.values_table("it", without).splitlines()
    assert [row.split() for row in table[1:]] == [
        ["0", "wins"],
        ["8", "draws"],
        ["4", "loses"],
    ]
    assert session_text.values_table("it", []) == "it has no values to show"
    none = [row._replace(minimax_value=None) for row in without]
    assert session_text.values_table("it", none) == "it has no values to show"


def test_at_most_twelve_moves_are_listed():
    worth = [MoveValue(move, None, move / 100) for move in range(50)]
    table = session_text.values_table("it", worth).splitlines()
    assert [int(row.split()[0]) for row in table[1:]] == list(range(49, 37, -1))
