"""How results are printed: as text, and as HTML in a notebook."""

import re
import subprocess
import sys

import as_users
import pytest

import jax_ttt
from jax_ttt.text import html


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


@pytest.mark.slow
def test_a_result_is_shown_in_a_process_that_asks_for_nothing_else():
    code = "import jax_ttt; result = jax_ttt.prove('minimax').grade;"
    code += "print(repr(result)); print(result._repr_html_())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=as_users.environment(),
    )
    assert done.returncode == 0, done.stderr
    assert "tic_tac_toe\n" in done.stdout
    assert re.search(r"^<(pre|div|p)>", done.stdout, re.MULTILINE)


def test_an_import_that_fails_in_a_picture_is_not_hidden():
    def picture():
        from matplotlib.figure import Figur  # type: ignore[attr-defined]

        return Figur()

    with pytest.raises(ImportError, match="Figur"):
        html.with_picture("text", picture)
