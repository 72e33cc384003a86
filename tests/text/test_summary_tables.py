"""The results of a sweep as text."""

import made

from jax_ttt.config.settings import Config
from jax_ttt.grading import agent_groups
from jax_ttt.text import summary_tables


def test_the_table_of_a_sweep_has_three_forms_and_fits_the_terminal(
    monkeypatch, snapshot
):
    """A row for which there is no room has its label above, or a line for each cell."""
    exact = made.exact((1.0, 0.0, 0.0), (0.25, 0.5, 0.25))
    point = {"replay_capacity": 4096}
    agents = [made.agent(1, exact)]
    groups = [
        agent_groups.group_summary(agents, Config(), point | {"tau": tau})
        for tau in (0.1, 0.2)
    ]
    texts = []
    for columns in (140, 110, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        texts.append(summary_tables.groups_table(groups, "default"))
    assert "\n\n".join(texts) == snapshot
    for columns in range(60, 140, 3):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = summary_tables.groups_table(groups, "default")
        assert max(map(len, text.splitlines())) <= columns
        assert text.count("0 of 1 (0.0% to 79.3%)") == 2
        assert text.count("100.000 (100.000 to 100.000)") == 2


def test_nothing_is_called_proven_where_nothing_can_be_proven():
    """Neither is anything called beatable."""
    agents = [made.agent(1, made.grade(sampled=made.sampled((0.75,), (0.25,))))]
    config = Config.of(env_id="connect_four")
    group = agent_groups.group_summary(agents, config, {"tau": 0.1})
    assert (group.proven, group.interval, group.not_proven) == (None,) * 3
    text = summary_tables.groups_table([group], "connect_four")
    assert "by sampling" in text
    assert "not proven" not in text
    assert "75.000 (75.000 to 75.000)" in text


def test_the_time_of_one_agent_is_that_of_those_trained_now():
    """A sweep that continues has older agents, whose time is not in the total."""
    groups = [agent_groups.group_summary([made.agent(n) for n in range(9)], Config())]
    text = summary_tables.training_time_text(groups, num_new=4, seconds=10.0)
    assert text.startswith("9 agents, 4 of them trained now in 10.0 s, 2.50 s each;")
