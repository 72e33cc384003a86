"""The output of `train` beside its bar and of the first move.

`tests/test_train.py` has the whole output of a run.
"""

import itertools

import made
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.files.metrics_rows import TrainingCounts
from jax_ttt.text import train_output


@pytest.mark.parametrize(
    ("env_id", "shape"), [("tic_tac_toe", (3, 3)), ("connect_four", (1, 7))]
)
def test_the_first_moves_values_stand_as_the_moves_do(env_id, shape):
    """On the board's cells, or in a row of columns."""
    config = Config.of(env_id=env_id, hidden_size=8)
    lines = train_output.start_values(config, tiny.untrained(config).params)
    assert lines[0].startswith("  Q(start) ")
    numbers = [line[11:].split() for line in lines]
    assert (len(numbers), *{len(row) for row in numbers}) == shape
    assert all(-1 <= float(value) <= 1 for row in numbers for value in row)


def test_the_bars_text_keeps_its_width_and_rates_training_alone():
    """The seconds of a run exclude compilation and evaluation."""
    texts = [
        train_output.bar_text(1800, made.progress(update, seconds), 0.01234)
        for update, seconds in ((50, 0.5), (900, 1.0), (1800, 1.5))
    ]
    assert texts[1] == "  900 of 1,800 updates      900/s  00:01 left  loss 0.0123"
    assert [text.split()[4] for text in texts] == ["100/s", "900/s", "1,200/s"]
    assert {len(text) for text in texts} == {len(texts[0])}


def test_shares_are_those_of_the_games_since_the_last_evaluation():
    counts = [
        TrainingCounts(
            **made.COUNTS
            | {"update": 1, "games": games, "wins": wins, "losses": losses}
        )
        for games, wins, losses in ((0, 0, 0), (10, 5, 4), (10, 5, 4), (30, 10, 20))
    ]
    shares = [
        train_output.shares_since(before, after)
        for before, after in itertools.pairwise(counts)
    ]
    assert shares == [(0.5, 0.4), None, pytest.approx((0.25, 0.8))]
