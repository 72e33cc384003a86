"""The part `target`: what has no effect, and what goes together."""

from jax_ttt.config.parts.target import TargetSettings


def test_what_has_no_effect():
    assert not dict(TargetSettings().unused())
    fields = ("tremble", "double", "tau", "target_update_every")
    assert dict(TargetSettings(gamma=0.0).unused()) == dict.fromkeys(fields, "gamma 0")
    unused = dict(TargetSettings(target_update_every=7).unused())
    assert unused == {"tau": "target_update_every 7"}


def test_what_goes_together():
    assert not list(TargetSettings(double=True).conflicts())
    conflicts = TargetSettings(double=True, backup="two-ply").conflicts()
    assert list(conflicts) == [("double", "false with a two-ply backup")]
    low, draw = (
        TargetSettings(reward_win=-1.0),
        TargetSettings(reward_draw=1.0, reward_win=0.5),
    )
    assert [field for field, _ in low.conflicts()] == ["reward_loss", "reward_draw"]
    assert [field for field, _ in draw.conflicts()] == ["reward_draw"]
