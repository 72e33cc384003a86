"""Pictures and their files."""

import re

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from jax_ttt import arena, cli, plot, sweep
from jax_ttt.config.errors import Refused, UsageError
from jax_ttt.drawing import pictures, themes
from jax_ttt.drawing.themes import Theme

STARTS = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF-", ".PNG": b"\x89PNG"}


def line(theme: Theme = "light"):
    """Return a picture of a line."""
    with themes.style(theme):
        figure = Figure()
        figure.subplots().plot([0, 1], label="line")
        return pictures.figure_picture(figure, theme)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_same_figure_gives_the_same_files_and_nothing_stays_set(theme, tmp_path):
    before = mpl.rcParams["figure.facecolor"]
    assert line(theme).svg == line(theme).svg
    assert ("#0d1117" in line(theme).svg) == (theme == "dark")
    for name in ("a.png", "b.png"):
        line(theme).save(tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert mpl.rcParams["figure.facecolor"] == before


def test_a_file_is_of_the_kind_that_its_ending_says(tmp_path):
    for ending, start in STARTS.items():
        path = tmp_path / f"picture{ending}"
        line().save(path)
        assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_png_has_the_colours_of_its_theme(theme, tmp_path):
    path = tmp_path / "a.png"
    line(theme).save(path)
    corner = imread(path)[0, 0, :3]
    assert corner.mean() == pytest.approx(1 if theme == "light" else 0.07, abs=0.01)


@pytest.mark.parametrize("name", ["a.gif", "a", "a.svg.txt"])
def test_another_ending_is_refused(name, tmp_path):
    path = tmp_path / name
    told = f"{re.escape(str(path))}: a picture's file ends in .svg, .png or .pdf"
    with pytest.raises(Refused, match=told):
        line().save(path)
    with pytest.raises(UsageError, match=f"--svg {told}"):
        pictures.check_file("--svg", path)
    assert not path.exists()
    for allowed in (None, *(tmp_path / f"a{ending}" for ending in STARTS)):
        pictures.check_file("--svg", allowed)


def test_a_picture_is_shown_and_saved_and_not_held_twice(tmp_path):
    picture = pictures.Picture("<svg>é</svg>")
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == "<svg>é</svg>".encode()
    assert picture._repr_svg_() == "<svg>é</svg>"
    assert repr(picture) == "Picture()"
    with pytest.raises(Refused, match=r"drawn as \.svg only"):
        picture.save(tmp_path / "a.png")


COMMANDS = {arena: [], sweep: [], plot: ["tests"]}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_every_command_refuses_it_before_any_work(
    command, tmp_path, capsys, monkeypatch
):
    def refused(*args):
        pytest.fail("begun")

    monkeypatch.setattr(cli, "set_up", refused)
    path = tmp_path / "picture.gif"
    assert command.main([*COMMANDS[command], "--svg", str(path)]) == 2
    why = "a picture's file ends in .svg, .png or .pdf"
    assert capsys.readouterr().err == f"error: --svg {path}: {why}\n"
