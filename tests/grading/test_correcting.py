"""Corrected agents: brute force finds the same corrections, and they are proven."""

import dataclasses
import functools
import sys
from typing import Any

import brute_corrections as brute
import jax
import pytest
import tiny

import jax_ttt
from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.game_facts import GAMES, SEATS
from jax_ttt.config.settings import AgentPrecision, Config
from jax_ttt.grading import correcting, grader, search_grade
from jax_ttt.networks import integer_network
from jax_ttt.players import registry, saved_agents
from jax_ttt.solver import find_corrections
from jax_ttt.solver.find_corrections import ExactPlay, SearchProgress

slow = pytest.mark.slow
FOUND_AGAIN = [
    ("connect_4x4", {}, "int8"),
    pytest.param("tic_tac_toe", {"network": "table"}, "float32", marks=slow),
]
"""Those whose corrections are found a second time too."""
CASES = [
    *FOUND_AGAIN,
    pytest.param("connect_4x4", {"canonical": False}, "float32", marks=slow),
    pytest.param("connect_4x4", {"filters": 4}, "int8", marks=slow),
    pytest.param("tic_tac_toe", {"canonical": False}, "float32", marks=slow),
    pytest.param("tic_tac_toe", {"two_planes": True}, "int8", marks=slow),
]


def untrained(env_id, **fields):
    """Return an agent of random weights."""
    size = {} if fields.get("network") == "table" else {"hidden_size": 8}
    return tiny.untrained(Config.of(env_id=env_id, **size, **fields))


def untrained_table():
    return untrained("tic_tac_toe", network="table", canonical=False, double=False)


def exact_table(q_star):
    """Return an agent that knows the exact values."""
    agent = untrained_table()
    params = jax.tree.map(lambda _: q_star, agent.params)
    return dataclasses.replace(agent, params=params)


def correct(agent, precision, seats=SEATS) -> Any:
    """Return the agent corrected in these seats, with the name x."""
    seat = seats[0] if len(seats) == 1 else "both"
    return jax_ttt.correct(agent, seat=seat, precision=precision, name="x")


@functools.cache
def corrected(env_id, fields, precision) -> Any:
    """Return an untrained agent corrected in both seats; `fields` are pairs."""
    return correct(untrained(env_id, **dict(fields)), precision)


def as_dict(corrections):
    keys, actions = corrections.keys.tolist(), corrections.actions.tolist()
    return dict(zip(keys, actions, strict=True))


@pytest.mark.parametrize(("env_id", "fields", "precision"), CASES)
def test_brute_force_finds_the_same_corrections_with_which_the_agent_is_proven(
    env_id, fields, precision
):
    result = corrected(env_id, tuple(fields.items()), precision)
    agent, expected = result.agent, {}
    assert integer_network.is_integer(agent.params) == (precision == "int8")
    grade: Any = grader.follow_lines(registry.agent_player("x", agent))
    assert grade.unbeatable
    assert grade.proven == "not-lose"
    assert grade.num_corrections == len(agent.corrections)
    for seat in SEATS:
        own, corrections = brute.corrections_of(agent, seat)
        of_seat = brute.by_key(agent, corrections)
        expected |= of_seat
        levels = [level for level in result.levels if level.seat == seat]
        num_positions = sum(level.num_positions for level in levels)
        assert num_positions == brute.num_merged(agent, own)
        followed = grade.seat(seat)
        assert followed == agent.grade.seat(seat)
        assert result.num_corrections_in(seat) == len(of_seat) > 0
        assert followed.num_corrections == len(of_seat)
        by_level = {x.num_stones: x.num_corrections for x in levels}
        in_grade = {level: n for level, n in enumerate(followed.corrections) if n}
        assert in_grade == {level: n for level, n in by_level.items() if n}
    assert as_dict(agent.corrections) == expected
    assert [*as_dict(agent.corrections)] == sorted(expected)


@pytest.mark.parametrize(("env_id", "fields", "precision"), FOUND_AGAIN)
def test_the_same_corrections_are_found_again(env_id, fields, precision):
    """Also seat by seat: the corrections of the other seat stay."""
    agent = untrained(env_id, **fields)
    both = corrected(env_id, tuple(fields.items()), precision).agent
    again = correct(agent, precision).agent
    first = correct(agent, precision, ("first",)).agent
    assert set(first.corrections.seats(env_id)) == {"first"}
    each = correct(first, precision, ("second",)).agent
    anew = correct(both, precision, ("first",)).agent
    # The grades are those of the corrected seats.
    files = [
        saved_agents.agent_bytes(agent.with_grade(both.grade))
        for agent in (both, again, each, anew)
    ]
    assert len(set(files)) == 1
    assert saved_agents.agent_bytes(both) == saved_agents.agent_bytes(again)
    if precision == "int8":
        assert anew.params is both.params


def test_corrections_of_other_weights_are_dropped():
    """Corrections are for an agent's weights, here of float32."""
    corrections = corrected("connect_4x4", (), "int8").agent.corrections
    agent = dataclasses.replace(untrained("connect_4x4"), corrections=corrections)
    assert set(corrections.seats("connect_4x4")) == {"first", "second"}
    small = correct(agent, "int8", ("first",)).agent
    assert set(small.corrections.seats("connect_4x4")) == {"first"}


def test_a_proven_agent_needs_no_correction(q_star):
    result = correct(exact_table(q_star), "auto")
    assert result.agent.corrections is None
    assert result.agent.grade.unbeatable
    assert result.agent.grade.num_corrections is None


# --- What finds the corrections errs: the proof decides -------------------------------


def preferred_moves(keys, order):
    """Say of every move that it keeps the goal."""
    return order[:, 0].astype("int8")


def no_corrections(player, seats=SEATS, **settings):
    """Return a search that finds no move to correct in these seats."""
    if player.seat in seats:
        return iter([SearchProgress((), 0, 1, 1)])
    return FIND_CORRECTIONS(player=player, **settings)


FIND_CORRECTIONS = find_corrections.find_corrections


@pytest.mark.fault
@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_4x4"])
def test_wrong_exact_play_makes_no_proof(env_id, monkeypatch):
    wrong = ExactPlay(keeping_moves=preferred_moves)
    monkeypatch.setattr(correcting, "exact_play", lambda *_: wrong)
    for seat in SEATS:
        with pytest.raises(RuntimeError, match="exact play errs"):
            correct(untrained(env_id), "float32", (seat,))


@pytest.mark.fault
@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_4x4"])
def test_a_wrong_search_makes_no_proof(env_id, monkeypatch):
    for seats in (SEATS, SEATS[:1], SEATS[1:]):
        wrong = functools.partial(no_corrections, seats=seats)
        monkeypatch.setattr(find_corrections, "find_corrections", wrong)
        for corrected in {SEATS, seats}:
            with pytest.raises(Refused, match=r"^x: .* does not prove not-lose"):
                correct(untrained(env_id), "float32", corrected)


@pytest.mark.fault
def test_an_agent_that_draws_is_not_proven_to_win(q_star, monkeypatch):
    """Whatever the game's result is said to be, by exact play too."""
    wrong_game = dataclasses.replace(GAMES["tic_tac_toe"], best_result="first")
    monkeypatch.setitem(GAMES, "tic_tac_toe", wrong_game)
    wrong = ExactPlay(keeping_moves=preferred_moves)
    monkeypatch.setattr(correcting, "exact_play", lambda *_: wrong)
    agent = exact_table(q_star)
    with pytest.raises(RuntimeError, match="exact play errs"):
        jax_ttt.correct(agent, seat="first", goal="win")
    monkeypatch.setattr(find_corrections, "find_corrections", no_corrections)
    with pytest.raises(Refused, match=r"^x: .* does not prove win"):
        jax_ttt.correct(agent, seat="first", goal="win", name="x")


@pytest.mark.fault
def test_a_walk_that_ends_early_makes_no_proof(monkeypatch):
    monkeypatch.setattr(search_grade, "most_positions", lambda env_id: 100)
    with pytest.raises(Refused, match=r"^x: memory ends before all lines"):
        correct(untrained("connect_4x4"), "float32")


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_4x4"])
def test_one_corrected_seat_does_not_make_the_agent_unbeatable(env_id, tmp_path):
    """The agent learned both seats, and its file says so."""
    agent, path = untrained(env_id), tmp_path / "agent.safetensors"
    for seat, other in (SEATS, SEATS[::-1]):
        saved_agents.save_agent(correct(agent, "float32", (seat,)).agent, path)
        grade = saved_agents.load_agent(path).grade
        assert grade.seats == SEATS
        assert grade.unbeatable_in(seat)
        assert not grade.unbeatable_in(other)
        assert not grade.unbeatable
        evaluated = grader.follow_lines(
            registry.agent_player("x", saved_agents.load_agent(path))
        )
        assert evaluated.unbeatable is False


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": "table"}, "a table has no products"),
        ({"activation": "tanh"}, "needs relu, not tanh"),
    ],
)
def test_integers_that_are_not_possible_are_refused(fields, message):
    with pytest.raises(SettingError, match=message):
        correct(untrained("tic_tac_toe", **fields), "int8")


@pytest.mark.parametrize(
    ("env_id", "auto"), [("tic_tac_toe", "float32"), ("connect_4x4", "int8")]
)
def test_weights_are_as_asked_for_or_integers_in_large_games(env_id, auto):
    agent = untrained(env_id)
    precisions: tuple[AgentPrecision, ...] = ("auto", "float32", "int8")
    made = [correcting.with_precision("x", agent, one).precision for one in precisions]
    assert made == [auto, "float32", "int8"]


def test_integers_do_not_become_float32():
    agent = corrected("connect_4x4", (), "int8").agent
    with pytest.raises(SettingError, match="its weights are integers"):
        correct(agent, "float32")


def test_without_numba_one_line_names_the_extra(monkeypatch):
    for name in ("numba", "jax_ttt.solver.connect_four_solver"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(Refused, match=r"jax_ttt\[solver\]"):
        correct(untrained("connect_4x4"), "auto")
    assert correct(untrained_table(), "auto").agent.corrections
