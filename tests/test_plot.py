"""The command `plot` of runs in rounds, and without its packages."""

import importlib.util
import json
from pathlib import Path

import commands
import made
import pytest

from jax_ttt import cli, plot
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import Plan

EVALUATION = json_records.to_dict(made.evaluated(0, made.exact((0.5,), (0.25,))))
CHUNK = json_records.to_dict(made.chunk(5, 4, 2, 1))


@pytest.fixture
def make(tmp_path):
    """Return a function that makes a run's folder."""

    def run(name, rows=(EVALUATION, CHUNK), preset="default", **settings):
        folder = tmp_path / name
        folder.mkdir()
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "metrics.jsonl").write_text(lines)
        config = PRESETS["default"].replace(**settings)
        saved = Plan(config=config, preset=preset, seed=1)
        text = json_records.to_json(saved)
        (folder / "config.json").write_text(text)
        return folder

    return run


@pytest.mark.slow
def test_runs_in_rounds_are_compared_by_the_exact_rates_of_their_searches(
    make, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    settings = {"preset": "connect-4x4", "env_id": "connect_4x4", "start_share": 0.5}

    def in_rounds(name, **changes):
        row = made.evaluated(0, made.grade(made.searched(first=False, **changes)))
        return str(make(name, rows=[json_records.to_dict(row), CHUNK], **settings))

    one, other = in_rounds("one"), in_rounds("other")
    cut = in_rounds("cut", complete=False, win_rate=0.65, open_rate=0.1)
    assert commands.run(plot, [one]) == 0
    assert ">winning replies<" in (Path(one) / "curve.svg").read_text()
    assert commands.run(plot, [one, other]) == 0
    svg = (tmp_path / "curves.svg").read_text()
    assert ">% of the runs proven unbeatable, by its file<" in svg
    assert "sampled" not in svg
    assert commands.run(plot, [one, cut]) == 2
    assert "no results against random to draw" in capsys.readouterr().err


def test_a_board_as_png_needs_cairosvg(make, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cli, "set_up_device", lambda *args: pytest.fail("begun"))
    run = make("run")
    path = run / "game.png"
    assert commands.run(plot, [str(run), "--game", "--svg", str(path)]) == 2
    assert f"--svg {path} needs cairosvg" in capsys.readouterr().err
