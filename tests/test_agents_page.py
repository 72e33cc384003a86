"""docs/shipped_agents.md: it is what `make agents` writes, of the agents it trains."""

import runpy
from pathlib import Path

import pytest

from jax_ttt import cli
from jax_ttt.players import agents
from jax_ttt.players.shipped import ALL
from jax_ttt.train import Args

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "make_agents.py"))


@pytest.mark.slow
def test_the_page_is_what_the_command_writes(script):
    assert (DOCS / "shipped_agents.md").read_text("utf-8") == script["page"]()


@pytest.mark.parametrize("name", ALL)
def test_a_file_has_the_settings_of_the_command_that_is_shown(script, name):
    args = cli.parse_settings(Args, script["FLAGS"][name], "train")
    agent = agents.load_agent(ALL[name])
    # The number of sampled games does not change an agent.
    config = agent.config.replace(eval_games=args.config.evaluation.eval_games)
    assert (config, agent.seed) == (args.config, args.seed)
    if args.until_proven:
        assert agent.score.is_proven
    else:
        assert agent.num_updates == args.config.run.num_updates


def test_every_agent_has_a_command(script):
    assert script["FLAGS"].keys() == ALL.keys()
