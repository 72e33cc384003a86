"""One game between a person and a player, in text."""

import textwrap
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from jax.tree_util import Partial
from jaxtyping import Array, Key

from jax_ttt.config.catalogue import EnvId
from jax_ttt.envs import pgx_games, positions, stones
from jax_ttt.envs import tree as trees
from jax_ttt.networks import q_network
from jax_ttt.players.registry import Entrant
from jax_ttt.solver import minimax

HELP = "v for the values, u to undo, q to quit"


def play(
    opponent: Entrant,
    env_id: EnvId,
    as_first: bool,
    key: Key[Array, ""],
    ask: Callable[[str], str] = input,
    say: Callable[[str], None] = print,
) -> str:
    """Play a game against `opponent` and return its result in one line.

    `ask` is shown the legal moves and returns what the person types; where it raises
    `EOFError`, the game is left. `key` is consumed.
    """
    env = pgx_games.make(env_id)
    you, other = ("X", "O") if as_first else ("O", "X")
    key, init_key = jax.random.split(key)
    state = pgx_games.init(env, init_key, 1)
    first = int(state.current_player[0])
    person = first if as_first else 1 - first  # ids, as PGX has them
    before: list[pgx.State] = []  # each of the person's moves
    while not bool(pgx_games.finished(state)[0]):
        if int(state.current_player[0]) != person:
            key, move_key = jax.random.split(key)
            move = int(_reply(opponent.player, move_key, state)[0])
            say(f"{opponent.name} ({other}) plays {move}")
            state = pgx_games.play(env, state, jnp.array([move]))
            continue
        say(board(env_id, state, first))
        word = _asked(state, you, ask, say)
        if word == "q":
            return f"left after {int(state._step_count[0])} moves: nobody wins"
        if word == "v":
            say(values(opponent, env_id, state))
        elif word == "u":
            state = before.pop() if before else state
        else:
            before.append(state)
            state = pgx_games.play(env, state, jnp.array([int(word)]))
    say(board(env_id, state, first))
    gain = float(state.rewards[0, person])
    result = "you win" if gain > 0 else "you lose" if gain < 0 else "a draw"
    return f"{result}: {you} (you) v {other} ({opponent.name})"


@jax.jit
def _reply(player: Partial, key: jax.Array, env_state: pgx.State) -> jax.Array:
    return player(key, env_state)


def _legal(env_state: pgx.State) -> list[int]:
    over = bool(pgx_games.finished(env_state)[0])
    return [] if over else np.flatnonzero(env_state.legal_action_mask[0]).tolist()


def _asked(env_state: pgx.State, you: str, ask: Callable, say: Callable) -> str:
    """Return a legal move, or v, u or q, asking until there is one."""
    legal = [str(move) for move in _legal(env_state)]
    listed = textwrap.fill(f"legal moves: {' '.join(legal)}", 88)
    while True:
        try:
            word = ask(f"{listed}\n{you} ({HELP}): ").strip().lower()
        except EOFError:
            return "q"
        if word in ("v", "u", "q", *legal):
            return word
        say(f"{word[:20]!r} is none of them: type a legal move, {HELP}")


def board(env_id: EnvId, env_state: pgx.State, first: int) -> str:
    """Return the board of stones, moves on their cells or below their columns.

    X is the player with the id `first`. Pieces of several kinds are not drawn.
    """
    obs = np.asarray(env_state.observation[0])
    height, width, *_ = obs.shape
    num_actions = pgx_games.sizes(env_id).num_actions
    in_columns = num_actions == width
    if not in_columns and num_actions - height * width not in (0, 1):  # 1: to pass
        return f"({env_id} is not drawn in text)"
    swapped = int(env_state.current_player[0]) != first
    cells = np.full((height, width), ".", "<U3")
    if not in_columns:
        moves = [move for move in _legal(env_state) if move < cells.size]
        cells.reshape(-1)[moves] = [str(move) for move in moves]
    for plane, stone in enumerate("OX" if swapped else "XO"):
        cells[obs[..., plane] > 0] = stone
    if in_columns:
        cells = np.vstack([cells, [str(move) for move in range(width)]])
    size = max(map(len, cells.flat))
    return "\n".join("  " + " ".join(f"{c:>{size}}" for c in row) for row in cells)


def values(opponent: Entrant, env_id: EnvId, env_state: pgx.State) -> str:
    """Return what the moves are worth to whoever is to move, the best ones first.

    The opponent's network says so, if it has one; so does best play, if it is known.
    """
    moves, order = np.array(_legal(env_state)), np.empty(0)
    columns = {"move": moves.tolist()}
    if (tree := trees.on_host(env_id)) is not None:
        index = jnp.asarray(positions.index(env_id))
        here = stones.locate(index, env_state.observation)[0]
        order = minimax.to_mover(tree, minimax.values(tree))[int(here), moves]
        columns["best play"] = [("loses", "draws", "wins")[int(v) + 1] for v in order]
    if (agent := opponent.agent) is not None:
        obs = env_state.observation
        q_values = q_network.q_values(agent.network, agent.params, obs)
        order = np.asarray(q_values)[0, moves]
        columns["the agent"] = [f"{value:+.3f}" for value in order]
    rows = list(zip(*columns.values(), strict=True))
    shown = [tuple(columns), *(rows[i] for i in np.argsort(-order, kind="stable"))]
    text = "\n".join("".join(f"{c:>11}" for c in row) for row in shown[:13])
    return text if len(columns) > 1 else f"{opponent.name} has no values to show"
