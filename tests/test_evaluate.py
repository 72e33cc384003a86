"""The command `evaluate`; its CSV is graded by independent rules of tic-tac-toe."""

import csv
import dataclasses
import functools
import json
import shutil

import commands
import pytest
import rules

from jax_ttt import evaluate
from jax_ttt.players import registry
from jax_ttt.runtime import atomic_files

run = functools.partial(commands.run, evaluate)


@pytest.fixture(scope="session")
def run_dir(tiny_run):
    """Return the folder of a tiny run."""
    return tiny_run[0]


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_the_report_fits_the_terminal(columns, run_dir, monkeypatch):
    """Its title, its verdict, and all else; only a path is not broken."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for player in (run_dir, "shipped:network", "blend:0.7:minimax"):
        lines = run(player).out.splitlines()
        too_long = [line for line in lines if len(line) > columns and " " in line]
        assert [line.strip() for line in too_long] == []
        assert f"{player}: tic_tac_toe" in " ".join(map(str.strip, lines))


def test_the_policy_of_the_csv_scores_what_is_reported(run_dir, tmp_path):
    """Every game against the random player counts by its probability."""
    table, decisions = tmp_path / "policy.csv", tmp_path / "policy.json"
    files = ["--policy-csv", table, "--policy-json", decisions]
    out, err = run(run_dir, "--json", *files)
    assert f"wrote {table}: 4,520 rows\n" in err
    with table.open(newline="") as file:
        rows = {row["board"]: row for row in csv.DictReader(file)}
    assert len(rows) == 4520
    decided = json.loads(decisions.read_text())
    assert len(decided) == 4520
    for decision in decided:
        values = decision.pop("q_values")
        cells = {f"q{c}": "" if q is None else str(q) for c, q in enumerate(values)}
        texts = {name: str(value) for name, value in decision.items()}
        assert rows[decision["board"]] == texts | cells
    for board, row in rows.items():
        assert row["to_move"] == {"X": "first", "O": "second"}[rules.mover(board)]
        legal = {c: float(row[f"q{c}"]) for c in range(9) if row[f"q{c}"]}
        assert list(legal) == rules.moves(board)
        assert all(-1 <= value <= 1 for value in legal.values())
        assert int(row["move"]) == max(legal, key=lambda c: (legal[c], -c))

    moves = {board: int(row["move"]) for board, row in rows.items()}
    result = json.loads(out)
    for seat in ("first", "second"):
        grade = result["grade"][seat]
        reported = [grade[r] for r in ("win_rate", "draw_rate", "loss_rate")]
        expected = rules.rates_against_random(moves, seat)
        assert reported == pytest.approx(expected, abs=1e-5)


def test_json_agrees_with_the_run_and_a_sample_with_the_exact_values(run_dir):
    out, err = run(run_dir, "--games", "2000", "--seed", "1", "--json")
    assert (err, out.count("\n")) == ("", 1)
    result = json.loads(out)
    facts = result["grade"]["env_id"], result["seed"], result["num_updates"]
    assert facts == ("tic_tac_toe", 1, 4)
    assert result["config"]["hidden_size"] == 8
    last = json.loads((run_dir / "metrics.jsonl").read_text().splitlines()[-1])
    sampled = result["grade"]["sampled"]
    assert [sampled[seat]["num_games"] for seat in ("first", "second")] == [2000] * 2
    for seat in ("first", "second"):
        assert "lines" in result["grade"][seat]  # which say whether all are won
        for name, value in last["grade"][seat].items():
            if name == "wins_all":
                continue
            assert result["grade"][seat][name] == pytest.approx(value, abs=1e-6)
        for rate in ("win_rate", "draw_rate", "loss_rate"):
            share, exact = sampled[seat][rate], result["grade"][seat][rate]
            assert abs(share - exact) < 4 * (exact * (1 - exact) / 2000) ** 0.5 + 1e-9


def test_a_note_names_the_seat_that_is_not_proven(one_seat, tmp_path, monkeypatch):
    make_player = registry.make_player

    def make_in_both_seats(*args):
        return dataclasses.replace(make_player(*args), seats=("first", "second"))

    monkeypatch.setattr(registry, "make_player", make_in_both_seats)
    _, err = run(one_seat, "--certificate", tmp_path / "certificate")
    certificate = json.loads((tmp_path / "certificate").read_text())
    assert list(certificate["moves"]) == ["first"]
    start = "note: the certificate is for one seat only; as O it loses the game X"
    assert err.splitlines()[-1].startswith(start)


@pytest.mark.fault
def test_a_certificate_is_of_the_file_that_was_read(one_seat, tmp_path, monkeypatch):
    path = tmp_path / "agent.safetensors"
    shutil.copy(one_seat, path)
    make_player = registry.make_player

    def replaced_after(*args):
        player = make_player(*args)
        atomic_files.write_atomic(path, one_seat.read_bytes())
        return player

    monkeypatch.setattr(registry, "make_player", replaced_after)
    _, err = run(path, "--certificate", tmp_path / "certificate", code=2)
    assert "its file was replaced meanwhile; try again" in err
    run(path)  # without a certificate it does not matter
