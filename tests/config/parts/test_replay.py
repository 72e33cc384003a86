"""The part `replay`: what has no effect, and what goes together."""

from jax_ttt.config.parts.replay import ReplaySettings


def test_what_has_no_effect():
    causes = dict.fromkeys(("replay_batch", "replay_start"), "replay_capacity 0")
    assert dict(ReplaySettings().unused()) == causes
    assert not dict(ReplaySettings(replay_capacity=1000).unused())


def test_a_buffer_holds_a_batch_and_its_start():
    assert not list(ReplaySettings(replay_capacity=1000).conflicts())
    ((field, rule),) = ReplaySettings(replay_capacity=999).conflicts()
    assert field == "replay_capacity"
    assert rule == "0 or at least 1,000 (replay_batch, replay_start)"
