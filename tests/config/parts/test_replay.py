"""The part `replay`: what has no effect, and what goes together."""

from jax_ttt.config.parts.replay import ReplaySettings


def test_what_has_no_effect():
    unused = [*ReplaySettings().unused()]
    assert {conflict.field for conflict in unused} == {"replay_batch", "replay_start"}
    assert {conflict.others for conflict in unused} == {("replay_capacity",)}
    assert not list(ReplaySettings(replay_capacity=1000).unused())


def test_a_buffer_holds_a_batch_and_its_start():
    assert not list(ReplaySettings(replay_capacity=1000).conflicts())
    (conflict,) = ReplaySettings(replay_capacity=999).conflicts()
    assert (conflict.field, conflict.others) == ("replay_capacity", ("replay_start",))
    assert "at least 1,000" in conflict.rule
    large = ReplaySettings(replay_capacity=1999, replay_batch=2000)
    (conflict,) = large.conflicts()
    assert conflict.others == ("replay_batch",)
