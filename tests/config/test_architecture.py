"""What is needed to use a network: equal for agents that differ in how they learned."""

import pytest

from jax_ttt.config.settings import Config

SAME = {
    "num_envs": 8,
    "num_updates": 7,
    "learning_rate": 0.5,
    "gamma": 0.5,
    "opponent": "random",
    "seat": "second",
    "loss": "mse",
    "precision": "bfloat16",
    "eval_games": 0,
    "target_update_every": 5,
}
OTHER = {
    "env_id": "connect_four",
    "network": "table",
    "canonical": False,
    "hidden_size": 64,
    "hidden_layers": 1,
    "activation": "tanh",
    "two_planes": True,
    "filters": 4,
    "backup": "two-ply",
}


def test_how_it_learned_is_no_part_of_it():
    assert Config.of(**SAME).architecture == Config().architecture


@pytest.mark.parametrize("field", OTHER)
def test_what_its_values_depend_on_is_part_of_it(field):
    config = Config.of(**{field: OTHER[field]})
    assert config.architecture != Config().architecture


@pytest.mark.parametrize(
    ("fields", "heads"),
    [
        ({}, "value"),
        ({"double": True}, "value"),
        ({"backup": "two-ply"}, "value-and-reply"),
        ({"double": True, "network": "table"}, "two-tables"),
    ],
)
def test_the_heads_follow_from_the_backup(fields, heads):
    assert Config.of(**fields).architecture.heads == heads
