"""What is said of words that the parser refuses; `test_wrong_inputs.py` has more."""

import dataclasses
from typing import Annotated, Literal

import pytest
import tyro

from jax_ttt.config.command_line import arguments, wrong_words
from jax_ttt.config.ranges import Range


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    player: tyro.conf.Positional[str]
    """Who plays."""
    seed: Annotated[int, Range(int, 0, 9)] = 0
    rate: float = 0.5
    side: Literal["x", "o"] = "x"
    parts: tuple[Literal["a", "b"], ...] = ()
    limit: int | None = None
    fast: bool = False
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False


FOUND = arguments.arguments(Args)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("p --sed 3", "play has no flag --sed; did you mean --seed?"),
        ("p --seed", "--seed needs a value: a whole number from 0 to 9"),
        ("p --seed --fast", "--seed needs a value: a whole number from 0 to 9"),
        ("p --seed x", "--seed must be a whole number from 0 to 9, got 'x'"),
        ("p --rate x", "--rate must be a number, got 'x'"),
        ("p --limit x", "--limit must be a whole number, got 'x'"),
        ("p --side z", "--side must be one of x, o, got 'z'"),
        ("p --side", "--side needs a value: x, o"),
        ("p --parts", "--parts needs a value: a, b"),
        ("p --parts a c", "--parts must be one of a, b, got 'c'"),
        ("p --no-quiet", "play has no flag --no-quiet"),
        ("p --seed 1_0", "--seed must be a whole number from 0 to 9, got '1_0'"),
        ("p --seed ٣", "--seed must be a whole number from 0 to 9, got '٣'"),
        ("p --seed 1 --seed 1", "--seed must be given once"),
        ("p --fast --no-fast", "--no-fast must be given once"),
        ("p\x1b", "play can't use 'p\\x1b': it has a control character"),
    ],
)
def test_the_first_mistake_is_explained(words, said):
    first, *_ = wrong_words.mistakes("play", FOUND, words.split())
    assert first.startswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("p --quiet=no", "--quiet takes no value, got 'no'"),
        ("p --fast=no", "--fast takes no value, got 'no'; did you mean --no-fast?"),
        ("p --parts --fast", "--parts needs a value: a, b"),
        ("p --parts=", "--parts must be one of a, b, got ''"),
    ],
)
def test_what_the_parser_would_accept_is_refused(words, said):
    assert list(wrong_words.mistakes("play", FOUND, words.split())) == [said]


@pytest.mark.parametrize("words", [["p", ""], ["", "p"]])
def test_an_empty_word_is_refused(words):
    found = list(wrong_words.mistakes("play", FOUND, words))
    assert found == ["play can't use an empty word"]


@pytest.mark.parametrize(
    "words",
    [
        *("--seed 3", "--limit None", "--rate -inf", "--help", "--parts a b --seed=3"),
        "--quiet p",  # a player may follow a switch
    ],
)
def test_nothing_is_said_of_flags_that_are_right(words):
    assert not list(wrong_words.mistakes("play", FOUND, words.split()))


def test_without_players_nothing_follows_a_switch():
    found = {name: a for name, a in FOUND.items() if not a.is_positional}
    (wrong,) = wrong_words.mistakes("play", found, ["--quiet", "p"])
    assert wrong == "--quiet takes no value, got 'p'"


def test_what_is_left_out_is_named():
    (wrong,) = wrong_words.left_out("play", FOUND, ["--fast"])
    assert wrong == "play needs PLAYER: Who plays."


def test_a_word_without_a_flag_is_named():
    assert wrong_words.unexpected("play", FOUND, "seed=3") == (
        "play can't use 'seed=3'; did you mean --seed?"
    )


def test_flags_are_written_with_hyphens():
    assert wrong_words.flag("num_envs") == "--num-envs"
    flags = wrong_words.flags(FOUND)
    assert {"--fast", "--no-fast", "--quiet"} < flags.keys()
    assert "--no-quiet" not in flags
