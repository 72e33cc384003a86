"""Corrected agents: their moves, the mark of a correction, and the verdict."""

import itertools

import jax
import numpy as np
import pytest
import rule_cases
from browsing import expect, link

from jax_ttt.config.player_kinds import ALL
from jax_ttt.games import position_keys
from jax_ttt.games.played_game import replay
from jax_ttt.players import saved_agents

pytestmark = pytest.mark.slow
FOUR = "Connect Four 4 \u00d7 4"


def lines_by_correction(agent, num_moves=4):
    """Return the lines of so many moves, each with the agent's move, in two lists.

    Those of the first list lead to boards with a correction, the others do not.
    """
    lines = [*itertools.product(range(4), repeat=num_moves)]
    state = replay("connect_4x4", lines)
    moves = np.asarray(agent.player(jax.random.key(0), state)).tolist()
    words = position_keys.pack_least("connect_4x4", position_keys.stones_of(state))
    keys = position_keys.keys_to_numbers(np.asarray(words))
    are_corrected = np.isin(keys, agent.corrections.keys)
    pairs = [*zip(lines, moves, strict=True)]
    others = itertools.compress(pairs, ~are_corrected)
    return [*itertools.compress(pairs, are_corrected)], [*others]


def test_the_corrections_of_an_agent_are_counted_played_and_marked(
    page, served_url, tmp_path
):
    path = rule_cases.save_corrected(tmp_path / "agent.safetensors", "connect_4x4")
    agent = saved_agents.load_agent(path)
    first, second = agent.grade.first, agent.grade.second
    assert first is not None
    assert second is not None
    # The verdict counts them.
    page.add_agent(path, FOUR)
    page.tab("Proof")
    for letter, grade in (("X", first), ("O", second)):
        verdict = f"As {letter}: Unbeatable with {grade.num_corrections:,} corrections"
        expect(page.card(letter)).to_contain_text(verdict)
    page.button("Check again in this browser").click()
    page.hear("The same result")
    page.says("Unbeatable (learned agent): Kept: agent")
    expect(page.tab("Game")).to_contain_text(
        f"As O: Unbeatable with {second.num_corrections:,} corrections."
    )
    # A correction is played, and marked on the values.
    page.show("Network's values")
    corrected, others = lines_by_correction(agent)
    line, move = next((line, move) for line, move in corrected if move != 3 - move)
    mirrored = tuple(3 - column for column in line)
    cases = ((line, move), (mirrored, 3 - move), *others[:2])
    assert (mirrored, 3 - move) in corrected
    for moves, reply in cases:
        # The person moved last, so the agent's reply follows.
        page.goto(link(served_url, "connect_4x4", moves, side="o"))
        page.has_line([*moves, reply])
        page.button("One move back").click()
        page.place_says(reply, "the agent's move")
        has_mark = (moves, reply) in corrected
        assert page.marked("corrected") == [reply] * has_mark
        words = page.area().inner_text().lower()
        assert ("corrected" in words) == has_mark


def test_an_agent_that_wins_every_game_moving_first_is_only_strong_moving_second(page):
    first = saved_agents.load_agent(ALL["connect-7x6"]).grade.first
    assert first is not None
    number = f"{first.num_corrections:,}"
    wins = f"Wins every game moving first, proven by its file with {number} corrections"
    strong = "The first player can win with best play: as O, the agent is only strong."
    page.game("connect_7x6")
    panel = page.tab("Game")
    # The person begins.
    page.says("Learned agent at its best: Our network")
    expect(panel).to_contain_text(strong)
    expect(panel).not_to_contain_text(wins)
    page.choose("O, the agent starts")
    page.says("Wins every game (proven, by its file): Our network")
    expect(panel).to_contain_text(f"As X: {wins}.")
    expect(panel).not_to_contain_text(strong)
    page.choose("Random")
    expect(panel).to_contain_text(f"As X: {wins}. {strong}")
    expect(panel.get_by_role("radio", name="Wins every game")).to_have_count(0)
