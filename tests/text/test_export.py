"""An agent's policy as a file: the decisions of a perfect agent."""

import csv
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rules
import tiny

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.settings import Config
from jax_ttt.files import records
from jax_ttt.networks import q_network
from jax_ttt.players import network_player
from jax_ttt.players.network_player import network_of
from jax_ttt.text import decision_files


@pytest.fixture(scope="module")
def decisions(tree, host_tree, q_star):
    config = Config.of(network="table", canonical=False)
    empty = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    params = jax.tree.map(lambda _: jnp.asarray(q_star), empty)
    probs = np.asarray(
        network_player.greedy_policy(network_of(config.architecture), params, tree)
    )
    return list(
        decision_files.policy_decisions(tiny.ungraded(config, params), probs, host_tree)
    )


def test_every_decision_is_the_first_of_the_best_moves(decisions):
    assert len(decisions) == 4520
    for row in decisions:
        board = row.board
        assert row.to_move == SEATS[board.count("X") > board.count("O")]
        legal = [cell for cell in range(9) if row.q_values[cell] is not None]
        assert legal == [cell for cell in range(9) if board[cell] == "-"]
        assert row.move == min(rules.best_moves(board))


def test_both_files_hold_the_decisions(decisions, tmp_path):
    some = decisions[:3]
    decision_files.write_decisions_json(tmp_path / "policy.json", iter(some))
    assert json.loads((tmp_path / "policy.json").read_text()) == [
        records.to_dict(row) for row in some
    ]
    decision_files.write_decisions_csv(
        tmp_path / "policy.csv", iter(some), num_actions=9
    )
    with (tmp_path / "policy.csv").open(newline="") as file:
        first, second, _ = csv.DictReader(file)
    assert (first["board"], first["to_move"]) == ("-" * 9, "first")
    assert [first[f"q{cell}"] for cell in range(9)] == ["0.0"] * 9
    (taken,) = (cell for cell in range(9) if second["board"][cell] == "X")
    assert second[f"q{taken}"] == ""
