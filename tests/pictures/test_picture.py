"""Pictures and their files."""

import re

import commands
import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread

from jax_ttt import arena, cli, plot, sweep
from jax_ttt.config.errors import Refused, UsageError
from jax_ttt.pictures import picture
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.picture import Theme

STARTS = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF-", ".PNG": b"\x89PNG"}


def line(theme: Theme = "light"):
    """Return a picture of a line."""
    with picture.theme_style(theme):
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
    corner = imread(tmp_path / "a.png")[0, 0, :3]
    assert corner.mean() == pytest.approx(1 if theme == "light" else 0.07, abs=0.01)


def luminance(rgb):
    """Return the relative luminance of a colour, as WCAG defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one, other):
    """Return the contrast of two colours, 1 to 21."""
    low, high = sorted(luminance(to_rgb(colour)) + 0.05 for colour in (one, other))
    return high / low


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_stand_out_from_what_is_behind_them(theme):
    found = picture.colours(theme)
    assert len(set(found)) == 3
    for behind in (picture.background_colour(theme), picture.tile_colour(theme)):
        assert min(contrast(colour, behind) for colour in found) >= 3


def test_a_file_is_of_the_kind_that_its_ending_says(tmp_path):
    for ending, start in STARTS.items():
        path = tmp_path / f"picture{ending}"
        line().save(path)
        assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["a.gif", "a", "a.svg.txt"])
def test_another_ending_is_refused(name, tmp_path):
    path = tmp_path / name
    reason = rf"{re.escape(str(path))}: .* \.svg, \.png or \.pdf"
    with pytest.raises(Refused, match=reason):
        line().save(path)
    with pytest.raises(UsageError, match=f"--svg {reason}"):
        pictures.check_picture_file("--svg", path)
    assert not path.exists()
    for allowed in (None, *(tmp_path / f"a{ending}" for ending in STARTS)):
        pictures.check_picture_file("--svg", allowed)


def test_a_board_is_shown_and_saved_as_svg(tmp_path):
    picture = pictures.Picture("<svg>é</svg>")
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == "<svg>é</svg>".encode()
    assert picture._repr_svg_() == "<svg>é</svg>"


COMMANDS = {arena: [], sweep: [], plot: ["tests"]}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_every_command_refuses_it_before_any_work(
    command, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(cli, "set_up_device", lambda *args: pytest.fail("begun"))
    path = tmp_path / "picture.gif"
    assert commands.run(command, [*COMMANDS[command], "--svg", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: --svg {path}: ")
