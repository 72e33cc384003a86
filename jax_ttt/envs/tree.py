"""The whole tree of a small game, found by `enumeration`.

The positions are sorted by level, so a position's successors come after it. The first
player makes the first move ("X"). Outcomes are the first player's.

Axes: `P` positions, `A` actions, `L` levels (moves played).
"""

import dataclasses
import functools
import io
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np

from jax_ttt.config.catalogue import GAMES, EnvId, Seat
from jax_ttt.envs import symmetry
from jax_ttt.envs.symmetry import Classes
from jax_ttt.runtime import kept_files, named_arrays
from jax_ttt.runtime.named_arrays import Named

if TYPE_CHECKING:
    import pgx

AnyArray: TypeAlias = Any
"""A JAX or NumPy array."""
MAX_POSITIONS = 100_000
"""Most positions of an enumerated game."""


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "obs",
        "legal_action_mask",
        "successor",
        "first_to_move",
        "terminal",
        "outcome",
        "decisions",
        "classes",
    ],
    meta_fields=["level_start"],
)
@dataclasses.dataclass(frozen=True)
class Tree:
    """Every reachable position of a game, with its moves.

    The arrays are JAX's, or NumPy's on the host. It is a pytree: pass it to compiled
    functions as an argument, since the compiler would process a constant.
    """

    obs: AnyArray  # (P, ...) the mover's observation
    legal_action_mask: AnyArray  # (P, A) bool; all False if the game is over
    successor: AnyArray  # (P, A) int32 position after the move; 0 where illegal
    first_to_move: AnyArray  # (P,) bool
    terminal: AnyArray  # (P,) bool
    outcome: AnyArray  # (P,) int32: the first player lost -1, drew 0, won 1; else 0
    decisions: AnyArray  # (D,) int32 positions with a move to choose, ascending
    classes: Classes | None  # of the decisions; None without listed symmetries
    level_start: tuple[int, ...]  # (L + 1,) each level's first position, then P

    @property
    def num_positions(self) -> int:
        """The number of positions, including those where the game is over."""
        return self.level_start[-1]

    def to_move(self, position: int) -> Seat:
        """Return the seat to move in a position."""
        return "first" if self.first_to_move[position] else "second"

    def moves_of(self, seat: Seat) -> AnyArray:
        """Return the positions in which this seat is to move, `(P,)` bool."""
        return self.first_to_move == (seat == "first")

    def lost_by(self, seat: Seat) -> AnyArray:
        """Return the positions in which this seat has lost, `(P,)` bool."""
        return self.outcome == (-1 if seat == "first" else 1)


@functools.cache
def game_tree(env_id: EnvId) -> Tree | None:
    """Return the game's tree of JAX arrays; None if the game is too large."""
    tree = host_tree(env_id)
    return None if tree is None else jax.device_put(tree)


@functools.cache
def host_tree(env_id: EnvId) -> Tree | None:
    """Return the game's tree of NumPy arrays; None if the game is too large.

    Use it for float64 and for loops in Python.
    """
    return _kept(env_id)[0] if GAMES[env_id].enumerable else None


def enumerated(env_id: EnvId) -> Tree:
    """Return the game's tree of NumPy arrays.

    Raises:
        ValueError: the game is too large to enumerate.
    """
    tree = host_tree(env_id)
    if tree is None:
        raise ValueError(f"{env_id} is too large to enumerate")
    return tree


@functools.cache
def env_states(env_id: EnvId) -> "pgx.State":
    """Return the PGX states of all positions of an enumerable game, `(P, ...)`."""
    from jax_ttt.envs import pgx_games

    env = pgx_games.make_env(env_id)
    like = jax.eval_shape(lambda: pgx_games.init(env, jax.random.key(0), 1))
    return jax.device_put(named_arrays.unflat(_kept(env_id)[1], like))


def needs_enumeration(env_id: EnvId) -> bool:
    """Return whether the game is enumerable and its tree is not kept as a file."""
    return GAMES[env_id].enumerable and kept_files.read(_name(env_id)) is None


def compile_enumeration(env_id: EnvId) -> None:
    """Start to compile what enumerates a game; return before compilation ends."""
    from jax_ttt.envs import enumeration, pgx_games

    enumeration.compile_programs(pgx_games.make_env(env_id))


def _name(env_id: EnvId) -> str:
    """Return the name of the game's kept file."""
    return f"tree of {env_id}"


@functools.cache
def _kept(env_id: EnvId) -> tuple[Tree, Named]:
    """Return the tree and the leaves of its states; enumerate if no file is kept."""
    contents = kept_files.read(_name(env_id))
    if contents is not None:
        with np.load(io.BytesIO(contents), allow_pickle=False) as file:
            found = dict(file)
        return _from_arrays(found), named_arrays.part(found, "env_state")
    from jax_ttt.envs import enumeration, pgx_games

    env, views = pgx_games.make_env(env_id), symmetry.views(env_id)
    found = enumeration.find_positions(env, MAX_POSITIONS, views)
    tree = Tree(**found.fields)
    states = named_arrays.flat(found.env_state)
    file = io.BytesIO()
    by_path = {f"env_state.{path}": leaf for path, leaf in states.items()}
    np.savez(file, level_start=tree.level_start, **named_arrays.flat(tree), **by_path)
    kept_files.keep(_name(env_id), file.getvalue())
    return tree, states


def _from_arrays(arrays: Named) -> Tree:
    classes = named_arrays.part(arrays, "classes")
    fields = {name: x for name, x in arrays.items() if "." not in name}
    level_start = tuple(map(int, fields.pop("level_start")))
    found = Classes(**classes) if classes else None
    return Tree(**fields, classes=found, level_start=level_start)
