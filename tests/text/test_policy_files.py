"""An agent's policy as a file: the decisions of a perfect agent.

`tests/test_evaluate.py` has the certificates.
"""

import csv
import json

import jax
import rules
import tiny

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.settings import Config
from jax_ttt.players import registry
from jax_ttt.text import policy_files


def test_every_decision_is_the_first_of_the_best_moves(host_tree, q_star, tmp_path):
    """Both files hold the same decisions."""
    config = Config.of(network="table", canonical=False)
    params = jax.tree.map(lambda _: q_star, tiny.untrained(config).params)
    player = registry.agent_player("perfect", tiny.ungraded(config, params))
    policy_files.write_policy(
        player=player,
        tree=host_tree,
        as_csv=tmp_path / "policy.csv",
        as_json=tmp_path / "policy.json",
        quiet=True,
    )
    decisions = json.loads((tmp_path / "policy.json").read_text())
    with (tmp_path / "policy.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(decisions) == len(rows) == len({row["board"] for row in rows}) == 4520
    for decision, row in zip(decisions, rows, strict=True):
        board = decision["board"]
        assert decision["to_move"] == SEATS[board.count("X") > board.count("O")]
        values = decision["q_values"]
        legal = [cell for cell in range(9) if values[cell] is not None]
        assert legal == [cell for cell in range(9) if board[cell] == "-"]
        assert decision["move"] == min(rules.best_moves(board))
        assert row == {
            "board": board,
            "to_move": decision["to_move"],
            **{
                f"q{cell}": "" if q is None else str(q) for cell, q in enumerate(values)
            },
            "move": str(decision["move"]),
        }
