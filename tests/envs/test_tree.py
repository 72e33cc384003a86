"""Known constants of tic-tac-toe; the package itself contains none of them."""

import io
from pathlib import Path

import jax
import numpy as np
import pytest

from jax_ttt.envs import enumeration
from jax_ttt.envs import tree as trees
from jax_ttt.runtime import kept_files


def test_the_positions_of_tic_tac_toe(tree):
    terminal, outcome = np.asarray(tree.terminal), np.asarray(tree.outcome)
    first = np.asarray(tree.first_to_move)
    legal = np.asarray(tree.legal_action_mask)
    assert tree.num_positions == 5478
    assert terminal.sum() == 958
    assert [(outcome[terminal] == r).sum() for r in (1, -1, 0)] == [626, 316, 16]
    assert len(tree.decisions) == 4520
    assert first[~terminal].sum() == 2423
    assert (~first[~terminal]).sum() == 2097
    assert legal.sum() == 16_167
    assert (~legal[~terminal]).sum() == 24_513
    assert not legal[terminal].any()
    assert not outcome[~terminal].any()


def test_minimax_values(values):
    assert values[0] == 0
    assert [(values == value).sum() for value in (-1, 0, 1)] == [1474, 1068, 2936]


def test_a_seat_has_lost_where_the_other_one_has_a_line(host_tree, position):
    assert host_tree.lost_by("first").sum() == 316
    assert host_tree.lost_by("second").sum() == 626
    assert host_tree.lost_by("second")[position["XXXOO----"]]


def test_only_small_games_have_a_tree():
    assert trees.game_tree("connect_four") is None
    assert not trees.needs_enumeration("connect_four")


def leaves_of(found):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(found)]


def test_a_kept_tree_is_the_same_and_is_not_enumerated_again(monkeypatch, host_tree):
    files = {}
    monkeypatch.setattr(kept_files, "read", files.get)
    monkeypatch.setattr(kept_files, "keep", files.__setitem__)
    read = trees._kept.__wrapped__
    assert trees.needs_enumeration("tic_tac_toe")
    first = read("tic_tac_toe")
    assert not trees.needs_enumeration("tic_tac_toe")
    monkeypatch.delattr(enumeration, "find_positions")
    second = read("tic_tac_toe")
    assert list(files) == ["tree of tic_tac_toe"]
    assert second[0].level_start == host_tree.level_start
    for found in (first, second):
        pairs = zip(leaves_of(found[0]), leaves_of(host_tree), strict=True)
        assert all(a.dtype == b.dtype and (a == b).all() for a, b in pairs)
    assert first[1].keys() == second[1].keys()
    assert all((second[1][name] == leaf).all() for name, leaf in first[1].items())


def test_a_kept_tree_with_code_is_refused_and_the_code_does_not_run(
    monkeypatch, tmp_path
):
    class Code:
        def __reduce__(self):
            return Path.touch, (tmp_path / "it ran",)

    file = io.BytesIO()
    np.savez(file, obs=np.array([Code()], dtype=object))
    monkeypatch.setattr(kept_files, "read", lambda name: file.getvalue())
    with pytest.raises(ValueError, match="allow_pickle"):
        trees._kept.__wrapped__("tic_tac_toe")
    assert not list(tmp_path.iterdir())


def test_the_states_are_those_of_the_positions(host_tree):
    states = trees.env_states("tic_tac_toe")
    assert (np.asarray(states.observation) == host_tree.obs).all()
    assert (np.asarray(states.terminated) == host_tree.terminal).all()
