"""The exported page's worker trains agents from `file://`, without a server."""

import pytest

pytestmark = pytest.mark.slow

LEARN = """async ({ learner, seed, commands }) => {
  const { Engine } = await import("page/engine");
  const { tree } = JSON.parse(document.getElementById("data").textContent);
  const engine = new Engine(async () => tree);
  const steps = [];
  const begin = performance.now();
  const seconds = () => (performance.now() - begin) / 1000;
  let proven = null;
  const onStep = ({ agent, ...step }) => {
    steps.push({ ...step, weights: agent?.tensors[0].values.length ?? null });
    if (step.proven_at !== null) proven ??= seconds();
  };
  const done = engine.learn({ learner, seed, onStep });
  const errors = [];
  for (const { after, ...command } of commands) {
    await new Promise((resolve) => window.setTimeout(resolve, 10 * after));
    await engine.direct(command).catch((error) => errors.push(error.message));
  }
  const { bytes, ...last } = await done;
  const { readAgent } = await import("page/agent_file");
  return { steps, last, proven, errors, updates: readAgent(bytes).updates };
}"""
"""Train an agent, with commands after some milliseconds each."""


def learn(page, learner, seed, commands=()):
    arguments = {"learner": learner, "seed": seed, "commands": [*commands]}
    return page.evaluate(LEARN, arguments)


def test_three_tables_of_three_are_proven_in_less_than_20_seconds(
    open_page, exported_url
):
    page = open_page(exported_url)
    seconds = []
    for seed in (1, 2, 3):
        report = learn(page, "table", seed)
        assert report["last"]["unbeatable"] == {"x": True, "o": True}
        seconds.append(report["proven"])
        assert report["updates"] == 400
        weights = {step["weights"] for step in report["steps"] if step["row"]}
        assert weights == {5478 * 18}
    assert min(seconds) < 20, "other programs may have the cores for a while"


def test_commands_reach_a_training_that_runs(open_page, exported_url):
    page = open_page(exported_url)
    report = learn(
        page,
        "network",
        seed=1,
        commands=[
            {"after": 500, "name": "pause"},
            {"after": 200, "name": "change", "settings": {"epsilon": 0.25}},
            {"after": 10, "name": "change", "settings": {"epsilon": 7}},
            {"after": 10, "name": "continue"},
            {"after": 500, "name": "stop"},
        ],
    )
    assert report["errors"] == ["epsilon must be 0 to 1"]
    states = [step["status"] for step in report["steps"]]
    first = states.index("paused")
    paused = [step for step in report["steps"] if step["status"] == "paused"]
    assert len({step["update"] for step in paused}) == 1
    assert states[first - 1] == states[-1] == "running"
    assert report["last"]["settings"]["epsilon"] == 0.25
    assert paused[0]["update"] < report["updates"] < 1800
