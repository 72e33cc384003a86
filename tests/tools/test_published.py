"""The command that trains the published systems, and what it prints."""

import csv
import itertools
import json

import commands
import made
import pytest
import tiny

from tools import published


def test_each_agent_is_in_the_json_object_and_in_the_csv_file(monkeypatch, tmp_path):
    for name in ("matlab", "go-second"):
        monkeypatch.setitem(published.PRESETS, name, tiny.CONFIG)  # short trainings
    path = tmp_path / "agents.csv"
    flags = "--only matlab go-second --num-seeds 2 --first-seed 7 --json --csv"
    printed = commands.run(published, *flags.split(), str(path))
    systems = json.loads(printed.out)["systems"]
    assert systems["matlab"]["published"][0]["first"] == "90.55/5.64/3.81"
    assert systems["go-second"]["reproduced"]["unbeatable"] == "0 of 2"
    for system in systems.values():
        assert [agent["seed"] for agent in system["agents"]] == [7, 8]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [*itertools.product(("matlab", "go-second"), ("7", "8"))]
    assert [(row["preset"], row["seed"]) for row in rows] == names


def test_agents_that_diverged_and_those_that_can_be_beaten_are_named():
    agents = [
        made.agent(7, made.exact((0.5,), (0.5,), unbeatable=True)),
        made.agent(8, made.exact((0.75,), (0.25,))),
        made.agent(9),
    ]
    text = " ".join(published.comparison_table({"matlab": agents}).split())
    assert text.endswith("Beatable seeds: 8. Diverged seeds: 9.")
    assert "62.50/25.00/12.50" in text, "the mean of two"
    assert "1 of 3" in text


@pytest.mark.slow
@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize(
    "preset",
    ["tictac-q", "matlab", "tictac-neural", "go-second"],
)
def test_the_reproduced_systems_are_unbeatable(preset):
    args = published.Args(only=(preset,), num_seeds=1, first_seed=0)
    assert all(row.is_proven for _, row in published.graded_agents(args))
