"""Sliders: what they set, their ranges and what is shown of them."""

import pytest

from jax_ttt.config.errors import SettingError
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
            assert config.static == learning.config.static
        sliders.check_moved(learner, {name: learning.config.value(slider.fields[0])})


def test_no_moved_slider_is_the_preset():
    for learner in LEARNERS:
        assert sliders.config_with(learner, {}) == LEARNING[learner].config


def test_an_unknown_slider_and_a_value_outside_are_refused():
    for moved in ({"tau": 0.1}, {"gamma": 1.1}, {"learning_rate": 0.0}):
        with pytest.raises(SettingError):
            sliders.check_moved("table", moved)


def test_what_is_shown_is_the_slider_else_the_schedule_else_the_preset():
    shown = sliders.shown("network", {"gamma": 0.9}, {"epsilon": 0.4})
    assert (shown["gamma"]["value"], shown["gamma"]["moved"]) == (0.9, True)
    assert (shown["epsilon"]["value"], shown["epsilon"]["moved"]) == (0.4, False)
    assert shown["learning_rate"]["value"] == shown["learning_rate"]["default"] == 6e-3
