"""Enumeration of a game that the package does not know: Nim."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pgx import core
from pgx._src.struct import dataclass

from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.solver import minimax, outcomes, policies, proof


@dataclass
class NimState(core.State):
    current_player: jax.Array = jnp.int32(0)
    observation: jax.Array = jnp.zeros(1, jnp.float32)
    rewards: jax.Array = jnp.zeros(2, jnp.float32)
    terminated: jax.Array = jnp.bool_(False)
    truncated: jax.Array = jnp.bool_(False)
    legal_action_mask: jax.Array = jnp.ones(3, jnp.bool_)
    _step_count: jax.Array = jnp.int32(0)
    pile: jax.Array = jnp.int32(0)

    @property
    def env_id(self) -> Any:
        return "nim"


class Nim(core.Env):
    """Players take 1 to 3 from a pile in turn; the player who takes the last wins."""

    def __init__(self, pile):
        super().__init__()
        self.pile = pile

    def _init(self, key):
        player = jax.random.bernoulli(key).astype(jnp.int32)
        return self._at(NimState(current_player=player), jnp.int32(self.pile))

    def _step(self, state, action, key):
        pile = state.pile - action.astype(jnp.int32) - 1
        won = jnp.where(jnp.arange(2) == state.current_player, 1.0, -1.0)
        return self._at(
            state.replace(
                current_player=1 - state.current_player,
                rewards=jnp.where(pile == 0, won, 0.0),
                terminated=pile == 0,
            ),
            pile,
        )

    def _at(self, state, pile):
        return state.replace(pile=pile, legal_action_mask=jnp.arange(1, 4) <= pile)

    def _observe(self, state: Any, player_id):
        return state.pile[None].astype(jnp.float32)

    @property
    def id(self) -> Any:
        return "nim"

    @property
    def version(self):
        return "1"

    @property
    def num_players(self):
        return 2


@pytest.fixture(scope="module")
def nim():
    return jax.device_put(trees.enumerate_positions(Nim(10), 1000, None))


def test_a_nim_pile_that_is_a_multiple_of_four_is_lost(nim):
    pile = np.asarray(nim.obs)[:, 0].astype(int)
    values = minimax.values(jax.device_get(nim))
    to_mover = np.where(np.asarray(nim.first_to_move), values, -values)
    open_piles = ~np.asarray(nim.terminal)
    assert set(pile[open_piles]) == set(range(1, 11))
    expected = np.where(pile % 4 == 0, -1, 1)
    assert (to_mover[open_piles] == expected[open_piles]).all()


def test_the_proof_finds_the_winner_of_nim_and_a_losing_line(nim):
    pile = np.asarray(nim.obs)[:, 0].astype(int)[np.asarray(nim.decisions)]
    best = np.where(pile % 4 > 0, pile % 4 - 1, 0)  # leave a multiple of four
    probs = policies.deterministic(nim, jnp.asarray(best, jnp.int32))
    report = jax.jit(outcomes.seat_report)(nim, probs)
    assert report.first.worst_loss_rate == 0  # 10 is not a multiple of four
    assert report.second.worst_loss_rate == 1
    host, probs = jax.device_get((nim, probs))
    assert proof.losing_line(host, probs, "first") is None
    line = proof.losing_line(host, probs, "second")
    assert line is not None
    last = 0
    for action in line:
        last = host.successor[last, action]
    assert host.obs[last, 0] == 0
    assert host.outcome[last] == 1


def test_a_game_that_is_too_large_is_an_error():
    with pytest.raises(ValueError, match="nim has more than 20 positions"):
        trees.enumerate_positions(Nim(10), 20, None)


class Swapped(core.Env):
    """A game in which the first player has the other id."""

    def __init__(self, env):
        super().__init__()
        self.env = env

    def _init(self, key):
        state = self.env.init(key)
        return state.replace(current_player=1 - state.current_player)

    def _step(self, state, action, key):
        return self.env._step(state, action, key)

    def _observe(self, state, player_id):
        return self.env._observe(state, player_id)

    @property
    def id(self) -> Any:
        return self.env.id

    @property
    def version(self):
        return self.env.version

    @property
    def num_players(self):
        return self.env.num_players


def test_the_first_player_may_have_either_id(host_tree):
    """X wins in 626 positions and O in 316, whichever ids PGX gives them."""
    swapped = Swapped(pgx_games.make_env("tic_tac_toe"))
    tree = trees.enumerate_positions(swapped, 10_000, None)
    assert tree.env_state.current_player[0] != host_tree.env_state.current_player[0]
    for found in (tree, host_tree):
        assert [int((found.outcome == end).sum()) for end in (1, -1)] == [626, 316]
        assert found.first_to_move[:2].tolist() == [True, False]
