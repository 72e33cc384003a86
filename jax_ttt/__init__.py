"""Self-play learning of board games in JAX, with proofs that agents are unbeatable.

Importing the package loads no JAX, so that commands start quickly and bad flags are
refused immediately: each public name, listed in `__init__.pyi`, is loaded when it is
first used. The pages in `docs/api` describe them. `jax_ttt.train` is a function, also
after an import of the module `jax_ttt.train`, which is a command.

Examples:
    >>> jax_ttt.PRESETS["table"].num_updates
    400
    >>> jax_ttt.Config.of(env_id="connect_four").seats
    ('first', 'second')
    >>> try:
    ...     jax_ttt.train(gama=0.9)
    ... except jax_ttt.Refused as error:
    ...     print(error)
    there is no setting gama; did you mean gamma?
"""

import signal
import sys
import types

import lazy_loader

from jax_ttt.config.errors import did_you_mean

__version__ = "0.1.0"


early_interrupts: list[int] = []
"""Ctrl-C while the modules of a command are imported: `run_command` looks here. An
exception in the middle of an import may be lost, or be a traceback."""


def _is_command() -> bool:
    """Return whether this process runs a command of the package."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # so it is until Python has found the module to run
        modules = [word.removeprefix("-m") for word in sys.orig_argv]
        return any(module.partition(".")[0] == __name__ for module in modules)
    return program.replace("\\", "/").rpartition("/")[2] in ("jax-ttt", "jax-ttt.exe")


if signal.getsignal(signal.SIGINT) is signal.default_int_handler and _is_command():
    signal.signal(signal.SIGINT, lambda number, frame: early_interrupts.append(number))

_public_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Return a public name; its module is imported at the first use."""
    if name not in __all__:
        hint = did_you_mean(name, __all__)
        message = f"module {__name__!r} has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name)  # else Python adds a hint of its own
    return _public_name(name)


class _Package(types.ModuleType):
    """The class of this package, whose public names no submodule replaces."""

    def __setattr__(self, name: str, value: object) -> None:
        # Python sets a submodule as an attribute of its package when it is imported.
        # The module `jax_ttt.train` would replace the function.
        if name in __all__ and isinstance(value, types.ModuleType):
            return
        super().__setattr__(name, value)


# Python documents this way in "Customizing module attribute access".
sys.modules[__name__].__class__ = _Package
