"""The command `plot`: its files, and what it refuses to draw."""

import importlib.util
import json
from functools import partial
from pathlib import Path

import commands
import made
import pytest
import tiny

from jax_ttt import cli, plot
from jax_ttt.config.presets import PRESETS
from jax_ttt.files import json_records
from jax_ttt.files.run_folder import Plan
from jax_ttt.players import saved_agents

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


@pytest.fixture
def trained(make):
    """A run with an agent."""
    folder = make("trained")
    config = PRESETS["default"].replace(hidden_size=8)
    saved_agents.save_agent(tiny.untrained(config), folder / "agent.safetensors")
    return folder


def output(capsys):
    streams = capsys.readouterr()
    return streams.out + streams.err


@pytest.mark.slow
def test_a_run_is_drawn_into_its_folder(make, capsys):
    run = make("one")
    assert commands.run(plot, [str(run)]) == 0
    assert output(capsys) == f"wrote {run / 'curve.svg'}\n"
    light = (run / "curve.svg").read_text()
    assert ">one<" in light
    flags = ["--theme", "dark", "--svg", str(run / "x.svg")]
    assert commands.run(plot, [str(run), *flags]) == 0
    assert "#0d1117" in (run / "x.svg").read_text()
    assert "#0d1117" not in light


def test_runs_with_the_same_settings_are_drawn_together(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = [make("a"), make("b", eval_every=7), make("c", tau=0.5)]
    assert commands.run(plot, [*map(str, runs)]) == 0
    text = (tmp_path / "curves.svg").read_text()
    assert ">default: mean and range of 2<" in text
    assert ">default tau=0.5: mean and range of 1<" in text


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
    assert "no results against random to draw" in output(capsys)


@pytest.mark.slow
def test_an_agents_game_and_values_are_drawn(trained, capsys):
    assert commands.run(plot, [str(trained), "--game"]) == 0
    assert "@keyframes" in (trained / "game.svg").read_text()
    assert commands.run(plot, [str(trained), "--values", "...XO...X"]) == 0
    text = (trained / "values.svg").read_text()
    for words in ("learned", "exact", "O to move"):
        assert f">{words}<" in text
    capsys.readouterr()
    assert commands.run(plot, [str(trained), "--values", "XXXOO...."]) == 2
    assert "the game is over" in output(capsys)


def test_games_and_values_need_an_enumerable_game_and_an_agent(make, capsys):
    large = make("large", env_id="connect_four")
    tiny.save_untrained(large / "agent.safetensors", env_id="connect_four")
    for run, message in (
        (large, "need an enumerable game of stones: tic_tac_toe, not connect_four"),
        (make("none"), "agent.safetensors: No such file"),
    ):
        assert commands.run(plot, [str(run), "--game"]) == 2
        assert message in output(capsys)


def test_a_board_as_png_needs_cairosvg(trained, capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cli, "set_up_device", lambda *args: pytest.fail("begun"))
    path = trained / "game.png"
    assert commands.run(plot, [str(trained), "--game", "--svg", str(path)]) == 2
    assert f"--svg {path} needs cairosvg" in output(capsys)


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ([EVALUATION], {}, "no training in it"),
        ([CHUNK], {}, "no results against random to draw"),
        ([EVALUATION, CHUNK | {"loss": None}], {}, "not a run's metrics"),
        ([EVALUATION, CHUNK], {"preset": "x"}, "config.json: not a run's settings"),
    ],
)
def test_files_of_another_kind_are_refused(make, capsys, rows, settings, message):
    assert commands.run(plot, [str(make("one", rows, **settings))]) == 2
    text = output(capsys)
    assert message in text
    assert text.count("\n") == 1


def test_a_run_of_an_older_format_is_refused_by_its_number(make, capsys):
    """Its metrics have no version of their own."""
    folder = make("old", rows=[{"event": "chunk"}])
    (folder / "config.json").write_text('{"format_version": 5, "config": {}}')
    assert commands.run(plot, [str(folder)]) == 2
    reason = "older format 5; this version of jax_ttt reads format 3"
    assert output(capsys) == f"error: {folder}/config.json: {reason}\n"


def test_the_newest_run_is_drawn_by_default(
    trained, tmp_path, monkeypatch, capsys, drawn
):
    folder = tmp_path / "work" / "runs"
    folder.mkdir(parents=True)
    trained.rename(folder / "one")
    monkeypatch.chdir(folder.parent)
    assert drawn(partial(commands.run, plot), []).get_suptitle() == "one"
    run = Path("runs") / "one"
    assert output(capsys) == f"the newest run: {run}\nwrote {run / 'curve.svg'}\n"


def test_runs_that_one_picture_cannot_show_are_refused(
    make, trained, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    runs = [str(make("a")), str(make("b", preset="plain", env_id="connect_four"))]
    for flags, message in (
        ([], "no agent below runs/: train one"),
        (runs, "runs of different games: connect_four, tic_tac_toe"),
        ([*runs, "--game"], "one picture of one run"),
        ([str(trained), "--game", "--values", "........."], "one picture of one run"),
        ([str(trained / "x")], "x: no such folder"),
        ([str(trained), "--svg", "x.gif"], "--svg x.gif: "),
    ):
        assert commands.run(plot, flags) == 2
        assert message in output(capsys)
