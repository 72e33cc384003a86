"""Grades over all positions that a player reaches: seats, limits, refusals."""

import dataclasses
import types

import jax
import numpy as np
import pytest
import rule_player
import small_boards
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.tree_util import Partial

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.settings import Config
from jax_ttt.grading import search_grade
from jax_ttt.networks import q_network
from jax_ttt.players.player import Player, random_player
from jax_ttt.players.saved_agents import network_from, steady_player

ENV = "connect_4x4"
RULE = Player(env_id=ENV, name="rule", choose=rule_player.RULE, evidence="construction")


def grade_by_seat(player=RULE, most=10**9, **options):
    """Return the grades of a search by seat."""
    results = search_grade.search_by_seat(player, most, **options)
    return {seat: result.grade for seat, result in results.items()}


@pytest.fixture(scope="module")
def grades():
    """Return the grades of the rule player."""
    return grade_by_seat()


def test_both_seats_are_graded(grades):
    """The counts are those of test_reached_positions.py."""
    assert list(grades) == list(SEATS)
    counts = [(grade.num_positions, grade.losing_ends) for grade in grades.values()]
    assert counts == [(1086, 26), (2093, 17)]
    for grade in grades.values():
        assert not grade.merged  # it does not play the same on mirror images
        assert grade.complete
        assert grade.is_exact
        assert grade.unbeatable is False
        assert grade.worst_loss_rate == 1
        assert grade.open_rate == 0
        assert sum(grade.rates) == pytest.approx(1, abs=1e-12)
        assert grade.num_moves == len(grade.positions) == 16
        assert grade.losing_choices > 10


@pytest.mark.slow
@pytest.mark.parametrize("env_id", [ENV, "mnk_4x4_4"])
def test_an_agent_whose_moves_are_all_equal_is_searched_with_merged_images(env_id):
    """The second game has eight views. Rates and lines are those of all boards."""
    config = Config.of(env_id=env_id, hidden_size=4)
    network = network_from(config.architecture)
    shapes = q_network.param_shapes(network)
    params = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
    choose = steady_player(network, params)
    player = Player(
        env_id=env_id,
        name="flat",
        choose=choose,
        evidence="construction",
        seats=("second",),
    )
    merged = grade_by_seat(player)["second"]
    apart = rule_player.reached(env_id, choose, "second", batch=2**13)
    assert merged.merged
    assert merged.num_positions is not None
    assert merged.lines is not None
    assert merged.num_positions < 0.6 * apart.num_positions
    counts = dataclasses.astuple(merged.lines)
    for rate, lines, end in zip(merged.rates, counts, apart.ends, strict=True):
        assert rate == pytest.approx(end.chance, abs=1e-12)
        assert lines == end.lines


def test_a_player_that_never_loses_is_proven_in_its_learned_seat():
    player = dataclasses.replace(
        RULE, name="perfect", choose=small_boards.perfect(), seats=("first",)
    )
    grades = grade_by_seat(player)
    assert list(grades) == ["first"]
    assert grades["first"].unbeatable
    assert grades["first"].losing_ends == grades["first"].losing_choices == 0
    assert grades["first"].losing_line is None
    assert grades["first"].worst_loss_rate == 0


@pytest.mark.parametrize("most", [10, 100, 500])
def test_the_rates_are_inside_the_bounds_of_a_search_that_was_cut(most, grades):
    for seat, cut in grade_by_seat(most=most).items():
        assert not cut.complete
        # Nothing is known of the worst case until a losing line is found.
        assert (cut.beaten, cut.worst_loss_rate) == (False, None)
        assert cut.low == cut.rates
        for low, exact, high in zip(cut.low, grades[seat].rates, cut.high, strict=True):
            assert low <= exact <= high
            assert high - low == pytest.approx(min(cut.open_rate or 0, 1 - low))


def interrupted(is_time):
    """Return the grades of a search that Ctrl-C ends."""

    def on_batch(reached, level, done):
        if is_time(reached, level):
            raise KeyboardInterrupt

    grades = grade_by_seat(on_batch=on_batch)
    assert list(grades) == ["first"]
    return grades["first"]


def test_ctrl_c_leaves_the_levels_until_then(grades):
    cut = interrupted(lambda reached, level: level == 9)
    assert (cut.num_moves, cut.complete) == (9, False)
    assert cut.open_rate
    # While the losing lines are marked, all but their number is known.
    late = interrupted(lambda reached, level: level < reached.num_expanded)
    assert late == dataclasses.replace(grades["first"], losing_choices=None)


def test_a_search_that_has_not_begun_proves_nothing():
    grade = interrupted(lambda reached, level: True)
    assert (grade.open_rate, grade.num_moves, grade.unbeatable) == (1, 0, None)
    assert grade.worst_loss_rate is None
    assert grade.rates == grade.low == (0, 0, 0)
    assert grade.high == (1, 1, 1)


def use_platform(name, monkeypatch):
    device = types.SimpleNamespace(platform=name)
    monkeypatch.setattr(search_grade.devices, "current_device", lambda: device)


@pytest.mark.parametrize(
    ("platform", "batch", "over_five"), [("cpu", 2**13, 8240), ("gpu", 2**17, 131120)]
)
def test_an_accelerator_has_larger_batches(platform, batch, over_five, monkeypatch):
    use_platform(platform, monkeypatch)
    mesh = Mesh(np.array(jax.devices()[:5]), ("devices",))
    split = NamedSharding(mesh, PartitionSpec("devices"))
    for sharding, expected in ((None, batch), (split, over_five)):
        searched = search_grade.searched_player(RULE, "second", sharding)
        assert searched.batch == expected


def test_the_weights_are_put_on_the_devices_once():
    """The arrays of a player may be on the host: then each batch would send them."""
    on_host = dataclasses.replace(
        RULE, choose=Partial(lambda table, key, state: table, np.arange(3.0))
    )
    (table,) = jax.tree.leaves(search_grade.searched_player(on_host, "first").choose)
    assert isinstance(table, jax.Array)
    mesh = Mesh(np.array(jax.devices()[:2]), ("devices",))
    split = NamedSharding(mesh, PartitionSpec("devices"))
    searched = search_grade.searched_player(on_host, "first", split)
    (table,) = jax.tree.leaves(searched.choose)
    assert table.sharding == NamedSharding(mesh, PartitionSpec())
    np.testing.assert_array_equal(table, np.arange(3.0))


def test_players_that_can_not_be_searched_are_refused():
    random = Player(env_id=ENV, name="random", choose=random_player)
    with pytest.raises(Refused, match="random does not play one move in each pos"):
        grade_by_seat(random)
    column_0 = Partial(lambda key, state: state.current_player * 0)
    cheat = dataclasses.replace(RULE, name="cheat", choose=column_0)
    with pytest.raises(Refused, match="cheat: the player plays 0, which is not"):
        grade_by_seat(cheat)
    othello = dataclasses.replace(RULE, env_id="othello")
    reason = search_grade.reason_not_searchable(othello)
    assert reason == "othello is too large, without a limit by max_positions"
    assert not search_grade.reason_not_searchable(othello, has_limit=True)


def test_the_memory_limits_the_positions(monkeypatch):
    """Those of hex are longer than a number of eight bytes."""
    monkeypatch.setattr(search_grade.devices, "free_host_bytes", lambda: 2**30)
    assert search_grade.most_positions(ENV) == 2**29 // 40
    assert 10**5 < search_grade.most_positions("hex") < 2**29 // 400
    monkeypatch.setattr(search_grade.devices, "free_host_bytes", lambda: None)
    assert 10**7 < search_grade.most_positions(ENV) < 10**8
    monkeypatch.setattr(
        search_grade.merged_positions, "free_disk_bytes", lambda: 12_000_000
    )
    assert search_grade.most_positions(ENV) == 10**6
