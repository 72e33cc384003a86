"""What the program refuses: one line for the user, no traceback."""


class Refused(ValueError):  # noqa: N818  what it says to a user
    """Something was asked for that is not possible; the message says what is."""


class SettingError(Refused):
    """A setting outside its range: names the field, the rule and the value.

    `others` are the fields that the rule depends on. `origin` says where values come
    from that the user did not give, for instance from a preset.
    """

    def __init__(
        self, field: str, rule: str, value: object, others: tuple[str, ...] = ()
    ) -> None:
        super().__init__(field, rule, value, others)
        self.field, self.rule, self.value, self.others = field, rule, value, others
        self.origin = ""

    def __str__(self) -> str:
        return self.text(self.field)

    def text(self, name: str) -> str:
        """Return the message with this name for the field, for instance its flag."""
        text = f"{name} must be {self.rule}, got {self.value!r}"
        return f"{text} ({self.origin})" if self.origin else text


class PlayerError(Refused):
    """A name that is no usable player's; the message says why."""


class MoveError(Refused):
    """A move that is not possible; the message says why."""


class GameError(Refused):
    """Something that is not possible in this game; the message says what."""


class UsageError(Refused):
    """A command line that can't be followed; the message says why."""
