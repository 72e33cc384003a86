import pytest

from jax_ttt.results.counting import counted, joined


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 updates"), (1, "1 update"), (2, "2 updates"), (20_000, "20,000 updates")],
)
def test_a_count_has_its_plural_and_its_thousands(number, words):
    assert counted(number, "update") == words


@pytest.mark.parametrize(
    ("things", "text"),
    [([4], "4"), ([4, 5], "4 and 5"), ([0, 2, 6], "0, 2 and 6")],
)
def test_a_list_in_words(things, text):
    assert joined(things) == text
    assert joined(things, "or") == text.replace("and", "or")
