"""Boards are drawn as they are, and values on the cells that they belong to."""

import re
import xml.etree.ElementTree as ET

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn import learner
from jax_ttt.envs.opponents import SelfPlay
from jax_ttt.networks import q_network
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of
from jax_ttt.reports import boards, text_board

GAME = [4, 0, 2, 6, 3, 5, 1, 7, 8]  # a draw


@pytest.fixture(scope="module")
def agent():
    config = PRESETS["default"]
    return Agent(
        config,
        learner.init(
            config,
            config.hyper,
            network_of(config.architecture),
            jax.random.key(0),
            SelfPlay(),
        ).params,
        0,
        0,
    )


def marks(picture):
    """Return how many crosses and noughts an image holds."""
    elements = list(ET.fromstring(picture.svg).iter())
    ends = [
        (line.get("x1") != line.get("x2"), line.get("y1") != line.get("y2"))
        for line in elements
        if line.tag.endswith("line")
    ]
    fills = [e.get("fill") for e in elements if e.tag.endswith("circle")]
    # A cross is two slanted lines; a nought is hollow.
    return ends.count((True, True)) // 2, fills.count("none")


def test_a_position_shows_its_marks():
    states = boards.replay("tic_tac_toe", GAME)
    assert [marks(boards.position_picture(state)) for state in states] == [
        ((n + 1) // 2, n // 2) for n in range(10)
    ]
    assert bool(states[-1].terminated)


def test_random_games_go_on_until_all_are_over():
    states = boards.random_games("tic_tac_toe", 9, seed=3)
    played = [np.asarray(state._step_count) for state in states]
    assert played[0].tolist() == [0] * 9
    assert 5 <= len(states) - 1 <= 9
    assert bool(states[-1].terminated.all())
    assert not bool(states[-2].terminated.all())
    crosses, noughts = marks(boards.position_picture(states[-1]))
    assert crosses + noughts == sum(played[-1])
    other = boards.random_games("tic_tac_toe", 9, seed=4)
    assert boards.position_picture(other[-1]) != boards.position_picture(states[-1])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_two_animations_on_a_page_do_not_mix(theme):
    """Names of frames, styles and key frames are an animation's own."""
    games = [boards.replay("tic_tac_toe", GAME[:n]) for n in (5, 6)]
    pictures = [boards.animation(states, theme) for states in games]
    names = []
    for picture, states in zip(pictures, games, strict=True):
        ET.fromstring(picture.svg)
        frames = set(re.findall(r'id="(\w+_[0-9a-f]+)"', picture.svg))
        assert len(frames) == len(states) + 2, "the last one stays"
        (style,) = re.findall(r"<style.*?</style>", picture.svg, re.DOTALL)
        classes = set(re.findall(r'class="(\w+)"', picture.svg))
        keys = set(re.findall(r"@keyframes (\w+)", style))
        assert {f"#{frame}{{" in style for frame in frames} == {True}
        assert all(f".{name}{{" in style for name in classes)
        assert set(re.findall(r"linear (\w+) ", style)) == keys
        names.append(frames | classes | keys)
    assert not names[0] & names[1]


def test_a_board_is_found_as_it_is_written(host_tree):
    for position in host_tree.decisions[[0, 1, 100, 2000, 4519]].tolist():
        cells = text_board.cells_as_text(host_tree, position)
        assert boards.find("tic_tac_toe", cells) == position


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("X", "not 9 of X, O and what is free"),
        ("X---x----", "not 9 of X, O and what is free"),
        ("XX-------", "no play leads"),
        ("XXXOOO---", "no play leads"),
        ("XXXOO----", "the game is over"),
    ],
)
def test_a_board_that_is_none_is_refused(cells, why):
    with pytest.raises(ValueError, match=why):
        boards.find("tic_tac_toe", cells)


def test_values_stand_on_their_cells_beside_the_exact_ones(agent, drawn, host_tree):
    position = boards.find("tic_tac_toe", "X---O---X")
    learned, exact, *_ = drawn(boards.values_picture, agent, position).axes
    # O must take an edge: a corner loses.
    want = [[np.nan, 0, -1], [0, np.nan, 0], [-1, 0, np.nan]]
    np.testing.assert_array_equal(exact.images[0].get_array().filled(np.nan), want)
    texts = [text.get_text() for text in exact.texts]
    assert " ".join(texts) == "X +0.00 -1.00 +0.00 O +0.00 -1.00 +0.00 X"
    obs = jnp.asarray(host_tree.obs[position][None])
    q_values = np.asarray(
        q_network.q_values(network_of(agent.config.architecture), agent.params, obs)
    )[0]
    shown = learned.images[0].get_array()
    np.testing.assert_allclose(
        shown.compressed(), q_values[[1, 2, 3, 5, 6, 7]], atol=1e-5
    )


def test_a_free_cell_without_a_value_stays_empty(drawn):
    cells = np.array([["X", "-"], ["-", "O"]], object)
    worth = np.array([np.nan, 0.5, np.nan, np.nan])
    axes, *_ = drawn(boards.on_board, cells, {"learned": worth}).axes
    assert [text.get_text() for text in axes.texts] == ["X", "+0.50", "O"]


def test_an_agents_game_against_itself_is_legal_and_ends(agent):
    states = boards.self_play_states(agent)
    assert bool(states[-1].terminated)
    assert not any(bool(state.terminated) for state in states[:-1])
