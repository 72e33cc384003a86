"""Training from Python: the settings, the rows, several seeds and refusals."""

import io
import sys
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

import jax_ttt
from jax_ttt.api import train
from jax_ttt.config.settings import Config
from jax_ttt.training import run_state

# As the small table of the page's tests, so that these share its programs.
TINY: dict[str, Any] = {"num_updates": 20, "eval_every": 10, "num_envs": 8}


@pytest.fixture(scope="module")
def tiny():
    return jax_ttt.train(3, "table", **TINY)


def same(one, other):
    return all(jax.tree.leaves(jax.tree.map(np.array_equal, one, other)))


def test_the_preset_is_that_of_the_command_or_a_config():
    default = jax_ttt.PRESETS["default"]
    assert train.make_config(None, {}) == default
    plain = jax_ttt.PRESETS["plain"].replace(opponent="random")
    assert train.make_config(None, {"opponent": "random"}) == plain
    config = Config.of(tau=0.5)
    assert train.make_config(config, {}) == config
    assert train.make_config(config, {"gamma": 0.5}) == config.replace(gamma=0.5)


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"learning_rat": 1.0}, "no setting learning_rat; did you mean learning_rate"),
        (
            {"learning_rate_end": 0.5},
            r"learning_rate_end must be .* got 0.5; the other values ",
        ),
        ({"seed": "table"}, r'seed must .* mean preset="table"'),
        ({"seed": Config()}, r"seed must be a whole number \(did you mean preset="),
        ({"seed": "x"}, "seed must be a whole number from 0 to"),
        ({"until_proven": 3}, "until_proven must be true or false, got 3"),
        ({"keep_agents": "yes"}, "keep_agents must be true or false, got 'yes'"),
        ({"progress": "no"}, "progress must be true or false, got 'no'"),
        ({"learner": 3}, r"learner must be a subclass .* or a file .*, got 3"),
        ({"learner": dict}, r"learner must be a subclass .*, got the class dict"),
        ({"learner": "no.py"}, r"\Alearner no.py: no such file"),
        ({"network": 3}, r"network must be mlp, table or a subclass .*, got 3"),
        ({"network": "cnn"}, "one of mlp, table, got 'cnn'. A network of your own is"),
        ({"own": 3}, "there is no setting own"),
        ({"env_id": "hex", "until_proven": True}, "until_proven must be"),
        ({"preset": ["table"]}, r"\Apreset must be one of .*, got "),
        ({"preset": "nonsense"}, r"\Apreset must be one of .*, got "),
        ({"preset": "tabel"}, r"did you mean table\?"),
        ({"env_id": "connect4"}, r"did you mean connect_four\?"),
        ({"sed": 1}, r"did you mean seed\?"),
        ({"seeds": [1]}, r"no setting seeds; did you mean seed\?"),
        ({"until_prove": True}, r"did you mean until_proven\?"),
        ({"lr": 0.1}, r"did you mean learning_rate\?"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(call, message):
    with pytest.raises(jax_ttt.Refused, match=message) as caught:
        jax_ttt.train(**call)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("any_types")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": 3}, r"seeds must be several seeds, for instance range\(8\), got 3"),
        ({"seeds": [1, "a"]}, "seeds must be a whole number .*, got 'a'"),
        ({"seeds": [1], "until_proven": True}, "until_proven must be left out of"),
        ({"seeds": [1], "progress": "no"}, "progress must be true or false"),
        ({"seeds": [1], "sed": 1}, r"no setting sed; did you mean seeds\?"),
        *(
            ({"seeds": seeds}, "seeds must be")
            for seeds in (8, "table", [], [1, 1], [-1])
        ),
    ],
)
def test_wrong_arguments_of_several_seeds_are_refused(arguments, message):
    with pytest.raises(jax_ttt.Refused, match=message):
        jax_ttt.train_many(**arguments)


@pytest.mark.usefixtures("optimized")
def test_it_stops_at_the_first_proof(run):
    stopped = jax_ttt.train(seed=1, preset="table", until_proven=True)
    assert stopped.is_proven
    first = next(agent for agent in run.agents if agent.grade.unbeatable)
    assert stopped.agent.num_updates == first.num_updates < 400
    assert same(stopped.agent.params, first.params)


class Terminal(io.StringIO):
    """A terminal's stderr."""

    def isatty(self):
        return True


def in_notebook(monkeypatch):
    """Let the process look like the kernel of a notebook."""
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)


@pytest.mark.parametrize(
    ("place", "options", "is_shown"),
    [
        ("terminal", {}, True),
        ("notebook", {}, True),
        ("file", {}, False),
        ("file", {"progress": True}, True),
        ("terminal", {"progress": False}, False),
    ],
)
@pytest.mark.parametrize("function", [jax_ttt.train, jax_ttt.train_many])
def test_it_shows_its_progress_in_a_terminal_and_in_a_notebook_or_as_the_caller_says(
    function, place, options, is_shown, monkeypatch
):
    stderr = Terminal() if place == "terminal" else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    if place == "notebook":
        in_notebook(monkeypatch)
    seed = 3 if function is jax_ttt.train else [3]
    function(seed, "table", **options, **TINY)
    shown = stderr.getvalue()
    assert shown.startswith("\rcompiling: " if is_shown else "")
    assert bool(shown) == ("20/20" in shown.rsplit("\r")[-1]) == is_shown


def test_several_seeds_are_the_agents_of_single_runs(tiny):
    """At once: test_many_agents.py."""
    runs = jax_ttt.train_many([4, 3], "table", **TINY)
    assert [run.seed for run in runs] == [4, 3]
    assert not same(runs[0].agent.params, tiny.agent.params)
    assert same(runs[1].agent.params, tiny.agent.params)
    counts, expected = (
        [(row.event, row.update, row.games) for row in run.rows]
        for run in (runs[1], tiny)
    )
    assert counts == expected
    first, second = (row.rows for row in tiny.rows if row.event == "chunk")
    assert 0 < first < second <= 765, "visited positions, of 765 that differ"


def test_a_seed_that_diverges_has_no_run_and_the_other_continues(monkeypatch):
    real = run_state.after_chunk

    def after_chunk(state, learner, metrics, *others):
        factor = np.where(state.keys[:, 1] == 5, np.float32(np.nan), np.float32(1))
        metrics = metrics._replace(loss=metrics.loss * factor)
        return real(state, learner, metrics, *others)

    monkeypatch.setattr(run_state, "after_chunk", after_chunk)
    runs = jax_ttt.train_many([4, 5], "table", **TINY)
    assert ([run.seed for run in runs], runs.diverged) == ([4], (5,))
    assert repr(runs).endswith("; diverged: seed 5")
    assert len(runs[0].rows) == 5
