"""The command `evaluate`; its CSV is graded by rules of tic-tac-toe written here."""

import contextlib
import csv
import dataclasses
import functools
import hashlib
import io
import json
import os
import re
import shutil
from pathlib import Path

import commands
import pytest
import tiny

from jax_ttt import evaluate
from jax_ttt.players import registry
from jax_ttt.runtime import files

train = commands.module_of("train")

LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """Return the folder of a tiny run."""
    path = tmp_path_factory.mktemp("evaluate") / "run"
    assert commands.run(train, [*tiny.flags(), "--quiet", "--run-dir", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def policy(run_dir, tmp_path_factory):
    """Return the rows of the policy's CSV."""
    path = tmp_path_factory.mktemp("csv") / "policy.csv"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert commands.run(evaluate, [str(run_dir), "--policy-csv", str(path)]) == 0
    assert out.getvalue().endswith(f"\nwrote {path}: 4,520 rows\n")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_json_holds_the_same_decisions(run_dir, policy, tmp_path):
    path = tmp_path / "policy.json"
    assert commands.run(evaluate, [str(run_dir), "--policy-json", str(path)]) == 0
    rows = json.loads(path.read_text())
    assert len(rows) == len(policy) == 4520
    for row, other in zip(rows, policy, strict=True):
        values = [float(other[f"q{i}"]) if other[f"q{i}"] else None for i in range(9)]
        assert row["q_values"] == values
        assert (row["board"], row["to_move"]) == (other["board"], other["to_move"])
        assert row["move"] == int(other["move"])


def won(board):
    """Return whether either player has three in a line."""
    return any(
        [board[int(cell)] for cell in line] in (["X"] * 3, ["O"] * 3) for line in LINES
    )


def test_a_file_is_graded(run_dir, capsys):
    path = run_dir / "agent.safetensors"
    assert commands.run(evaluate, [str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"{path}: tic_tac_toe, seed 1, 4 updates, on ")
    assert "\nbeatable: " in out
    assert "sampled" not in out


def test_the_full_report_of_a_player(capsys, snapshot):
    assert commands.run(evaluate, ["minimax-first"]) == 0
    assert re.sub(" on .*", " on DEVICE", capsys.readouterr().out) == snapshot


def test_the_newest_run_is_graded_by_default(run_dir, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "runs" / "one"
    shutil.copytree(run_dir, folder)
    monkeypatch.chdir(tmp_path)
    assert commands.run(evaluate, []) == 0
    name = str(Path("runs") / "one")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"the newest run: {name}"
    assert lines[1].startswith(f"{name}: tic_tac_toe, seed 1, 4 updates")
    assert commands.run(evaluate, ["--json", "--policy-csv", "policy.csv"]) == 0
    out, err = capsys.readouterr()
    assert err == "wrote policy.csv: 4,520 rows\n"
    assert json.loads(out)["agent"] == name


def test_json_agrees_with_the_run(run_dir, capsys):
    assert commands.run(evaluate, [str(run_dir), "--json"]) == 0
    out, err = capsys.readouterr()
    assert (err, out.count("\n")) == ("", 1)
    about = json.loads(out)
    last = json.loads((run_dir / "metrics.jsonl").read_text().splitlines()[-1])
    for seat in ("first", "second"):
        for name, value in last["grade"][seat].items():
            assert about["grade"][seat][name] == pytest.approx(value, abs=1e-6)
    assert "sampled" not in about["grade"]
    assert (about["env_id"], about["seed"], about["update"]) == (
        "tic_tac_toe",
        1,
        4,
    )
    assert about["config"]["hidden_size"] == 8


def test_the_csv_has_each_position_to_decide(policy):
    assert len(policy) == 4520
    assert list(policy[0]) == ["board", "to_move", *(f"q{c}" for c in range(9)), "move"]
    assert len({row["board"] for row in policy}) == 4520
    for row in policy:
        board = row["board"]
        assert len(board) == 9
        assert set(board) <= set("XO-")
        ahead = board.count("X") - board.count("O")
        assert row["to_move"] == {0: "first", 1: "second"}[ahead]
        assert not won(board)
        q_values = [row[f"q{cell}"] for cell in range(9)]
        assert [q == "" for q in q_values] == [cell != "-" for cell in board]
        legal = {c: float(q) for c, q in enumerate(q_values) if q}
        assert all(-1 <= q <= 1 for q in legal.values())
        assert int(row["move"]) == max(legal, key=lambda c: (legal[c], -c))


def test_the_policy_of_the_csv_scores_what_was_reported(policy, run_dir, capsys):
    """Every game against the random player, weighed by its probability."""
    moves = {row["board"]: int(row["move"]) for row in policy}

    @functools.cache
    def outcome(board, agent):
        """Return the chances that the agent wins, draws and loses."""
        mover = "X" if board.count("X") == board.count("O") else "O"
        if won(board):
            return (0.0, 0.0, 1.0) if mover == agent else (1.0, 0.0, 0.0)
        empty = [cell for cell in range(9) if board[cell] == "-"]
        if not empty:
            return (0.0, 1.0, 0.0)
        # A board with one empty cell has its row too.
        chosen = [moves[board]] if mover == agent else empty
        after = [outcome(board[:c] + mover + board[c + 1 :], agent) for c in chosen]
        return tuple(sum(chances) / len(after) for chances in zip(*after, strict=True))

    commands.run(evaluate, [str(run_dir), "--json"])
    report = json.loads(capsys.readouterr().out)["grade"]
    for agent, seat in (("X", "first"), ("O", "second")):
        reported = [report[seat][r] for r in ("win_rate", "draw_rate", "loss_rate")]
        assert reported == pytest.approx(outcome("-" * 9, agent), abs=1e-5)


def test_a_sample_agrees_with_the_exact_values(run_dir, capsys):
    flags = ["--games", "2000", "--seed", "1"]
    assert commands.run(evaluate, [str(run_dir), *flags, "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    sampled = about["grade"]["sampled"]
    assert sampled["both"]["num_games"] == 2000
    for seat in ("first", "second"):
        for rate in ("win_rate", "draw_rate", "loss_rate"):
            seen, true = sampled[seat][rate], about["grade"][seat][rate]
            assert abs(seen - true) < 4 * (true * (1 - true) / 950) ** 0.5 + 1e-9


def test_a_player_without_a_matrix_is_sampled(capsys):
    assert commands.run(evaluate, ["mcts-online:20", "--games", "50"]) == 0
    out = capsys.readouterr().out
    assert "exact" not in out
    assert "nothing is proven" in out


def refuse(argv, capsys):
    """Assert that the command refuses in one line; return the line."""
    capsys.readouterr()
    assert commands.run(evaluate, [str(arg) for arg in argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture(scope="module")
def other_game(tmp_path_factory):
    """Return the file of an agent for Connect Four."""
    path = tmp_path_factory.mktemp("other") / "agent.safetensors"
    return tiny.save_untrained(path, env_id="connect_four")


@pytest.mark.slow
def test_a_player_with_chance_is_sampled_in_the_game_of_its_agent(other_game, capsys):
    name = f"blend:0.1:{other_game}"
    assert commands.run(evaluate, [name, "--games", "8", "--max-positions", "40"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{name}: connect_four, ")
    assert "vs. random, sampled" in out
    said = "does not play one move in each position"
    assert err == f"note: not graded against every opponent: {name} {said}\n"
    assert "nothing is proven" in out
    assert "exact" not in out


@pytest.mark.slow
def test_what_a_player_reaches_is_graded(tmp_path, capsys):
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id="connect_4x4")
    assert commands.run(evaluate, [str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "sampled" not in out
    rows = re.findall(r"^as (\w+) +([\d.]+)% +([\d.]+)% +([\d.]+)%", out, re.MULTILINE)
    assert [row[0] for row in rows] == ["first", "second"]
    for row in rows:
        assert sum(map(float, row[1:])) == pytest.approx(100, abs=2e-4)
    found = re.search(
        r"^beatable: a shortest line .* \((\d+) moves; c", out, re.MULTILINE
    )
    assert found
    assert f"  {found[1]}. " in out
    assert commands.run(evaluate, [str(path), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    grade = about["grade"]
    lengths = [len(grade[seat]["losing_line"]) for seat in ("first", "second")]
    assert min(lengths) == int(found[1])
    assert "sampled" not in grade


def test_evaluate_proves_the_seat_that_was_learned(one_seat, capsys):
    assert commands.run(evaluate, [f"blend:0:{one_seat}", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["grade"]["second"]["worst_loss_rate"] == 1
    assert about["grade"]["unbeatable"] is True
    assert about["verdict"] == (
        "unbeatable: no line of play by any opponent wins against it, "
        "as X (5,478 positions)"
    )


# Certificates.


def certify(argv):
    """Write a certificate and return its bytes."""
    path = Path(argv[-1])
    assert (
        commands.run(evaluate, [*map(str, argv[:-1]), "--certificate", str(path)]) == 0
    )
    return path.read_bytes()


def test_a_certificate_depends_on_the_agent_alone(one_seat, tmp_path, capsys):
    """Neither on its path, nor on the flags, nor on an earlier file."""
    run, path = tmp_path / "run", tmp_path / "certificate.json"
    run.mkdir()
    shutil.copy(one_seat, run / "agent.safetensors")
    path.write_text("an earlier file")
    written = certify([one_seat, path])
    out, err = capsys.readouterr()
    assert out.endswith(f"\nwrote {path}: 99 positions\n")
    assert err == ""
    for argv in ([run, path], [run, "--json", "--seed", "3", "--games", "4", path]):
        assert certify(argv) == written
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1])["agent"] == str(run)
    assert err == f"wrote {path}: 99 positions\n"
    found = json.loads(written)
    digest = hashlib.sha256(one_seat.read_bytes()).hexdigest()
    assert (found["player"], found["sha256"]) == ("AGENT", digest)
    assert list(found["moves"]) == ["first"], "the seat that it learned"


def test_a_player_around_an_agent_is_named_with_the_agents_checksum(one_seat, tmp_path):
    found = json.loads(certify([f"blend:0:{one_seat}", tmp_path / "certificate"]))
    digest = hashlib.sha256(one_seat.read_bytes()).hexdigest()
    assert (found["player"], found["sha256"]) == ("blend:0:AGENT", digest)
    found = json.loads(certify(["blend:0:minimax-first", tmp_path / "certificate"]))
    assert (found["player"], found["sha256"]) == ("blend:0:minimax-first", "")


def test_a_note_names_the_seat_that_is_not_proven(
    one_seat, tmp_path, capsys, monkeypatch
):
    make_player = registry.make_player

    def make_in_both_seats(*args):
        return dataclasses.replace(make_player(*args), seats=("first", "second"))

    monkeypatch.setattr(registry, "make_player", make_in_both_seats)
    found = json.loads(certify([one_seat, tmp_path / "certificate"]))
    assert list(found["moves"]) == ["first"]
    note = capsys.readouterr().err.splitlines()[-1]
    start = "note: the certificate is for one seat only; as O it loses the game X"
    assert note.startswith(start)


@pytest.mark.fault
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("RUN", "no certificate: as X it loses the game X"),
        ("random", "as O it loses the game X"),
        ("minimax", "no certificate: as X it has more than one move on ---------; as "),
        ("mcts-online:2", "no certificate, since its moves are random"),
    ],
)
def test_a_player_that_is_not_proven_has_no_certificate(
    name, reason, run_dir, tmp_path, capsys
):
    path = tmp_path / "certificate.json"
    path.write_text("an earlier file")
    refusal = refuse([name.replace("RUN", str(run_dir)), "--certificate", path], capsys)
    assert reason in refusal
    assert path.read_text() == "an earlier file"
    assert list(tmp_path.iterdir()) == [path]


def test_the_certificate_of_a_game_that_the_checker_does_not_know_is_refused(
    other_game, tmp_path, capsys
):
    path = tmp_path / "certificate.json"
    for flags in ([other_game], ["random", "--env-id", "connect_four"]):
        refusal = refuse([*flags, "--certificate", path], capsys)
        assert "--certificate must be used with tic_tac_toe, connect_4x4" in refusal
        assert "got 'connect_four'" in refusal
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fault
def test_a_certificate_replaces_files_alone(one_seat, tmp_path, capsys):
    before = one_seat.read_bytes()
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (
        (tmp_path, "a folder, not a file"),
        (tmp_path / "none" / "file", f"no folder {tmp_path / 'none'}"),
        (tmp_path / "pipe", "not a regular file"),
        (one_seat, "the agent's own file"),
    ):
        refusal = refuse([one_seat, "--certificate", path], capsys)
        assert refusal == f"error: --certificate {path}: {reason}\n"
    assert one_seat.read_bytes() == before


@pytest.mark.fault
def test_a_certificate_is_of_the_file_that_was_read(
    one_seat, tmp_path, capsys, monkeypatch
):
    path = tmp_path / "agent.safetensors"
    shutil.copy(one_seat, path)
    make_player = registry.make_player

    def replaced_after(*args):
        player = make_player(*args)
        files.write_atomic(path, one_seat.read_bytes())
        return player

    monkeypatch.setattr(registry, "make_player", replaced_after)
    refusal = refuse([path, "--certificate", tmp_path / "certificate"], capsys)
    assert "its file was replaced meanwhile; try again" in refusal
    assert commands.run(evaluate, [str(path)]) == 0, (
        "without a certificate it does not matter"
    )


@pytest.mark.slow
def test_an_exam_is_alone_or_beside_the_grades_that_are_asked_for(other_game, capsys):
    assert commands.run(evaluate, [str(other_game), "--exam"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{other_game}: connect_four, ")
    assert "all (1,012 positions)" in out
    assert out.endswith("\nnothing is proven: an exam only\n")
    flags = ["--exam", "--max-positions", "20", "--json"]
    assert commands.run(evaluate, [str(other_game), *flags]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["verdict"].startswith("not decided beyond move ")
    assert about["grade"]["exam"]["all"]["num_positions"] == 1012


def test_a_game_without_an_exam_is_refused(capsys):
    refusal = refuse(["random", "--env-id", "hex", "--exam"], capsys)
    assert "hex has none; games that do: " in refusal
