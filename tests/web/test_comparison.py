"""What the page says of the moves of two agents, computed in Node."""

import pytest
from page_modules import compute

WIN, DRAW, LOSS = 1, 0, -1
LINE = [0, 1, 3, 4]
"""Moves of tic-tac-toe; squares 2, 5, 6, 7 and 8 are free then."""


def text(moves, results):
    """Return the sentence for A's and B's move, of values 0.5 and -0.25."""
    return compute(
        "comparedMoves",
        envId="tic_tac_toe",
        line=LINE,
        moves=moves,
        values=[0.5, -0.25],
        results=results,
    )


ALL_KNOWN = {2: LOSS, 5: LOSS, 6: WIN, 7: DRAW, 8: DRAW}


@pytest.mark.parametrize(
    ("moves", "results", "end"),
    [
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
    ],
)
def test_the_moves_are_held_against_the_exact_result(moves, results, end):
    assert f"Exact: {end}" in text(moves, results)


def test_the_moves_have_the_agents_values():
    start = "They play different moves: A square 6 (+0.50), B square 7 (\u22120.25)."
    assert text([6, 7], {}) == f"{start} The exact result is not known here."
    assert text([6, 6], {}).startswith("Both play square 6 (A +0.50, B \u22120.25).")


def test_moves_that_are_the_same_by_symmetry_are_named_so():
    words = compute(
        "comparedMoves",
        envId="tic_tac_toe",
        line=[4],
        moves=[0, 8],
        values=[0, 0],
        results={},
    )
    assert words.startswith("They play the same move on mirrored boards: A square 0")
