"""The table of a run's evaluations."""

import re

import made
import pytest

from jax_ttt.config.settings import Config
from jax_ttt.text.progress_table import ProgressTable, RoundTable, coloured_verdict

CODES = re.compile(r"\x1b\[[\d;]*m")
FIRST = made.exact((0.714, 0.07), (0.362, 0.069))
PROVEN = made.exact((0.714, 0.07), (0.916, 0.084, 0.0), unbeatable=True)


def table(config, *grades, coloured=False):
    progress = ProgressTable(config, coloured)
    rows = (progress.row(150 * i, grade) for i, grade in enumerate(grades))
    return "\n".join([progress.head(), *rows])


def test_exact_and_sampled_tables(snapshot):
    exact = table(Config.of(num_updates=1800), FIRST, PROVEN)
    config = Config.of(env_id="connect_four", num_updates=10_000_000)
    sampled = made.grade(sampled=made.sampled((1.0,), (0.25,), num_games=512))
    assert exact + "\n\n" + table(config, sampled, made.grade()) == snapshot


@pytest.mark.parametrize(
    ("env_id", "seat", "head"),
    [("tic_tac_toe", "first", "proof as X"), ("connect_four", "both", "games")],
)
def test_the_table_is_narrower_than_80_columns_and_aligned(env_id, seat, head):
    config = Config.of(env_id=env_id, opponent="random", seat=seat, num_updates=10**9)
    sampled = made.sampled((1.0,), (0.0,), num_games=2**19)
    grades = [PROVEN, made.exact((1 / 3, 1 / 3), (1 / 3, 1 / 3))]
    caption, *lines = table(config, *grades, made.grade(sampled=sampled)).splitlines()
    assert max(map(len, [caption, *lines])) < 80
    last = lines[0].index(head)
    assert lines[0].endswith(head)
    assert all(line[last - 1] == " " != line[last] for line in lines)


def test_what_repeats_is_dim_and_the_proof_has_a_colour():
    config = Config.of(num_updates=1800)
    text = table(config, FIRST, FIRST, PROVEN, coloured=True)
    assert CODES.sub("", text) == table(config, FIRST, FIRST, PROVEN)
    first, second, proven = text.splitlines()[2:]
    assert CODES.findall(first) == ["\x1b[31m", "\x1b[0m"]
    assert "\x1b[2m53.80\x1b[0m" in second
    assert "\x1b[2;31mbeatable" in second
    assert proven.endswith("\x1b[32munbeatable\x1b[0m")


def test_a_verdict_has_the_colour_of_its_first_word():
    assert coloured_verdict("unbeatable: no").startswith("\x1b[1;32munbeatable\x1b[0m:")
    assert coloured_verdict("beatable: 7 moves").startswith("\x1b[1;31mbeatable")
    assert coloured_verdict("nothing is proven: 3 of 4") == "nothing is proven: 3 of 4"


def test_the_table_of_rounds(snapshot):
    config = Config.of(env_id="connect_5x4", start_share=0.5, eval_every=3000)
    rounds = RoundTable(config, coloured=False)
    beaten = made.reached(num_positions=35_767, losing_ends=2_943)
    cut = made.reached(num_positions=2_000_000, complete=False)
    pairs = [
        (beaten, made.reached()),
        (cut, beaten),
        (cut, made.reached()),
        (made.reached(), made.reached()),
    ]
    grades = [made.grade({"first": a, "second": b}) for a, b in pairs]
    grades.append(made.grade())
    lines = [rounds.row(3000 * i, grade) for i, grade in enumerate(grades)]
    assert "\n".join([rounds.head(), *lines]) == snapshot
