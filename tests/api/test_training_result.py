"""Runs: their properties, and how they are printed, shown and drawn."""

import sys

import pytest

import jax_ttt
from jax_ttt.api.training_result import Runs, draw_groups_of_runs


@pytest.fixture(scope="module")
def runs(run):
    return Runs(run.config, (run, run), diverged=(7,))


def test_a_run_has_its_agents_and_its_proof(run):
    updates = [agent.num_updates for agent in run.agents]
    assert updates == list(range(0, 401, 40))
    assert run.agents[-1] is run.agent
    assert run.is_proven
    proven = [agent.grade.unbeatable for agent in run.agents]
    assert run.proven_from == 40 * (len(proven) - proven[::-1].index(False))
    assert (run.seed, run.config.env_id) == (1, "tic_tac_toe")
    # No player that never loses wins more often against random.
    assert run.agent.grade.first.win_rate == pytest.approx(0.994792, abs=1e-6)
    assert run.agent.grade.second.win_rate == pytest.approx(0.916402, abs=1e-6)


def test_runs_are_a_sequence_that_counts_proofs(runs, run):
    assert list(runs) == [run, run]
    assert (len(runs), runs[0]) == (2, run)
    assert runs[:1] == (run,)
    assert (runs.num_proven, runs.num_agents) == (2, 3)
    low, high = runs.interval
    assert 0 < low < 2 / 3 < high < 1
    assert repr(runs).startswith("2 of 3 ")
    assert repr(runs).endswith("seed 7")
    text, picture = runs._repr_html_().split("<svg")
    assert text.count("seed 1") == 2
    assert "mean and range of 2" in picture


def test_a_row_of_a_run_prints_in_one_line(run):
    """A grade prints as a report of many lines, so it is left out."""
    for row in (run.rows[0], run.rows[-1]):
        assert "\n" not in repr(row)
        assert f"update={row.update}," in repr(row)
    assert "\n" in repr(run.rows[-1].grade)


def test_a_run_is_a_table_of_its_metrics(run):
    table = run.to_pandas()
    assert len(table) == len(run.rows)
    assert set(table.seed) == {1}
    evaluations = table[table.event == "evaluation"]
    assert evaluations["update"].tolist() == list(range(0, 401, 40))
    last = evaluations.iloc[-1]
    assert (last.first_win_rate, last.second_loss_rate) == pytest.approx(
        (0.994792, 0), abs=1e-6
    )
    assert last.unbeatable
    assert evaluations.loss.isna().all()
    chunks = table[table.event == "chunk"]
    assert chunks.loss.tolist() == [
        row.loss for row in run.rows if row.event == "chunk"
    ]
    assert chunks.unbeatable.isna().all()


def test_runs_are_a_table_of_their_agents(runs, run):
    table = runs.to_pandas()
    assert table.seed.tolist() == [1, 1, 7]
    assert table.diverged.tolist() == [False, False, True]
    assert table.proven_from.iloc[0] == run.proven_from
    assert table.num_updates.dropna().tolist() == [400, 400]
    assert table.second_win_rate.mean() == pytest.approx(0.916402, abs=1e-6)
    assert table.unbeatable.notna().tolist() == [True, True, False]


@pytest.mark.parametrize("of_one", [True, False])
def test_without_pandas_an_error_says_how_to_install_it(runs, run, of_one, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(jax_ttt.Refused, match=r"pip install 'jax_ttt\[pandas\]'"):
        (run if of_one else runs).to_pandas()
    assert len(runs.to_rows()) == 3


def test_groups_of_runs_are_drawn_together(runs, run, drawn):
    groups = {"one": runs, "two": Runs(run.config, (run,))}
    (legend,) = drawn(draw_groups_of_runs, groups).legends
    labels = legend.get_texts()
    assert [label.get_text().partition(":")[0] for label in labels] == ["one", "two"]
    with pytest.raises(jax_ttt.Refused, match="no run to draw"):
        draw_groups_of_runs({"none": Runs(run.config, ())})
