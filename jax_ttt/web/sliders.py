"""The learners that can be trained on the page, and the sliders that change them."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta

from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS
from jax_ttt.config.ranges import check_value
from jax_ttt.config.settings import Config
from jax_ttt.files.json_records import JsonObject

LearnerName = Literal["table", "network", "connect-4x4"]
LEARNERS: tuple[LearnerName, ...] = get_args(LearnerName)


@dataclasses.dataclass(frozen=True)
class Slider:
    """A setting that a person can change while an agent learns.

    It sets all of `fields`, the start and the end of a schedule, to one value: a moved
    slider ends the schedule.
    """

    fields: tuple[str, ...]
    low: float
    high: float

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` unless a value lies on the slider."""
        check_value(name, Annotated[float, Meta(ge=self.low, le=self.high)], value)


@dataclasses.dataclass(frozen=True)
class LearnerOption:
    """A learner in words, its settings at the start, and its sliders."""

    title: str
    help: str
    """What it is, in a sentence or two, as the page shows it."""
    config: Config
    sliders: Mapping[str, Slider]
    seconds: float | None = None
    """Approximate length of a run, slow enough to watch; None: as fast as possible."""
    from_people: bool = True
    """Whether it can learn from a person's games."""

    def pace(self, speed: float) -> float | None:
        """Return the most updates per second at `speed` times the pace; None: any."""
        if self.seconds is None or math.isinf(speed):
            return None
        return speed * self.config.num_updates / self.seconds


def _make_sliders(low: float, high: float) -> dict[str, Slider]:
    """Return the sliders of a learner; `low` and `high` bound its learning rate."""
    rates = ("learning_rate", "learning_rate_end")
    return {
        "learning_rate": Slider(rates, low, high),
        "gamma": Slider(("gamma",), low=0.5, high=1.0),
        "epsilon": Slider(("epsilon_start", "epsilon_end"), low=0.0, high=1.0),
    }


LEARNING: dict[LearnerName, LearnerOption] = {
    # More evaluations than in the presets, so that the curve grows in small steps.
    "table": LearnerOption(
        title="Table",
        help="A table keeps one value for each position of tic-tac-toe.",
        config=PRESETS["table"].replace(eval_every=10),
        sliders=_make_sliders(0.01, 1.0),
        seconds=10.0,
    ),
    "network": LearnerOption(
        title="Network",
        help="A network computes the value of each move from the board, so what it "
        "learns in one position changes its values in others.",
        config=PRESETS["default"].replace(eval_every=50),
        sliders=_make_sliders(1e-4, 0.1),
        seconds=20.0,
    ),
    # An evaluation is a round: a search for counterexamples. It ends with a proof.
    "connect-4x4": LearnerOption(
        title="Connect Four 4 \u00d7 4",
        help="A network learns Connect Four on 4 \u00d7 4 in rounds. After each round, "
        "a search lists the positions where it loses, and half of the next games start "
        "there. It takes up to a minute.",
        config=PRESETS["connect-4x4"],
        sliders=_make_sliders(1e-4, 0.02),
        from_people=False,
    ),
}


def learners_as_json() -> list[JsonObject]:
    """Return the learners in words, in the order in which the page offers them."""
    return [
        {"id": name, "title": learner.title, "help": learner.help}
        for name, learner in LEARNING.items()
    ]


def check_moved(learner: LearnerName, moved: Mapping[str, object]) -> None:
    """Check the names and values of moved sliders; None moves a slider back.

    Raises:
        SettingError: a slider is unknown, or its value is outside the range.
    """
    sliders = LEARNING[learner].sliders
    for name, value in moved.items():
        if name not in sliders:
            raise SettingError("setting", f"one of {', '.join(sliders)}", name)
        if value is not None:
            sliders[name].check(name, value)


def config_with(learner: LearnerName, moved: Mapping[str, float]) -> Config:
    """Return the learner's settings, changed by the moved sliders."""
    learning = LEARNING[learner]
    fields = {
        field: value
        for name, value in moved.items()
        for field in learning.sliders[name].fields
    }
    return learning.config.replace(**fields)


def sliders_as_json(
    learner: LearnerName, moved: Mapping[str, float], scheduled: Mapping[str, float]
) -> JsonObject:
    """Return the sliders as JSON data.

    `value` is what the learner uses now: the slider's value if it was moved, else that
    of the schedule if `scheduled` has it, else the value at the start.
    """
    learning = LEARNING[learner]
    sliders: JsonObject = {}
    for name, slider in learning.sliders.items():
        default = getattr(learning.config, slider.fields[0])
        sliders[name] = {
            "value": moved.get(name, scheduled.get(name, default)),
            "min": slider.low,
            "max": slider.high,
            "default": default,
            "moved": name in moved,
        }
    return sliders
