"""Moves whose values differ by rounding only count as played in a proof by a search."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import made
import numpy as np
import pytest
import small_boards
import tiny
from flax import nnx
from jax.tree_util import Partial
from rounded_agents import as_floats, rounding_decides
from small_boards import ENV_ID

from jax_ttt.config.errors import Refused
from jax_ttt.config.grade import Lines, SeatGrade
from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.games import pgx_games, position_keys, stone_boards
from jax_ttt.games.played_game import Game, choose_moves
from jax_ttt.grading import grader, search_grade
from jax_ttt.networks import q_network
from jax_ttt.players import registry, saved_agents
from jax_ttt.players.player import Player
from jax_ttt.players.registry import read_player_name
from jax_ttt.players.saved_agents import near_best_moves
from jax_ttt.solver.corrections import Corrections
from jax_ttt.text import grade_text

EMPTY = Game.start(ENV_ID).state


def marked(values_fn, weights):
    """Return the near-best moves on the empty board."""
    params = nnx.State({"weights": jnp.asarray(weights, jnp.float32)})

    def values_of(params, env_state):
        return values_fn(params["weights"], env_state)

    return np.asarray(near_best_moves(values_of, params, EMPTY))[0].tolist()


@pytest.mark.parametrize("gap", [0, 1e-7, 3e-6, 5e-6, 1e-3])
def test_values_that_differ_by_less_than_the_margin_are_near(gap):
    near = [False, True, gap < 2**-18, False]
    assert marked(lambda values, _: values[None], [-0.5, 0.25, 0.25 - gap, 0]) == near


@pytest.mark.parametrize("limit", [-1.0, 0.0, 1.0], ids=["open", "at 0", "shut"])
def test_a_value_that_the_last_bits_of_large_weights_decide_is_near(limit):
    """Its unit may be shut: the change shows only in one direction."""

    def values_fn(weights, _):
        unit = jnp.maximum(weights[:4].sum() - limit * 1e-4, 0)
        return jnp.tanh(jnp.stack([1e4 * unit, *weights[4:]]))[None]

    numbers = [1000, 0.7, -1000, -0.7]
    near = marked(values_fn, [*numbers, 0.4, 0.2, 0.0])
    assert near[:2] == [True, True]
    assert marked(values_fn, [0, 0, 0, -1, 0.4, 0.2, 0.0]) == [
        False,
        True,
        False,
        False,
    ]


def only_chosen(choose, env_state):
    action = choose(jax.random.key(0), env_state)
    return jax.nn.one_hot(action, 4, dtype=bool)


def any_on_one_board(choose, key, env_state):
    """Mark all legal moves on the board with this key."""
    keys = position_keys.pack(ENV_ID, position_keys.stones_of(env_state))
    is_here = (keys == key).all(axis=-1, keepdims=True)
    every = env_state.legal_action_mask
    return jnp.where(is_here, every, only_chosen(choose, env_state))


@pytest.fixture(scope="module")
def perfect():
    return Player(
        env_id=ENV_ID,
        name="perfect",
        choose=small_boards.perfect(),
        evidence="construction",
    )


def graded(player, near_best) -> Any:
    return grader.follow_lines(dataclasses.replace(player, near_best=near_best))


def test_a_line_with_a_near_best_move_takes_the_proof_of_its_seat(perfect):
    alone = graded(perfect, None)
    assert alone.unbeatable
    assert graded(perfect, Partial(only_chosen, perfect.choose)) == alone
    game = Game.start(ENV_ID, [1])
    key = position_keys.keys_of(ENV_ID, game.state)
    near_best = Partial(any_on_one_board, perfect.choose, jnp.asarray(key))
    grade = graded(perfect, near_best)
    assert grade.first == alone.first, "it never comes to that board"
    assert (grade.second.unbeatable, grade.second.proven) == (None, None)
    assert grade.unbeatable is None
    line = grade.second.near_loss
    assert line[0] == 1
    assert Game.start(ENV_ID, line).result("second") == "lost"
    changed = {"beaten": False, "near_loss": None, "worst_loss_rate": 0.0}
    assert dataclasses.replace(grade.second, **changed) == alone.second
    verdict = grade_text.verdict(grade)
    moves = " ".join(f"{'XO'[i % 2]}{move + 1}" for i, move in enumerate(line))
    assert verdict.endswith(f"with such a move it loses the game {moves}")
    assert "unbeatable" not in verdict
    assert "\n" not in verdict
    assert "not decided" in grade_text.rates_table(grade)


def test_a_search_of_near_best_moves_that_ends_early_proves_nothing(perfect):
    near_best = Partial(lambda env_state: env_state.legal_action_mask)
    player = dataclasses.replace(perfect, near_best=near_best, seats=("first",))
    most = graded(perfect, None).first.num_positions
    grade = search_grade.search_by_seat(player, most)["first"].grade
    assert (grade.complete, grade.losing_ends, grade.unbeatable) == (True, 0, None)


def test_wins_that_rounding_decides_are_not_proven():
    won = Lines(won=3, drawn=0, lost=0)
    known = {**vars(made.rates(1.0, evidence="construction")), "complete": True}
    known |= {"beaten": False, "lines": won}
    assert SeatGrade(**known).proven == "win"
    assert SeatGrade(**known, wins_all=False).proven == "not-lose"


def flat_agent(**fields) -> Any:
    """Return an agent whose values are all equal."""
    config = Config.of(env_id=ENV_ID, hidden_size=4, **fields)
    shapes = q_network.param_shapes(saved_agents.network_from(config.architecture))
    zeros = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
    return tiny.ungraded(config, zeros)


@jax.jit
def near_moves(near_best, env_state):
    return near_best(env_state)[0]


def test_a_told_move_has_no_near_ones():
    agent = flat_agent()
    assert near_moves(agent.near_best, EMPTY).all()
    words = np.asarray(position_keys.keys_of(ENV_ID, EMPTY))
    key = position_keys.keys_to_numbers(words)
    corrections = Corrections(key, np.array([2], np.uint8))
    told: Any = dataclasses.replace(agent, corrections=corrections)
    assert np.flatnonzero(near_moves(told.near_best, EMPTY)).tolist() == [2]
    assert near_moves(told.near_best, Game.start(ENV_ID, [0]).state).all()


def test_a_network_of_integers_and_an_enumerable_game_have_none():
    agent = flat_agent(two_planes=True)
    boards = np.asarray(EMPTY.observation)
    params = q_network.to_integers(agent.network, agent.params, boards)
    assert dataclasses.replace(agent, params=params).near_best is None
    assert tiny.untrained(tiny.CONFIG).near_best is None


def test_weights_whose_sums_may_overflow_on_one_board_are_refused():
    agent = tiny.untrained(Config.of(env_id=ENV_ID, hidden_size=4))
    assert registry.agent_player("good", agent).policy is None
    *others, last = jax.tree.leaves(agent.params)
    huge = last * np.float32(1e38)
    params = jax.tree.unflatten(jax.tree.structure(agent.params), [*others, huge])
    forged = dataclasses.replace(agent, params=params)
    with pytest.raises(Refused, match=r"bad: .* not finite") as refused:
        registry.agent_player("bad", forged)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_what_rounding_decides_in_a_good_agent_is_not_proven():
    """It is proven, until it has units that see one board, where its move varies."""
    env_id = "connect_5x4"
    path = read_player_name("shipped:connect-5x4").path
    agent = as_floats(saved_agents.load_agent(path))
    assert grader.follow_lines(registry.agent_player("good", agent)).unbeatable
    game = Game.start(env_id, [1])
    obs = np.asarray(game.state.observation)
    views = pgx_games.symmetric_views(env_id)
    assert views is not None
    least = stone_boards.least_views(stone_boards.cells(obs), views)
    canonical = stone_boards.to_canonical(obs, views, least)
    (planes,) = np.asarray(canonical, np.float32).reshape(1, -1)
    places = greedy_player.action_places(env_id, game.state.observation)[0]
    losing = 0
    for seed in range(20):
        forged = rounding_decides(agent, planes, int(places[losing]), seed)
        player = registry.agent_player("forged", forged)
        alone = int(choose_moves(player.choose, jax.random.key(0), game.state)[0])
        player = dataclasses.replace(player, seats=("second",))
        if alone != losing or not graded(player, None).unbeatable:
            continue
        assert grader.follow_lines(player).unbeatable is None
        return
    pytest.skip("this machine rounds alike for any number of boards")
