"""Presets, and the published figures of the systems that they reproduce."""

from pathlib import Path

import pytest

from jax_ttt.config import presets
from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from tools.published_systems import SYSTEMS


def test_a_preset_has_the_settings_of_its_base_and_its_own():
    text = '[_few]\nnum_envs = 8\ntau = 0.5\n[one]\nbase = "_few"\ntau = 0.1\n'
    assert presets.read_tables(text)["one"] == Config.of(num_envs=8, tau=0.1)
    with pytest.raises(SettingError, match="gama must be the name of a setting"):
        presets.read_tables("[wrong]\ngama = 0.9\n")


def test_a_preset_is_for_the_game_of_its_name():
    boards = [name for name in PRESETS if name.startswith("connect-")]
    assert boards
    for name in boards:
        assert PRESETS[name].env_id == name.removesuffix("-large").replace("-", "_")
    for name in SYSTEMS:
        assert PRESETS[name].env_id == "tic_tac_toe"


def test_the_page_prints_the_published_figures():
    page = Path(__file__).parents[2] / "docs" / "results" / "published.md"
    output = page.read_text("utf-8").partition("$ make published\n")[2]
    sections = output.partition("```")[0].split("\n\n")
    header = next(text for text in sections if "as X" in text)
    for preset, system in SYSTEMS.items():
        section = next(text for text in sections if text.startswith(f"{preset}: "))
        lines = section.splitlines()
        for each in system.results:
            (line,) = (line for line in lines if line.startswith(f"  {each.source}  "))
            for heading, figure in (
                ("as X", each.first),
                ("as O", each.second),
                ("unbeatable", each.unbeatable),
                ("seconds", each.seconds),
            ):
                end = header.index(heading) + len(heading)
                cell = f"  {figure or ''}"
                assert line.ljust(end)[:end].endswith(cell), (preset, heading)


def test_published_figures_are_rates_and_curves_are_wins_after_games():
    """The article publishes the last point of its curve as its result."""
    for system in SYSTEMS.values():
        for figures in system.results:
            for rates in filter(None, (figures.first, figures.second)):
                assert sum(map(float, rates.split("/"))) == pytest.approx(100, abs=0.02)
            if figures.unbeatable:
                number, total = map(int, figures.unbeatable.split(" of "))
                assert 0 <= number <= total
        games = [number for number, _ in system.curve]
        assert sorted({*games}) == games
        assert all(0 <= wins <= 100 for _, wins in system.curve)
    article = SYSTEMS["article"]
    _, last = article.curve[-1]
    assert article.results[0].first == f"{last:.2f}/{100 - last:.2f}/0.00"


def test_the_error_of_a_wrong_name_has_a_hint():
    with pytest.raises(KeyError, match="no preset 'tabel'; did you mean table"):
        PRESETS["tabel"]
    with pytest.raises(KeyError, match=r"no preset 3\b"):
        PRESETS[3]  # pyright: ignore[reportArgumentType]
    assert PRESETS.get("tabel") is None
    assert "tabel" not in PRESETS
