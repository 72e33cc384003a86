"""The grammar of players' names.

A name is a kind, a kind with its arguments after colons, or the path of an agent. This
module imports no JAX, so that commands refuse a wrong name immediately.
"""

import contextlib
import dataclasses
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jax_ttt.config.errors import Refused, did_you_mean
from jax_ttt.config.game_facts import (
    DEFAULT_GAME,
    GAMES,
    MAX_TREE_POSITIONS,
    EnvId,
    enumerable_games,
)
from jax_ttt.config.ranges import Range
from jax_ttt.config.settings import (
    COUNTEREXAMPLES,
    NO_AGENT,
    SELF,
    Config,
    RunSettings,
)
from jax_ttt.files import agent_file
from jax_ttt.files.agent_file import AgentError, agent_path
from jax_ttt.players.shipped import ALL

_SHIPPED = {f"shipped:{name}": path for name, path in ALL.items()}

PLAYER_KINDS = {
    "random": "any legal move",
    "minimax": "a best move, a random one if several are equal",
    "minimax-first": "the first best move, row by row",
    "minimax-quick": "the first best move that wins soonest or loses latest",
    "mcts[:N]": "UCT, N playouts in advance (default 4,000)",
    "mcts-online[:N]": "UCT, N playouts at each move (default 200)",
    "blend:P:PLAYER": "a random move with probability P, else PLAYER's",
    "lookahead:D:AGENT": "best play D moves deep, then the network's values",
    "shipped:network": "the shipped network for tic_tac_toe, proven unbeatable",
    "shipped:table": "the shipped table for tic_tac_toe, proven unbeatable",
    "shipped:connect-5x4": "the shipped network for connect_5x4, proven unbeatable",
    "shipped:connect-7x6": "the corrected network of connect_7x6, proven to win as X",
    "program:COMMAND": "any program: it reads positions, and answers moves",
    "AGENT": "a saved agent's greedy play: a run's folder or a file",
}
"""The kinds of players, and how each plays."""
PLAYERS_HELP = "\n".join(
    ["Players:", *(f"  {name}: {text}" for name, text in PLAYER_KINDS.items())]
)
"""The kinds of players, a line each, for the help of a command."""

BUILT_IN = (
    "random",
    "blend:0.7:minimax",
    "minimax",
    "minimax-first",
    "minimax-quick",
    "mcts",
    "mcts-online",
)
"""Players that need no file."""

_KINDS_BY_NAME = {name: name for name in BUILT_IN} | dict.fromkeys(_SHIPPED, "agent")
_DEFAULT_PLAYOUTS = {"mcts": 4000, "mcts-online": 200}
_NEED_TREE = ("minimax", "minimax-first", "minimax-quick", "mcts")
_NUMBER_RANGES = {
    "mcts": Range(int, 1, 10**6),
    "mcts-online": Range(int, 1, 10**6),
    "blend": Range(float, 0, 1),
    "lookahead": Range(int, 1, 9),
}

MAX_NESTING = 20
"""Maximum number of levels of nested players; each level is compiled separately."""


@dataclasses.dataclass(frozen=True)
class PlayerSpec:
    """The parts of a player's name."""

    name: str
    kind: str  # the first word of the name, or "agent"
    number: int | float = 0  # probability, playouts or depth
    inner: "PlayerSpec | None" = None  # the player within a blend or a lookahead

    @property
    def draws_before_games(self) -> bool:
        """Whether the player draws random numbers in a search before its games."""
        if self.inner is not None:
            return self.inner.draws_before_games
        return self.kind == "mcts"

    @property
    def path(self) -> Path:
        """The agent's file."""
        return agent_path(_SHIPPED.get(self.name, Path(self.name)))

    @property
    def command(self) -> list[str]:
        """The words of a program's command line.

        Raises:
            Refused: there is no such program.
        """
        return _command_words(self.name)

    @property
    def program(self) -> "PlayerSpec | None":
        """The program that the player is, or has within it; None if it has none."""
        if self.inner is not None:
            return self.inner.program
        return self if self.kind == "program" else None

    @property
    def saved(self) -> "PlayerSpec | None":
        """The saved agent that the player is, or has within it; None if it has none."""
        if self.inner is not None:
            return self.inner.saved
        return self if self.kind == "agent" else None


def read_name(name: str, env_id: EnvId, depth: int = 0) -> PlayerSpec:
    """Return the parts of a player's name, which `depth` other players enclose.

    Raises:
        Refused: no player has this name, or it can't play this game.
    """
    if depth > MAX_NESTING:
        raise Refused(f"players may be nested at most {MAX_NESTING} levels deep")
    kind, colon, arguments = name.partition(":")
    if kind in _NEED_TREE and not GAMES[env_id].enumerable:
        games = ", ".join(enumerable_games())
        rule = f"needs an enumerable game, of at most {MAX_TREE_POSITIONS:,} positions"
        raise Refused(f"{name}: {rule}: {games}")
    if kind in _DEFAULT_PLAYOUTS:
        default = _DEFAULT_PLAYOUTS[kind]
        num_playouts = _read_number(name, kind, arguments) if colon else default
        return PlayerSpec(name, kind, num_playouts)
    if kind in ("blend", "lookahead"):
        number, _, inner_name = arguments.partition(":")
        if not inner_name:
            form = next(form for form in PLAYER_KINDS if form.startswith(kind))
            raise Refused(f"{name}: {kind} needs a player after it: {form}")
        inner = read_name(inner_name, env_id, depth + 1)
        if kind == "lookahead" and inner.kind != "agent":
            raise Refused(f"{name}: lookahead needs a saved agent, got {inner_name!r}")
        return PlayerSpec(name, kind, _read_number(name, kind, number), inner)
    if kind == "program":
        _command_words(name)
        return PlayerSpec(name, kind)
    if name in _KINDS_BY_NAME:
        return PlayerSpec(name, _KINDS_BY_NAME[name])
    if not name or not _path_exists(name):
        raise _unknown_player(name)
    path = agent_path(Path(name))
    if not path.exists():
        raise Refused(f"{path}: no such file")
    return PlayerSpec(name, "agent")


def read_opponent(name: str, env_id: EnvId) -> PlayerSpec | None:
    """Return the opponent of a training; None in self-play.

    Raises:
        Refused: it can't play this game, or it is a program.
    """
    if name == SELF:
        return None
    spec = read_name(name, env_id)
    if spec.program is not None:
        raise Refused(
            f"{name}: not possible as an opponent in training, which plays many games "
            "at once in one compiled program; a program would be slow"
        )
    return spec


def read_start_agents(
    settings: RunSettings, *, is_new: bool = True
) -> list[PlayerSpec]:
    """Return the saved agents that a training starts from.

    Only a new training reads them, so another one may lack some.

    Raises:
        Refused: there is no such agent.
    """
    names = {settings.start_agent, settings.start_positions}
    specs = []
    for name in sorted(names - {NO_AGENT, COUNTEREXAMPLES}):
        with contextlib.suppress(*() if is_new else (Refused,)):
            specs.append(read_name(name, settings.env_id))
            if specs[-1].kind != "agent":
                raise Refused(f"{name}: a training starts from a saved agent")
    return specs


def check_files(
    config: Config, known: Mapping[str, str] | None = None, *, is_new: bool = True
) -> dict[str, str] | None:
    """Check the players of a training; return the SHA-256 of each named agent's file.

    They are by the agents' names; None without any. `known` has those of the run whose
    settings these are; a training that continues keeps those of missing files.

    Raises:
        Refused: a player can't be used in this training, or its file is another one
            than before.
    """
    opponent = read_opponent(config.opponent.opponent, config.env_id)
    specs = [] if opponent is None else [opponent]
    specs += read_start_agents(config.run, is_new=is_new)
    known = known or {}
    files = {} if is_new else {**known}
    for saved in filter(None, (spec.saved for spec in specs)):
        checksum = agent_file.checksum(saved.path)
        if checksum != (before := known.get(saved.name, checksum)):
            raise Refused(
                f"{saved.path}: another file than that of the run: its SHA-256 is "
                f"{checksum[:16]}..., not {before[:16]}..."
            )
        files[saved.name] = checksum
    check_games(specs, config.env_id)
    return files or None


def check_games(specs: Iterable[PlayerSpec], env_id: EnvId) -> None:
    """Raise `Refused` if a saved agent among the players is of another game."""
    for spec in specs:
        if (saved := spec.saved) is not None:
            agent_game = agent_file.read_env_id(saved.path)
            if agent_game != env_id:
                raise Refused(f"{saved.name}: made for {agent_game}, not for {env_id}")


def game_of_players(specs: Sequence[PlayerSpec], env_id: EnvId | None) -> EnvId:
    """Return `env_id`, else the game of the players' saved agents, else the default.

    The default is the only game of the file of `--rules`, and tic-tac-toe without one.
    Only the descriptions in the agents' files are read, not the weights.

    Raises:
        AgentError: a file can't be read, or two agents are made for different games.
        Refused: no agent names a game, and the file registers several.
    """
    if env_id is not None:
        return env_id
    games: dict[EnvId, Path] = {}
    for spec in specs:
        if (saved := spec.saved) is not None:
            games.setdefault(agent_file.read_env_id(saved.path), saved.path)
    if len(games) > 1:
        (first, path), (second, other), *_ = games.items()
        raise AgentError(f"{other}: made for {second}, but {path} for {first}")
    if games:
        return next(iter(games))
    of_file = [name for name, game in GAMES.items() if game.rules_file]
    if len(of_file) > 1:
        raise Refused(f"--env-id must be one of {', '.join(of_file)}")
    return of_file[0] if of_file else DEFAULT_GAME


def read_names(
    names: Iterable[str], env_id: EnvId | None
) -> tuple[EnvId, list[PlayerSpec]]:
    """Return the players' game, see `game_of_players`, and the parts of their names.

    Raises:
        Refused: no player has a name, one can't play the game, or a saved agent is of
            another game.
    """
    specs = [read_name(name, env_id or DEFAULT_GAME) for name in names]
    game = game_of_players(specs, env_id)
    check_games(specs, game)
    # The game is known now, and a player may not be able to play it.
    return game, [read_name(spec.name, game) for spec in specs]


def file_stamp(spec: PlayerSpec) -> tuple[int, ...]:
    """Return numbers that change when the player's file is replaced."""
    if (saved := spec.saved) is None:
        return ()
    status = saved.path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _command_words(name: str) -> list[str]:
    """Return the words of the command in the name of a program.

    It is split as by a shell, which does not run. A text that is a file's path is one
    word, with its spaces.

    Raises:
        Refused: there is no command, a quotation is not closed, or there is no such
            program.
    """
    text = name.partition(":")[2].strip()
    if "\0" in text:
        raise Refused(f"{name!r}: a command has no NUL character")
    if os.sep in text and Path(text).is_file():
        words = [text]
    else:
        try:
            words = shlex.split(text)
        except ValueError as error:  # for instance: no closing quotation
            raise Refused(f"{name}: {error}") from None
    if not words:
        raise Refused(f"{name}: program needs a command after it: program:COMMAND")
    if shutil.which(words[0]) is None:
        raise Refused(f"{name}: {words[0]}: {_why_not_a_program(words[0])}")
    return words


def _why_not_a_program(word: str) -> str:
    """Return why a word is not the name of a program that can be started."""
    path = Path(word)
    if path.is_dir():
        return "is a folder"
    if not path.is_file():
        return "no such program"
    if os.access(path, os.X_OK):
        return f"no such program; write {os.curdir}{os.sep}{word} for the file"
    return "not executable; name its interpreter too, such as python, or run chmod +x"


def _path_exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long, or with a character not allowed in paths
        return False


def _read_number(name: str, kind: str, text: str) -> int | float:
    number_range = _NUMBER_RANGES[kind]
    try:
        return number_range.parse_number(text)
    except ValueError:
        raise Refused(f"{name}: {kind} needs {number_range}, got {text!r}") from None


def _unknown_player(name: str) -> Refused:
    if os.sep in name:
        return Refused(f"{name}: no such file or folder{_similar_path(name)}")
    kinds = [kind.partition("[")[0] for kind in PLAYER_KINDS if kind != "AGENT"]
    has_arguments = ":" in name and not name.startswith("shipped:")
    hint = "" if has_arguments else did_you_mean(name, kinds)
    kinds_text = "".join(f"\n  {kind}: {text}" for kind, text in PLAYER_KINDS.items())
    return Refused(f"{name}: no such file, and no known player{hint}{kinds_text}")


def _similar_path(name: str) -> str:
    """Return a question for a path of the same folder, if one has a similar name."""
    path = Path(name)
    try:
        siblings = [str(sibling) for sibling in path.parent.iterdir()]
    except (OSError, ValueError):
        return ""
    return did_you_mean(str(path), siblings)
