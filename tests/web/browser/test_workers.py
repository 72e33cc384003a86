"""The page's workers answer as Python does, under the page's policy."""

from pathlib import Path

import jax
import pytest
from page_modules import compute

from jax_ttt.config.player_kinds import SHIPPED
from jax_ttt.games import pgx_games
from jax_ttt.grading import grader
from jax_ttt.players import registry, saved_agents
from jax_ttt.web import export, security

pytestmark = pytest.mark.slow
URL = "http://page.test/static/"
KINDS = {".js": "text/javascript"}


@pytest.fixture
def answers(browser):
    """Return what the workers answer on a blank page under the page's policy."""
    files = {f"{name}.safetensors": path for name, path in SHIPPED.items()}
    files["workers.js"] = Path(__file__).with_name("workers.js")

    def reply(route):
        name = route.request.url.removeprefix(URL)
        path = files[name] if name in files else export.STATIC / name
        route.fulfill(
            body=path.read_bytes() if name else "",
            content_type=KINDS.get(path.suffix, "text/html"),
            headers=security.HEADERS,
        )

    with browser.new_context() as context:
        context.route(f"{URL}**", reply)
        page = context.new_page()
        page.goto(URL)
        return page.evaluate(
            """async () => {
                const { askWorkers } = await import("/static/workers.js");
                return askWorkers();
            }"""
        )


def test_workers_answer_as_python_does(answers):
    state = pgx_games.make_env("tic_tac_toe").init(jax.random.key(0))
    obs = state.observation[None]
    for name, (values, move) in zip(
        ("network", "table", "network"), answers["answers"], strict=True
    ):
        agent = saved_agents.load_agent(SHIPPED[name])
        expected = saved_agents.board_values(agent.network, agent.params, obs)[0]
        assert values == pytest.approx(expected.tolist(), abs=1e-5)
        assert move == values.index(max(values))
    first_move = answers["answers"][0][1]
    assert answers["moves"] == [first_move] * 11
    numbers = (4, 5, 6, 0, 7, 1)
    assert answers["sent"] == [f"network {number}" for number in numbers]
    assert answers["forgotten"] == "Error"
    reason = "the agent plays connect_7x6, not tic_tac_toe"
    assert answers["otherGame"] == [reason] * 2
    # Exact results: in time, not in time, and for the latest position only.
    ((exact, _),) = compute("exact", envId="tic_tac_toe", boards=[[0] * 9])
    assert answers["exact"] == exact
    assert answers["notInTime"] is answers["running"] is None
    assert (answers["replaced"], answers["latest"]) == ("AbortError", 0)
    # A grade.
    assert answers["seen"] > 0
    agent = saved_agents.load_agent(SHIPPED["table"])
    followed = grader.follow_lines(registry.agent_player("table", agent)).followed
    for seat, python in followed.items():
        assert answers["grade"][seat]["lines"] == vars(python.lines)
    assert answers["stopped"] == "the check was stopped"
