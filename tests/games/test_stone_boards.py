"""Boards of stones as arrays and as numbers."""

import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.games import stone_boards


def test_cells_are_the_movers_stones_and_the_opponents():
    planes = np.zeros((1, 3, 3, 2), bool)
    planes[0, 0, 1, 0] = planes[0, 2, 2, 1] = True
    assert stone_boards.cells(jnp.asarray(planes)).tolist() == [
        [0, 1, 0, 0, 0, 0, 0, 0, -1]
    ]


def test_the_hash_of_a_board_is_its_number_in_base_3():
    """Codes as in D. Tonderski's report, which begin at 1, not 0."""

    def code(cells):
        return int(stone_boards.board_number(jnp.asarray([cells], jnp.float32))[0]) + 1

    assert code([-1] * 9) == 1
    assert code([-1] * 8 + [0]) == 2
    assert code([0] * 9) == 9842
    assert code([1] * 9) == 19_683
    every = np.stack(np.meshgrid(*[[-1, 0, 1]] * 9, indexing="ij")).reshape(9, -1).T
    numbers = stone_boards.board_number(jnp.asarray(every, jnp.float32))
    assert np.array_equal(np.sort(numbers), np.arange(19_683))


def test_a_board_with_a_cell_too_many_has_no_number():
    most = stone_boards.MOST_CELLS
    assert stone_boards.board_number(jnp.ones((1, most))).tolist() == [3**most - 1]
    with pytest.raises(ValueError, match=f"{most + 1} cells is too large"):
        stone_boards.board_number(jnp.ones((1, most + 1)))
