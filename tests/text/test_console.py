"""What `train` prints before a run, beside its bar, and of the first move."""

import io
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import made
import pytest
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.files.checkpoint import Plan
from jax_ttt.text import console


@pytest.mark.parametrize("opponent", ["self", "random"])
def test_the_banner_names_the_game_and_the_sizes(opponent):
    config = Config.of(opponent=opponent, num_updates=1500, num_envs=1)
    plan = Plan(config=config, preset="plain", seed=7)
    text = console.banner(plan, "cpu (cpu)", Path("runs/one"))
    for part in ("tic_tac_toe", "preset plain", "seed 7", "cpu (cpu)", "runs/one"):
        assert part in text
    assert "1,500 updates of 1 game at once" in text
    assert ("random" in text) == (opponent == "random")


@pytest.mark.parametrize(
    ("env_id", "shape"), [("tic_tac_toe", (3, 3)), ("connect_four", (1, 7))]
)
def test_the_first_moves_values_stand_as_the_moves_do(env_id, shape):
    """On the board's cells, or in a row of columns."""
    config = Config.of(env_id=env_id, hidden_size=8)
    params = tiny.untrained(config).params
    lines = console.start_values(config, params)
    assert lines[0].startswith("  Q(start) ")
    numbers = [line[11:].split() for line in lines]
    assert (len(numbers), *{len(row) for row in numbers}) == shape
    assert all(-1 <= float(value) <= 1 for row in numbers for value in row)


def test_the_bars_text_keeps_its_width_and_rates_training_alone():
    """The seconds of a run exclude compiling and evaluating."""
    texts = [
        console.bar_text(1800, made.progress(update, seconds), 0.01234)
        for update, seconds in ((50, 0.5), (900, 1.0), (1800, 1.5))
    ]
    assert texts[1] == ("  900 of 1,800 updates      900/s  00:01 left  loss 0.0123")
    assert [text.split()[4] for text in texts] == ["100/s", "900/s", "1,200/s"]
    assert {len(text) for text in texts} == {len(texts[0])}
    assert len(texts[0]) < 60  # at 80 columns, the bar has at least 10


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def fileno(self):
        return 2


@pytest.mark.parametrize("columns", [60, 120])
def test_the_bar_fits_the_terminal(columns, monkeypatch):
    size = os.terminal_size((columns, 24))
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: size)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = console.Console(Config.of(num_updates=1800), loud=True, details=False)
    time.sleep(0.15)  # the bar is drawn ten times a second at most
    metrics: Any = SimpleNamespace(loss=0.01234, epsilon=0.1, rows=0)
    shown.show(made.progress(900, 1.0)._replace(metrics=metrics), made.grade())
    *_, drawn = terminal.getvalue().split("\r")
    shown.close()
    assert len(drawn) == columns - 1
    assert drawn.startswith(" 50% |")
    assert "  900 of 1,800 updates" in drawn
    assert "loss" in drawn or columns < 80
