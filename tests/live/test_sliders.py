"""Sliders: what they set, their ranges and what is shown of them."""

import pytest

from jax_ttt.live import sliders
from jax_ttt.live.sliders import LEARNERS, LEARNING


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_end_of_a_range_is_a_setting_of_the_same_program(learner):
    learning = LEARNING[learner]
    for name, slider in learning.sliders.items():
        for value in (slider.range.low, slider.range.high):
            config = sliders.config_with(learner, {name: float(value)})
            assert [config.value(field) for field in slider.fields] == [value] * len(
                slider.fields
            )
            assert config.compiled_for == learning.config.compiled_for
        sliders.check_moved(learner, {name: learning.config.value(slider.fields[0])})


def test_what_is_shown_is_the_slider_else_the_schedule_else_the_preset():
    shown = sliders.shown("network", {"gamma": 0.9}, {"epsilon": 0.4})
    assert (shown["gamma"]["value"], shown["gamma"]["moved"]) == (0.9, True)
    assert (shown["epsilon"]["value"], shown["epsilon"]["moved"]) == (0.4, False)
    assert shown["learning_rate"]["value"] == shown["learning_rate"]["default"] == 6e-3
