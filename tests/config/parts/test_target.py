"""The part `target`: what has no effect, and what goes together."""

from jax_ttt.config.parts.target import TargetSettings


def test_what_has_no_effect():
    assert not list(TargetSettings().unused())
    unused = TargetSettings(gamma=0.0).unused()
    fields = ("tremble", "double", "tau", "target_update_every")
    assert {(c.field, *c.others) for c in unused} == {(x, "gamma") for x in fields}
    (unused,) = TargetSettings(target_update_every=7).unused()
    assert (unused.field, unused.others) == ("tau", ("target_update_every",))


def test_what_goes_together():
    assert not list(TargetSettings(double=True).conflicts())
    (conflict,) = TargetSettings(double=True, backup="two-ply").conflicts()
    assert (conflict.field, conflict.others) == ("double", ("backup",))
    low, draw = (
        TargetSettings(reward_win=-1.0),
        TargetSettings(reward_draw=1.0, reward_win=0.5),
    )
    assert [c.field for c in low.conflicts()] == ["reward_loss", "reward_draw"]
    assert [(c.field, *c.others) for c in draw.conflicts()] == [
        ("reward_draw", "reward_win")
    ]
