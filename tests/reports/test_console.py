"""What a run says before it begins, and of its first move."""

from pathlib import Path

import jax
import pytest

from jax_ttt import __version__
from jax_ttt.config.settings import Config
from jax_ttt.networks import q_network
from jax_ttt.players.network import network_of
from jax_ttt.reports import console
from jax_ttt.runtime import named_arrays


@pytest.mark.parametrize(
    ("opponent", "against"), [("self", " in self-play"), ("random", " against random")]
)
def test_the_banner_word_for_word(opponent, against):
    config = Config.of(opponent=opponent, num_updates=1500, num_envs=2048)
    found = console.banner(config, "plain", 7, "cpu (cpu)", Path("runs/one"))
    assert found == (
        f"jax_ttt {__version__} on cpu (cpu): tic_tac_toe, preset plain, seed 7\n"
        f"1,500 updates of 2,048 games at once{against}; writing to runs/one"
    )


@pytest.mark.parametrize(
    ("env_id", "shape"), [("tic_tac_toe", (3, 3)), ("connect_four", (1, 7))]
)
def test_the_first_moves_values_stand_as_the_moves_do(env_id, shape):
    """On the board's cells, or in a row of columns."""
    config = Config.of(env_id=env_id, hidden_size=8)
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    lines = console.start_values(config, named_arrays.flat(params))
    assert lines[0].startswith("  Q(start) ")
    numbers = [line[11:].split() for line in lines]
    assert (len(numbers), *{len(row) for row in numbers}) == shape
    assert all(-1 <= float(value) <= 1 for row in numbers for value in row)


def test_a_console_that_is_not_loud_shows_nothing(capsys):
    shown = console.Console(Config(), loud=False, details=False)
    shown.close()
    assert capsys.readouterr() == ("", "")
