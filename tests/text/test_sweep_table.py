"""The results of a sweep as text."""

import made

from jax_ttt.config.settings import Config
from jax_ttt.grading import agent_groups
from jax_ttt.pictures import charts
from jax_ttt.text import summary_tables


def lines_of(points, seeds):
    """Return the lines of a sweep's table whose agents all can be beaten."""
    exact = made.exact((1.0, 0.0, 0.0), (0.25, 0.5, 0.25))
    rows = [made.agent(seed, exact) for seed in seeds]
    groups = [agent_groups.group_summary(rows, Config(), point) for point in points]
    return summary_tables.groups_table(groups, "tic_tac_toe", "default").splitlines()


def test_the_table_fits_100_columns():
    """A label for which there is no room stands above its row."""
    wins = "100.000 (100.000 to 100.000)   25.000 (25.000 to 25.000)"
    lines = lines_of([{}], range(1000, 1064))
    assert max(map(len, lines)) <= 100
    assert lines[1].startswith("default ")
    assert wins in lines[1]
    grid = [{"num_updates": 300, "replay_capacity": 4096, "tau": t} for t in (0.1, 0.2)]
    lines = lines_of(grid, range(1000, 1064))
    assert max(map(len, lines)) <= 100
    assert lines[1] == "num_updates=300 replay_capacity=4096 tau=0.1"
    assert wins in lines[2]
    assert lines[2].index("100.000 (") == lines[4].index("100.000 (")
    text = " ".join(" ".join(lines).split())
    seeds = ", ".join(map(str, range(1000, 1064)))
    assert f"not proven, {lines[1]}: {seeds}" in text


def test_where_nothing_can_be_proven_nothing_is_said_to_be_proven():
    """Neither is anything said to be beatable."""
    rows = [made.agent(1, made.grade(sampled=made.sampled((0.75,), (0.25,))))]
    config = Config.of(env_id="connect_four")
    found = agent_groups.group_summary(rows, config, {"tau": 0.1})
    assert (found.proven, found.interval, found.not_proven) == (None,) * 3
    text = summary_tables.groups_table([found], "connect_four", "connect_four")
    assert "by sampling" in text
    assert "not proven" not in text
    assert "75.000 (75.000 to 75.000)" in text
    drawn = [
        charts.agents_chart(config, rows, "connect_four").svg,
        charts.grid_chart([found], "connect_four").svg,
    ]
    assert "random, sampled" in drawn[0]
    assert "proven" not in drawn[0] + drawn[1]
    assert ">50 %</text>" in drawn[1]
