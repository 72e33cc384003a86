"""Corrections by brute force, with the games of `rules` and `small_boards`.

Their rules are plain Python; values on 4 x 4 are those of `docs/game_values.py`.

Boards are strings of `X`, `O` and `-`, row by row from the top.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import rules
import small_boards

from jax_ttt.dqn import greedy_player
from jax_ttt.games import position_keys
from jax_ttt.games.position_keys import Stones
from jax_ttt.networks import q_network

_BATCH = 512


GAMES: dict[str, Any] = {game.ENV_ID: game for game in (rules, small_boards)}
"""The rules of each game."""


def mirrored(board):
    """Return a board of 4 x 4 from left to right."""
    return "".join(board[row : row + 4][::-1] for row in range(0, 16, 4))


def states_of(env_id, boards):
    """Return the states of boards on which nobody has won."""
    cells = np.array([list(board) for board in boards])
    return _to_states(env_id, Stones(cells == "X", cells == "O"))


_to_states = jax.jit(position_keys.to_states, static_argnums=0)


@jax.jit
def _orders(network, params, env_state):
    """Return the moves of the greedy player, each time without those before."""
    scores = q_network.action_scores(network, params, env_state.observation)
    legal, order = env_state.legal_action_mask, []
    for _ in range(legal.shape[1]):
        left = env_state.replace(legal_action_mask=legal)
        move = greedy_player.greedy_actions(network, left, scores)
        order.append(move)
        legal = legal & (jnp.arange(legal.shape[1])[None] != move[:, None])
    return jnp.stack(order, axis=1)


def orders_of(agent, boards):
    """Return the legal moves on each board, the agent's preferred one first."""
    env_id = agent.config.env_id
    result = {}
    for begin in range(0, len(boards), _BATCH):
        part = boards[begin : begin + _BATCH]
        padded = [part[place % len(part)] for place in range(_BATCH)]
        orders = _orders(agent.network, agent.params, states_of(env_id, padded))
        for board, order in zip(part, np.asarray(orders).tolist(), strict=False):
            result[board] = order[: len(GAMES[env_id].moves(board))]
    return result


def corrections_of(agent, seat, goal="not-lose"):
    """Return all own boards, and the corrected move of those that need one."""
    game = GAMES[agent.config.env_id]
    least = 1 if goal == "win" else 0
    level, own, corrections, is_own = [game.START], [], {}, seat == "first"
    while level:
        following = []
        orders = orders_of(agent, level) if is_own else {}
        for board in level:
            moves = game.moves(board)
            if is_own:
                own.append(board)
                keeping = [m for m in orders[board] if game.worth(board, m) >= least]
                moves = keeping[:1]
                if moves[0] != orders[board][0]:
                    corrections[board] = moves[0]
            following += [game.after(board, move) for move in moves]
        level = [board for board in dict.fromkeys(following) if game.moves(board)]
        is_own = not is_own
    return own, corrections


def by_key(agent, corrections):
    """Return corrections by their keys, as a file has them."""
    game = GAMES[agent.config.env_id]
    result = {}
    for board, move in corrections.items():
        key = game.key(board)
        if greedy_player.is_symmetric(agent.network):
            image = game.key(mirrored(board))
            if image < key:
                key, move = image, 3 - move
        assert result.setdefault(key, move) == move, "mirrored moves"
    return result


def num_merged(agent, boards):
    """Return the number of boards; of images once, if the agent plays alike there."""
    game = GAMES[agent.config.env_id]
    if not greedy_player.is_symmetric(agent.network):
        return len(boards)
    return len({min(game.key(b), game.key(mirrored(b))) for b in boards})


def is_reached_by(agent, choose, seat, goal="not-lose"):
    """Return whether a player reaches the goal against all replies.

    Its moves are `choose(board, order)`, with the agent's order of moves.
    """
    game = GAMES[agent.config.env_id]
    own = {"first": "X", "second": "O"}[seat]
    level, turn = [game.START], "X"
    while level:
        following = []
        orders = orders_of(agent, level) if turn == own else {}
        for board in level:
            moves = game.moves(board)
            if turn == own:
                moves = [choose(board, orders[board])]
            for move in moves:
                after = game.after(board, move)
                if game.moves(after):
                    following.append(after)
                elif game.winner(after) not in (own, *[None][: goal != "win"]):
                    return False
        level, turn = [*dict.fromkeys(following)], {"X": "O", "O": "X"}[turn]
    return True
