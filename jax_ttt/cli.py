"""A command: its help, its flags read, and its device. Imports no JAX."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from jax_ttt import flags
from jax_ttt.config.errors import Refused, flag_name, similar_words
from jax_ttt.config.shared_flags import (
    DeviceFlags,
    MachineFlags,
    TrainingFlags,
    first_word,
    given_flags,
)
from jax_ttt.runtime import interrupts, standard_streams
from jax_ttt.text import tables
from jax_ttt.training import user_files

if TYPE_CHECKING:
    from jax_ttt.runtime.mesh import Hardware

ArgsT = TypeVar("ArgsT")


@dataclasses.dataclass(frozen=True)
class Command(Generic[ArgsT]):
    """A command that users type."""

    module: str
    """The module that `python -m` runs."""
    args_type: type[ArgsT]
    """A dataclass: its docstring begins the help, and its fields are the flags."""
    main: Callable[[ArgsT], int]
    """The function that does the work and returns the exit code."""
    notes: str = ""
    """The text of the help after the docstring."""
    examples: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The words of example command lines, each with a description."""
    first: tuple[str, ...] = ()
    """The fields whose flags people use most, which begin the help; by default those of
    the command's own dataclass, and its device."""

    @property
    def description(self) -> str:
        """The text before the flags in the help, whose lines fit in the terminal."""
        paragraphs = (inspect.getdoc(self.args_type) or "").split("\n\n")
        texts = [" ".join(text.split()) for text in paragraphs] + [self.notes]
        lines = [
            f"  {f'python -m {self.module} {words}'.rstrip()}\n      {text}"
            for words, text in self.examples.items()
        ]
        if lines:
            texts.append("\n".join(["Examples:", *lines]))
        # tyro joins a line that begins with a letter with the one before it.
        return tables.filled_text("\n\n".join(filter(None, texts)))


def parse(command: Command[ArgsT], words: Sequence[str]) -> ArgsT:
    """Return the arguments of a command line.

    Raises:
        SystemExit: tyro has printed the help, or the error.
        Refused: a file or player can't be used, or a given setting has no effect.
    """
    given, defaults = given_flags(words), command.args_type()
    names = [name for flag in flags.flags_of(defaults) for name in flag.words]
    own = user_files.run_learner_of(given, names) if "learner" in names else None
    if own is not None and isinstance(defaults, TrainingFlags):
        of_own = flags.flags_of(own.settings_record)
        names = [name for flag in of_own for name in flag.words] + names
    for name in given:
        if name not in [*names, "help"]:
            ours = [flag_name(other) for other in similar_words(name, names)]
            hint = f"; did you mean {' or '.join(ours)}?" if ours else ""
            raise Refused(f"there is no flag {flag_name(name)}{hint}")
    if (rules_file := first_word(given, "rules")) is not None:
        user_files.run_rules(rules_file, "no_compile_cache" not in given)
    if isinstance(defaults, TrainingFlags):
        words = [*words, *defaults.implied_words(given, own)]
        defaults = type(defaults).with_defaults(given).with_learner(own, given)
        defaults = dataclasses.replace(defaults, given_fields=tuple(given))
    values = flags.read(
        defaults,
        words=words,
        first=command.first,
        prog=f"python -m {command.module}",
        description=command.description,
    )
    args = flags.with_values(defaults, values)
    return args.with_settings(values) if isinstance(args, TrainingFlags) else args


def set_up_device(
    machine: MachineFlags, parallel: DeviceFlags | None = None
) -> "Hardware":
    """Import JAX, choose the device or the devices, and use the program cache.

    Raises:
        Refused: there is no such device, or a setting of JAX prevents training.
    """
    with standard_streams.status_line("loading JAX"):
        with interrupts.postponed():
            from jax_ttt.runtime import compiling, mesh

        hardware = mesh.use_devices(machine.device, parallel or DeviceFlags())
        compiling.use_program_cache(not machine.no_compile_cache)
    return hardware
