"""tools/make_agents.py: which file of a run is shipped."""

import shutil

import pytest
import tiny

from jax_ttt.config.player_kinds import ALL, SNAPSHOTS
from jax_ttt.files.run_folder import RunFolder
from jax_ttt.players import saved_agents
from tools import make_agents


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path)


def test_a_table_is_shipped_as_it_is(run):
    shutil.copyfile(ALL["table"], run.agent)
    assert make_agents.agent_to_ship(run.path) == run.agent


@pytest.mark.slow
def test_a_network_is_shipped_as_integers(run):
    shutil.copyfile(max(SNAPSHOTS["network"].iterdir()), run.agent)
    agent = saved_agents.load_agent(make_agents.agent_to_ship(run.path))
    shipped = saved_agents.load_agent(ALL["network"])
    assert (agent.precision, agent.corrections) == ("int8", None)
    for seat, grade in shipped.grade.followed.items():
        assert agent.grade.followed[seat].lines == grade.lines


@pytest.mark.slow
def test_a_network_that_needs_corrections_is_not_shipped(run):
    tiny.save_untrained(run.agent)
    with pytest.raises(SystemExit, match="needs corrections"):
        make_agents.agent_to_ship(run.path)
