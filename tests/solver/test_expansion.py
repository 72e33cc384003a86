"""Moves in many positions: batches, and batches over several devices."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from rule_player import RULE, reached

from jax_ttt.config.catalogue import SEATS
from jax_ttt.solver import expansion
from jax_ttt.solver.expansion import Subject

ENV = "connect_4x4"


def test_the_player_moves_in_every_second_level():
    for seat, levels in zip(SEATS, ([0, 2, 4], [1, 3, 5]), strict=True):
        subject = Subject(env_id=ENV, player=RULE, seat=seat, merged=False, batch=16)
        assert [n for n in range(6) if subject.is_own(n)] == levels


@pytest.mark.slow
@pytest.mark.parametrize("batch", [320, 1024])
def test_the_size_of_a_batch_does_not_matter(batch):
    usual = reached(ENV, RULE, "first")
    other = reached(ENV, RULE, "first", batch=batch)
    assert list(map(len, other.keys)) == list(map(len, usual.keys))
    for end, wanted in zip(other.ends, usual.ends, strict=True):
        assert (end.moves, end.lines) == (wanted.moves, wanted.lines)
        assert end.chance == pytest.approx(wanted.chance, abs=1e-14)


def test_the_last_batch_is_filled_and_cut():
    subject = Subject(env_id=ENV, player=RULE, seat="first", merged=False, batch=64)
    numbers = reached(ENV, RULE, "first").keys[7][:10]  # a small level: batches of 4
    rows, moves = zip(*expansion.all_moves(subject, numbers), strict=True)
    assert [(x.start, x.stop) for x in rows] == [(0, 4), (4, 8), (8, 10)]
    assert [len(x.result) for x in moves] == [4, 4, 2]


@pytest.mark.parametrize(
    "seat", ["first", pytest.param("second", marks=pytest.mark.slow)]
)
def test_eight_devices_find_the_same(seat):
    mesh = Mesh(np.array(jax.devices()[:8]), ("devices",))
    over_all = NamedSharding(mesh, PartitionSpec("devices"))
    usual = reached(ENV, RULE, seat)
    split = reached(ENV, RULE, seat, sharding=over_all)
    assert split.losing_line == usual.losing_line
    for keys, wanted in zip(split.keys, usual.keys, strict=True):
        np.testing.assert_array_equal(keys, wanted)
    assert split.ends == usual.ends
