"""Searches whose device merges equal positions find what other searches find."""

import dataclasses

import jax
import numpy as np
import pytest
import rule_player
import tiny
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.tree_util import Partial

from jax_ttt.config.game_facts import SEATS
from jax_ttt.config.settings import Config
from jax_ttt.games import position_keys
from jax_ttt.games import tree as trees
from jax_ttt.players import network_player
from jax_ttt.solver import (
    find_corrections,
    losing_lines,
    merged_positions,
    reached_positions,
    successors,
)
from jax_ttt.solver.reached_positions import Reach
from jax_ttt.solver.successors import DRAWN, OPEN, SearchedPlayer

BATCH = 128
"""Small, so that most levels have several batches: of 8 positions, or of 128."""
CASES = [
    ("tic_tac_toe", False),
    ("connect_4x4", True),
    pytest.param("connect_4x4", False, marks=pytest.mark.slow),
]
"""Games, and whether a board and its mirror image are one position."""


def agent_of(env_id, is_canonical):
    config = Config.of(env_id=env_id, hidden_size=8, canonical=is_canonical)
    return tiny.untrained(config)


def both_ways(env_id, seat, is_merged, **options):
    """Return an untrained agent in a seat, searched on the host and on the device."""
    agent = agent_of(env_id, is_merged)
    player = SearchedPlayer(
        env_id=env_id,
        choose=agent.player,
        seat=seat,
        merge_symmetric=is_merged,
        batch=BATCH,
        **options,
    )
    return player, dataclasses.replace(player, merges_on_device=True)


def search(player, most=10**9):
    reach = Reach(player)
    reached_positions.follow_all_lines(reach, most)
    return reach


def assert_equal(reach, other):
    """All but the chances is equal; they are sums in another order."""
    assert len(reach.keys) == len(other.keys)
    assert all(map(np.array_equal, reach.keys, other.keys))
    for name in ("num_expanded", "num_drawn", "losing_line", "is_complete"):
        assert getattr(reach, name) == getattr(other, name)
    assert reach.open_chance == pytest.approx(other.open_chance, abs=1e-14)
    for end, other_end in zip(reach.ends, other.ends, strict=True):
        assert (end.moves, end.lines) == (other_end.moves, other_end.lines)
        assert end.chance == pytest.approx(other_end.chance, abs=1e-14)


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(("env_id", "is_merged"), CASES)
def test_both_searches_are_equal(env_id, seat, is_merged):
    """And so are the losing lines, the choices on them, and the samples."""
    on_host, on_device = both_ways(env_id, seat, is_merged)
    reach, other = search(on_host), search(on_device)
    assert max(map(len, reach.keys)) > 4 * BATCH // 16
    assert_equal(reach, other)
    assert reach.ends.lost.moves
    for lines in (losing_lines.mark_losing_lines, losing_lines.losing_choices):
        results = lines(on_host, reach.keys), lines(on_device, reach.keys)
        assert all(map(np.array_equal, *results))
        assert any(len(x) for x in results[0])
    samples = [
        losing_lines.sample_levels(
            player=player,
            level=1,
            keys=reach.keys[1],
            num_positions=40,
            rng=np.random.default_rng(0),
        )
        for player in (on_host, on_device)
    ]
    assert len(samples[0]) == len(samples[1]) == len(reach.keys) - 1
    assert all(map(np.array_equal, *samples))


def test_both_searches_end_at_a_limit():
    on_host, on_device = both_ways("connect_4x4", "first", True)
    reach, other = search(on_host, 300), search(on_device, 300)
    assert not reach.is_complete
    assert reach.open_chance > 0
    assert_equal(reach, other)


@pytest.mark.slow
def test_both_searches_are_equal_over_several_devices():
    """A sixteenth of a batch has a multiple of five positions, not one of 16."""
    num_devices = 5
    mesh = Mesh(np.array(jax.devices()[:num_devices]), ("devices",))
    split = NamedSharding(mesh, PartitionSpec("devices"))
    on_host, on_device = both_ways("connect_4x4", "second", True)
    over_devices = dataclasses.replace(
        on_device,
        sharding=split,
        batch=-(-BATCH // (16 * num_devices)) * 16 * num_devices,
    )
    assert_equal(search(on_host), search(over_devices))


def test_both_searches_find_the_same_corrections():
    """Exact play judges late moves only, so there are refused positions as well."""
    env_id = "tic_tac_toe"
    agent = agent_of(env_id, False)
    tree = trees.host_tree(env_id)
    assert tree is not None
    exact = find_corrections.TreePlay(env_id, tree, "not-lose")
    exact.first_level = 5
    found = [
        find_corrections.find_corrections(
            player=player,
            order_fn=Partial(
                network_player.ordered_actions, agent.network, agent.params
            ),
            exact=exact,
            goal="not-lose",
        )
        for player in both_ways(env_id, "first", False)
    ]
    assert found[0].num_restarts == found[1].num_restarts > 0
    assert found[0].levels == found[1].levels
    assert found[0].num_corrections
    assert all(map(np.array_equal, found[0].corrections(), found[1].corrections()))


def test_an_illegal_move_is_refused():
    column_0 = Partial(lambda key, state: state.current_player * 0)
    with pytest.raises(reached_positions.IllegalMoveError, match="plays 0, which"):
        rule_player.reached(
            "connect_4x4", column_0, "first", batch=BATCH, merges_on_device=True
        )


def test_the_device_sends_each_position_once():
    """Some of the parts of its keys stay there: the host does without them."""
    on_host, _ = both_ways("connect_4x4", "first", True)
    keys = search(on_host).keys[9]
    ((_, moves),) = successors.expand_all_moves(on_host, keys)
    has_position = (moves.result == OPEN) | (moves.result == DRAWN)
    all_keys = moves.keys[moves.place]
    words = position_keys.numbers_to_keys(np.resize(keys, BATCH))
    after = successors.after_all_moves("connect_4x4", words, merge_symmetric=True)
    merged = successors.merge_keys(after)
    different = np.unique(all_keys[has_position])
    assert len(different) < 0.9 * has_position.sum()
    # All moves that end the game have one key.
    num_parts = -(-(1 + len(different)) // len(merged.parts[0]))
    assert num_parts < len(merged.parts)
    for part in merged.parts[num_parts:]:
        part.delete()
    sent = successors.fetch_moves((after, merged), len(keys))
    np.testing.assert_array_equal(sent.keys, [0, *different])
    np.testing.assert_array_equal(
        sent.keys[sent.place][has_position], all_keys[has_position]
    )
    np.testing.assert_array_equal(sent.keys_after(has_position), different)


@pytest.mark.parametrize("num_rows", [0, 1, 500])
def test_rows_with_places_are_merged_like_others(num_rows):
    """Some keys have no row. Sums of lines need all 64 bits."""
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(0, 2**60, 200, "u8"))
    place = rng.integers(0, len(keys), num_rows, "i4")
    columns = {
        "chance": rng.random(num_rows),
        "lines": rng.integers(0, 2**58, num_rows, "u8"),
        "parent": rng.integers(0, 2**32, num_rows, "u4"),
    }
    merged = merged_positions.merge_at_places(keys=keys, place=place, **columns)
    expected = merged_positions.merge_rows(
        merged_positions.PositionLevel(keys=keys[place], **columns)
    )
    np.testing.assert_allclose(merged.chance, expected.chance, rtol=1e-14)
    for name in ("keys", "lines", "parent"):
        column, values = getattr(merged, name), getattr(expected, name)
        np.testing.assert_array_equal(column, values)
        assert column.dtype == values.dtype
