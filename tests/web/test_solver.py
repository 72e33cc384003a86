"""Exact results on the page, computed in Node."""

import random

import pytest
import rule_cases
from marks import mark_slow
from page_modules import compute

SEVEN = "connect_7x6"


@pytest.mark.slow
def test_results_on_7x6_are_those_of_the_exam():
    games, actions = zip(*rule_cases.exam(12, 19), strict=True)
    assert len(games) > 150
    results = [[value for value, _ in known.values()] for known in actions]
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
    boards = [search.after(search.start, *game) for game in games]
    expected = [
        [value for value, _ in search.actions(cells).values()] for cells in boards
    ]
    assert compute("results", envId="connect_4x4", games=games) == expected


# ---- values and moves to the end


def check_exact(env_id, boards):
    """Check what the page says of boards; `boards` has the values of moves by board."""
    shown = compute("exact", envId=env_id, boards=[*boards])
    for (exact, at_once), actions in zip(shown, boards.values(), strict=True):
        rows = [
            {"action": action, "value": value, "moves": moves}
            for action, (value, moves) in actions.items()
        ]
        best = rule_cases.best_actions(actions)
        value, moves = actions[best[0]]
        known = {"value": value, "moves": moves, "best": best, "actions": rows}
        assert exact == known
        assert at_once == [
            row
            for row in rows
            if row["moves"] == 1 or (row["value"] == -1 and row["moves"] == 2)
        ]


def test_exact_values_of_all_positions_of_tic_tac_toe_are_those_of_a_plain_search():
    search = rule_cases.PlainSearch("tic_tac_toe")
    search.score(search.start)  # visits every position
    boards = [cells for cells in search.scores if search.moves(cells)]
    assert len(boards) == 4520
    check_exact("tic_tac_toe", {cells: search.actions(cells) for cells in boards})


STONES = {"connect_4x4": 7, "connect_5x4": 11, "connect_6x5": 22, "mnk_4x4_4": 9}
"""Stones on the boards whose exact values are searched here."""


@pytest.mark.parametrize("env_id", mark_slow(STONES, *STONES))
def test_exact_values_of_late_positions_are_those_of_a_plain_search(env_id):
    search, rng, boards = rule_cases.PlainSearch(env_id), random.Random(2), {}
    for _ in range(12):
        cells = search.start
        for _ in range(STONES[env_id]):
            if legal := search.moves(cells):
                cells = search.after(cells, rng.choice(legal))
        if search.moves(cells):
            boards[cells] = search.actions(cells)
    assert len(boards) > 5
    check_exact(env_id, boards)


def test_exact_values_on_7x6_are_those_of_the_exam():
    search = rule_cases.PlainSearch(SEVEN)
    games = rule_cases.exam(20, 42)
    assert len(games) > 150
    check_exact(
        SEVEN, {search.after(search.start, *line): actions for line, actions in games}
    )


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
