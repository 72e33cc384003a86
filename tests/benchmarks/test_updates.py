"""The operations of an update, counted by hand."""

from jax_ttt.benchmarks import (
    updates,
)
from jax_ttt.config.presets import PRESETS


def test_an_update_of_the_article_takes_301_million_operations():
    sizes = updates.layer_sizes(PRESETS["article"])
    assert sizes == [9, 128, 128, 9]
    # Forward, target's forward, weights' gradients: 3 x (1,152 + 16,384 + 1,152)
    # products per board; inputs' gradients except the first layer's: 16,384 + 1,152.
    assert 2 * 2048 * (3 * 18_688 + 17_536) == 301_465_600
    assert updates.update_flops(sizes, 2048) == 301_465_600
