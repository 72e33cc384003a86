"""The sliders of live training: their ranges, and the settings that they change.

Imports no JAX.
"""

import dataclasses
from collections.abc import Mapping
from typing import Literal, get_args

from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.ranges import Range
from jax_ttt.config.settings import Config

LearnerKind = Literal["table", "network"]
LEARNERS: tuple[LearnerKind, ...] = get_args(LearnerKind)


@dataclasses.dataclass(frozen=True)
class Slider:
    """A number that can be changed while an agent learns.

    It sets all of `fields` to one value, so a moved slider ends their schedule.
    """

    fields: tuple[str, ...]
    range: Range


@dataclasses.dataclass(frozen=True)
class Learning:
    """What a learner begins with, and what can be changed while it learns."""

    config: Config
    sliders: Mapping[str, Slider]
    seconds: float  # about how long a run is shown


_RATES = ("learning_rate", "learning_rate_end")
_SHARED = {
    "gamma": Slider(("gamma",), Range(float, 0.5, 1)),
    "epsilon": Slider(("epsilon_start", "epsilon_end"), Range(float, 0, 1)),
}
LEARNING: dict[LearnerKind, Learning] = {
    # More evaluations than the presets have, for a curve that is seen to grow.
    "table": Learning(
        PRESETS["table"].replace(eval_every=10),
        {"learning_rate": Slider(_RATES, Range(float, 0.01, 1)), **_SHARED},
        seconds=10.0,
    ),
    "network": Learning(
        PRESETS["default"].replace(eval_every=50),
        {"learning_rate": Slider(_RATES, Range(float, 1e-4, 0.1)), **_SHARED},
        seconds=20.0,
    ),
}


def check_moved(learner: LearnerKind, moved: Mapping[str, object]) -> None:
    """Raise `SettingError` unless all are sliders of the learner, within the range."""
    sliders = LEARNING[learner].sliders
    for name, value in moved.items():
        if name not in sliders:
            raise SettingError("setting", f"one of {', '.join(sliders)}", name)
        sliders[name].range.check(name, value)


def config_with(learner: LearnerKind, moved: Mapping[str, float]) -> Config:
    """Return the learner's settings with the sliders that were moved."""
    learning = LEARNING[learner]
    fields = {
        field: value
        for name, value in moved.items()
        for field in learning.sliders[name].fields
    }
    return learning.config.replace(**fields)


def shown(
    learner: LearnerKind, moved: Mapping[str, float], scheduled: Mapping[str, float]
) -> dict[str, dict[str, float | bool]]:
    """Return the sliders as plain data.

    `value` is what the learner uses now: the slider's if it was moved, else that of
    the schedule if `scheduled` has it, else the first one of the settings.
    """
    learning = LEARNING[learner]
    found = {}
    for name, slider in learning.sliders.items():
        default = learning.config.value(slider.fields[0])
        value = moved.get(name, scheduled.get(name, default))
        found[name] = {
            "value": value,
            "min": slider.range.low,
            "max": slider.range.high,
            "default": default,
            "moved": name in moved,
        }
    return found
