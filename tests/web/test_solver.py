"""Exact results on the page, computed in Node."""

import csv

import pytest
import rule_cases
from page_modules import compute

SEVEN = "connect_7x6"


def exam_results(least, most):
    """Return positions of the exam, and the known result of each legal move."""
    games, results = [], []
    with rule_cases.EXAM.open(newline="") as file:
        for row in csv.DictReader(file):
            if least <= len(row["moves"]) <= most:
                games.append([int(column) - 1 for column in row["moves"]])
                scores = [int(row[f"s{n}"]) for n in range(1, 8) if row[f"s{n}"]]
                results.append([(score > 0) - (score < 0) for score in scores])
    return games, results


@pytest.mark.parametrize(
    ("least", "most"), [(20, 30), pytest.param(12, 19, marks=pytest.mark.slow)]
)
def test_results_on_7x6_are_those_of_the_exam(least, most):
    games, results = exam_results(least, most)
    assert len(games) > 150
    assert compute("results", envId=SEVEN, games=games) == results


def test_results_of_empty_boards_are_the_published_ones():
    """J. Tromp's table: https://tromp.github.io/c4/c4.html."""
    published = {"4x4": 0, "4x5": 0, "5x4": 0, "5x5": 0, "6x4": -1}
    names = [f"connect_{size}" for size in published]
    assert compute("emptyBoards", envIds=names) == [*published.values()]


def test_results_of_full_columns_and_last_moves_are_those_of_a_plain_search():
    search = rule_cases.PlainSearch("connect_4x4")
    games = [[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3], [0, 1, 0, 1, 1, 0, 1, 0, 2, 3, 3, 2]]
    games += [[*game, *([3, 3, 3] if game[-1] == 3 else [2, 2, 3])] for game in games]
    expected = []
    for game in games:
        cells = search.start
        for action in game:
            assert action in search.moves(cells)
            cells = search.after(cells, action)
        expected.append([value for value, _ in search.actions(cells).values()])
    assert compute("results", envId="connect_4x4", games=games) == expected


LOST = [6, 5, 0, 3, 6, 6, 5, 3, 0, 1, 2, 6]
"""Each move loses, and a search for the moves to the end takes long."""


def test_where_the_time_is_over_only_the_number_of_moves_is_not_known():
    exact = compute("solve", envId=SEVEN, moves=LOST, looks=250)
    lost = [{"action": n, "value": -1, "moves": None} for n in range(7)]
    assert exact == {"value": -1, "moves": None, "best": [*range(7)], "actions": lost}
    assert compute("solve", envId=SEVEN, moves=LOST, looks=3) is None


WON = [3, 4, 5, 5, 0, 6, 6, 5, 1, 0, 0, 3]


def test_a_win_at_once_is_the_best_move_where_other_numbers_are_not_known():
    exact = compute("solve", envId=SEVEN, moves=WON, looks=200)
    assert (exact["value"], exact["moves"], exact["best"]) == (1, 1, [2])
    moves = {one["action"]: (one["value"], one["moves"]) for one in exact["actions"]}
    assert moves[2] == (1, 1)
    assert moves[5] == (0, 0)
    assert moves[0] == (-1, None)
