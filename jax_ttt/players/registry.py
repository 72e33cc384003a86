"""Player registry: from a name to a player and, in enumerable games, its policy.

A name is a kind, a kind with its arguments after colons, or the path of an agent. It is
read once, as a `PlayerSpec`; then the player of a game is made.

Axes: `P` positions, `A` actions.
"""

import contextlib
import dataclasses
import math
import os
import shlex
import shutil
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import jax
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float, Key
from msgspec import Meta

from jax_ttt.config import ranges
from jax_ttt.config.errors import AgentError, Refused, SettingError, did_you_mean
from jax_ttt.config.game_facts import (
    GAMES,
    MAX_TREE_POSITIONS,
    EnvId,
    default_game,
    enumerable_games,
)
from jax_ttt.config.player_kinds import ALL, BUILT_IN, PLAYER_KINDS, ProgramOptions
from jax_ttt.config.ranges import Fraction
from jax_ttt.config.settings import COUNTEREXAMPLES, NO_AGENT, SELF, Config
from jax_ttt.dqn import greedy_player
from jax_ttt.files.run_folder import agent_path
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import choose_moves
from jax_ttt.games.tree import Tree
from jax_ttt.players import saved_agents, search_players, user_players
from jax_ttt.players.player import Player, blended_player, random_player
from jax_ttt.players.saved_agents import Agent
from jax_ttt.players.user_players import AskedPlayer
from jax_ttt.runtime import standard_streams
from jax_ttt.solver import policies

_SHIPPED = {f"shipped:{name}": path for name, path in ALL.items()}
_KINDS_BY_NAME = {name: name for name in BUILT_IN} | dict.fromkeys(_SHIPPED, "agent")
_DEFAULT_PLAYOUTS = {"mcts": 2000, "mcts-online": 200}
_NEED_TREE = ("minimax", "minimax-first", "minimax-quick", "mcts")
_Playouts = Annotated[int, Meta(ge=1, le=10**6)]
_NUMBERS = {
    "mcts": _Playouts,
    "mcts-online": _Playouts,
    "blend": Fraction,
    "lookahead": Annotated[int, Meta(ge=1, le=9)],
}

MAX_NESTING = 20
"""Maximum number of levels of nested players; each level is compiled separately."""
PROGRAMS = ProgramOptions()
"""How programs are asked by default: by one process in each seat."""
_MAX_BOARDS = 2**17
"""Maximum number of boards at the deepest level of a lookahead, for each move.

A processor core searches about ten such moves a second; with one level more, a match of
1,024 games would last for hours.
"""


@dataclasses.dataclass(frozen=True)
class PlayerSpec:
    """The parts of a player's name."""

    name: str
    kind: str  # the first word of the name, or "agent"
    number: int | float = 0  # probability, playouts or depth
    inner: "PlayerSpec | None" = None  # the player within a blend or a lookahead

    @property
    def innermost(self) -> "PlayerSpec":
        """The player within all others; itself if it has none within it."""
        return self if self.inner is None else self.inner.innermost

    @property
    def is_program(self) -> bool:
        """Whether the player is a program, or has one within it."""
        return self.innermost.kind == "program"

    @property
    def saved(self) -> "PlayerSpec | None":
        """The saved agent that the player is, or has within it; None if it has none."""
        return self.innermost if self.innermost.kind == "agent" else None

    @property
    def draws_before_games(self) -> bool:
        """Whether the player draws random numbers in a search before its games."""
        return self.innermost.kind == "mcts"

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


def read_player_name(name: str, depth: int = 0) -> PlayerSpec:
    """Return the parts of a player's name, which `depth` other players enclose.

    Raises:
        Refused: no player has this name.
    """
    if depth > MAX_NESTING:
        raise Refused(f"players may be nested at most {MAX_NESTING} levels deep")
    kind, colon, arguments = name.partition(":")
    if kind in _DEFAULT_PLAYOUTS:
        default = _DEFAULT_PLAYOUTS[kind]
        num_playouts = _read_number(name, kind, arguments) if colon else default
        return PlayerSpec(name, kind, num_playouts)
    if kind in ("blend", "lookahead"):
        number, _, inner_name = arguments.partition(":")
        if not inner_name:
            form = next(form for form in PLAYER_KINDS if form.startswith(kind))
            raise Refused(f"{name}: {kind} needs a player after it: {form}")
        inner = read_player_name(inner_name, depth + 1)
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


def read_opponent(name: str) -> PlayerSpec | None:
    """Return the opponent of a training; None in self-play.

    Raises:
        Refused: no player has this name, or it is a program.
    """
    if name == SELF:
        return None
    spec = read_player_name(name)
    if spec.is_program:
        raise Refused(
            f"{name}: not possible as an opponent in training, which plays many games "
            "at once in one compiled program; a program would be slow"
        )
    return spec


def read_start_agent(name: str) -> PlayerSpec:
    """Return the saved agent that a training starts from.

    Raises:
        Refused: there is no such agent.
    """
    spec = read_player_name(name)
    if spec.kind != "agent":
        raise Refused(f"{name}: a training starts from a saved agent")
    return spec


def check_files(
    config: Config, known: Mapping[str, str] | None = None, *, is_new: bool = True
) -> dict[str, str] | None:
    """Check the players of a training; return the SHA-256 of each named agent's file.

    They are by the agents' names; None without any. `known` has those of the run whose
    settings these are. Only a new training reads the agents that it starts from; one
    that continues keeps the checksums of missing files.

    Raises:
        Refused: a player can't be used in this training, or its file is another one
            than before.
    """
    opponent = read_opponent(config.opponent)
    specs = [] if opponent is None else [opponent]
    starts = {config.start_agent, config.start_positions}
    for name in sorted(starts - {NO_AGENT, COUNTEREXAMPLES}):
        with contextlib.suppress(*() if is_new else (Refused,)):
            specs.append(read_start_agent(name))
    known = known or {}
    files = {} if is_new else {**known}
    for saved in filter(None, (spec.saved for spec in specs)):
        checksum = saved_agents.file_checksum(saved.path)
        if checksum != (before := known.get(saved.name, checksum)):
            raise Refused(
                f"{saved.path}: another file than that of the run: its SHA-256 is "
                f"{checksum[:16]}..., not {before[:16]}..."
            )
        files[saved.name] = checksum
    game_of_players(specs, config.env_id)
    return files or None


def game_of_players(specs: Iterable[PlayerSpec], env_id: EnvId | None = None) -> EnvId:
    """Return `env_id`, else the game of the first saved agent, else the default.

    Only the descriptions in the agents' files are read, not the weights.

    Raises:
        AgentError: a file can't be read, or an agent is made for another game.
        Refused: a player needs an enumerable game; or no agent names a game, and the
            file of `--rules` registers several.
    """
    specs = [*specs]
    if env_id is None:
        saved = next(filter(None, (spec.saved for spec in specs)), None)
        env_id = saved_agents.read_env_id(saved.path) if saved else default_game()
    for spec in specs:
        _check_game(spec.innermost, env_id)
    return env_id


def _check_game(spec: PlayerSpec, env_id: EnvId) -> None:
    """Raise `Refused` if a player without another one within it can't play a game."""
    if spec.kind in _NEED_TREE and not GAMES[env_id].enumerable:
        games = ", ".join(enumerable_games())
        rule = f"needs an enumerable game, of at most {MAX_TREE_POSITIONS:,} positions"
        raise Refused(f"{spec.name}: {rule}: {games}")
    if spec.kind == "agent":
        agent_game = saved_agents.read_env_id(spec.path)
        if agent_game != env_id:
            raise AgentError(f"{spec.name}: made for {agent_game}, not for {env_id}")


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
    try:
        return ranges.parse_value(kind, _NUMBERS[kind], text)
    except SettingError as error:
        raise Refused(f"{name}: {kind} needs {error.rule}, got {text!r}") from None


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


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AgentPlayer(Player):
    """A saved agent as a player.

    Attributes:
        agent: The agent, with its network and its history.
    """

    agent: Agent

    @property
    def is_symmetric(self) -> bool:
        """Whether its network plays mirrored moves on mirrored boards."""
        return greedy_player.is_symmetric(self.agent.network)

    @property
    def sees_state(self) -> bool:
        """False: its network sees the observation, and it plays a legal move."""
        return False


def make_player(
    spec: PlayerSpec,
    env_id: EnvId,
    key: Key[Array, ""],
    programs: ProgramOptions = PROGRAMS,
) -> Player:
    """Return the player of this name; `key` is for a search before the games.

    Raises:
        AgentError: the file does not hold a usable agent for this game.
        Refused: the player can't play this game, a lookahead is too deep for it, or a
            program can't be started or gives a wrong answer.
    """
    _check_game(spec.innermost, env_id)
    key = _key_of(spec, key)
    tree = trees.host_tree(env_id)
    if spec.kind == "random":
        probs = policies.uniform_policy(tree) if tree is not None else None
        return Player(
            env_id=env_id,
            name=spec.name,
            policy=probs,
            evidence="none" if probs is None else "construction",
        )
    if spec.kind == "agent":
        return agent_player(spec.name, saved_agents.load_agent(spec.path))
    if spec.kind == "program":
        return user_players.program_player(spec.name, spec.command, env_id, programs)
    if spec.kind == "blend" and spec.inner:
        if spec.is_program and tree is None:
            # Its random moves lead to positions that the program does not reach.
            rule = f"a blend of a program needs an enumerable game, not {env_id}"
            raise Refused(f"{spec.name}: {rule}")
        inner = make_player(spec.inner, env_id, key, programs)
        inner = user_players.with_all_moves(inner)
        if inner.note:
            raise Refused(f"{spec.name}: {inner.name}: {inner.note}")
        return _blend(spec, inner, tree)
    if spec.kind == "lookahead" and spec.inner:
        return _lookahead(spec, spec.inner, env_id, key)
    if spec.kind == "mcts-online":
        choose = search_players.searching_player(env_id, int(spec.number))
        return Player(env_id=env_id, name=spec.name, choose=choose)
    return Player(
        env_id=env_id,
        name=spec.name,
        policy=_tree_policy(spec, env_id, key),
        evidence="construction",
    )


def training_opponent(spec: PlayerSpec, env_id: EnvId, key: Key[Array, ""]) -> Partial:
    """Return how an opponent moves in a training; see `make_player`.

    A random part draws its own numbers, instead of a move of the player's policy.
    """
    if spec.kind == "random":
        return random_player
    if spec.kind == "blend" and spec.inner:
        key = _key_of(spec, key)
        inner = training_opponent(spec.inner, env_id, key)
        return blended_player(spec.number, inner)
    return make_player(spec, env_id, key).choose


def _key_of(spec: PlayerSpec, key: Key[Array, ""]) -> Key[Array, ""]:
    """Return a player's key: it depends on its name, not on its place among others."""
    return jax.random.fold_in(key, zlib.crc32(spec.name.encode()))


def agent_player(name: str, agent: Agent) -> AgentPlayer:
    """Return an agent as a player, with its policy in an enumerable game.

    Raises:
        AgentError: an action value is not finite.
    """
    policy = _checked_policy(name, agent)
    return AgentPlayer(
        env_id=agent.config.env_id,
        name=name,
        choose=agent.player,
        policy=policy,
        agent=agent,
        seats=agent.config.seats,
        evidence="construction",
        corrections=agent.corrections,
        near_best=agent.near_best,
    )


def _checked_policy(name: str, agent: Agent) -> np.ndarray | None:
    """Return an agent's policy; None if the game is not enumerable.

    Raises:
        AgentError: an action value is not finite, or might not be on some board.
    """
    tree = trees.game_tree(agent.config.env_id)
    if tree is not None:
        try:
            return _policy_of(agent.player, tree, jax.random.key(0))
        except AgentError as error:
            raise AgentError(f"{name}: {error}") from None
    largest = saved_agents.largest_sum(agent.params)
    if largest > float(np.finfo(np.float32).max):
        rule = f"its weights have sums of up to {largest:.0e}"
        raise AgentError(f"{name}: some action values may be not finite: {rule}")
    return None


def _blend(spec: PlayerSpec, inner: Player, tree: Tree | None) -> Player:
    choose = blended_player(spec.number, inner.choose)
    probs = None
    if tree is not None and inner.policy is not None:
        probs = policies.mix_with_random(tree, spec.number, inner.policy)
    if isinstance(inner, AskedPlayer):
        return replace(inner, name=spec.name, choose=choose, policy=probs)
    return Player(
        env_id=inner.env_id,
        name=spec.name,
        choose=choose,
        policy=probs,
        seats=inner.seats,
        evidence="none" if probs is None else inner.evidence,
    )


def _lookahead(
    spec: PlayerSpec, inner: PlayerSpec, env_id: EnvId, key: Key[Array, ""]
) -> Player:
    depth = int(spec.number)
    max_depth = int(math.log(_MAX_BOARDS, pgx_games.sizes(env_id).num_actions))
    if depth > max_depth:
        raise Refused(f"{spec.name}: the depth is at most {max_depth} in {env_id}")
    agent = saved_agents.load_agent(inner.path)
    _checked_policy(inner.name, agent)
    if agent.corrections is not None:
        rule = "its corrections take no part: it searches with the network's values"
        standard_streams.print_stderr(f"note: {spec.name}: {rule}")
    gamma = agent.config.gamma
    choose = search_players.lookahead_player(agent.network, agent.params, gamma, depth)
    tree = trees.game_tree(env_id)
    probs, near_best = None, None
    if tree is not None:
        probs = _policy_of(choose, tree, key)
    else:
        near_best = search_players.lookahead_near_best(
            agent.network, agent.params, gamma, depth
        )
    return Player(
        env_id=env_id,
        name=spec.name,
        choose=choose,
        policy=probs,
        seats=agent.config.seats,
        evidence="construction",
        near_best=near_best,
    )


def _policy_of(
    choose: Partial, tree: Tree, key: Key[Array, ""]
) -> Float[np.ndarray, "P A"]:
    """Return the policy of a deterministic player over a tree."""
    boards = jax.tree.map(lambda x: x[tree.decisions], tree.env_state)
    actions = choose_moves(choose, key, boards)
    return np.asarray(policies.deterministic_policy(tree, actions), float)


def _symmetric_policy(
    choose: Partial, tree: Tree[np.ndarray], key: Key[Array, ""]
) -> Float[np.ndarray, "P A"]:
    """Return a player's policy, by its moves on one board of each class of symmetry.

    It plays equally often all moves that the board's symmetries map to its move.
    """
    classes = tree.classes
    if classes is None:
        return _policy_of(choose, tree, key)
    boards = jax.tree.map(lambda x: x[classes.boards], tree.env_state)
    moves = np.asarray(choose_moves(choose, key, boards))
    place = np.searchsorted(tree.decisions, classes.boards)
    least_moves = classes.actions[place, moves][classes.row]
    probs = np.zeros(tree.legal_action_mask.shape)
    is_played = classes.actions == least_moves[:, None]
    probs[tree.decisions] = policies.share_equally(is_played)
    return probs


def _tree_policy(
    spec: PlayerSpec, env_id: EnvId, key: Key[Array, ""]
) -> Float[np.ndarray, "P A"]:
    """Return the policy of a minimax or mcts player."""
    tree = trees.enumerated(env_id)
    if spec.kind == "mcts":
        choose = search_players.searching_player(env_id, int(spec.number))
        return _symmetric_policy(choose, tree, key)
    quick = policies.QUICK if spec.kind == "minimax-quick" else 1.0
    return policies.minimax_policy(tree, quick, first_best=spec.kind != "minimax")
