"""Play the legal move with the highest score of a network in an ONNX file.

    python onnx_player.py network.onnx

Needs `pip install onnxruntime`, and function_player.py beside this file, which explains
the board. The network's input is one board, float32 (1, rows, columns, 2). Its first
output is a score for each move, (1, moves); the scores of illegal moves mean nothing.
For a network with another input or output, change `choose`.
"""

import sys

import numpy as np
import onnxruntime
from function_player import serve

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1  # enough for a small network
session = onnxruntime.InferenceSession(
    sys.argv[1], options, providers=["CPUExecutionProvider"]
)


def choose(board, mask):
    """Return the first of the legal moves with the highest score."""
    name = session.get_inputs()[0].name
    scores, *_ = session.run(None, {name: board[np.newaxis].astype(np.float32)})
    return np.where(mask == 1, scores.ravel(), -np.inf).argmax()


serve(choose)
