"""The part `exploration`: what has no effect, and what goes together."""

from jax_ttt.config.parts.exploration import ExplorationSettings


def test_what_has_no_effect():
    unused = dict(ExplorationSettings().unused())
    assert unused == {"epsilon_decay": "epsilon_schedule linear"}
    same = dict(ExplorationSettings(epsilon_start=0.5, epsilon_end=0.5).unused())
    cause = "epsilon_end equal to epsilon_start"
    assert same == dict.fromkeys(("epsilon_schedule", "epsilon_decay"), cause)
    for schedule in ("steps", "exponential"):
        assert not dict(ExplorationSettings(epsilon_schedule=schedule).unused())


def test_epsilon_does_not_rise():
    ((field, rule),) = ExplorationSettings(
        epsilon_start=0.2, epsilon_end=0.3
    ).conflicts()
    assert (field, rule) == ("epsilon_end", "at most 0.2 (epsilon_start)")
