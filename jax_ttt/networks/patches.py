"""The patches of a board, which a convolution reads.

Boards are in columns, the batch axis last (see `networks.fast_dense`).

Axes: `B` boards, `H W C` planes, `N` entries of the planes, `P` patches of a board, `I`
entries of a patch.
"""

import numpy as np
from jaxtyping import Float, Int

from jax_ttt.games.stone_boards import ArrayT, array_module

PATCH_SIDE = 4
"""Rows and columns of a filter's patch, in cells: four in a row fit into it."""


def patch_values(
    shape: tuple[int, int, int], inputs: Float[ArrayT, "N B"]
) -> Float[ArrayT, "I PB"]:
    """Return the values in each patch of each board, as in `entries_of_patches`.

    They are slices of the planes: on a CPU this is twice as fast as indexing by the
    result of `entries_of_patches`.
    """
    height, width, channels = shape
    planes = inputs.reshape(height, width, channels, -1)
    rows, columns = (min(PATCH_SIDE, length) for length in (height, width))
    down, right = height - rows + 1, width - columns + 1
    entries = [
        planes[row : row + down, column : column + right, channel]
        for channel in range(channels)
        for row in range(rows)
        for column in range(columns)
    ]
    return array_module(inputs).stack(entries).reshape(len(entries), -1)


def entries_of_patches(shape: tuple[int, int, int]) -> Int[np.ndarray, "I P"]:
    """Return the entries of planes `(H, W, C)` in each patch of 4 x 4 cells.

    On a board that is smaller in a direction, a patch is as long as the board.
    """
    entries = np.arange(np.prod(shape)).reshape(shape)
    sides = tuple(min(PATCH_SIDE, length) for length in shape[:2])
    patches = np.lib.stride_tricks.sliding_window_view(entries, sides, axis=(0, 1))
    return patches.reshape(-1, np.prod(sides) * shape[2]).T
