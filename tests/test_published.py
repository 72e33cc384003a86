"""The command that trains the published systems, and what it prints."""

import csv
import json
import signal

import made
import pytest
import tiny

from jax_ttt import published
from jax_ttt.results.grades import RATES
from jax_ttt.runtime.interrupts import Signals
from jax_ttt.training import many_agents


@pytest.fixture
def quick(monkeypatch):
    """Make the trainings short; what they come to does not matter here."""
    for name in ("matlab", "go-second"):
        monkeypatch.setitem(published.PRESETS, name, tiny.CONFIG)


def test_the_command_compares_exact_figures(quick, capsys, tmp_path):
    path = tmp_path / "agents.csv"
    flags = "--only matlab go-second --num-seeds 2 --first-seed 7 --csv"
    assert published.main([*flags.split(), str(path)]) == 0
    out, _ = capsys.readouterr()
    lines = out.splitlines()
    assert lines[-1] == f"wrote {path}: 4 rows"
    title = next(i for i, x in enumerate(lines) if x.startswith("matlab: D. Ton"))
    assert lines[title + 1].split()[:3] == ["its", "saved", "tables"]
    assert "90.55/5.64/3.81" in lines[title + 1]
    assert lines[title + 2].startswith("  reproduced, 2 seeds ")
    assert "0 of 2" in lines[title + 2]
    assert "\ngo-second: Fixed as in go-first" in out
    assert "Beatable seeds: 7, 8." in out
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["preset"], row["seed"]) for row in rows] == [
        ("matlab", "7"),
        ("matlab", "8"),
        ("go-second", "7"),
        ("go-second", "8"),
    ]
    for row in rows:
        rates = [float(row[f"first_{r}"]) for r in RATES]
        assert sum(rates) == pytest.approx(1)


def test_json_holds_all_of_it(quick, capsys):
    flags = "--only go-second --num-seeds 1 --first-seed 3 --json"
    assert published.main(flags.split()) == 0
    found = json.loads(capsys.readouterr().out)
    (system,) = found["systems"].values()
    assert system["published"][0]["second"] == "78.30/2.60/19.10"
    assert system["reproduced"]["first"].endswith(")")
    assert system["reproduced"]["unbeatable"] == "0 of 1"
    (agent,) = system["agents"]
    assert agent["seed"] == 3
    assert agent["exact"]["second"]["worst_loss_rate"] > 0


def graded(loss_first, loss_second, win=0.5, unbeatable=False, seconds=2.0):
    first, second = ((win, 1 - win - loss, loss) for loss in (loss_first, loss_second))
    worst = float(loss_first > 0), float(loss_second > 0)
    exact = made.exact(first, second, unbeatable, worst)
    return made.agent(7, exact, games=5, seconds=seconds)


def test_our_figures_are_means_with_the_range_of_the_wins():
    rows = [
        graded(0.0, 0.25, 0.5, seconds=9.0),
        graded(0.125, 0.0, 0.75),
        graded(0.0, 0.0, 0.25, unbeatable=True),
    ]
    found = published.reproduced("web", rows, "reproduced")
    assert found.first == "50.00/45.83/4.17 (25.0 to 75.0)"
    assert (found.unbeatable, found.seconds) == ("1 of 3", "2.00")
    found = published.reproduced("go-first", rows, "reproduced")
    assert (found.unbeatable, found.second) == ("1 of 3", None)


def test_an_agent_that_diverged_is_named_and_not_proven(monkeypatch, capsys, tmp_path):
    rows = [graded(0.0, 0.0, unbeatable=True), made.agent(8, games=5, seconds=2.0)]
    for found, count in ((rows, "1 of 2"), (rows[1:], "0 of 1")):
        monkeypatch.setattr(
            many_agents, "train_jobs", lambda *args, found=found: iter(found)
        )
        path = tmp_path / "agents.csv"
        assert published.main(["--only", "web", "--csv", str(path)]) == 0
        out = capsys.readouterr().out
        (ours,) = (line for line in out.splitlines() if line.startswith("  reproduced"))
        assert count in ours
        assert ("50.00/50.00/0.00" in ours) == (len(found) == 2)
        assert "Diverged seeds: 8." in out
        assert "Beatable" not in out
        assert path.read_text().splitlines()[-1].startswith("web,8,5,2.0,True,")


def test_the_table_fits_100_columns_and_keeps_every_figure():
    rows = [graded(0.0, 0.25, 1.0), graded(0.125, 0.0, 0.0)] * 32
    text = published.comparison_table(dict.fromkeys(published.SYSTEMS, rows))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    for name, system in published.SYSTEMS.items():
        begin = lines.index(f"{name}: {system.title}") + 1
        section = "\n".join(lines[begin : lines.index("", begin)]).split()
        for theirs in system.results:
            figures = (theirs.first, theirs.second, theirs.unbeatable, theirs.seconds)
            for word in " ".join(filter(None, figures)).split():
                assert word.strip("()") in section
    web = lines.index(f"web: {published.SYSTEMS['web'].title}")
    ours = " ".join(" ".join(lines[web + 2 : web + 4]).split())
    assert ours == (
        "reproduced, 64 seeds 50.00/43.75/6.25 50.00/37.50/12.50 0 of 64 2.00 "
        "range of the wins 0.0 to 100.0 0.0 to 100.0"
    )


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ("--only plain", "--only must be one of article, tictac-q"),
        ("--num-seeds 0", "--num-seeds must be a whole number from 1"),
        ("--first-seed -1", "--first-seed must be"),
        ("--first-seed 4294967295", "--first-seed must be at most 4,294,967,276"),
        ("--csv nowhere/x.csv", "--csv nowhere/x.csv: no folder nowhere"),
    ],
)
def test_bad_flags_are_refused(flags, named, capsys):
    assert published.main(flags.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {named}")


def test_an_unknown_system_is_refused(capsys):
    assert published.main(["--only", "alphazero"]) == 2
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "error: --only must be one of these, got 'alphazero'"
    assert {name.strip() for name in others} >= {"article", "web"}


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize(
    "preset",
    ["tictac-q", "web", "matlab", "tictac-neural", "go-first", "go-second"],
)
def test_the_reproduced_systems_are_unbeatable(preset):
    args = published.Args(only=(preset,), num_seeds=2, first_seed=0)
    assert all(
        row.is_proven for _, row in published.graded_agents(args, Signals("", ""))
    )


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
def test_the_table_reaches_the_ceiling():
    """Of all players who never lose, none wins more often against random."""
    args = published.Args(only=("table",), num_seeds=2, first_seed=0)
    for _, row in published.graded_agents(args, Signals("", "")):
        assert row.is_proven
        assert row.exact is not None
        assert row.exact.first.win_rate == pytest.approx(0.994792, abs=1e-6)
        assert row.exact.second.win_rate == pytest.approx(0.916402, abs=1e-6)


def test_a_signal_leaves_at_once_until_an_agent_is_finished(monkeypatch):
    signals, told = Signals("", ""), []

    def rows(*_):
        told.append((signals.nothing_to_save, signals.first_words))
        for seed in (1, 2):
            yield made.agent(seed, None)
            told.append((signals.nothing_to_save, signals.first_words))

    monkeypatch.setattr(many_agents, "train_jobs", rows)
    args = published.Args(only=("table",), num_seeds=2, first_seed=1)
    signals.nothing_to_save, signals.first_words = True, "nothing yet"
    assert len([*published.graded_agents(args, signals)]) == 2
    assert told == [(True, "nothing yet"), (False, published._STOPPING)]


def test_a_signal_before_the_first_agent_prints_no_table(monkeypatch, capsys):
    def none(args, signals):
        signals.append(signal.SIGTERM)
        return iter(())

    monkeypatch.setattr(published, "graded_agents", none)
    assert published.main(["--only", "table"]) == 143
    assert capsys.readouterr().out == ""


def test_nothing_finished_leaves_an_old_file_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(published, "graded_agents", lambda args, signals: iter(()))
    path = tmp_path / "agents.csv"
    path.write_text("precious")
    assert published.main(["--only", "table", "--csv", str(path)]) == 0
    capsys.readouterr()
    assert path.read_text() == "precious"
