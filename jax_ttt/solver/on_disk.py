"""Large arrays in files instead of memory.

The files have no names: they end with the process, however it ends.
"""

import shutil
import tempfile

import numpy as np

_SMALL = 2**20
"""Bytes of an array that stays in memory."""


def moved(array: np.ndarray) -> np.ndarray:
    """Return a vector of the same values, to be read: in a file if it is large.

    Where the disk is full, it stays in memory.
    """
    if array.nbytes <= _SMALL:
        return array
    try:
        with tempfile.TemporaryFile() as file:  # in the folder $TMPDIR
            array.tofile(file)
            file.flush()
            return np.memmap(file, array.dtype, "r", shape=array.shape)
    except OSError:
        return array


def free_disk_bytes() -> int:
    """Return the bytes that are free for such files."""
    return shutil.disk_usage(tempfile.gettempdir()).free
