"""What a misspelt word may have meant."""

import pytest

from jax_ttt.config import suggestions

FLAGS = ("learning-rate", "learning-rate-end", "seed", "num-envs", "tau", "env-id")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lr", ("learning-rate",)),  # initials
        ("lre", ("learning-rate-end",)),
        ("learning", ("learning-rate", "learning-rate-end")),  # the beginning
        ("LEARNING_RATE", ("learning-rate",)),  # another spelling
        ("sede", ("seed",)),  # letters that differ
        ("numenv", ("num-envs",)),
        ("batch-size", ("num-envs",)),  # the name elsewhere
        ("polyak", ("tau",)),
        ("rate", ("learning-rate", "learning-rate-end")),  # a part
        ("zzz", ()),
        ("", ()),
        ("--", ()),
    ],
)
def test_the_closest_words_are_found(word, meant):
    assert suggestions.closest(word, FLAGS, suggestions.MEANINGS) == meant


def test_a_meaning_that_is_not_among_the_words_is_left_out():
    assert suggestions.closest("polyak", ["seed"], suggestions.MEANINGS) == ()


def test_a_meaning_is_found_in_the_spelling_of_the_words():
    known = ["num_envs", "seed"]
    found = suggestions.closest("batch_size", known, suggestions.MEANINGS)
    assert found == ("num_envs",)


def test_words_that_are_much_less_alike_than_the_best_are_left_out():
    known = ("minimax", "minimax-first", "minimax-quick")
    assert suggestions.closest("minmax", known) == ("minimax",)


def test_a_question_names_the_words():
    assert suggestions.question([]) == ""
    assert suggestions.question(["a"]) == "; did you mean a?"
    assert suggestions.question(["a", "b", "c"]) == "; did you mean a, b or c?"
    assert suggestions.did_you_mean("tua", ["tau"]) == "; did you mean tau?"


def test_few_choices_stand_in_the_line_and_many_below_it():
    assert suggestions.one_of("--x", ["on", "off"], "?") == (
        "--x must be one of on, off, got '?'"
    )
    five = ["red", "green", "blue", "white", "black"]
    assert suggestions.one_of("--x", five, "gren") == (
        "--x must be one of these, got 'gren'; did you mean green?"
        "\n  red\n  green\n  blue\n  white\n  black"
    )
    many = [f"word{n}" for n in range(20)] + ["other"]
    assert suggestions.one_of("--x", many, "othr") == (
        "--x is unknown: 'othr'; did you mean other?"
    )
    unknown = "--x is unknown: 'zz' (--help lists all)"
    assert suggestions.one_of("--x", many, "zz") == unknown
