"""The page's learners in JavaScript: an update of theirs is the learner's in Python."""

import base64
import json

import commands
import jax
import learners
import numpy as np
import optax
import pytest
from marks import mark_slow
from page_modules import run_node

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
SEED = 5


def base64_of(leaf):
    return base64.b64encode(np.asarray(leaf, "<f4").tobytes()).decode()


def weights(params):
    leaves = pytrees.leaves_by_name(params)
    return {name: base64_of(leaf) for name, leaf in leaves.items()}


def positions(state):
    """Return the numbers of the games' positions in the tree."""
    return trees.position_index("tic_tac_toe").of_states(state.env_state).tolist()


def state_json(state):
    """Return the part of a learner's state that an update in the page changes."""
    adam = [
        part
        for part in jax.tree.leaves(
            state.opt_state, is_leaf=lambda x: isinstance(x, optax.ScaleByAdamState)
        )
        if isinstance(part, optax.ScaleByAdamState)
    ]
    record = {
        "params": weights(state.params),
        "target": weights(state.target_params),
        "average": weights(state.average_params),
        "positions": positions(state),
        "visited": None if state.visited is None else state.visited.tolist(),
    }
    for part in adam:
        record |= {
            "means": weights(part.mu),
            "squares": weights(part.nu),
            "steps": np.asarray(part.count).item(),
        }
    return record


def fields_of(sliders):
    """Return the settings that moved sliders set."""
    moved = sliders.items()
    return {field: value for name, value in moved for field in FIELDS[name]}


def cases_of(name):
    """Yield updates of a learner in Python, and what they depend on."""
    config = CONFIGS[name].replace(precision="float32")
    state = learners.init(DQN.of(config), jax.random.key(SEED))
    last = UPDATES[name][-1]
    for update in range(last + 1):
        if update == last:
            config = config.replace(**fields_of(MOVED[name]))
        learner = DQN.of(config)
        before = state
        state, metrics = learners.update(learner, state)
        if update not in UPDATES[name]:
            continue
        turn = learners.draw(config, before.key, before.update).first
        _, played = learners.play(
            learner, before.params, before.env_state, turn, metrics.epsilon
        )
        yield {
            "config": json_records.to_dict(config),
            "before": state_json(before),
            "numbers": {
                "uniform": base64_of(turn.uniform),
                "epsilon": float(metrics.epsilon),
                "learningRate": float(metrics.learning_rate),
                "gamma": config.gamma,
            },
            "after": state_json(state) | {"loss": float(metrics.loss)},
            "actions": played.transition.action.tolist(),
            "counts": {
                "games": int(metrics.counts.games),
                "wins": int(metrics.counts.wins),
                "losses": int(metrics.counts.losses),
            },
        }


@pytest.mark.parametrize("name", mark_slow(UPDATES, "network"))
def test_an_update_in_the_page_is_the_one_in_python(name, tmp_path):
    cases = [*cases_of(name)]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    results = run_node("web/learner_cases.mjs", path)
    for case, result in zip(cases, results, strict=True):
        assert result["actions"] == case["actions"]
        assert result["positions"] == case["after"]["positions"]
        assert result["counts"] == case["counts"]
        assert result["visited"] == case["after"]["visited"]
        assert result["differences"].keys() >= {"loss", "params", "target"}
        for part, difference in result["differences"].items():
            assert difference < TOLERANCE, part
        # The squares of Adam are smaller than the tolerance.
        assert max(result["shares"].values()) < SHARE
        assert min(result["changes"].values()) > TOLERANCE**2, "an update changes all"


def test_the_page_trains_with_the_settings_of_the_presets():
    learners = run_node("web/learner_run.mjs", "settings")
    assert learners.keys() == CONFIGS.keys()
    for name, learner in learners.items():
        assert learner["config"] == json_records.to_dict(CONFIGS[name])
        lowest = {slider: low for slider, (low, _) in learner["sliders"].items()}
        moved = CONFIGS[name].replace(**fields_of(lowest))
        assert learner["moved"] == json_records.to_dict(moved)


SEEDS = {"table": [1, 2, 3], "network": [1]}
"""Seeds of trainings, by learner."""


@pytest.fixture(scope="module", params=mark_slow(["table", "network"], "network"))
def trainings(request, tmp_path_factory):
    """Return what trainings of the page report, and the folder of their files."""
    learner, folder = request.param, tmp_path_factory.mktemp("agents")
    program = ("train", folder, learner, *SEEDS[learner])
    return run_node("web/learner_run.mjs", *program), folder


def test_trainings_are_proven_and_stay_proven(trainings):
    reports, _ = trainings
    for report in reports:
        is_table = report["learner"] == "table"
        assert report["status"] == "finished"
        assert report["unbeatable"] == {"x": True, "o": True}
        assert 10 <= report["proven_at"] <= (200 if is_table else 1800)
        assert (report["positions_learned"] is None) != is_table
    assert len(reports) == len(SEEDS[reports[0]["learner"]])


def test_a_training_reports_steps_and_grades_from_the_beginning(trainings):
    for report in trainings[0]:
        config = CONFIGS[report["learner"]]
        updates = [*range(0, config.num_updates + 1, config.eval_every)]
        assert report["rows"] == updates
        assert report["proven_at"] in updates
        assert report["shares"][0] < 0.9 < 0.99 < report["shares"][-1], "X's wins"
        assert report["games"] == sum(report["wins"].values()) + report["draws"]


def test_the_grade_and_the_values_in_the_page_are_those_of_its_file(trainings):
    """Python reads the file, and follows all lines; so does the page."""
    reports, folder = trainings
    for report in reports:
        agent = saved_agents.load_agent(folder / report["file"])
        assert agent.num_updates == report["update"]
        assert agent.seed == report["seed"]
        assert agent.config == CONFIGS[report["learner"]]
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
        assert report["values"] == pytest.approx(np.asarray(values)[0], abs=1e-6)
        assert report["read values"] == pytest.approx(report["values"], abs=1e-6)


def test_commands_read_a_file_of_the_page(trainings, capsys):
    reports, folder = trainings
    path = folder / reports[0]["file"]
    assert commands.run(commands.module_of("evaluate"), [str(path)]) == 0
    assert "unbeatable: no line of play" in capsys.readouterr().out


def test_a_person_pauses_changes_and_stops_a_training():
    report = run_node("web/learner_run.mjs", "direct")
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
    reports = run_node("web/learner_run.mjs", "games")
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
    message = run_node("web/learner_run.mjs", "diverge")
    assert "training diverged" in message
    assert message.endswith("try a lower learning rate")


def test_messages_come_more_than_ten_times_a_second_at_the_pace_of_watching():
    report = run_node("web/learner_run.mjs", "pace")
    assert report["messages"] > 10 * report["seconds"]
    assert 0 < report["updates"] <= 40 * report["seconds"] + 8  # 400 in 10 seconds
