import pytest

from jax_ttt.results.counting import counted


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 updates"), (1, "1 update"), (2, "2 updates"), (20_000, "20,000 updates")],
)
def test_a_count_has_its_plural_and_its_thousands(number, words):
    assert counted(number, "update") == words
