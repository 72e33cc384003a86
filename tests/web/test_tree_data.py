"""The positions of the rows of tables, as the page has them."""

import base64
import json

import numpy as np
import pytest

from jax_ttt.web import tree_data


def test_the_page_has_what_python_writes():
    assert tree_data.PATH.read_bytes() == tree_data.tree_json("tic_tac_toe")


def test_cells_are_every_board_in_the_order_of_the_tree(boards):
    text = json.loads(tree_data.tree_json("tic_tac_toe"))["cells"]
    cells = np.frombuffer(base64.b64decode(text), "u1").reshape(-1, 9)
    assert ["".join("-XO"[cell] for cell in row) for row in cells] == boards


def test_a_game_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="too large"):
        tree_data.tree_json("connect_four")
