"""What the page says of the moves of two agents, computed in Node."""

from page_modules import compute_all

WIN, DRAW, LOSS = 1, 0, -1
LINE = [0, 1, 3, 4]
"""Moves of tic-tac-toe; squares 2, 5, 6, 7 and 8 are free then."""


def compared(cases):
    """Return the sentence for each pair of moves, of values 0.5 and -0.25."""
    common = {"envId": "tic_tac_toe", "line": LINE, "values": [0.5, -0.25]}
    return compute_all(
        [
            ("comparedMoves", common | {"moves": moves, "results": results})
            for moves, results in cases
        ]
    )


ALL_KNOWN = {2: LOSS, 5: LOSS, 6: WIN, 7: DRAW, 8: DRAW}
ENDS = (
    ([6, 7], ALL_KNOWN, "A keeps the win, B gives the win away: a draw."),
    ([2, 7], ALL_KNOWN, "A gives the win away: a loss, B gives the win away: a"),
    ([7, 8], ALL_KNOWN, "both give the win away: a draw."),
    ([7, 7], ALL_KNOWN, "it gives the win away: a draw."),
    ([7, 8], ALL_KNOWN | {6: DRAW}, "both keep the draw."),
    ([2, 7], dict.fromkeys(ALL_KNOWN, LOSS), "each move loses."),
    # One move that wins at once says what is best; without it, that is not known.
    ([6, 7], {6: WIN}, "A keeps the win, B is not known."),
    ([2, 7], {2: LOSS}, "A loses, B is not known."),
    ([2, 5], {2: LOSS, 5: LOSS}, "both lose."),
)
"""Moves of A and B, the exact results that are known, and what is said of them."""


def test_the_moves_are_held_against_the_exact_result():
    texts = compared([(moves, results) for moves, results, _ in ENDS])
    for text, (_, _, end) in zip(texts, ENDS, strict=True):
        assert f"Exact: {end}" in text


def test_the_moves_have_the_agents_values_and_are_named_the_same_by_symmetry():
    other, same = compared([([6, 7], {}), ([6, 6], {})])
    start = "They play different moves: A square 6 (+0.50), B square 7 (\u22120.25)."
    assert other == f"{start} The exact result is not known here."
    assert same.startswith("Both play square 6 (A +0.50, B \u22120.25).")
    options = {"envId": "tic_tac_toe", "line": [4], "moves": [0, 8], "values": [0, 0]}
    (mirrored,) = compute_all([("comparedMoves", options | {"results": {}})])
    assert mirrored.startswith("They play the same move on mirrored boards: A square 0")
