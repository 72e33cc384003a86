"""The records of the games agree with PGX, and a new game needs one record."""

import dataclasses

import pgx
import pytest

from jax_ttt.config import game_facts
from jax_ttt.config.game_facts import GAMES
from jax_ttt.games import pgx_games


def packed(columns, rows, packing="columns"):
    """Return the facts of stones that fall on a board of this size, with keys."""
    return {
        "in_a_row": 4,
        "shape": (rows, columns),
        "stones": True,
        "symmetries": game_facts.column_views(rows, columns),
        "packing": packing,
    }


@pytest.mark.usefixtures("promoted_ranks")
@pytest.mark.parametrize(
    "env_id",
    [
        pytest.param(env_id, marks=() if game.enumerable else pytest.mark.slow)
        for env_id, game in GAMES.items()
    ],
)
def test_a_record_agrees_with_pgx(env_id):
    game = GAMES[env_id]
    (*shape, channels), num_actions = pgx_games.sizes(env_id)
    assert tuple(shape) == game.shape
    num_cells = shape[0] * shape[1]
    # A last action may be to pass, or to swap sides.
    moves_on = {num_cells: "cells", num_cells + 1: "cells", shape[1]: "columns"}
    assert game.moves_on == moves_on.get(num_actions)
    assert game.pgx_id is None or game.pgx_id in pgx.available_envs()
    if game.stones:  # the games show them as one plane of +1 and -1
        assert channels == 1
    for symmetry in game.symmetries:
        assert len(symmetry.cells) == num_cells
        assert len(symmetry.actions) == num_actions


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({}, "one of pgx_id, in_a_row and user_env"),
        ({"pgx_id": "hex"}, "need shape"),
        ({"in_a_row": 4}, "need shape"),
        (
            {"in_a_row": 3, "shape": (3, 3), "symmetries": game_facts.square_views(3)},
            "^symmetries need stones",
        ),
        (packed(9, 6), "^packing needs .* fits into two words"),
        (packed(5, 9), "^packing needs .* fits into two words"),
        (packed(4, 4) | {"symmetries": ()}, "^packing needs symmetries"),
        (packed(6, 6, "cells"), "^packing needs .* fits into two words"),
    ],
)
def test_a_record_without_a_fact_that_it_needs_is_refused(facts, rule):
    with pytest.raises(ValueError, match=rule):
        game_facts.GameFacts(**facts)


def test_keys_hold_eight_columns_of_six_cells_and_32_cells():
    """Four columns of seven bits fit into each of two words, and 16 cells of two."""
    for facts in (packed(8, 6), packed(6, 8), packed(4, 8, "cells")):
        assert game_facts.GameFacts(**facts).packing


def test_symmetries_are_a_quarter_turn_and_a_mirror_image():
    turned = game_facts.square_views(3)[2]
    assert turned.cells == (2, 5, 8, 1, 4, 7, 0, 3, 6)
    assert turned.actions == turned.cells
    _, mirrored = game_facts.column_views(rows=2, columns=3)
    assert mirrored == ((2, 1, 0, 5, 4, 3), (2, 1, 0))


def test_people_count_squares_from_0_and_columns_from_1():
    """PGX's actions count from 0 in all games; a game without a board keeps them."""
    assert [game_facts.move_name("tic_tac_toe", move) for move in (0, 8)] == ["0", "8"]
    assert [game_facts.move_name("connect_4x4", move) for move in (0, 3)] == ["1", "4"]
    assert game_facts.move_name("animal_shogi", 131) == "131"
    assert game_facts.move_names_phrase("connect_5x4") == "columns 1 to 5"
    assert game_facts.move_names_phrase("mnk_4x4_4") == "squares 0 to 15, row by row"


def test_words_for_moves_replace_squares_and_numbers(monkeypatch):
    """Of a user's game that names the squares of tic-tac-toe."""
    words = tuple(f"{row}{column}" for row in "abc" for column in "123")
    game = dataclasses.replace(GAMES["tic_tac_toe"], move_names=words)
    monkeypatch.setitem(GAMES, "named", game)
    assert game_facts.move_with_letter("tic_tac_toe", "first", 4) == "X4"
    assert game_facts.move_with_letter("named", "second", 4) == "O b2"
    assert game_facts.move_noun("tic_tac_toe") == "square"
    assert game_facts.move_noun("named") == "move"
    assert game_facts.move_names_phrase("named") == ""
