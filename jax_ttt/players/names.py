"""Players' names: the one grammar, read without JAX, so that a slip is refused at once.

A name is a kind, or a kind and what it needs between colons, or an agent's path.
"""

import dataclasses
from pathlib import Path

from jax_ttt.config.catalogue import ENUMERABLE, GAMES, EnvId
from jax_ttt.config.errors import PlayerError
from jax_ttt.config.parts.opponent import SELF
from jax_ttt.config.ranges import Range

KINDS = {
    "random": "any legal move",
    "minimax": "a best move, one of equals at random",
    "minimax-first": "the first best move, row by row",
    "minimax-quick": "the first best move that wins soonest or loses latest",
    "mcts[:N]": "UCT, N playouts in advance (4000)",
    "mcts-online[:N]": "UCT, N playouts at each move (200)",
    "blend:P:PLAYER": "a random move with probability P, else PLAYER's",
    "lookahead:D:AGENT": "best play D moves deep, then the agent's values",
    "AGENT": "a saved agent's greedy play: a run's folder or a file",
}
"""The players, and how each plays."""

BUILT_IN = (
    *("random", "blend:0.7:minimax", "minimax", "minimax-first", "minimax-quick"),
    *("mcts", "mcts-online"),
)
"""Players that need no file."""

_PLAYOUTS = {"mcts": 4000, "mcts-online": 200}
_NEED_TREE = ("minimax", "minimax-first", "minimax-quick", *_PLAYOUTS)
_NUMBERS = {
    "mcts": Range(int, 1, 10**6),
    "mcts-online": Range(int, 1, 10**6),
    "blend": Range(float, 0, 1),
    "lookahead": Range(int, 1, 9),
}


DEEPEST = 20
"""Players within each other, at most: each is read, entered and compiled by itself."""


@dataclasses.dataclass(frozen=True)
class Spec:
    """A name, read."""

    name: str
    kind: str  # the name's first word, or "agent"
    number: int | float = 0  # probability, playouts or depth
    inner: "Spec | None" = None  # whom a blend or a lookahead asks

    @property
    def path(self) -> Path:
        """An agent's file or folder."""
        return Path(self.name)


def read_name(name: str, env_id: EnvId, depth: int = 0) -> Spec:
    """Return what a name stands for in this game; `depth` others are around it.

    Raises:
        PlayerError: it is no known player's, or not one for this game.
    """
    if depth > DEEPEST:
        raise PlayerError(f"at most {DEEPEST} players may be nested around another")
    kind, _, rest = name.partition(":")
    if kind in _NEED_TREE and not GAMES[env_id].enumerable:
        raise PlayerError(
            f"{name}: needs a game whose tree can be walked: {', '.join(ENUMERABLE)}"
        )
    if kind in _PLAYOUTS:
        playouts = _number(name, kind, rest) if ":" in name else _PLAYOUTS[kind]
        return Spec(name, kind, playouts)
    if kind in ("blend", "lookahead"):
        number, colon, inner = rest.partition(":")
        if not colon:
            raise _unknown(name)
        asked = read_name(inner, env_id, depth + 1)
        if kind == "lookahead" and asked.kind != "agent":
            raise PlayerError(f"{name}: looks ahead with a saved agent, not {inner!r}")
        return Spec(name, kind, _number(name, kind, number), asked)
    if name in BUILT_IN:
        return Spec(name, name)
    if not name or not _exists(name):
        raise _unknown(name)
    return Spec(name, "agent")


def check_opponent(name: str, env_id: EnvId) -> None:
    """Raise `PlayerError` unless a name is `self` or a player's in this game."""
    if name != SELF:
        read_name(name, env_id)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long, or a character that no path has
        return False


def _number(name: str, kind: str, text: str) -> int | float:
    allowed = _NUMBERS[kind]
    try:
        value = allowed.type(text)
        allowed.check(kind, value)
    except ValueError:
        raise PlayerError(f"{name}: {kind} needs {allowed}, got {text!r}") from None
    return value


def _unknown(name: str) -> PlayerError:
    known = "; ".join(f"{kind} ({text})" for kind, text in KINDS.items())
    return PlayerError(f"{name}: no such file, and no known player: {known}")
