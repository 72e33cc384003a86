"""The files of the flags `--rules` and `--learner`: Python that users write.

A command runs such a file before it reads its other flags: `--rules` registers games,
which they name, and the settings of an own learner are flags.
"""

import contextlib
import dataclasses
import functools
import hashlib
import importlib.util
import runpy
import sys
import traceback
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.own_code import OwnCode


def run_rules(path: str, keeps_programs: bool) -> None:
    """Run a file, once in a process.

    A registration may compile; `keeps_programs` says whether in the programs' cache.

    Raises:
        Refused: there is no such file, or it fails, or registers no game.
    """
    if any(game.rules_file == path for game in GAMES.values()):
        return
    before = dict(GAMES)
    with _running("--rules", path, keeps_programs) as file:
        runpy.run_path(str(file))
    new = [name for name, game in GAMES.items() if game is not before.get(name)]
    if not new:
        raise Refused(f"--rules {path}: it calls no jax_ttt.register_game")
    for env_id in new:
        GAMES[env_id] = dataclasses.replace(GAMES[env_id], rules_file=path)


def run_learner(path: str, keeps_programs: bool, name: str = "--learner") -> OwnCode:
    """Run a file, and return its learner and its network.

    `name` is the flag or the argument that names the file, for messages.

    Raises:
        Refused: there is no such file, or it fails, or defines neither.
    """
    with _running(name, path, keeps_programs) as file:
        module = _module(file, hashlib.sha256(file.read_bytes()).hexdigest())
    from jax_ttt.training import own_learner  # imports JAX

    return own_learner.own_code_of_module(f"{name} {path}", module)


def run_learner_of(
    given: Mapping[str, Sequence[str]], names: Collection[str]
) -> OwnCode | None:
    """Run the file of a command line's `--learner`; return None without this flag.

    `names` are those of the command's flags.

    Raises:
        Refused: as `run_learner`, or a setting of the learner has the name of a flag.
    """
    path = next(iter(given.get("learner", ())), None)
    if path is None:
        return None
    own = run_learner(path, "no_compile_cache" not in given)
    if clashes := sorted(own.setting_types.keys() & {*names}):
        rule = "there is a flag of this name"
        raise Refused(f"{own.learner}.Settings.{clashes[0]}: {rule}")
    return own


@functools.cache
def _module(file: Path, digest: str) -> types.ModuleType:
    """Return a file as a module, which knows its file.

    The same content runs once in a process: its classes stay the same, and so do the
    programs that are compiled for them.
    """
    name = f"own_{file.stem}_{digest[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise Refused("must be a file of Python, *.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _running(flag: str, path: str, keeps_programs: bool) -> Iterator[Path]:
    """Run a file in this block, whose errors become one line.

    Its folder is searched for modules, too.
    """
    if not Path(path).is_file():
        raise Refused(f"{flag} {path}: no such file")
    from jax_ttt.runtime import compiling  # imports JAX

    compiling.use_program_cache(keeps_programs)
    file = Path(path).resolve()
    sys.path.append(str(file.parent))  # last, so that no module of Python is hidden
    try:
        yield file
    except Refused as error:
        raise Refused(f"{flag} {path}: {error.args[0]}") from error
    except (Exception, SystemExit) as error:  # a user's program may raise anything
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(file)
        ]
        if isinstance(error, SyntaxError) and error.filename == str(file):
            lines.append(error.lineno)
        line = next(reversed(lines), 0)
        where = f", line {line}" if line else ""
        reason = error.msg if isinstance(error, SyntaxError) else error
        text = f"{type(error).__name__}: {reason}".splitlines()[0]
        raise Refused(f"{flag} {path}{where}: {text}") from error
