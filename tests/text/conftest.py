"""Fixtures of the tests of games in a terminal."""

import jax
import numpy as np
import pytest

from jax_ttt.config.game_facts import EnvId
from jax_ttt.games import tree as trees
from jax_ttt.players import random_players, registry
from jax_ttt.players.player import Player
from jax_ttt.text import dialogue
from jax_ttt.text.commands import SideName
from jax_ttt.text.screen import Screen


@pytest.fixture(scope="session")
def following(host_tree):
    """Return a function that makes a player of its own moves in these games."""

    def player_of(*games):
        legal = host_tree.legal_action_mask
        probs = (legal & (legal.cumsum(axis=1) == 1)).astype(float)
        for game in games:
            position = 0
            for move in game:
                probs[position] = np.eye(9)[move]
                position = int(host_tree.successor[position, move])
        choose = random_players.policy_player(
            trees.position_index("tic_tac_toe"), probs
        )
        return Player(
            env_id="tic_tac_toe",
            name="follower",
            choose=choose,
            policy=probs,
            evidence="construction",
        )

    return player_of


@pytest.fixture
def talk():
    """Return a function that plays games with scripted input, and returns the lines.

    An exception in the input is raised at that place.
    """

    def play(
        opponent,
        words,
        side: SideName = "x",
        env_id: EnvId = "tic_tac_toe",
        coloured=False,
    ):
        if isinstance(opponent, str):
            spec = registry.read_player_name(opponent)
            opponent = registry.make_player(spec, env_id, jax.random.key(0))
        lines, words = [], iter(words)

        def ask(prompt):
            lines.append(prompt)
            word = next(words, EOFError())
            if isinstance(word, BaseException):
                raise word
            return word

        screen = Screen(ask, lines.append, coloured)
        session = dialogue.Session(env_id, opponent, jax.random.key(0), screen)
        try:
            dialogue.play_games(session, side)
        except KeyboardInterrupt:
            lines.append("interrupted")
        return lines

    return play
