"""How results are printed: as text, and as HTML in a notebook."""

import pytest

import jax_ttt
from jax_ttt.api import html


def test_results_are_printed(snapshot):
    game = jax_ttt.new_game("minimax-first")
    results = [
        jax_ttt.player("minimax-first", name="mine"),
        game.play(4),
        jax_ttt.prove("minimax-first"),
        jax_ttt.prove("random"),
        jax_ttt.match("minimax-first", "random"),
        jax_ttt.cross_table(["random", "minimax", "minimax-first"]),
    ]
    assert "\n\n".join(map(repr, results)) == snapshot


def test_results_are_shown_in_a_notebook():
    grade = jax_ttt.grade("minimax-first")
    assert grade._repr_html_() == f"<pre>{grade!r}</pre>"
    match = jax_ttt.match("minimax", jax_ttt.player("random", name="<b>&"))
    text = match._repr_html_()
    assert "&lt;b&gt;&amp;" in text
    assert "<b>" not in text
    assert text.count("<tr>") == 3
    for player in ("minimax", "random"):
        assert jax_ttt.prove(player)._repr_html_().count("<svg") == 1


def test_an_import_that_fails_in_a_picture_is_not_hidden():
    def picture():
        from matplotlib.figure import Figur  # type: ignore[attr-defined]

        return Figur()

    with pytest.raises(ImportError, match="Figur"):
        html.with_picture("text", picture)
