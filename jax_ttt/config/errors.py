"""What the program refuses: one line for the user, no traceback."""


class Refused(ValueError):  # noqa: N818  what it says to a user
    """Something was asked for that is not possible; the message says what is."""


class SettingError(Refused):
    """A setting outside its range: names the field, the rule and the value.

    `origin` says what sets the value, for instance a preset, where no flag does.
    """

    def __init__(self, field: str, rule: str, value: object) -> None:
        self.field, self.rule, self.value = field, rule, value
        self.origin = ""
        super().__init__(f"{field} must be {rule}, got {value!r}")


class PlayerError(Refused):
    """A name that is no usable player's; the message says why."""


class MoveError(Refused):
    """A move that is not possible; the message says why."""


class GameError(Refused):
    """Something that is not possible in this game; the message says what."""


class UsageError(Refused):
    """A command line that can't be followed; the message says why."""
