"""The function that draws: what it draws, its files and refusals."""

import sys
from typing import Any

import jax
import numpy as np
import pgx
import pytest
from matplotlib.figure import Figure

import jax_ttt
from jax_ttt.api.training_result import Runs


@pytest.mark.usefixtures("any_types")
def test_it_draws_moves(tmp_path):
    path = tmp_path / "board.svg"
    board = jax_ttt.draw([4, 0], path)
    assert path.read_text("utf-8") == board.svg
    moves: Any = np.array([4, 0])
    assert jax_ttt.draw(moves).svg == board.svg
    assert jax_ttt.draw([4, 0], theme="dark").svg != board.svg
    assert jax_ttt.draw([3], env_id="connect_four").svg != board.svg


def test_it_draws_results_as_boards(run):
    game = jax_ttt.new_game("minimax-first").play(4)
    values = jax_ttt.q_values(run.agent, [4, 0])  # a mapping too, but not of runs
    for thing in (run.agent, jax_ttt.prove("random"), game, values):
        assert "</svg>" in jax_ttt.draw(thing).svg
    with pytest.raises(jax_ttt.Refused, match="env_id must be None unless moves"):
        jax_ttt.draw(run, env_id="tic_tac_toe")


def test_it_draws_results_as_figures(run, monkeypatch):
    colours = []

    def savefig(figure, *args, **kwargs):
        colours.append(figure.get_facecolor()[:3])

    monkeypatch.setattr(Figure, "savefig", savefig)
    jax_ttt.draw(run)
    runs = {"all": Runs(run.config, (run,))}
    for thing in (run, runs, jax_ttt.cross_table(["random", "minimax"])):
        jax_ttt.draw(thing, theme="dark")
    light, *dark = colours
    assert min(light) == 1
    assert [max(colour) < 0.1 for colour in dark] == [True] * 3


def test_it_draws_states_of_pgx():
    env = pgx.make("tic_tac_toe")
    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), 4))
    after = jax.jit(jax.vmap(env.step))(start, np.array([4, 0, 8, 4]))
    one = jax.tree.map(lambda x: np.asarray(x)[0], after)
    assert jax_ttt.draw(one).svg == jax_ttt.draw([4]).svg
    assert jax_ttt.draw(after).svg != jax_ttt.draw(start).svg
    assert "@keyframes" in jax_ttt.draw([start, after]).svg
    assert "@keyframes" not in jax_ttt.draw(after).svg


@pytest.mark.slow
def test_cairosvg_writes_a_board(tmp_path):
    pytest.importorskip("cairosvg", exc_type=ImportError)
    for ending, start in (("png", b"\x89PNG"), ("pdf", b"%PDF-")):
        jax_ttt.draw([4, 0], tmp_path / f"a.{ending}")
        assert (tmp_path / f"a.{ending}").read_bytes().startswith(start)


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize(
    ("thing", "options", "message"),
    [
        (None, {}, "None"),
        ("minimax", {}, "'minimax'"),
        ({"a": 3}, {}, "a dict"),
        ([0.5], {}, "a list"),
        (Runs, {}, "the class Runs"),
        ([4], {"theme": "red"}, "theme must be one of light, dark, got 'red'"),
        ([4], {"env_id": "chess"}, "env_id must be one of tic_tac_toe"),
    ],
)
def test_what_cannot_be_drawn_is_refused(thing, options, message):
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.draw(thing, **options)


@pytest.mark.usefixtures("without_matplotlib")
def test_an_absent_package_is_named_and_boards_need_none(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(jax_ttt.Refused, match=r"pip install 'jax_ttt\[plots\]'"):
        jax_ttt.draw(run)
    with pytest.raises(jax_ttt.Refused, match=r"pip install 'jax_ttt\[png\]'"):
        jax_ttt.draw([4], tmp_path / "a.png")
    assert "</svg>" in jax_ttt.draw([4], tmp_path / "a.svg").svg
    text = run._repr_html_()
    assert "<pre>" in text
    assert "<svg" not in text


def test_it_draws_the_folders_of_saved_runs(tiny_run, tmp_path):
    folder, *_ = tiny_run
    one = jax_ttt.draw(folder, tmp_path / "curve.svg")
    assert f">{folder.name}<" in one.svg
    assert ">2 runs<" in jax_ttt.draw([folder, str(folder)]).svg
    with pytest.raises(jax_ttt.Refused, match="cannot draw"):
        jax_ttt.draw([folder, tmp_path / "missing"])
