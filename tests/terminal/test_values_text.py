"""Tables of values, word for word."""

import numpy as np

from jax_ttt.players.session import MoveValue
from jax_ttt.terminal import values_text
from jax_ttt.terminal.screen import Screen


def test_moves_are_ordered_by_the_agents_values_if_there_are_any():
    """Of equal moves, the lowest comes first."""
    worth = [MoveValue(0, 1.0, -0.5), MoveValue(4, -1.0, 0.25), MoveValue(8, 0.0, 0.25)]
    assert values_text.values_table("it", worth).splitlines() == [
        "       move  best play  the agent",
        "          4      loses     +0.250",
        "          8      draws     +0.250",
        "          0       wins     -0.500",
    ]
    without = [row._replace(q_value=None) for row in worth]
    table = values_text.values_table("it", without).splitlines()
    assert [row.split() for row in table[1:]] == [
        ["0", "wins"],
        ["8", "draws"],
        ["4", "loses"],
    ]
    assert values_text.values_table("it", []) == "it has no values to show"
    none = [row._replace(minimax_value=None) for row in without]
    assert values_text.values_table("it", none) == "it has no values to show"


def test_at_most_twelve_moves_are_listed():
    worth = [MoveValue(move, None, move / 100) for move in range(50)]
    table = values_text.values_table("it", worth).splitlines()
    assert [int(row.split()[0]) for row in table[1:]] == list(range(49, 37, -1))


def test_small_boards_show_values_on_their_cells_and_others_have_a_table():
    screen = Screen(input, print)
    worth = [MoveValue(move, None, move / 10) for move in range(7)]
    small = np.arange(9).astype(object).reshape(3, 3)
    large = np.full((6, 7), ".", object)

    def shown(env_id, cells, rows):
        return values_text.shown_values(env_id, cells, rows, "it", screen)

    assert "+--------+" in shown("tic_tac_toe", small, worth)
    assert shown("othello", large, worth) == values_text.values_table("it", worth)
    assert shown("animal_shogi", None, worth) == values_text.values_table("it", worth)
    unknown = [row._replace(q_value=None) for row in worth]
    assert shown("tic_tac_toe", small, unknown) == "it has no values to show"
