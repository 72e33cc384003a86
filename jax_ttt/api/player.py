"""Players in one form: agents, built-in players, functions and policies."""

import dataclasses
import itertools
import os
from collections.abc import Sequence
from typing import TypeAlias, cast

import jax
import numpy as np
from jaxtyping import Array, Key

from jax_ttt.config import game_facts
from jax_ttt.config.errors import GameError, PlayerError, SettingError
from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.config.ranges import SEED_RANGE, check
from jax_ttt.players import names, registry, saved_agents, user_players
from jax_ttt.players.registry import Entrant


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Player:
    """A player of a game: it chooses moves.

    Attributes:
        env_id: The game.
        entrant: The function that chooses moves, and the policy if it is known.

    Example:
        >>> minimax = jax_ttt.player("minimax")
        >>> minimax.name, minimax.is_exact
        ('minimax', True)
    """

    env_id: EnvId
    entrant: Entrant

    @property
    def name(self) -> str:
        """The player's name in matches and tables."""
        return self.entrant.name

    @property
    def is_exact(self) -> bool:
        """Whether the policy is known, so results can be exact."""
        return self.entrant.probs is not None

    @property
    def policy(self) -> np.ndarray | None:
        """The probability of each move in each position, `(P, A)`; None if unknown.

        The positions are in the order of `jax_ttt.games.tree`.
        """
        return self.entrant.probs

    def __repr__(self) -> str:
        how = "exact" if self.is_exact else "sampled"
        return f"<player of {self.env_id}: {self.name}, results are {how}>"


PlayerLike: TypeAlias = (
    Player
    | saved_agents.Agent
    | str
    | os.PathLike[str]
    | user_players.Function
    | np.ndarray
)
"""Everything that can be a player."""


def player(
    who: PlayerLike,
    *,
    env_id: str | None = None,
    name: str | None = None,
    seed: int = 0,
) -> Player:
    """Return a player: an agent, a built-in player, or your own function or policy.

    All functions that take a player accept the same values as `who`. Call `player` only
    to give a player a name, a game or a seed.

    Args:
        who: An agent; the name of a built-in player, for instance `"random"`,
            `"minimax"`, `"mcts:100"` or `"blend:0.5:minimax"`; the path of a saved
            agent; a policy with the shape of `Player.policy`; or a function
            `(key, env_state) -> actions`, written with `jax.numpy`. The function gets a
            PGX state of B games, with fields such as `env_state.observation` and
            `env_state.legal_action_mask`, and returns B legal actions. It is tested on
            many boards: a move that changes with the other games of the batch or their
            order is refused; one that changes with `key` makes results sampled.
        env_id: The game; by default the agent's, else tic-tac-toe.
        name: The player's name.
        seed: The seed of a search in advance.

    Raises:
        Refused: no player of this game has the name; the function can't be compiled;
            the function or policy plays an illegal move; a move depends on other games
            of the batch; or `name` is empty.

    Example:
        >>> def first_free(key, env_state):
        ...     return env_state.legal_action_mask.argmax(axis=-1)
        >>> jax_ttt.player(first_free, name="row by row")
        <player of tic_tac_toe: row by row, results are exact>
        >>> half = jax_ttt.player("minimax").policy + jax_ttt.player("random").policy
        >>> jax_ttt.player(half / 2, name="half random")
        <player of tic_tac_toe: half random, results are exact>
    """
    SEED_RANGE.check("seed", seed)
    if name is not None:
        check("name", str, name)
    game = game_of([who], env_id)
    return Player(game, _entrant(who, game, jax.random.key(seed), name))


def entrants(
    several: Sequence[PlayerLike], env_id: str | None, key: Key[Array, ""]
) -> tuple[EnvId, list[Entrant]]:
    """Return the players' game, and all players with different names."""
    game = game_of(several, env_id)
    found = [_entrant(who, game, key) for who in several]
    taken, used = {entrant.name for entrant in found}, set()
    for i, entrant in enumerate(found):
        name = entrant.name
        if name in used:  # add a number that makes the name unique
            numbered = (f"{name} ({count})" for count in itertools.count(2))
            name = next(other for other in numbered if other not in taken)
            found[i] = entrant._replace(name=name)
        taken.add(name)
        used.add(name)
    return game, found


def game_of(several: Sequence[PlayerLike], asked: str | None) -> EnvId:
    """Return the game: `asked` if given, else that of the players, else the default.

    Raises:
        Refused: the game is unknown, or a player is made for another game.
    """
    if asked is not None and asked not in GAMES:
        raise SettingError("env_id", f"one of {', '.join(GAMES)}", asked)
    found = {} if asked is None else {asked: "env_id"}
    for who in several:
        own_game = _game(who)
        if own_game is not None:
            found.setdefault(own_game, _name(who))
    if len(found) > 1:
        (first, why), (second, other), *_ = found.items()
        raise GameError(f"more than one game: {first} ({why}) and {second} ({other})")
    return cast(EnvId, next(iter(found), game_facts.DEFAULT))


def _game(who: PlayerLike) -> EnvId | None:
    """Return the game that a player is made for; None if it plays several games."""
    if isinstance(who, Player):
        return who.env_id
    if isinstance(who, saved_agents.Agent):
        return who.config.env_id
    if not isinstance(who, str | os.PathLike):
        return None
    saved = names.read_name(os.fspath(who), game_facts.DEFAULT).saved
    return None if saved is None else saved_agents.game([saved], None)


def _name(who: PlayerLike) -> str:
    if isinstance(who, Player):
        return who.name
    if isinstance(who, saved_agents.Agent):
        return f"agent of seed {who.seed}"
    if isinstance(who, str | os.PathLike):
        return os.fspath(who)
    if isinstance(who, np.ndarray):
        return "policy"
    return getattr(who, "__name__", None) or repr(who)


def _entrant(
    who: PlayerLike, env_id: EnvId, key: Key[Array, ""], name: str | None = None
) -> Entrant:
    called = _name(who) if name is None else name
    if isinstance(who, Player):
        return who.entrant._replace(name=called)
    if isinstance(who, saved_agents.Agent):
        return registry.enter_agent(called, who)
    if isinstance(who, str | os.PathLike):
        spec = names.read_name(os.fspath(who), env_id)
        return registry.enter(spec, env_id, key)._replace(name=called)
    if isinstance(who, np.ndarray):
        return user_players.enter_policy(called, who, env_id)
    if not callable(who):
        raise PlayerError(
            f"a player is an agent, a name, a path, a function or a policy, not {who!r}"
        )
    return user_players.enter_function(called, who, env_id)
