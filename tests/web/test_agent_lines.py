"""Lines of play of an agent on the page, computed in Node."""

import dataclasses
import itertools

import jax
import pytest
import rule_cases
import tiny
from forged import Forgery
from page_modules import compute, compute_all

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ALL
from jax_ttt.config.settings import Config
from jax_ttt.games.played_game import Game
from jax_ttt.players import saved_agents

SEVEN = ALL["connect-7x6"]


def test_a_game_follows_an_agent_as_long_as_all_moves_are_the_agents():
    second = saved_agents.load_agent(SEVEN).grade.second
    assert second is not None
    assert second.losing_line is not None
    line = [*second.losing_line]  # the agent plays O
    other = [*line[:3], (line[3] + 1) % 7]
    games = [[], line[:1], line[:2], line, other, [*other, 0]]
    answers, (first, then) = compute_all(
        [
            ("compareMoves", {"path": str(SEVEN), "games": games, "side": "o"}),
            ("compareMoves", {"path": str(SEVEN), "games": games[:2], "side": "x"}),
        ]
    )
    own = [answer["areAgents"] for answer in answers]
    num_own = len(line) // 2
    assert own == [[], [], [True], [True] * num_own, [True, False], [True, False]]
    moves = [answer["move"] for answer in answers]
    assert moves[:4] == [None, line[1], None, None]
    assert moves[5] is not None
    assert then["areAgents"] == [line[0] == first["move"]]


def test_the_proven_agent_wins_the_lines_that_are_checked():
    checked = compute("checkLines", path=str(SEVEN), side="x", goal="win", count=10)
    won = [one["lines"]["won"] for one in checked["yielded"]]
    assert won == [*range(1, 11)]
    lines = {"won": 10, "drawn": 0, "lost": 0}
    assert checked["result"] == {"lines": lines, "contradiction": None}


def test_a_check_ends_with_a_line_that_contradicts_the_goal(tmp_path):
    path = tiny.save_untrained(tmp_path / "weak.safetensors", env_id="connect_5x5")
    player = saved_agents.load_agent(path).player
    options = {"path": str(path), "side": "o", "count": 500}
    bad_results = {"not-lose": {"lost"}, "win": {"drawn", "lost"}}
    checks = [("checkLines", options | {"goal": goal}) for goal in bad_results]
    for check, bad in zip(compute_all(checks), bad_results.values(), strict=True):
        result = check["result"]
        line = result["contradiction"]
        game = Game.start("connect_5x5", line)
        assert game.is_over
        assert game.result("second") in bad
        assert sum(result["lines"][name] for name in bad) == 1
        for count in range(1, len(line), 2):
            before = game.back_to(count)
            assert before.move_of(player, jax.random.key(0)) == line[count]


def test_a_drawn_line_contradicts_only_that_every_game_is_won():
    path = ALL["connect-5x4"]  # never loses, and draws at times
    options = {"path": str(path), "side": "x", "count": 60}
    checks = [("checkLines", options | {"goal": goal}) for goal in ("win", "not-lose")]
    won, not_lost = (check["result"] for check in compute_all(checks))
    assert won["lines"]["drawn"] == 1
    assert Game.start("connect_5x4", won["contradiction"]).is_over
    assert not_lost["contradiction"] is None
    assert sum(not_lost["lines"].values()) == 60
    assert not_lost["lines"]["lost"] == 0


def test_a_look_ahead_has_the_values_of_a_search_without_shortcuts(tmp_path):
    """Discounted, on boards where wins and full columns are near."""
    fields = {"env_id": "connect_5x4", "gamma": 0.9}
    path = tiny.save_untrained(tmp_path / "agent.safetensors", **fields)
    start, late = [[], [2] * 4], [[1, 4, 0, 2, 0, 0, 0, 1, 4, 2, 4], [2, 1, 2, 1, 3, 0]]
    cases = [(1, start), (3, start), (5, late), (7, late[:1])]
    options = [{"path": str(path), "games": g, "depth": depth} for depth, g in cases]
    answers = compute_all([("lookahead", option) for option in options])
    for values, expected in itertools.chain(*answers):
        assert values == pytest.approx(expected, abs=1e-9)
    _, last = answers[-1][-1]
    assert [value is None for value in last] == [True, False, False, False, False]


def test_corrections_by_stones_are_those_of_the_grade():
    first = saved_agents.load_agent(SEVEN).grade.first
    assert first is not None
    counts = first.corrections
    assert counts is not None
    expected = {str(stones): count for stones, count in enumerate(counts) if count}
    assert compute("countByStones", path=str(SEVEN)) == expected


def test_a_position_of_the_proof_is_shown_as_won_and_others_as_not_known():
    (start,) = compute("compareMoves", path=str(SEVEN), games=[[]], side="x")
    own = start["move"]
    lines = ([], [own], [(own + 1) % 7])
    shown, after, other = compute_all(
        [("provenValues", {"path": str(SEVEN), "moves": moves}) for moves in lines]
    )
    by_file = "proven by the agent's file"
    text = f"X wins, {by_file}: each move of X in this game was the agent's."
    assert (shown["state"], shown["text"]) == ("proven", text)
    cells = {action: (word, spoken) for action, word, spoken in shown["cells"]}
    unknown = ("\u2013", "exact result not known")
    won = {own: ("win", f"win, {by_file}")}
    assert cells == dict.fromkeys(range(7), unknown) | won
    # Whatever the opponent plays then, it loses.
    assert after["state"] == "proven"
    assert [cell[1:] for cell in after["cells"]] == [["loss", f"loss, {by_file}"]] * 7
    # After another move than the agent's, nothing is proven.
    assert other == {"state": "not known", "text": "", "cells": []}


@pytest.mark.fault
def test_a_lost_game_shows_that_an_agent_can_be_beaten_if_it_plays_it(tmp_path):
    """Else it is what the file says."""
    agent = saved_agents.load_agent(SEVEN)
    second = agent.grade.second
    assert second is not None
    assert second.losing_line is not None
    *start, own, last = second.losing_line
    other = next(
        line
        for line in ((*start, column, last) for column in range(7) if column != own)
        if Game.start("connect_7x6", line).result("second") == "lost"
    )
    checks = []
    lines = [second.losing_line, other, (0, 1, 0, 1, 0, 1, 0)]
    for number, line in enumerate(lines):
        lost = dataclasses.replace(second, losing_line=line)
        grade = dataclasses.replace(agent.grade, second=lost, seats=SEATS)
        path = tmp_path / f"{number}.safetensors"
        saved_agents.save_agent(agent.with_grade(grade), path)
        checks.append(("verdicts", {"path": str(path)}))
    as_o = [verdict for _, verdict in compute_all(checks)]
    assert as_o == ["Can be beaten", *["Can be beaten by its file"] * 2]


@pytest.mark.fault
def test_the_page_refuses_a_file_without_its_checksum(tmp_path):
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id="connect_5x5")
    forgery = Forgery(path.read_bytes())
    checksum = f'"sha256": "{forgery.digest()}"'
    replacements = ["", '"sha256": ""', '"sha256": null', checksum.replace("2", "3")]
    paths = [path]
    for number, becomes in enumerate(replacements):
        before = f"{checksum}, " if not becomes else checksum
        content = forgery.content(text=lambda t, a=before, b=becomes: t.replace(a, b))
        assert content != forgery.content()
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(content)
    first, *refusals = compute("refusals", paths=[*map(str, paths)])
    assert first is None
    assert set(refusals) == {"its contents were changed after they were saved"}


@pytest.mark.fault
def test_the_page_refuses_a_network_whose_sums_are_not_exact(tmp_path):
    """In one place: of a convolution, of one patch."""
    forgery = Forgery(SEVEN.read_bytes())
    biases = [name for name in forgery.tensors if name.endswith(".bias")]
    for name in biases:
        bias = forgery.tensors[name].copy()
        bias.flat[0] = 2**24 - 1
        content = forgery.but(**{name.replace(".", "__"): bias}).content()
        (tmp_path / name).write_bytes(content)
    refusals = compute("refusals", paths=[str(tmp_path / name) for name in biases])
    assert refusals == ["its network has sums that are not exact"] * len(biases)


def test_a_proof_that_the_agent_never_loses_does_not_say_who_wins(tmp_path):
    path = tmp_path / "claim.safetensors"
    agent = tiny.untrained(Config.of(env_id="connect_5x5", hidden_size=8))
    seat = rule_cases.proven_seat()
    assert seat.proven == "not-lose"
    grade = Grade(env_id="connect_5x5", first=seat)
    saved_agents.save_agent(agent.with_grade(grade), path)
    shown = compute("provenValues", path=str(path), moves=[])
    assert (shown["state"], shown["text"]) == ("not known", "")
    verdicts = ["Unbeatable by its file", "Not known: too many positions"]
    assert compute("verdicts", path=str(path)) == verdicts
