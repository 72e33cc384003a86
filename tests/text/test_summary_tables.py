"""A cross table and the results of a sweep as text."""

import dataclasses
import re

import made
import numpy as np

from jax_ttt.config.settings import Config
from jax_ttt.grading import agent_groups
from jax_ttt.grading.grade import sampled_seat
from jax_ttt.grading.round_robin import RoundRobinTable
from jax_ttt.text import summary_tables


def test_a_table_its_intervals_and_its_order(snapshot):
    """A wins 6 of 10 sampled games as X and draws 2; all other results are exact."""
    rates = [[[0, 1, 0], [0.6, 0.2, 0.2]], [[0.1, 0.4, 0.5], [0, 1, 0]]]
    exact = RoundRobinTable(("A", "Bob"), made.pairs(rates))
    (against_itself, _), second_row = exact.pairs
    pairs = (against_itself, sampled_seat([6, 2, 2])), second_row
    table = dataclasses.replace(exact, pairs=pairs)
    assert summary_tables.cross_table_text("tic_tac_toe", table) == snapshot
    assert "interval" not in summary_tables.cross_table_text("connect_four", exact)


def test_a_cross_table_fits_100_columns():
    size, long = 30, "folder/" * 10 + "run"
    names = (long, *(f"blend:0.{i}:minimax" for i in range(1, size)))
    (*exact, _), *rows = made.pairs(np.full((size, size, 3), 1 / 3))
    pairs = ((*exact, sampled_seat([2**20, 2**20, 2**20])), *rows)
    text = summary_tables.cross_table_text("tic_tac_toe", RoundRobinTable(names, pairs))
    lines = text.splitlines()
    assert max(len(line.removesuffix(long)) for line in lines) <= 100
    heads = [word for line in lines for word in re.findall(r"vs\. (\d+)(?= |$)", line)]
    assert heads == [str(number + 1) for number in range(size)]
    rows = [line for line in lines if line.startswith("1 ...")]
    assert sum(line.count("33.3/33.3/33.3") for line in rows) == size
    assert lines[-size].endswith(f"  {long}"), "the order has the whole name"


def test_the_table_of_a_sweep_fits_100_columns():
    """A label for which there is no room stands above its row."""
    exact = made.exact((1.0, 0.0, 0.0), (0.25, 0.5, 0.25))
    agents = [made.agent(seed, exact) for seed in range(1000, 1064)]

    def lines_of(*points):
        groups = [agent_groups.group_summary(agents, Config(), p) for p in points]
        text = summary_tables.groups_table(groups, "tic_tac_toe", "default")
        assert max(map(len, text.splitlines())) <= 100
        return text.splitlines()

    wins = "100.000 (100.000 to 100.000)   25.000 (25.000 to 25.000)"
    lines = lines_of({})
    assert lines[1].startswith("default ")
    assert wins in lines[1]
    point = {"num_updates": 300, "replay_capacity": 4096}
    lines = lines_of(point | {"tau": 0.1}, point | {"tau": 0.2})
    assert lines[1] == "num_updates=300 replay_capacity=4096 tau=0.1"
    assert wins in lines[2]
    assert lines[2].index("100.000 (") == lines[4].index("100.000 (")
    text = " ".join(" ".join(lines).split())
    seeds = ", ".join(map(str, range(1000, 1064)))
    assert f"not proven, {lines[1]}: {seeds}" in text


def test_nothing_is_called_proven_where_nothing_can_be_proven():
    """Neither is anything called beatable."""
    agents = [made.agent(1, made.grade(sampled=made.sampled((0.75,), (0.25,))))]
    config = Config.of(env_id="connect_four")
    group = agent_groups.group_summary(agents, config, {"tau": 0.1})
    assert (group.proven, group.interval, group.not_proven) == (None,) * 3
    text = summary_tables.groups_table([group], "connect_four", "connect_four")
    assert "by sampling" in text
    assert "not proven" not in text
    assert "75.000 (75.000 to 75.000)" in text
