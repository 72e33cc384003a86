"""The times of whole commands: their caches, parts and results."""

import json
from pathlib import Path

import jax
import made
import pytest

from jax_ttt.benchmarks import startup
from jax_ttt.benchmarks.processes import Child
from jax_ttt.players import registry
from jax_ttt.players.names import read_name
from jax_ttt.results import plain
from jax_ttt.terminal import dialogue, words
from jax_ttt.terminal.screen import Screen


def test_a_run_is_proven_if_its_last_evaluation_says_so_and_it_is_saved(tmp_path):
    def end(unbeatable):
        row = made.evaluated(1, exact=made.exact((1,), (1,), unbeatable))
        rows = made.chunk(1), row
        text = "".join(json.dumps(plain.to_dict(r)) + "\n" for r in rows)
        (tmp_path / "metrics.jsonl").write_text(text)

    end(True)
    assert not startup.proven(tmp_path)  # nothing is saved
    (tmp_path / "agent.safetensors").touch()
    assert startup.proven(tmp_path)
    end(False)
    assert not startup.proven(tmp_path)


def test_a_runs_parts_are_read_from_its_folder_and_add_up(monkeypatch, tmp_path):
    def run(module, args, cache):
        assert (module, cache) == ("jax_ttt.train", tmp_path / "cache")
        seconds = {"compile": 3.0, "imports": 2.0, "train": 1.0}
        about = {"seconds": seconds, "total_seconds": 7.0, "peak_memory_mib": 9.0}
        (tmp_path / "times.json").write_text(json.dumps(about))
        row = made.evaluated(1, exact=made.exact((1,), (1,), unbeatable=True))
        (tmp_path / "metrics.jsonl").write_text(json.dumps(plain.to_dict(row)))
        return Child(8.0, 9.0, "")

    monkeypatch.setattr(startup.processes, "run_module", run)
    found = startup.run_train_command(tmp_path, tmp_path / "cache")
    assert found.parts == {"compile": 3, "imports": 2, "train": 1, "other": 2}
    assert (found.peak_mib, found.proven) == (9.0, False)  # nothing is saved


@pytest.mark.parametrize("proven", [True, False])
def test_a_run_that_did_not_end_proven_is_reported_as_such(proven, monkeypatch, capsys):
    child = Child(2.0, 3.0, "")
    parts: dict[str, float] = dict.fromkeys(startup.PARTS, 0.5)
    found = startup.Run(child, parts, 100.0, proven)
    monkeypatch.setattr(startup, "run_train_command", lambda *args: found)
    monkeypatch.setattr(startup, "import_seconds", lambda: 0.01)
    monkeypatch.setattr(startup, "COMMANDS", {})
    figures = startup.measure_startup(4, False)
    assert figures["train_cold"]["median"] == 2
    assert figures["cold"]["peak_memory"]["median"] == 100
    assert figures["proven_cold"] == {"proven": 4 * proven, "num_runs": 4}
    out = capsys.readouterr().out
    assert ("start to proven and saved" in out) == proven
    assert ("train, warm cache, not proven: 4 of 4\n" in out) != proven


def test_processes_run_in_turn(monkeypatch, capsys):
    """Antognini's program runs twice, ours cold and warm, then the other commands."""
    calls = []
    parts: dict[str, float] = dict.fromkeys(startup.PARTS, 0.5)

    def run(module, args, cache, until=""):
        name = module.removeprefix("jax_ttt.")
        calls.append(name)
        if name == "benchmarks.plain_loop":
            assert cache is None
            return Child(20.0, 20.0, "")
        assert until == (words.PROMPT if name == "play" else "")
        assert [Path(arg).name for arg in args] == ["warm"] * (name != "arena")
        return Child(used(cache, 9.0, 4.0), 4.0, "")

    def train(run_dir, cache):
        calls.append(run_dir.name)
        seconds = used(cache, 8.0, 2.0)
        return startup.Run(Child(seconds, 3.0, ""), parts, 100.0, True)

    def used(cache, cold, warm):
        seconds = warm if cache.is_dir() else cold
        cache.mkdir(exist_ok=True)
        return seconds

    monkeypatch.setattr(startup.processes, "run_module", run)
    monkeypatch.setattr(startup, "run_train_command", train)
    monkeypatch.setattr(startup, "import_seconds", lambda: 0.01)
    figures = startup.measure_startup(3, True)
    ours, others = ["cold", "warm"], ["evaluate", "play", "arena"]
    twice = [name for name in others for _ in range(2)]
    article = "benchmarks.plain_loop"
    assert calls == [article, *ours, *twice, article, *ours, *others, *ours, *others]
    assert figures["share_cold"]["median"] == pytest.approx(0.4)
    assert figures["share_warm"]["median"] == pytest.approx(0.1)
    for name in others:
        cold, warm = (figures[f"{name}_{cache}"] for cache in ours)
        assert (cold["median"], warm["min"], warm["max"]) == (9, 4, 4)
    out = capsys.readouterr().out
    assert "\nplay, warm cache, start to first board " in out
    assert "\narena, cold cache, start to tables " in out


def test_the_prompt_of_play_contains_the_text_that_ends_its_timing():
    said, key = [], jax.random.key(0)
    opponent = registry.enter(read_name("random", "tic_tac_toe"), "tic_tac_toe", key)

    def ask(prompt):
        said.append(prompt)
        raise EOFError

    screen = Screen(ask, said.append)
    dialogue.play_games(dialogue.Match("tic_tac_toe", opponent, key, screen), "x")
    _, board, prompt, *_ = said
    assert "3 | 4 | 5" in board
    assert words.PROMPT in prompt


def test_importing_the_package_takes_under_a_tenth_of_a_second(monkeypatch):
    root = str(Path(startup.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", root)
    # The minimum of three, since the machine may be busy.
    assert min(startup.import_seconds() for _ in range(3)) < 0.1
