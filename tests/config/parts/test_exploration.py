"""The part `exploration`: what has no effect, and what goes together."""

from jax_ttt.config.parts.exploration import ExplorationSettings


def test_what_has_no_effect():
    (unused,) = ExplorationSettings().unused()
    assert (unused.field, unused.others) == ("epsilon_decay", ("epsilon_schedule",))
    same = ExplorationSettings(epsilon_start=0.5, epsilon_end=0.5).unused()
    causes = {conflict.field: set(conflict.others) for conflict in same}
    ends = {"epsilon_start", "epsilon_end"}
    assert causes == dict.fromkeys(("epsilon_schedule", "epsilon_decay"), ends)
    for schedule in ("steps", "exponential"):
        assert not list(ExplorationSettings(epsilon_schedule=schedule).unused())


def test_epsilon_does_not_rise():
    settings = ExplorationSettings(epsilon_start=0.2, epsilon_end=0.3)
    (conflict,) = settings.conflicts()
    assert conflict.field == "epsilon_end"
    assert conflict.others == ("epsilon_start",)
    assert "at most 0.2" in conflict.rule
