"""The page's learners in JavaScript: an update of theirs is the learner's in Python."""

import base64
import dataclasses
import functools

import commands
import jax
import learners
import numpy as np
import optax
import page_modules
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.dqn.learner import DQN
from jax_ttt.files import json_records
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.grading import grader
from jax_ttt.players import registry, saved_agents
from jax_ttt.runtime import pytrees

CONFIGS = {
    "table": PRESETS["table"].replace(eval_every=10),
    "network": PRESETS["default"].replace(eval_every=50),
}
"""The page's learners. They are evaluated often: curves grow in small steps."""
FIELDS = {
    "learning_rate": ("learning_rate", "learning_rate_end"),
    "gamma": ("gamma",),
    "epsilon": ("epsilon_start", "epsilon_end"),
}
"""The settings of a slider: it ends a schedule."""
TOLERANCE = 1e-6
SHARE = 1e-4
"""Largest difference of a list, of its largest value."""
UPDATES = {"table": (7, 20, 60), "network": (0, 40, 150)}
"""Updates that are compared, by their number from 0 on."""
MOVED = {
    "table": {"learning_rate": 0.3, "gamma": 0.9, "epsilon": 0.25},
    "network": {"learning_rate": 0.002, "gamma": 0.7, "epsilon": 0.4},
}
"""Sliders that a person has moved before the last of these updates."""
compute = functools.partial(page_modules.compute, program="web/learner_tasks.mjs")


def fields_of(sliders):
    """Return the settings that moved sliders set."""
    moved = sliders.items()
    return {field: value for name, value in moved for field in FIELDS[name]}


# ---- one update


def base64_of(values):
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


def from_base64(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def as_list(params):
    """Return weights as the page keeps them; kernels are (inputs, outputs) there."""
    leaves = pytrees.leaves_by_name(params)
    if "values" in leaves:
        return np.ravel(leaves["values"])
    parts = []
    for number in range(0, len(leaves), 2):  # an activation is between two layers
        name = f"layers.layers.{number}"
        parts += [leaves[f"{name}.kernel"].T.ravel(), leaves[f"{name}.bias"]]
    return np.concatenate(parts)


def lists_of(state):
    """Return the lists of a learner's state that an update changes, by name."""
    lists = {"params": state.params, "target": state.target_params}
    if state.visited is None:
        (adam,) = (
            part
            for part in jax.tree.leaves(
                state.opt_state, is_leaf=lambda x: isinstance(x, optax.ScaleByAdamState)
            )
            if isinstance(part, optax.ScaleByAdamState)
        )
        lists |= {"average": state.average_params, "means": adam.mu, "squares": adam.nu}
    return {name: as_list(params) for name, params in lists.items()}


def positions(state):
    """Return the numbers of the games' positions in the tree."""
    return trees.position_index("tic_tac_toe").of_states(state.env_state).tolist()


def visited(state):
    return None if state.visited is None else state.visited.tolist()


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_in_the_page_is_the_one_in_python(name):
    config = CONFIGS[name].replace(precision="float32")
    after = learners.init(DQN.of(config), jax.random.key(5))
    last = UPDATES[name][-1]
    for update in range(last + 1):
        before = after
        if update == last:
            config = config.replace(**fields_of(MOVED[name]))
            # So some errors are above 1, where the slope of the Huber loss is constant.
            large = jax.tree.map(lambda leaf: 2 * leaf, before.params)
            before = dataclasses.replace(before, params=large)
        learner = DQN.of(config)
        after, metrics = learners.update(learner, before)
        if update not in UPDATES[name]:
            continue
        turn = learners.draw(config, before.key, before.update).first
        _, played = learners.play(
            learner, before.params, before.env_state, turn, metrics.epsilon
        )
        old, new = lists_of(before), lists_of(after)
        shown = compute(
            "update",
            config=json_records.to_dict(config),
            before={
                "positions": positions(before),
                "visited": visited(before),
                "steps": update,
                "lists": {part: base64_of(values) for part, values in old.items()},
            },
            numbers={
                "uniform": base64_of(turn.uniform),
                "epsilon": float(metrics.epsilon),
                "learningRate": float(metrics.learning_rate),
                "gamma": config.gamma,
            },
        )
        assert shown["actions"] == played.transition.action.tolist()
        assert shown["positions"] == positions(after)
        assert shown["visited"] == visited(after)
        counts = {key: int(getattr(metrics.counts, key)) for key in shown["counts"]}
        assert shown["counts"] == counts
        assert counts.keys() == {"games", "wins", "losses"}
        assert shown["loss"] == pytest.approx(float(metrics.loss), abs=TOLERANCE)
        assert shown["lists"].keys() == new.keys()
        for part, text in shown["lists"].items():
            difference = np.abs(from_base64(text) - new[part]).max()
            assert difference < TOLERANCE, part
            # The squares of Adam are smaller than the tolerance.
            assert difference < SHARE * np.abs(new[part]).max(), part
            assert np.abs(new[part] - old[part]).max() > TOLERANCE**2, part


# ---- trainings


def test_the_page_trains_with_the_settings_of_the_presets():
    shown = compute("settings")
    assert shown.keys() == CONFIGS.keys()
    for name, learner in shown.items():
        assert learner["config"] == json_records.to_dict(CONFIGS[name])
        lowest = {slider: low for slider, (low, _) in learner["sliders"].items()}
        moved = CONFIGS[name].replace(**fields_of(lowest))
        assert learner["moved"] == json_records.to_dict(moved)


@pytest.mark.parametrize(
    ("learner", "seed"),
    [("table", 2), pytest.param("network", 1, marks=pytest.mark.slow)],
)
def test_a_training_is_proven_and_its_file_says_so(learner, seed, tmp_path):
    """Python reads the file, and follows all lines; so does the page."""
    path = tmp_path / "agent.safetensors"
    report = compute("train", learner=learner, seed=seed, file=str(path))
    config, is_table = CONFIGS[learner], learner == "table"
    assert report["status"] == "finished"
    assert report["unbeatable"] == {"x": True, "o": True}
    assert 10 <= report["proven_at"] <= (200 if is_table else 1800)
    assert (report["positions_learned"] is None) != is_table
    # It reports steps and grades from the beginning.
    updates = [*range(0, config.num_updates + 1, config.eval_every)]
    assert [row["update"] for row in report["rows"]] == updates
    assert report["proven_at"] in updates
    shares = [row["grade"]["first"]["win_rate"] for row in report["rows"]]
    assert shares[0] < 0.9 < 0.99 < shares[-1], "X's wins"
    assert report["games"] == sum(report["wins"].values()) + report["draws"]
    agent = saved_agents.load_agent(path)
    assert agent.num_updates == report["update"]
    assert (agent.seed, agent.config) == (seed, config)
    grade = grader.follow_lines(registry.agent_player("agent", agent))
    for seat, followed in grade.followed.items():
        of_page = agent.grade.seat(seat)
        assert of_page is not None
        assert of_page.unbeatable == followed.unbeatable
        assert of_page.lines == followed.lines
        assert of_page.win_rate == pytest.approx(followed.win_rate)
    state = pgx_games.make_env("tic_tac_toe").init(jax.random.key(0))
    values = saved_agents.board_values(
        agent.network, agent.params, state.observation[None]
    )
    for shown in report["values"]:  # of the agent in memory, and of its file
        assert shown == pytest.approx(np.asarray(values)[0], abs=1e-6)
    printed = commands.run(commands.module_of("evaluate"), str(path))
    assert "unbeatable: no line of play" in printed.out


def test_a_person_pauses_changes_and_stops_a_training():
    report = compute("direct")
    assert report["updates while paused"] == 0
    assert report["paused"] == "paused"
    assert report["changed"] == {"learning_rate": 0.5, "gamma": 0.9, "epsilon": 0.2}
    assert report["schedule again"]["epsilon"] > 0.5
    assert report["refused"] == [
        "epsilon must be 0 to 1",
        "there is no slider tau",
        "there is no command rewind",
    ]
    assert 0 < report["stopped at"] < 400
    assert report["file's updates"] == report["stopped at"]
    assert report["file's settings"] == {"learning_rate": 0.5, "gamma": 0.9}


def test_a_persons_game_is_learned_move_by_move_from_its_end():
    """The table's first values are 0, and it takes over whole targets.

    O's last move is followed by X's win, which costs O 1. But a share of 0.7 of X's
    moves is at random, and only one of the five legal moves wins.
    """
    reports = compute("games")
    table = reports["table"]
    assert table["before"] == [0] * 5
    assert table["after"][4] == 1, "X's last move wins"
    assert table["after"][3] == pytest.approx(0.3 * -1 + 0.7 * -1 / 5, abs=1e-6)
    network = reports["network"]
    assert network["after"][4] > network["before"][4] + 0.005, "a win is worth more"
    first, last = reports["evaluations"]
    assert (first["status"], first["games"]) == ("running", 1)
    assert first["row"] == first["agent"] < last["row"] == last["agent"]
    assert (last["status"], last["games"]) == ("finished", 2)


def test_a_training_that_diverged_fails_with_the_reason():
    message = compute("diverge")
    assert "training diverged" in message
    assert message.endswith("try a lower learning rate")


def test_messages_come_more_than_ten_times_a_second_at_the_pace_of_watching():
    report = compute("pace")
    assert report["messages"] > 10 * report["seconds"]
    assert 0 < report["updates"] <= 40 * report["seconds"] + 8  # 400 in 10 seconds
