"""Corrected agents: their moves, the mark of a correction, and the verdict."""

import base64
import dataclasses
import itertools

import jax
import made
import numpy as np
import pytest
import rule_cases
import tiny
from browsing import expect, link

from jax_ttt.config.grade import Grade, Lines, SeatGrade
from jax_ttt.config.settings import Config
from jax_ttt.games import position_keys
from jax_ttt.games.played_game import replay
from jax_ttt.players import saved_agents

pytestmark = pytest.mark.slow
FOUR = "Connect Four 4 \u00d7 4"
SEVEN = "Connect Four 7 \u00d7 6"


@pytest.fixture(scope="module")
def corrected(tmp_path_factory):
    """Return a corrected agent of 4 x 4, and its file."""
    path = tmp_path_factory.mktemp("corrected") / "told.safetensors"
    rule_cases.save_corrected(path, "connect_4x4")
    return saved_agents.load_agent(path), path


def corrected_lines(agent, num_moves=4):
    """Return the lines of so many moves, each with the agent's move, by kind.

    The first ones lead to boards with a correction, the other ones to boards without.
    """
    env_id = agent.config.env_id
    lines = [*itertools.product(range(4), repeat=num_moves)]
    state = replay(env_id, lines)
    moves = np.asarray(agent.player(jax.random.key(0), state)).tolist()
    words = position_keys.pack_least(env_id, position_keys.stones_of(state))
    keys = position_keys.keys_to_numbers(np.asarray(words))
    pairs = [*zip(lines, moves, strict=True)]
    told = np.isin(keys, agent.corrections.keys)
    return [*itertools.compress(pairs, told)], [*itertools.compress(pairs, ~told)]


def test_the_corrections_of_an_agent_are_counted_played_and_marked(
    open_page, served_url, corrected, tmp_path
):
    agent, path = corrected
    page = open_page(served_url)
    # A file with broken corrections is not added.
    file = tmp_path / "broken.safetensors"
    case = next(
        case
        for case in rule_cases.broken_corrections(path)
        if case["reason"] == "not legal"
    )
    file.write_bytes(base64.b64decode(case["file"]))
    page.tab("Learning")
    page.upload("Add an agent's file", file)
    page.hear("was not added: a move of its corrections is not legal")
    expect(page.get_by_role("tabpanel")).to_contain_text("No agent is kept yet")
    # The verdict counts them.
    page.add_agent(path, FOUR)
    page.tab("Proof")
    for letter, grade in (("X", agent.grade.first), ("O", agent.grade.second)):
        verdict = f"As {letter}: Unbeatable with {grade.num_corrections:,} corrections"
        expect(page.card(letter)).to_contain_text(verdict)
    page.button("Check again in this browser").click()
    page.hear("The same result")
    page.says("Unbeatable (learned agent): Kept: told")
    expect(page.tab("Game")).to_contain_text(
        f"As O: Unbeatable with {agent.grade.second.num_corrections:,} corrections."
    )
    # A correction is played, and marked on the values.
    page.show("Network's values")
    told, others = corrected_lines(agent)
    line, move = next((line, move) for line, move in told if move != 3 - move)
    mirrored = tuple(3 - column for column in line)
    cases = ((line, move), (mirrored, 3 - move), *others[:2])
    assert (mirrored, 3 - move) in told
    for moves, reply in cases:
        # The person moved last, so the agent's reply follows.
        page.goto(link(served_url, "connect_4x4", moves, side="o"))
        page.has_line([*moves, reply])
        page.button("One move back").click()
        page.place_says(reply, "the agent's move")
        has_mark = (moves, reply) in told
        assert page.marked("corrected") == [reply] * has_mark
        words = page.area().inner_text().lower()
        assert ("corrected" in words) == has_mark
    line = list(agent.game_against_itself().moves)
    page.goto(link(served_url, "connect_4x4", line[:1], level="analysis"))
    page.has_line(line[:1])
    page.tab("Game")
    for side in "XO":
        mover = page.get_by_label(f"{side} is moved by")
        mover.select_option(f"Kept: {path.stem} (network)")
    page.button("Play the match").click()
    page.has_line(line)


def save_claim(path):
    """Save an agent of 7 x 6 whose file says that it wins every game moving first."""
    config = Config.of(env_id="connect_7x6", hidden_size=8)
    agent, rng = tiny.untrained(config), np.random.default_rng(0)
    first = SeatGrade(
        **vars(made.rates(1.0, evidence="construction")),
        complete=True,
        beaten=False,
        lines=Lines(won=1000, drawn=0, lost=0),
        corrections=(1000, 0, 234),
    )
    agent = dataclasses.replace(
        agent,
        params=rule_cases.random_integers(agent.params, rng),
        corrections=rule_cases.random_corrections(agent, rng),
    ).with_grade(Grade(env_id=config.env_id, first=first))
    saved_agents.save_agent(agent, path)
    return path


def test_an_agent_that_wins_every_game_moving_first_is_only_strong_moving_second(
    page, tmp_path
):
    page.add_agent(save_claim(tmp_path / "winner.safetensors"), SEVEN)
    wins = "Wins every game moving first, proven by its file with 1,234 corrections"
    strong = "The first player can win with best play: as O, the agent is only strong."
    panel = page.get_by_role("tabpanel", name="Game")
    # The person begins.
    page.says("Learned agent at its best: Kept: winner")
    expect(panel).to_contain_text(strong)
    expect(panel).not_to_contain_text(wins)
    page.choose("O, the agent starts")
    page.says("Wins every game (proven, by its file): Kept: winner")
    expect(panel).to_contain_text(f"As X: {wins}.")
    expect(panel).not_to_contain_text(strong)
    page.choose("Random")
    expect(panel).to_contain_text(f"As X: {wins}. {strong}")
    expect(panel.get_by_role("radio", name="Wins every game")).to_have_count(0)
    page.tab("Proof")
    expect(page.card("X")).to_contain_text(f"As X: {wins}")
    expect(page.card("O")).to_contain_text("Not known: too many positions")
    expect(page.card("O")).to_contain_text(strong)
