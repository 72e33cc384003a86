"""The command `correct`, and what `evaluate` says of a corrected agent."""

import dataclasses
import json
import re
import sys
from typing import Any

import brute_corrections as brute
import commands
import jsonschema
import numpy as np
import pytest
import tiny
from marks import mark_slow

from jax_ttt import evaluate
from jax_ttt.config.game_facts import SEATS
from jax_ttt.players import saved_agents
from jax_ttt.solver.connect_four_solver import Solver
from jax_ttt.solver.corrections import Corrections
from tools import make_schema

correct = commands.module_of("correct")
GAMES = ("connect_4x4", "tic_tac_toe")


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """Return the files of untrained agents, by their games."""
    folder = tmp_path_factory.mktemp("agents")
    return {env_id: save(folder, env_id) for env_id in GAMES}


def load(path) -> Any:
    """Return an agent; it has corrections."""
    return saved_agents.load_agent(path)


def save(folder, env_id, **fields):
    return tiny.save_untrained(
        folder / f"{env_id}.safetensors", env_id=env_id, **fields
    )


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function that runs a command and returns its output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*argv, command=correct, code=0):
        capsys.readouterr()
        assert commands.run(command, [str(arg) for arg in argv]) == code
        return capsys.readouterr()

    return run


@pytest.fixture(scope="module", params=mark_slow(GAMES, "connect_4x4"))
def corrected(request, agents, tmp_path_factory):
    """Return the file of a corrected agent."""
    path = tmp_path_factory.mktemp("corrected") / f"{request.param}.safetensors"
    code = commands.run(correct, [str(agents[request.param]), "--out", str(path)])
    assert code == 0
    return path


@pytest.mark.slow
def test_the_table_by_level_and_what_is_proven_are_printed(agents, tmp_path, run):
    path = agents["connect_4x4"]
    out, _ = run(path, "--seat", "second")
    title = " ".join(out.partition("\n\n")[0].split())  # long ones are wrapped
    assert title.startswith(f"{path}: connect_4x4, int8, on ")
    rows = re.findall(r"^(\d+|all) +([\d,]+) +([\d,]+)$", out, re.MULTILINE)
    levels = [(int(a), int(b), int(c)) for a, b, c in rows[:-1]]
    assert [level for level, *_ in levels] == [*range(1, 16, 2)]
    totals = [sum(column) for column in list(zip(*levels, strict=True))[1:]]
    assert [int(x.replace(",", "")) for x in rows[-1][1:]] == totals
    agent = load(tmp_path / "corrected.safetensors")
    assert totals[1] == len(agent.corrections)
    assert f"\nproven: it is unbeatable as O with {totals[1]} corrections\n" in out
    own, corrections = brute.corrections_of(agent, "second")
    assert totals == [
        brute.num_merged(agent, own),
        len(brute.by_key(agent, corrections)),
    ]


def test_json_follows_the_schema(agents, tmp_path, run):
    path = tmp_path / "mine.safetensors"
    out, err = run(agents["tic_tac_toe"], "--out", path, "--json")
    assert out.count("\n") == 1
    assert err == f"wrote {path}\n"
    result = json.loads(out)
    schema = make_schema.schema() | {"anyOf": [{"$ref": "#/$defs/CorrectionResult"}]}
    jsonschema.validate(result, schema)
    agent = load(path)
    assert result["grade"]["player"] == str(agents["tic_tac_toe"])
    assert (result["precision"], result["num_nodes"]) == ("float32", 0)
    assert result["num_corrections"] == len(agent.corrections) > 0
    assert result["grade"]["unbeatable"]
    numbers = [level["num_corrections"] for level in result["levels"]]
    assert sum(numbers) == result["num_corrections"]
    assert {level["seat"] for level in result["levels"]} == {*SEATS}


def test_evaluate_proves_the_file_again(corrected, run):
    """With the same counts, and from the file alone."""
    agent = load(corrected)
    number = len(agent.corrections)
    result = json.loads(run(corrected, "--json", command=evaluate).out)
    assert f"unbeatable with {number} corrections: " in result["verdict"]
    record = result["grade"]
    saved = [agent.grade.seat(seat) for seat in SEATS]
    for seat, grade in zip(SEATS, saved, strict=True):
        assert record[seat]["corrections"] == list(grade.corrections)
        assert record[seat]["num_corrections"] == grade.num_corrections
        assert record[seat]["proven"] == "not-lose"
    assert sum(grade.num_corrections for grade in saved) == number
    assert record["env_id"] == corrected.stem


def test_the_same_file_is_written_again(agents, corrected, tmp_path, run):
    run(agents[corrected.stem], "--out", "again.safetensors")
    again = (tmp_path / "again.safetensors").read_bytes()
    assert again == corrected.read_bytes()


def test_without_numba_the_extra_is_named(agents, monkeypatch, run):
    for name in ("numba", "jax_ttt.solver.connect_four_solver"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    _, err = run(agents["connect_4x4"], code=2)
    assert "pip install 'jax_ttt[solver]'" in err


def test_ctrl_c_prints_what_is_known(agents, tmp_path, monkeypatch, run):
    keeping_moves, calls = Solver.keeping_moves, []

    def interrupted(solver, keys, order):
        calls.append(len(keys))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return keeping_moves(solver, keys, order)

    monkeypatch.setattr(Solver, "keeping_moves", interrupted)
    out, err = run(agents["connect_4x4"], code=130)
    assert out == ""
    assert "nothing is proven or saved" in err
    levels = re.findall(r"^(\d+) +(\d+) +\d+$", err, re.MULTILINE)
    assert [(int(a), int(b)) for a, b in levels] == list(
        zip([0, 2, 4], calls[:3], strict=True)
    )
    assert not [*tmp_path.iterdir()]


def test_ctrl_c_in_the_proof_ends_the_command(agents, monkeypatch, run):
    monkeypatch.setattr("jax_ttt.text.grade_text.search_progress", lambda *_: interrupt)
    _, err = run(agents["connect_4x4"], code=130)
    assert "nothing is proven or saved" in err


def interrupt(*_):
    raise KeyboardInterrupt


# --- Corrections that were changed ---------------------------------------------------


def removed(corrections, place):
    keys, actions = (np.delete(column, place) for column in columns(corrections))
    return Corrections(keys, actions)


def columns(corrections):
    return corrections.keys, corrections.actions


def reordered(corrections, places):
    return Corrections(*(column[places] for column in columns(corrections)))


def added(corrections, key, action):
    keys, actions = columns(corrections)
    order = np.argsort(keys := np.append(keys, np.uint64(key)))
    actions = np.append(actions, np.uint8(action))
    return Corrections(keys[order], actions[order])


def moved(corrections, place, losing):
    """Return the corrections with a losing move in one place."""
    actions = corrections.actions.copy()
    actions[place] = losing[int(corrections.keys[place])]
    return Corrections(corrections.keys, actions)


def losing_moves(agent):
    """Return a legal move that loses, by the keys of the boards that have one."""
    game = brute.GAMES[agent.config.env_id]
    moves = {}
    for seat in SEATS:
        own, _ = brute.corrections_of(agent, seat)
        for board in own:
            for move in game.moves(board):
                if game.worth(board, move) < 0:
                    moves[game.key(board)] = move
    return moves


@pytest.fixture
def agent(corrected):
    return load(corrected)


@pytest.fixture
def verdict(capsys, tmp_path):
    """Return a function that evaluates the agent with other corrections.

    It returns the seats that are proven and the report, or nothing and the refusal.
    """

    def verdict(agent, corrections):
        path = tmp_path / "changed.safetensors"
        changed = dataclasses.replace(agent, corrections=corrections)
        saved_agents.save_agent(changed, path)  # with the right checksum
        code = commands.run(evaluate, [str(path), "--json"])
        out, err = capsys.readouterr()
        if code:
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert err.startswith("error: ")
            return [], err
        result = json.loads(out)
        grade = result["grade"]
        return [s for s in SEATS if grade[s]["unbeatable"]], result["verdict"]

    return verdict


def assert_not_believed(agent, place, corrections, verdict):
    """Without a sound table, an agent is refused, or beaten by a line in that seat."""
    seat = agent.corrections.seats(agent.config.env_id)[place]
    proven, text = verdict(agent, corrections)
    assert seat not in proven
    assert "beatable: a shortest line" in text or "never needs" in text


@pytest.mark.fault
def test_an_agent_without_one_of_its_corrections_is_not_proven(agent, verdict):
    for place in (0, len(agent.corrections) - 1):
        corrections = removed(agent.corrections, place)
        assert_not_believed(agent, place, corrections, verdict)


@pytest.mark.fault
def test_an_agent_with_a_losing_correction_is_not_proven(agent, verdict):
    losing = losing_moves(agent)
    places = [p for p, key in enumerate(agent.corrections.keys) if int(key) in losing]
    for place in (places[0], places[-1]):
        corrections = moved(agent.corrections, place, losing)
        assert_not_believed(agent, place, corrections, verdict)


@pytest.mark.fault
def test_a_correction_for_a_board_that_is_not_reached_is_refused(agent, verdict):
    game = brute.GAMES[agent.config.env_id]
    reached = {
        game.key(board)
        for seat in SEATS
        for board in brute.corrections_of(agent, seat)[0]
    }
    other = next(
        board
        for move in game.moves(game.start)
        for reply in game.moves(game.after(game.start, move))
        for board in [game.after(game.after(game.start, move), reply)]
        if game.key(board) not in reached
        if agent.config.env_id != "connect_4x4"
        or game.key(brute.mirrored(board)) not in reached
    )
    key = game.key(other)
    if agent.config.env_id == "connect_4x4":
        key = min(key, game.key(brute.mirrored(other)))
    _, text = verdict(agent, added(agent.corrections, key, game.moves(other)[-1]))
    assert "1 correction X never needs" in text


@pytest.mark.fault
def test_tables_that_are_not_in_order_are_refused(agent, verdict):
    corrections, number = agent.corrections, len(agent.corrections)
    keys, actions = columns(corrections)
    twice = np.sort(np.append(np.arange(number), 0))
    for table, message in [
        (reordered(corrections, np.arange(number)[::-1]), "do not ascend"),
        (reordered(corrections, twice), "do not ascend"),
        (Corrections(keys, np.full(number, 9, np.uint8)), "is not legal"),
        (Corrections(keys, actions[1:]), "as many keys and actions"),
    ]:
        proven, text = verdict(agent, table)
        assert not proven
        assert message in text
