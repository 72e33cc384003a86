"""Players in one form: agents, built-in players, functions and policies."""

import dataclasses
import itertools
import os
from collections.abc import Sequence
from typing import TypeAlias, cast

import jax
import numpy as np
from jaxtyping import Array, Key

from jax_ttt.config.errors import Refused, SettingError
from jax_ttt.config.game_facts import GAMES, EnvId, SeatSetting
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.config.ranges import MaxPositions, Seed, Text, check_value, game_error
from jax_ttt.config.settings import SEATS_OF_SETTING
from jax_ttt.players import registry, saved_agents, user_players
from jax_ttt.players.player import Player
from jax_ttt.players.user_players import PlayerFn
from jax_ttt.runtime import compiling

PlayerLike: TypeAlias = (
    Player | saved_agents.Agent | str | os.PathLike[str] | PlayerFn | np.ndarray
)
"""Everything that can be a player."""


def player(
    player: PlayerLike,
    *,
    env_id: str | None = None,
    name: str | None = None,
    seed: int = 0,
    programs: ProgramOptions = registry.PROGRAMS,
) -> Player:
    """Return a player: an agent, a built-in player, or your own function or policy.

    All functions that take a player accept the same values as `player`. Call this
    function only to give a player a name, a game or a seed.

    Args:
        player: An agent; the name of a built-in player, for instance `"random"`,
            `"minimax"`, `"mcts:100"` or `"blend:0.5:minimax"`; a program, for instance
            `"program:./player"` (docs/use/programs.md); the path of a saved agent; a
            policy with the shape of `Player.policy`; or a function. It gets a PGX state
            of B games, with fields such as `env_state.observation` and
            `env_state.legal_action_mask`, and returns B legal actions. Results of
            `f(env_state)` are exact: JAX traces it once, or if it can't, the function
            is asked for all its moves. `f(key, env_state)`, written with `jax.numpy`,
            draws by chance, so its results are sampled.
        env_id: The game; by default the agent's, else tic-tac-toe.
        name: The player's name.
        seed: The seed of a search in advance.
        programs: How a program is asked: a
            `jax_ttt.config.player_kinds.ProgramOptions`.

    Raises:
        Refused: no player of this game has the name; the function takes other arguments
            or raises an error; the function or policy plays an illegal move; or `name`
            is empty.

    Examples:
        >>> def first_free(env_state):
        ...     return env_state.legal_action_mask.argmax(axis=-1)
        >>> jax_ttt.player(first_free, name="row by row")
        <player of tic_tac_toe: row by row, results are exact>
        >>> half = jax_ttt.player("minimax").policy + jax_ttt.player("random").policy
        >>> jax_ttt.player(half / 2, name="half random")
        <player of tic_tac_toe: half random, results are exact>
    """
    check_value("seed", Seed, seed)
    if name is not None:
        check_value("name", Text, name)
    game = common_game([player], env_id)
    player_key, _ = jax.random.split(jax.random.key(seed))
    made = _make_player(player, game, player_key, name, programs)
    return user_players.with_all_moves(made)


def opponent_in_a_game(
    player_like: PlayerLike,
    env_id: str | None,
    seed: int,
    programs: ProgramOptions = registry.PROGRAMS,
) -> Player:
    """Return a player for one game: a program is asked move by move.

    Raises:
        Refused: as by `player`.
    """
    check_value("seed", Seed, seed)
    game = common_game([player_like], env_id)
    _, player_key = jax.random.split(jax.random.key(seed))  # the other: of the game
    return _make_player(player_like, game, player_key, programs=programs)


def distinct_players(
    players: Sequence[PlayerLike],
    env_id: str | None,
    key: Key[Array, ""],
    programs: ProgramOptions = registry.PROGRAMS,
) -> tuple[EnvId, list[Player]]:
    """Return the players' game, and all players with different names."""
    game = common_game(players, env_id)
    result: list[Player] = []
    for player_like in players:
        programs.say(f"preparing {default_name(player_like)}")
        made = _make_player(player_like, game, key, programs=programs)
        result.append(user_players.with_all_moves(made))
    all_names = {player.name for player in result}
    used: set[str] = set()
    for i, player in enumerate(result):
        name = player.name
        if name in used:  # add a number that makes the name unique
            numbered = (f"{name} ({count})" for count in itertools.count(2))
            name = next(other for other in numbered if other not in all_names)
            result[i] = dataclasses.replace(player, name=name)
        all_names.add(name)
        used.add(name)
    return game, result


def examined_player(
    player_like: PlayerLike,
    env_id: str | None,
    seat: SeatSetting | None,
    max_positions: int | None,
    seed: int = 0,
    programs: ProgramOptions = registry.PROGRAMS,
) -> Player:
    """Return a player with the seats to grade, by default those that it learned.

    Raises:
        Refused: as by `player`; or there is no such seat, or the limit of a search is
            wrong, or has no effect since the game is enumerable.
    """
    examined = player(player_like, env_id=env_id, seed=seed, programs=programs)
    if seat is not None:
        check_value("seat", SeatSetting, seat)
        examined = dataclasses.replace(examined, seats=SEATS_OF_SETTING[seat])
    if max_positions is None:
        return examined
    check_value("max_positions", MaxPositions, max_positions)
    if GAMES[examined.env_id].enumerable:
        rule = f"left out: the whole tree of {examined.env_id} is enumerated"
        raise SettingError("max_positions", rule, max_positions)
    return examined


def common_game(players: Sequence[PlayerLike], env_id: str | None) -> EnvId:
    """Return the game: `env_id`, else the game of the players, else the default.

    Raises:
        Refused: the game is unknown, or a player is made for another game.
    """
    if env_id is not None and env_id not in GAMES:
        raise game_error("env_id", env_id)
    sources = {} if env_id is None else {env_id: "env_id"}  # by game
    for player_like in players:
        if game := _game_of_player(player_like):
            sources.setdefault(game, default_name(player_like))
    if len(sources) > 1:
        first, second = [f"{game} ({name})" for game, name in sources.items()][:2]
        raise Refused(f"more than one game: {first} and {second}")
    game = next(iter(sources), None)
    return registry.game_of_players([], cast(EnvId | None, game))


def _game_of_player(player_like: PlayerLike) -> EnvId | None:
    """Return the game that a player is made for; None if it plays several games."""
    if isinstance(player_like, Player):
        return player_like.env_id
    if isinstance(player_like, saved_agents.Agent):
        return player_like.config.env_id
    if not isinstance(player_like, str | os.PathLike):
        return None
    name = os.fspath(player_like)
    saved = registry.read_player_name(name).saved
    return None if saved is None else registry.game_of_players([saved])


def default_name(player_like: PlayerLike) -> str:
    """Return the name of a player for which no name is given."""
    if isinstance(player_like, Player):
        return player_like.name
    if isinstance(player_like, saved_agents.Agent):
        return f"agent of seed {player_like.seed}"
    if isinstance(player_like, str | os.PathLike):
        return os.fspath(player_like)
    if isinstance(player_like, np.ndarray):
        return "policy"
    return getattr(player_like, "__name__", None) or repr(player_like)


def _make_player(
    player_like: PlayerLike,
    env_id: EnvId,
    key: Key[Array, ""],
    name: str | None = None,
    programs: ProgramOptions = registry.PROGRAMS,
) -> Player:
    compiling.use_user_cache()
    player_name = default_name(player_like) if name is None else name
    if isinstance(player_like, Player):
        return dataclasses.replace(player_like, name=player_name)
    if isinstance(player_like, saved_agents.Agent):
        return registry.agent_player(player_name, player_like)
    if isinstance(player_like, str | os.PathLike):
        spec = registry.read_player_name(os.fspath(player_like))
        if spec.kind == "program":  # its errors have the given name, too
            return user_players.program_player(
                player_name, spec.command, env_id, programs
            )
        player = registry.make_player(spec, env_id, key, programs)
        return dataclasses.replace(player, name=player_name)
    if isinstance(player_like, np.ndarray):
        return user_players.from_policy(player_name, player_like, env_id)
    if not callable(player_like):
        has_agent = isinstance(getattr(player_like, "agent", None), saved_agents.Agent)
        raise Refused(
            "a player is an agent, a name, a path, a function or a policy, "
            + ("not a run: give run.agent" if has_agent else f"not {player_like!r}")
        )
    return user_players.from_function(player_name, player_like, env_id, programs.say)
