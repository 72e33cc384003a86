"""OpenSpiel's learners are graded by their moves; tests don't need OpenSpiel."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import rules

from jax_ttt import bench, cli
from jax_ttt.benchmarks import openspiel
from jax_ttt.solver import minimax


def text(board):
    """Return OpenSpiel's string of a board: the planes of empty cells, O and X."""
    return str([float(cell == stone) for stone in "-OX" for cell in board])


def boards_below(board, found):
    """Add the board and all boards reachable from it to `found`."""
    if board not in found:
        found.add(board)
        for cell in rules.moves(board):
            boards_below(rules.after(board, cell), found)


@pytest.fixture(scope="module")
def perfect():
    """Return two tables with the exact values of all moves."""
    found, tables = set(), ({}, {})
    boards_below("-" * 9, found)
    for board in found:
        sign = 1.0 if rules.mover(board) == "X" else -1.0
        worth = {
            c: sign * rules.value(rules.after(board, c)) for c in rules.moves(board)
        }
        if worth:
            tables["XO".index(rules.mover(board))][text(board)] = worth
    return tables


def test_board_strings_are_those_of_openspiel(host_tree):
    strings = openspiel.boards(host_tree)
    assert len(set(strings)) == 4520
    # From OpenSpiel 2.0.2: the empty board, and X in the centre with O in a corner.
    assert strings[0] == str([1.0] * 9 + [0.0] * 18)
    assert (
        "[0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, "
        "1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "
        "0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]"
    ) in strings


def test_a_pair_with_exact_values_plays_every_best_move(host_tree, perfect):
    probs = openspiel.pair_policy(host_tree, perfect)
    np.testing.assert_array_equal(probs, minimax.policy(host_tree))


def test_moves_that_were_never_tried_have_the_value_0(host_tree):
    def first_move(values):
        return openspiel.pair_policy(host_tree, [{text("-" * 9): values}, {}])[0]

    np.testing.assert_array_equal(first_move({}), np.full(9, 1 / 9))
    np.testing.assert_array_equal(
        first_move({4: -0.1}), np.delete(np.eye(9), 4, 0).mean(0)
    )
    np.testing.assert_array_equal(first_move({2: 0.1, 6: 0.2}), np.eye(9)[6])
    np.testing.assert_array_equal(
        first_move({2: 0.2, 6: 0.2}), np.eye(9)[[2, 6]].mean(0)
    )


@pytest.mark.parametrize("board", ["X--------", "XXXOO----", "nonsense"])
def test_a_board_that_is_not_the_learners_own_is_refused(board, host_tree):
    with pytest.raises(ValueError, match="not a board where this learner moves"):
        openspiel.pair_policy(host_tree, [{text(board): {1: 0.5}}, {}])


class Moment(SimpleNamespace):
    """A step of a game of four moves, with OpenSpiel's `current_player`."""

    def last(self):
        return self.count == 4

    @property
    def observations(self):
        return {"current_player": -4 if self.last() else self.count % 2}


def stand_in(monkeypatch, tables, log):
    """Replace OpenSpiel by a package whose learners have these tables."""

    class Environment:
        def __init__(self, game):
            assert game == "tic_tac_toe"

        def reset(self):
            self.count = 0
            return Moment(count=0)

        def step(self, actions):
            log.append(actions)
            self.count += 1
            return Moment(count=self.count)

    class QLearner:
        def __init__(self, player_id, num_actions):
            assert num_actions == 9
            self.player_id, self._q_values = player_id, tables[player_id]

        def step(self, moment):
            log.append((self.player_id, moment.count))
            return SimpleNamespace(action=np.random.randint(1000))  # noqa: NPY002

    modules = {
        "open_spiel": {},
        "open_spiel.python": {
            "rl_environment": SimpleNamespace(Environment=Environment)
        },
        "open_spiel.python.algorithms": {
            "tabular_qlearner": SimpleNamespace(QLearner=QLearner)
        },
    }
    for name, holds in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**holds))


def test_a_pair_is_trained_move_by_move_and_graded(monkeypatch, perfect):
    log = []
    stand_in(monkeypatch, perfect, log)
    monkeypatch.setattr(openspiel, "CHECK_EVERY", 2)
    found = list(openspiel.pair_evaluations(5, 6))
    assert [(spent.games, spent.updates) for spent, _ in found] == [
        (2, 2),
        (4, 4),
        (6, 6),
    ]
    assert 0 < found[0][0].seconds < found[1][0].seconds < found[2][0].seconds
    for _, exact in found:
        assert exact.unbeatable
        assert exact.first.win_rate == pytest.approx(0.968, abs=1e-3)
    moves = [entry for entry in log if isinstance(entry, tuple)]
    assert moves == [(0, 0), (1, 1), (0, 2), (1, 3), (0, 4), (1, 4)] * 6
    again = []
    stand_in(monkeypatch, perfect, again)
    assert len(list(openspiel.pair_evaluations(5, 6))) == 3
    assert again == log
    assert len({tuple(entry) for entry in log if isinstance(entry, list)}) > 9
    again.clear()
    assert len(list(openspiel.pair_evaluations(6, 6))) == 3
    assert again != log


def test_a_pair_that_can_be_beaten_is_not_proven(monkeypatch, perfect):
    careless = {board: {} for board in perfect[1]}
    stand_in(monkeypatch, (perfect[0], careless), [])
    monkeypatch.setattr(openspiel, "CHECK_EVERY", 1)
    ((_, exact),) = openspiel.pair_evaluations(5, 1)
    assert not exact.unbeatable
    assert exact.first.worst_loss_rate == 0 < exact.second.worst_loss_rate


def test_openspiel_is_measured_only_where_it_is_named(monkeypatch, capsys):
    assert "openspiel" not in bench.Args().only
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(bench, "parts", None)  # nothing is measured
    assert bench.main(["--only", "openspiel"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        "error: --only openspiel needs open_spiel, which is not installed: "
        "pip install 'jax_ttt[openspiel]', or pip install open_spiel\n",
    )
