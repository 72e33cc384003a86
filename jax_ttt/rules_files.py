"""The files of the flag `--rules`: Python that registers games of users.

A command runs such a file before it reads its other flags, since they name the games.
"""

import dataclasses
import runpy
import sys
import traceback
from pathlib import Path

from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES

_FLAG = "--rules"


def run_rules(path: str, keeps_programs: bool) -> None:
    """Run a file, once in a process.

    A registration may compile; `keeps_programs` says whether in the programs' cache.

    Raises:
        Refused: there is no such file, or it fails, or registers no game.
    """
    if not Path(path).is_file():
        raise Refused(f"{_FLAG} {path}: no such file")
    if any(game.rules_file == path for game in GAMES.values()):
        return
    from jax_ttt.runtime import compiling  # imports JAX

    compiling.use_program_cache(keeps_programs)
    before = dict(GAMES)
    _run(path)
    new = [name for name, game in GAMES.items() if game is not before.get(name)]
    if not new:
        raise Refused(f"{_FLAG} {path}: it calls no jax_ttt.register_game")
    for env_id in new:
        GAMES[env_id] = dataclasses.replace(GAMES[env_id], rules_file=path)


def _run(path: str) -> None:
    """Run a file; its folder is searched for modules, too."""
    file = Path(path).resolve()
    sys.path.append(str(file.parent))  # last, so that no module of Python is hidden
    try:
        runpy.run_path(str(file))
    except Refused as error:
        raise Refused(f"{_FLAG} {path}: {error.args[0]}") from error
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
        raise Refused(f"{_FLAG} {path}{where}: {text}") from error
