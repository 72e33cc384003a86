"""The function that draws: its arguments, files and refusals."""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest
from matplotlib.figure import Figure

import jax_ttt
from jax_ttt.api.training_result import Runs


def test_it_draws_moves(tmp_path, promoted_ranks):
    path = tmp_path / "board.svg"
    board = jax_ttt.draw([4, 0], path)
    assert path.read_text("utf-8") == board.svg
    assert jax_ttt.draw([4, 0], theme="dark").svg != board.svg
    assert jax_ttt.draw([3], env_id="connect_four").svg != board.svg


def test_it_draws_results_as_boards(run):
    game = jax_ttt.new_game("minimax-first").play(4)
    values = jax_ttt.q_values(run.agent, [4, 0])  # a mapping too, but not of runs
    for thing in (run.agent, jax_ttt.prove("random"), game, values):
        assert "</svg>" in jax_ttt.draw(thing).svg
    assert jax_ttt.draw(game, theme="dark").svg != jax_ttt.draw(game).svg


def test_it_draws_results_as_figures(run, monkeypatch):
    runs = {"all": Runs(run.config, (run,))}
    table = jax_ttt.cross_table(["random", "minimax"])
    behind = []

    def savefig(figure, *args, **kwargs):
        behind.append(figure.get_facecolor()[:3])

    monkeypatch.setattr(Figure, "savefig", savefig)
    jax_ttt.draw(run)
    for thing in (run, runs, table):
        jax_ttt.draw(thing, theme="dark")
    light, *dark = behind
    assert min(light) == 1
    assert [max(colour) < 0.1 for colour in dark] == [True] * 3


def test_it_writes_png_and_pdf(run, tmp_path):
    png, pdf = tmp_path / "curve.png", tmp_path / "table.pdf"
    jax_ttt.draw(run, png, theme="dark")
    assert png.read_bytes().startswith(b"\x89PNG")
    jax_ttt.draw(jax_ttt.cross_table(["random", "minimax"]), pdf, theme="dark")
    assert pdf.read_bytes().startswith(b"%PDF-")


def test_it_writes_boards_as_png_and_pdf_with_cairosvg(run, tmp_path):
    pytest.importorskip("cairosvg", exc_type=ImportError)
    png, pdf = tmp_path / "values.png", tmp_path / "board.pdf"
    jax_ttt.draw(jax_ttt.q_values(run.agent, [4, 0]), png, theme="dark")
    assert png.read_bytes().startswith(b"\x89PNG")
    jax_ttt.draw([4, 0], pdf, theme="dark")
    assert pdf.read_bytes().startswith(b"%PDF-")


@pytest.mark.usefixtures("any_types")
def test_moves_may_be_numpy_integers():
    moves: Any = np.array([4, 0])
    assert jax_ttt.draw(moves).svg == jax_ttt.draw([4, 0]).svg


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize(
    ("thing", "named"),
    [
        (None, "None"),
        (3, "3"),
        ("minimax", "'minimax'"),
        ({"a": 3}, "a dict"),
        ([0.5], "a list"),
        (Runs, "the class Runs"),
    ],
)
def test_a_thing_without_a_picture_is_refused(thing, named):
    with pytest.raises(jax_ttt.Refused, match=named):
        jax_ttt.draw(thing)


@pytest.mark.usefixtures("any_types")
def test_a_theme_and_a_game_are_checked(run):
    red: Any = "red"
    with pytest.raises(jax_ttt.Refused, match="theme must be light or dark, got 'red'"):
        jax_ttt.draw([4], theme=red)
    with pytest.raises(jax_ttt.Refused, match="env_id must be one of tic_tac_toe"):
        jax_ttt.draw([4], env_id="chess")
    with pytest.raises(jax_ttt.Refused, match="env_id must be None unless moves"):
        jax_ttt.draw(run, env_id="tic_tac_toe")


def test_it_draws_states_of_pgx():
    env = pgx.make("tic_tac_toe")
    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), 4))
    after = jax.jit(jax.vmap(env.step))(start, jnp.array([4, 0, 8, 4]))
    one = jax.tree.map(lambda x: x[0], after)
    assert jax_ttt.draw(one).svg == jax_ttt.draw([4]).svg
    assert jax_ttt.draw(after).svg != jax_ttt.draw(start).svg
    game = jax_ttt.draw([start, after]).svg
    assert "@keyframes" in game
    assert "@keyframes" not in jax_ttt.draw(after).svg


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_it_says_what_to_install(run, tmp_path):
    with pytest.raises(jax_ttt.Refused, match=r"pip install 'jax_ttt\[plots\]'"):
        jax_ttt.draw(run)
    assert "</svg>" in jax_ttt.draw([4], tmp_path / "a.svg").svg
    assert "</svg>" in jax_ttt.draw(jax_ttt.q_values(run.agent, [4])).svg


def test_without_cairosvg_it_says_what_a_board_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(jax_ttt.Refused, match=r"pip install 'jax_ttt\[png\]'"):
        jax_ttt.draw([4], tmp_path / "a.png")
