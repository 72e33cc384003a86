"""Learners and networks of users, in one file: run, proven, played, saved, resumed."""

# Settings are given as `**FIELDS`, and own ones are in records that may be absent.
# pyright: reportCallIssue=false, reportArgumentType=false
# pyright: reportOptionalMemberAccess=false

import dataclasses
import json
import signal
import sys
from typing import Any

import commands
import jax
import numpy as np
import pytest
import tiny
from commands import refusal
from marks import mark_slow
from own_learners import FIELDS, FOR_NETWORK, NETWORK, PLAIN, SAME, changed, written
from same_runs import assert_same_run

import jax_ttt
from jax_ttt.config import own_code
from jax_ttt.files.run_folder import read_settings
from jax_ttt.games import pgx_games
from jax_ttt.training import many_agents, own_learner
from jax_ttt.training.many_agents import Job

ARENA, EVALUATE, RUNS, SWEEP, TRAIN = map(
    commands.module_of, ("arena", "evaluate", "runs", "sweep", "train")
)
FLAGS = tiny.flags()


@pytest.fixture(scope="module", autouse=True)
def forgotten_networks():
    """Forget the networks of these classes after the whole file."""
    yield
    pgx_games.forget_games(with_programs=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of the files."""
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="module")
def plain(folder):
    """Return the path of a file with a learner that is not a DQN."""
    return written(folder / "plain.py", PLAIN)


@pytest.fixture(scope="module")
def one_layer(folder):
    """Return the path of a file with a network."""
    return written(folder / "one_layer.py", NETWORK)


@pytest.fixture(scope="module")
def plain_class(plain):
    """Return the learner as the class that the file has defined in this process."""
    return own_of(commands.parse(TRAIN, ["--learner", plain]).config).learner_class


@pytest.fixture(scope="module")
def network_class(one_layer):
    """Return the network as a class."""
    return own_of(commands.parse(TRAIN, ["--learner", one_layer]).config).network_class


def class_in(path, name):
    """Return a class of a file, by an import."""
    from importlib import util

    spec = util.spec_from_file_location(f"{name}_file", path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.fixture(scope="module")
def plain_run(plain, folder):
    """Return the folder of a whole run of the learner, by the command."""
    path = folder / "whole"
    words = ["--learner", plain, "--step-size", "0.25", "--quiet", "--run-dir"]
    commands.run(TRAIN, *FLAGS, *words, str(path))
    return path


@pytest.fixture(scope="module")
def network_run(one_layer):
    """Return a run of Python with the network, and our learner."""
    return jax_ttt.train(learner=one_layer, **FOR_NETWORK)


@pytest.fixture
def unloaded(monkeypatch):
    """Forget the classes, as in a new process."""
    monkeypatch.setattr(own_code, "_classes", {})
    monkeypatch.setattr(own_code, "_paths", {})
    monkeypatch.setattr(own_code, "_modules", {})


def own_of(config):
    """Return the record of a user's classes in settings, which have one."""
    assert config.own is not None
    return config.own


def weights(agent):
    """Return the bytes of an agent's weights."""
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(agent.params)]


# Ways to train.


def test_an_imported_class_and_its_file_give_the_agent_of_the_command(plain, plain_run):
    agent = jax_ttt.load(plain_run, learner=plain)
    for learner in (class_in(plain, "Plain"), plain):
        run = jax_ttt.train(learner=learner, step_size=0.25, **FIELDS)
        assert weights(run.agent) == weights(agent)
        assert run.agent.config == agent.config
    assert own_of(run.agent.config).settings == {"step_size": 0.25, "cost": "square"}


def test_a_network_is_given_alone_or_with_a_learner(network_class, network_run, folder):
    run = jax_ttt.train(network=network_class, **FOR_NETWORK)
    assert weights(run.agent) == weights(network_run.agent)
    shapes = sorted(leaf.shape for leaf in jax.tree.leaves(run.agent.params))
    assert shapes == [(9,), (9, 9)]
    text = PLAIN + NETWORK.partition("import jax_ttt")[2]
    both = written(folder / "both.py", f"{text}\n\nPlain.network_class = OneLayer\n")
    own = own_of(commands.parse(TRAIN, ["--learner", both]).config)
    assert (own.learner, own.network) == ("Plain", "OneLayer")
    # Another network keeps the learner of a config, with its settings. This learner's
    # state has a number of Python.
    text = changed(text, "    games: Any\n", "    games: Any\n    number: Any\n")
    text = changed(
        text, "self.start_games(games_key))", "self.start_games(games_key), 0)"
    )
    text = changed(text, "new_key)), metrics", "new_key), state.number + 1), metrics")
    learner = class_in(written(folder / "two.py", text), "Plain")
    network = vars(sys.modules[learner.__module__])["OneLayer"]
    own = own_learner.own_code_of(learner, None)
    own = own_code.with_settings(own, {"step_size": 0.25})
    config = jax_ttt.PRESETS["plain"].replace(own=own, **tiny.FIELDS)
    agent = jax_ttt.train(preset=config, network=network, num_updates=2).agent
    own = own_of(agent.config)
    assert (own.learner, own.network) == ("Plain", "OneLayer")
    assert own.settings["step_size"] == 0.25
    assert own_of(agent.config.architecture).learner == ""
    assert sorted(x.shape for x in jax.tree.leaves(agent.params)) == shapes
    assert agent.num_updates == 2


def test_a_config_keeps_the_learner(plain, plain_run, tmp_path):
    agent = jax_ttt.load(plain_run, learner=plain)
    run = jax_ttt.train(preset=agent.config)
    assert weights(run.agent) == weights(agent)
    words = ["--config", str(plain_run), "--learner", plain, "--quiet"]
    commands.run(TRAIN, *words, "--run-dir", str(tmp_path / "again"))
    assert_same_run(tmp_path / "again", plain_run)
    other = jax_ttt.train(preset=agent.config, **{"cost": "absolute"}).agent
    assert own_of(other.config).settings == {"step_size": 0.25, "cost": "absolute"}
    assert weights(other) != weights(agent)


def test_each_seed_alone_is_the_same_among_many(plain):
    runs = jax_ttt.train_many([3, 4], learner=plain, **FIELDS)
    for run in runs:
        alone = jax_ttt.train(seed=run.agent.seed, learner=plain, **FIELDS)
        assert weights(alone.agent) == weights(run.agent)
    other = jax_ttt.train_many([3, 4], learner=plain, step_size=0.1, **FIELDS)
    for run, changed_run in zip(runs, other, strict=True):
        assert weights(run.agent) != weights(changed_run.agent)
    result = jax_ttt.compare(runs, other)
    assert result.seeds == (3, 4)
    assert result.proven.first == result.proven.second == 0
    # At once they are rounded differently, since their products are of more numbers.
    jobs = [Job(runs.config, seed) for seed in (3, 4)]
    params = [p for block in many_agents.train_blocks(jobs, 2) for p in block.params()]
    for together, run in zip(params, runs, strict=True):
        for one, other in zip(
            jax.tree.leaves(together), jax.tree.leaves(run.agent.params), strict=True
        ):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_sweep_varies_settings_of_the_learner(plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--learner", plain, "--num-seeds", "2", "--grid", "step_size=0.1,0.2"]
    drawn = ["--json", "--svg", "grid.svg"]
    result = json.loads(commands.run(SWEEP, *FLAGS, *words, *drawn).out)
    assert ">step_size<" in (tmp_path / "grid.svg").read_text("utf-8")
    sizes = [group["settings"] for group in result["groups"]]
    assert sizes == [{"step_size": 0.1}, {"step_size": 0.2}]
    assert [len(group["agents"]) for group in result["groups"]] == [2, 2]
    again = ["--resume", result["file"], "--learner", plain]
    flag = f"--learner {plain}"
    assert f"--resume {result['file']} {flag} --csv" in commands.run(SWEEP, *again).out
    line = refusal(SWEEP, *again, "--step-size", "0.7")
    assert line.startswith("--step-size must be left out with --resume")
    line = refusal(SWEEP, *words[:4], "--grid", "step_size=2")
    assert line == "--step-size must be a number above 0 and at most 1, got '2'"


@pytest.mark.parametrize("preset", mark_slow(["default", "table"], "table"))
def test_a_dqn_with_nothing_changed_has_the_weights_of_ours(preset, folder):
    fields = dict(tiny.FIELDS)
    if preset == "table":
        del fields["hidden_size"]
    ours = jax_ttt.train(preset=preset, **fields).agent
    named = jax_ttt.train(preset=preset, learner=jax_ttt.DQN, **fields).agent
    assert (named.config, weights(named)) == (ours.config, weights(ours))
    same = written(folder / "same.py", SAME)
    agent = jax_ttt.train(preset=preset, learner=same, **fields).agent
    assert own_of(agent.config).learner == "Same"
    assert weights(agent) == weights(ours)
    assert agent.grade == ours.grade


def test_presets_of_a_learner(plain, folder):
    """A DQN has the preset of the game, and another learner the plain one."""
    same = written(folder / "same.py", SAME)
    for learner, preset in ((plain, "plain"), (same, "default")):
        config = jax_ttt.train(learner=learner, **tiny.FIELDS).agent.config
        own = dataclasses.replace(config, own=None)
        assert own == jax_ttt.PRESETS[preset].replace(**tiny.FIELDS)
        words = ["--learner", learner]
        assert commands.parse(TRAIN, words).preset == preset


# The agent.


def test_an_agent_is_played_corrected_and_certified(network_run, folder, one_layer):
    agent = network_run.agent
    assert jax_ttt.grade(agent).evidence == "construction"
    assert str(jax_ttt.new_game(agent, seat="second"))
    values = jax_ttt.q_values(agent, [])
    assert jax_ttt.best_move(agent, []) == max(values, key=lambda move: values[move])
    assert jax_ttt.prove(agent).unbeatable is False
    result = jax_ttt.correct(agent)
    assert result.num_corrections > 0
    assert result.grade.unbeatable is True
    path, certificate = folder / "corrected.safetensors", folder / "certificate.json"
    jax_ttt.save(result.agent, path)
    words = ["--learner", one_layer, "--certificate", certificate]
    commands.run(EVALUATE, path, *words)
    assert certificate.exists()


def test_commands_ask_for_the_file(unloaded, plain_run, plain, tmp_path):
    """As in a new process; a file with another source is not the file."""
    rule = f"{plain_run / 'agent.safetensors'}: made with Plain of plain.py, SHA-256 "
    for name, *words in (
        ("evaluate", plain_run),
        ("play", plain_run),
        ("correct", plain_run),
        ("plot", plain_run, "--game"),
        ("arena", plain_run, "random"),
        ("train", "--resume", plain_run),
    ):
        line = refusal(commands.module_of(name), *words)
        assert line.startswith(rule) or name == "train"
        assert "made with Plain of plain.py" in line
        assert "name its file by --learner plain.py in a command" in line
    other = written(tmp_path / "plain.py", f"{PLAIN}\n")
    line = refusal(EVALUATE, plain_run, "--learner", other)
    assert line.startswith(rule)
    assert line.endswith("but the Plain that is loaded has another source")
    file = ["--learner", plain]
    result = json.loads(commands.run(EVALUATE, plain_run, *file, "--json").out)
    assert result["grade"]["unbeatable"] is False
    result = json.loads(commands.run(ARENA, plain_run, "random", *file, "--json").out)
    assert result["env_id"] == "tic_tac_toe"
    assert "whole" in commands.run(RUNS, plain_run.parent, *file).out


# A run that stops.


def test_an_interrupted_run_continues_bit_for_bit(
    plain, plain_run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = ["--learner", plain, "--step-size", "0.25", "--run-dir", "cut"]
    stop = commands.at_step(2, lambda: signal.raise_signal(signal.SIGINT))
    stopped = commands.run(TRAIN, *FLAGS, *words, on_step=stop, code=130)
    flag = f"--learner {plain}"
    assert f"train --resume cut {flag}" in stopped.err
    out = commands.run(TRAIN, "--resume", "cut", "--learner", plain).out
    assert f"evaluate cut {flag}" in out
    assert_same_run(tmp_path / "cut", plain_run)
    settings = read_settings(tmp_path / "cut" / "config.json").config
    assert own_of(settings).settings["step_size"] == 0.25
    words = ["--resume", plain_run, "--learner", plain, "--step-size", "0.5"]
    line = refusal(TRAIN, *words)
    assert "--step-size is 0.25 in this run, got 0.5" in line


# The help.


def test_the_help_shows_the_settings_of_the_learner(plain, capsys):
    with pytest.raises(SystemExit) as end:
        commands.parse(TRAIN, ["--learner", plain, "--help"])
    assert end.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "--step-size 0<..1" in text
    assert "Length of a step. (default: 0.5)" in text
    assert "--cost {square,absolute}" in text
    assert "Plain options" in text


# Mistakes.

UPDATE = "return State(params, self.replace_finished(after, new_key)), metrics"
FAULTS = {
    # Of the learner.
    "structure": (
        UPDATE,
        "return (params, state.games), metrics",
        "Plain.update returns another state than it gets: ",
    ),
    "dtype": (
        "params = jax.tree.map(lambda w, g: w - step * g, state.params, grads)",
        "params = jax.tree.map(lambda w: w[None].astype(jnp.bfloat16), state.params)",
        " before and bfloat16[1, ",
    ),
    "no metrics": (
        UPDATE,
        "return State(params, state.games), cost",
        "Plain.update must return the metrics of self.metrics(...) second, got ",
    ),
    "one result": (
        UPDATE,
        "return params",
        "Plain.update must return a state and metrics",
    ),
    "vector as loss": (
        "self.metrics(counts, loss=cost,",
        "self.metrics(counts, loss=target,",
        "Plain.update: the metric loss must be one number, float32, got float32[8]",
    ),
    "no player": (
        "return self.player(state.params)",
        "return state.params",
        "Plain.policy must return a player of self.player(...), got a State",
    ),
    "player of other weights": (
        "return self.player(state.params)",
        "return self.player(state)",
        "Plain.policy: the player's weights must be those of init_params",
    ),
    "an error in init": (
        "params_key, games_key = jax.random.split(key)",
        "params_key, games_key = 1 / 0",
        "Plain.init raises ZeroDivisionError: division by zero",
    ),
    "a method is missing": (
        "def policy(self, state):",
        "def player_of(self, state):",
        "Plain.policy raises NotImplementedError",
    ),
    "random numbers of NumPy in init": (
        "return State(self.init_params(params_key), ",
        "noise = np.random.default_rng().normal()\n"
        "        params = self.init_params(params_key)\n"
        "        return State(jax.tree.map(lambda w: w + noise, params), ",
        "Plain.init is another program each time: it must draw random numbers from ",
    ),
    "random numbers of NumPy in update": (
        "action = jax.random.categorical(action_key, jnp.log(legal))",
        "action = jnp.asarray(np.random.default_rng().permutation(8)) % 9",
        "Plain.update is another program each time: it must draw random numbers from ",
    ),
    "no dataclass": (
        "    @dataclasses.dataclass(frozen=True)\n    class Settings",
        "    class Settings",
        "Plain.Settings must be a dataclass",
    ),
    "no default": (
        "Meta(gt=0, le=1)] = 0.5",
        "Meta(gt=0, le=1)]",
        "Plain.Settings.step_size must have a default",
    ),
    "default out of range": (
        "Meta(gt=0, le=1)] = 0.5",
        "Meta(gt=0, le=1)] = 2.0",
        "step-size must be a number above 0 and at most 1, got 2.0",
    ),
    "no number and no text": (
        "cost: Literal",
        "sizes: tuple[int, ...] = (1, 2)\n        cost: Literal",
        "Plain.Settings.sizes must be a bool, a number, a text or a Literal of words",
    ),
    "name of another flag": (
        "cost: Literal",
        "seed: int = 3\n        cost: Literal",
        "Plain.Settings.seed: there is a flag of this name",
    ),
    "name of a setting": (
        "cost: Literal",
        "loss: Literal",
        "Plain.Settings.loss: there is a setting of this name",
    ),
    # Of the network.
    "number of actions": (
        "planes, num_values, rngs=rngs)",
        "planes, 7, rngs=rngs)",
        "OneLayer: for 2 boards its values must have the shape (2, 18), as num_values "
        "is 18, got (2, 7)",
    ),
    "batch norm": (
        "rngs=rngs)\n\n",
        "rngs=rngs)\n        self.norm = nnx.BatchNorm(4, rngs=rngs)\n\n",
        "OneLayer: all its state must be nnx.Param, got BatchStat",
    ),
    "dropout": (
        "rngs=rngs)\n\n",
        "rngs=rngs)\n        self.drop = nnx.Dropout(0.5, rngs=rngs)\n\n",
        "OneLayer: all its state must be nnx.Param, got Rng",
    ),
    "another signature": (
        "(self, shape, num_values, *, rngs)",
        "(self, *, rngs)",
        "OneLayer raises TypeError: OneLayer.__init__() takes 1 positional argument",
    ),
}
"""What is changed in a user's file, and what the refusal says."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mistake_is_one_line(any_types, fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old, new, reason = FAULTS[fault]
    text = NETWORK if reason.startswith("OneLayer") else PLAIN
    file = written(tmp_path / "own.py", changed(text, old, new))
    small = tiny.flags("num_envs", "num_updates", "eval_every")
    assert reason in refusal(TRAIN, *small, "--learner", file)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("loss=cost,", "loss=cost * jnp.nan,"),
        ("w - step * g,", "w - jnp.inf * g,"),
    ],
)
def test_a_run_whose_numbers_are_not_finite_ends(old, new, tmp_path):
    file = written(tmp_path / "own.py", changed(PLAIN, old, new))
    words = ["--learner", file, "--run-dir", str(tmp_path / "run")]
    err = commands.run(TRAIN, *FLAGS, *words, code=3).err
    assert "Traceback" not in err
    assert "diverged" in err


@pytest.mark.parametrize("text", ["x = 1\n", "from jax_ttt import DQN\n"])
def test_a_file_without_a_learner_is_refused(text, tmp_path):
    """What else is wrong with a file, and its name: test_own_rules.py."""
    file = written(tmp_path / "own.py", text)
    rule = "it defines no subclass of jax_ttt.Learner or of flax.nnx.Module"
    assert refusal(TRAIN, "--learner", file) == f"--learner {file}: {rule}"
    other = written(tmp_path / "own.txt", PLAIN)
    line = refusal(TRAIN, "--learner", other)
    assert line == f"--learner {other}: must be a file of Python, *.py"


def test_settings_of_the_learner_have_ranges_and_names(plain):
    rule = "must be a number above 0 and at most 1, got"
    with pytest.raises(jax_ttt.Refused, match=f"^step_size {rule} 2$"):
        jax_ttt.train(learner=plain, step_size=2)
    with pytest.raises(jax_ttt.Refused, match=r"step_siz; did you mean step_size\?"):
        jax_ttt.train(learner=plain, step_siz=0.1)
    with pytest.raises(jax_ttt.Refused, match="there is no setting step_size"):
        jax_ttt.train(**dict[str, Any](step_size=0.1))
    line = refusal(TRAIN, "--learner", plain, "--step-siz", "1")
    assert line == "there is no flag --step-siz; did you mean --step-size?"


def test_classes_of_two_files_are_refused(plain, plain_class, network_class):
    with pytest.raises(jax_ttt.Refused, match=r"^Plain and OneLayer must be in"):
        jax_ttt.train(learner=plain_class, network=network_class)
    with pytest.raises(jax_ttt.Refused, match=r"^network must be left out with"):
        jax_ttt.train(learner=plain, network=network_class)


def test_what_only_a_dqn_has_is_refused_elsewhere(plain, tmp_path):
    start = str(tiny.save_untrained(tmp_path / "agent.safetensors"))
    rule = "must be left out with Plain, which is not a DQN, got"
    for fields, got in (
        ({"start_agent": start}, f"'{start}'"),
        ({"start_share": 0.5, "env_id": "connect_4x4"}, "0.5"),
    ):
        name, *_ = fields
        words = [f"--{name.replace('_', '-')}={fields[name]}" for name in fields]
        line = refusal(TRAIN, *FLAGS, "--learner", plain, *words)
        assert line == f"--{name.replace('_', '-')} {rule} {got}"
    for module in (TRAIN, SWEEP):  # processes can't share a learner
        line = refusal(module, "--learner", plain, "--distributed")
        assert line == "--learner must be left out with --distributed"


# A file, and settings, that don't fit together.


def test_saved_settings_get_the_learner_of_the_file(plain, tiny_run, tmp_path):
    """And settings that name another learner refuse it."""
    settings = written(tmp_path / "small.toml", "tau = 0.25\nnum_updates = 4\n")
    words = ["--config", settings, "--learner", plain, "--step-size", "0.1"]
    config = commands.parse(TRAIN, words).config
    assert (config.tau, config.num_updates) == (0.25, 4)
    assert own_of(config).learner == "Plain"
    assert own_of(config).settings["step_size"] == 0.1
    line = refusal(TRAIN, "--resume", tiny_run[0], "--learner", plain)
    assert line == "--learner must be left out: the run has none"


def test_a_file_that_changed_after_its_import_is_refused(tmp_path):
    learner = class_in(written(tmp_path / "later.py", f"{PLAIN}\n# later\n"), "Plain")
    with pytest.raises(jax_ttt.Refused, match="step_siz"):
        jax_ttt.train(learner=learner, step_siz=0.1)  # from now on its file is known
    written(tmp_path / "later.py", f"{PLAIN}\n# changed\n")
    with pytest.raises(jax_ttt.Refused, match=r"later\.py has changed since"):
        jax_ttt.train(learner=learner, **FIELDS)


def test_a_class_of_the_same_name_takes_the_place_of_another():
    """Typed at a prompt, where nothing keeps the source: it can't be saved either."""
    made = []
    for size in (0.0, 1.0):
        names = {"__name__": "nowhere"}
        text = f"{NETWORK}\nSIZE = {size}\n".replace("return ", "return SIZE * ", 1)
        exec(compile(text, "<typed>", "exec"), names)
        own = own_learner.own_code_of(None, names["OneLayer"])
        agent = tiny.untrained(jax_ttt.PRESETS["plain"].replace(own=own))
        made.append([*jax_ttt.q_values(agent, []).values()])
    assert made[0] == [0.0] * 9
    assert made[1] != made[0]
    with pytest.raises(jax_ttt.Refused, match="OneLayer must be in a file"):
        jax_ttt.save(agent, "agent.safetensors")


def test_an_agent_names_only_classes_of_the_file(network_run):
    """Not what the file imports, which a changed agent's file could name."""
    own = network_run.config.own
    assert dataclasses.replace(own).network == "OneLayer"
    for name in ("nnx", "Nothing", "jnp"):
        with pytest.raises(jax_ttt.Refused, match=f"made with {name} of one_layer.py"):
            dataclasses.replace(own, network=name)


def test_targets_of_another_shape_are_refused(folder):
    text = PLAIN.partition("import jax_ttt")[0] + (
        "import jax_ttt\n\n\nclass Flat(jax_ttt.DQN):\n"
        "    def td_targets(self, params, target_params, batch):\n"
        "        return batch.reward\n"
    )
    path = written(folder / "flat.py", text)
    with pytest.raises(jax_ttt.Refused, match=r"td_targets must return \(2, 8\)"):
        jax_ttt.train(learner=path, **{**FIELDS, "num_envs": 8, "backup": "two-ply"})
