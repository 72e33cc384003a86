"""Grades over all positions that a player reaches: seats, limits, refusals."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rule_player
import small_boards
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.tree_util import Partial

from jax_ttt.config.errors import PlayerError
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games
from jax_ttt.grading import match as matches
from jax_ttt.grading import search
from jax_ttt.grading.grade import wilson_interval
from jax_ttt.networks import q_network
from jax_ttt.players import basic
from jax_ttt.players.network_player import greedy_player, network_of
from jax_ttt.players.player import Player
from jax_ttt.solver import reach
from jax_ttt.solver.reach import Reach
from jax_ttt.solver.successors import SearchedPlayer

ENV = "connect_4x4"
HUGE = 10**9


def grade_by_seat(*arguments):
    """Return the grades of a search by seat."""
    results = search.search_by_seat(*arguments)
    return {seat: searched.grade for seat, searched in results.items()}


@pytest.fixture(scope="module")
def entrant():
    """Return the rule player."""
    return Player(
        env_id=ENV, name="rule", choose=rule_player.RULE, is_deterministic=True
    )


@pytest.fixture(scope="module")
def grades(entrant):
    """Return its grades."""
    return grade_by_seat(entrant, HUGE)


@pytest.mark.slow
def test_both_seats_are_graded(grades):
    """The counts are those of test_reach.py."""
    assert list(grades) == list(SEATS)
    first, second = grades.values()
    assert (first.num_positions, first.losing_ends) == (1086, 26)
    assert (second.num_positions, second.losing_ends) == (2093, 17)
    for found in (first, second):
        assert not found.merged  # it does not play the same on mirror images
        assert found.complete
        assert found.is_exact
        assert found.unbeatable is False
        assert found.worst_loss_rate == 1
        assert found.open_rate == 0
        assert sum(rate.value for rate in found.rates) == pytest.approx(1, abs=1e-12)
        assert found.num_moves == len(found.positions) == 16
        assert found.losing_choices > 10


@pytest.mark.parametrize(
    "env_id", [ENV, pytest.param("mnk_4x4_4", marks=pytest.mark.slow)]
)
def test_an_agent_whose_moves_are_all_equal_is_searched_with_merged_images(env_id):
    """The second game has eight views. Rates and lines are those of all boards."""
    config = Config.of(env_id=env_id, hidden_size=4)
    network = network_of(config.architecture)
    params = q_network.init_params(network, jax.random.key(0))
    player = greedy_player(network, jax.tree.map(jnp.zeros_like, params))
    entrant = Player(
        env_id=env_id,
        name="flat",
        choose=player,
        is_deterministic=True,
        seats=("second",),
    )
    merged = grade_by_seat(entrant, HUGE)["second"]
    subject = SearchedPlayer(
        env_id=env_id, choose=player, seat="second", merge_symmetric=False, batch=2**12
    )
    apart = Reach(subject)
    reach.follow_all_lines(apart, HUGE)
    assert merged.merged
    assert merged.num_positions is not None
    assert merged.num_positions < 0.6 * apart.num_positions
    assert merged.lines is not None
    counts = dataclasses.astuple(merged.lines)
    for rate, lines, end in zip(merged.rates, counts, apart.ends, strict=True):
        assert rate.value == pytest.approx(end.chance, abs=1e-12)
        assert lines == end.lines


def test_a_player_that_never_loses_has_no_choice_on_a_losing_line():
    player = small_boards.perfect()
    perfect = Player(
        env_id=ENV,
        name="perfect",
        choose=player,
        is_deterministic=True,
        seats=("first",),
    )
    found = grade_by_seat(perfect, HUGE)["first"]
    assert found.unbeatable
    assert (found.losing_ends, found.losing_choices) == (0, 0)
    assert found.losing_line is None


def test_only_the_learned_seat_is_graded(entrant):
    learned = dataclasses.replace(entrant, seats=("second",))
    assert list(grade_by_seat(learned, 100)) == ["second"]


@pytest.mark.parametrize("most", [10, 100, 500])
def test_the_rates_are_inside_the_bounds_of_a_search_that_was_cut(
    most, entrant, grades
):
    for seat, cut in grade_by_seat(entrant, most).items():
        assert not cut.complete
        assert cut.open_rate
        for (value, low, high), exact in zip(
            cut.rates, grades[seat].rates, strict=True
        ):
            assert value == low <= exact.value <= high
            assert high - low == pytest.approx(min(cut.open_rate, 1 - low))
            assert exact.low == exact.value == exact.high


def test_ctrl_c_leaves_what_is_known(entrant):
    def interrupt(found, level, done):
        if level == 9:
            raise KeyboardInterrupt

    found = grade_by_seat(entrant, HUGE, None, interrupt)
    assert list(found) == ["first"]
    assert found["first"].num_moves == 9
    assert not found["first"].complete
    assert found["first"].open_rate


def test_ctrl_c_while_losing_lines_are_searched_leaves_the_rest(entrant, grades):
    def interrupt(found, level, done):
        if level < found.num_expanded:
            raise KeyboardInterrupt

    found = grade_by_seat(entrant, HUGE, None, interrupt)
    assert found == {"first": dataclasses.replace(grades["first"], losing_choices=None)}


def test_ctrl_c_at_the_first_move_claims_nothing(entrant):
    def interrupt(found, level, done):
        raise KeyboardInterrupt

    found = grade_by_seat(entrant, HUGE, None, interrupt)["first"]
    assert (found.open_rate, found.num_moves) == (1, 0)
    assert found.unbeatable is None
    assert found.rates == ((0, 0, 1),) * 3


@pytest.mark.slow
def test_the_batch_fits_the_devices(entrant, grades):
    mesh = Mesh(np.array(jax.devices()[:5]), ("devices",))
    over_five = NamedSharding(mesh, PartitionSpec("devices"))
    found = grade_by_seat(entrant, HUGE, over_five)
    assert found == grades


def test_a_player_with_chance_is_refused():
    lots = Player(env_id=ENV, name="random", choose=basic.random_player)
    said = r"^random does not play one move in each position"
    with pytest.raises(PlayerError, match=said):
        grade_by_seat(lots, HUGE)


def test_a_game_without_keys_is_refused(entrant):
    assert "positions of othello have no keys" in search.reason_not_searchable(
        dataclasses.replace(entrant, env_id="othello")
    )
    assert not search.reason_not_searchable(
        dataclasses.replace(entrant, env_id="connect_four")
    )


def test_an_illegal_move_is_refused():
    column_0 = Partial(lambda key, state: state.current_player * 0)
    cheat = Player(env_id=ENV, name="cheat", choose=column_0, is_deterministic=True)
    with pytest.raises(PlayerError, match="cheat: the player plays 0, which is not"):
        grade_by_seat(cheat, HUGE)


def test_the_memory_limits_the_positions(monkeypatch):
    monkeypatch.setattr(search.devices, "free_host_bytes", lambda: 2**30)
    assert search.most_positions() == 2**29 // 40
    monkeypatch.setattr(search.devices, "free_host_bytes", lambda: None)
    assert 10**7 < search.most_positions() < 10**8
    monkeypatch.setattr(search.position_levels, "free_disk_bytes", lambda: 12_000_000)
    assert search.most_positions() == 10**6


def noisy(weights, key, env_state):
    """Play a fixed move that looks random: it depends on the board alone."""
    del key
    board = env_state.observation.reshape(-1, 40).astype(np.float32)
    score = jax.numpy.sin(50 * board @ weights)
    legal = env_state.legal_action_mask
    return jax.numpy.where(legal, score, -2).argmax(axis=1).astype(np.int32)


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("seed", range(2))
def test_exact_rates_are_inside_the_intervals_of_20000_games(seed):
    env_id = "connect_5x4"
    env = pgx_games.make_env(env_id)
    weights = np.random.default_rng(seed).normal(size=(2 * 20, 5)).astype(np.float32)
    entrant = Player(
        env_id=env_id,
        name="noisy",
        choose=Partial(noisy, weights),
        is_deterministic=True,
    )
    exact = grade_by_seat(entrant, HUGE)
    pair = entrant.choose, basic.random_player
    match = matches.play_match(env, jax.random.key(seed), *pair, 20_000)
    for seat, counts in zip(SEATS, match, strict=True):
        games = sum(map(int, counts))
        for rate, count in zip(exact[seat].rates, counts, strict=True):
            low, high = wilson_interval(int(count), games, z=3.29)  # 99.9 %
            assert low <= rate.value <= high


def test_a_search_that_has_not_begun_proves_nothing(entrant):
    subject = SearchedPlayer(
        env_id=ENV, choose=entrant.choose, seat="first", merge_symmetric=False, batch=16
    )
    assert search.seat_grade(Reach(subject)).unbeatable is None
