"""The exchanges of programs: of texts written by hand, and of compiled updates."""

import numpy as np
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.runtime import named_arrays
from jax_ttt.simulation import collectives
from jax_ttt.simulation.collectives import Exchange, Link
from jax_ttt.training import programs
from jax_ttt.training.keys import run_key
from jax_ttt.training.programs import Programs

TEXT = """
HloModule jit_update, num_partitions=4
%wrapped (p: f32[16]) -> f32[4] {
  ROOT %scattered.1 = f32[4]{0} reduce-scatter(f32[16]{0} %p), dimensions={0}
}
ENTRY %main (a: f32[8,3], b: bf16[5]) -> f32[8,3] {
  %all-reduce.2 = (f32[8,3]{1,0:T(8,128)}, /*index=1*/bf16[5]{0}, s32[], pred[6]{0}) \
all-reduce(%a, %b, %c, %all-gather.9), replica_groups={{0,1,2,3}}, to_apply=%add
  %begun = (f32[2]{0}, f32[8]{0}) all-gather-start(%d), dimensions={0}
  %ended = f32[8]{0} all-gather-done(%begun)
  %swapped.1 = f8e4m3fn[4,2]{1,0} all-to-all(%e), dimensions={0}
  %passed = u32[3]{0} collective-permute(%f), source_target_pairs={{0,1}}
  %half = s4[3]{0} all-gather(%g), metadata={op_name="all-reduce(f32[9])"}
  ROOT %all-reduce.copy = f32[8,3]{1,0} copy(%sum), metadata={op_name="all-gather"}
}
"""
EXCHANGES = [
    Exchange("reduce-scatter", (16,)),
    Exchange("all-reduce", (96, 10, 4, 6)),
    Exchange("all-gather", (32,)),
    Exchange("all-to-all", (8,)),
    Exchange("collective-permute", (12,)),
    Exchange("all-gather", (2,)),
]
CONFIG = Config.of(
    num_envs=64, hidden_size=32, num_updates=6, eval_every=6, eval_games=0
)


def test_the_exchanges_of_a_text_have_the_bytes_of_their_results():
    assert collectives.exchanges(TEXT) == EXCHANGES


@pytest.mark.parametrize(
    ("kind", "sent", "steps"),
    [
        ("all-reduce", 150, 4),  # a quarter thrice, twice
        ("all-gather", 75, 2),  # its own quarter to three others
        ("reduce-scatter", 300, 2),  # of four times the result, all but its own
        ("all-to-all", 75, 3),
        ("collective-permute", 100, 1),
    ],
)
def test_four_devices_send_parts_of_a_hundred_bytes(kind, sent, steps):
    exchange = Exchange(kind, (60, 40))
    assert collectives.sent_bytes(exchange, 4) == sent
    assert collectives.num_steps(exchange, 4) == steps
    assert collectives.sent_bytes(exchange, 1) == 0
    assert collectives.num_steps(exchange, 1) == 0


def test_a_transfer_takes_the_time_of_its_bytes_and_its_steps():
    link = Link("a link", 1000.0, 0.25, 8)
    found = [Exchange("all-reduce", (60, 40)), Exchange("all-gather", (100,))]
    seconds = collectives.transfer_seconds(found, 4, link)
    assert seconds == pytest.approx((150 + 75) / 1000 + (4 + 2) * 0.25)
    assert collectives.transfer_seconds(found, 1, link) == 0
    assert collectives.transfer_seconds(found, 8, link) is not None
    assert collectives.transfer_seconds(found, 9, link) is None


@pytest.mark.parametrize(
    "size",
    [
        2,
        pytest.param(4, marks=pytest.mark.slow),
        pytest.param(8, marks=pytest.mark.slow),
    ],
)
def test_an_update_adds_up_the_gradient_of_each_parameter_once(size, spread):
    spread(size)
    hyper = programs.hyper_arrays(CONFIG)
    start, job = Programs(CONFIG).compile_training({1}, run_key(3), hyper, None)
    found = collectives.exchanges(job.compiled.result().as_text() or "")
    assert {exchange.kind for exchange in found} == {"all-reduce"}
    params = named_arrays.part(start.result, "params").values()
    gradient = [4 * int(np.prod(leaf.shape)) for leaf in params]
    summed = [n for exchange in found for n in exchange.num_bytes]
    counts = 4 * 4  # moves, games, wins and losses are added up together
    assert sorted(n for n in summed if n > counts) == sorted(gradient)
    assert set(summed) - {*gradient} == {4, counts}  # other metrics: a number each
