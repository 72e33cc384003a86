"""Which calls of `train` and `train_many` a type checker accepts, and so an editor.

`make check` runs pyright on this file: a call without a comment must be right, and one
with a comment must be an error, since a comment that is not needed is one too.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

import ast
import inspect
from pathlib import Path
from typing import assert_type

import pytest
from flax import nnx

import jax_ttt
from jax_ttt.api import train
from jax_ttt.api.training_result import Run, Runs


class OwnLearner(jax_ttt.DQN):
    """A learner of a user."""


class OwnNetwork(nnx.Module):
    """A network of a user."""


def right_calls() -> None:
    """Call with settings of this package, and with a learner and its own setting."""
    assert_type(jax_ttt.train(), Run)
    jax_ttt.train(3, "table", until_proven=True, gamma=1, first_move=None)
    jax_ttt.train(env_id="my_game", network="table", opponent="random")
    jax_ttt.train(network=OwnNetwork, learning_rate=1e-3)
    assert_type(jax_ttt.train(learner=OwnLearner, num_steps=3, gamma=0.9), Run)
    jax_ttt.train(learner=OwnLearner, network=OwnNetwork)
    jax_ttt.train(learner=Path("own.py"), num_steps=3)
    assert_type(jax_ttt.train_many(range(3), "table", tau=0.1), Runs)
    assert_type(jax_ttt.train_many([1], learner=OwnLearner, num_steps=3), Runs)


def wrong_calls() -> None:
    """Call with names and values that no setting has."""
    jax_ttt.train(learning_rat=1.0)  # pyright: ignore[reportCallIssue]
    jax_ttt.train(num_steps=3)  # pyright: ignore[reportCallIssue]
    jax_ttt.train(network="cnn")  # pyright: ignore[reportArgumentType]
    jax_ttt.train(network=OwnLearner)  # pyright: ignore[reportArgumentType]
    jax_ttt.train(num_envs=0.5)  # pyright: ignore[reportArgumentType]
    jax_ttt.train(learner=OwnNetwork)  # pyright: ignore[reportCallIssue, reportArgumentType]
    jax_ttt.train_many([1], sed=3)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("name", ["train", "train_many"])
def test_each_form_for_editors_has_the_arguments_of_the_function(name):
    tree = ast.parse(Path(train.__file__).read_text("utf-8"))
    forms = [
        {node.arg for node in ast.walk(part.args) if isinstance(node, ast.arg)}
        for part in tree.body
        if isinstance(part, ast.FunctionDef) and part.name == name
    ]
    assert forms == [{*inspect.signature(getattr(train, name)).parameters}] * 3
