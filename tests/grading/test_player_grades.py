"""Grades of any player: what is exact, what is sampled, and when."""

import jax
import pytest
from jax_ttt.grading.player_grades import grade_player

from jax_ttt.config.errors import Refused
from jax_ttt.players import players, registry


@pytest.mark.parametrize(
    ("with_policy", "num_games", "parts"),
    [
        (True, None, {"exact"}),
        (True, 64, {"exact", "sampled"}),
        (False, None, {"sampled"}),
    ],
)
def test_a_sample_is_taken_where_nothing_is_exact(
    row_by_row, host_tree, with_policy, num_games, parts
):
    probs = row_by_row.probs if with_policy else None
    entrant = registry.Entrant("x", players.random_player, probs)
    key = jax.random.key(0)
    found = grade_player("tic_tac_toe", num_games, entrant, key, host_tree)
    known = {name: part for name, part in vars(found).items() if part is not None}
    assert set(known) == parts
    if "sampled" in parts:
        assert found.sampled is not None
        assert found.sampled.num_games == (num_games or 1024)
        assert (found.sampled.disagreements is not None) == ("exact" in parts)


def test_a_grade_of_nothing_is_refused(host_tree):
    entrant = registry.Entrant("x", players.random_player, None)
    for env_id, tree in (("tic_tac_toe", host_tree), ("connect_four", None)):
        with pytest.raises(Refused, match=f"x in {env_id}: nothing is exact"):
            grade_player(env_id, 0, entrant, jax.random.key(0), tree)
