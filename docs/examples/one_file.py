"""Learn tic-tac-toe by self-play, then prove whether any opponent can beat the agent.

The whole algorithm in one file: deep Q-learning with JAX, Flax nnx, Optax and PGX
(`pip install jax flax optax pgx`). It learns from each move once, when it is played;
there is no replay. From top to bottom:

1. A network gives each move on a board two values, one for each player.
2. It plays against itself, 128 games at a time; a share of the moves is random.
3. It learns what each move was worth. The agent is an average of the network's weights.
4. All positions of the game are enumerated, for exact results and for the proof.
5. `python one_file.py --seed 1` prints a table while it learns, and then the verdict.

A function under `jax.vmap` is written for one game and called with many at once.
In shapes, 9 is the number of cells, and so of moves, and P the number of positions.
"""

import argparse
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pgx
from flax import nnx

NUM_GAMES = 128  # played side by side; an update plays one move in each of them
NUM_UPDATES = 1_800
UPDATES_PER_ROW = 150  # updates between two rows of the printed table
GAMMA = 0.85  # discount factor of a move: earlier wins and later losses are better
TREMBLE = 0.5  # how often a player expects a random move from its opponent
TAU = 0.12  # how far an update moves the target network towards the network
AVERAGE_SPAN = 0.15  # the average covers about the last 15% of the updates so far
# Epsilon is how often a move in self-play is random.
EPSILON = optax.linear_schedule(1.0, 0.1, transition_steps=NUM_UPDATES - 1)
LEARNING_RATE = optax.linear_schedule(0.006, 0.002, transition_steps=NUM_UPDATES - 1)

OPTIMIZER = optax.adamw(LEARNING_RATE, weight_decay=0.0)
ENV = pgx.make("tic_tac_toe")
NEW_GAME = ENV.init(jax.random.key(0))


# 1. The network
#
# It sees a board from the perspective of the mover (the player to move): the mover's
# stones are 1, the other player's -1. So one network plays both sides. Of the eight
# rotated and mirrored images of a board it sees only one, the canonical one. So what it
# learns about a board holds for all its images.

CELLS = np.arange(9).reshape(3, 3)
# (8, 9): cell i of image g is cell IMAGES[g, i] of the board.
IMAGES = jnp.array([np.rot90(c, k).ravel() for c in (CELLS, CELLS.T) for k in range(4)])
# (8, 9): cell i of the board is cell PLACES[g, i] of image g.
PLACES = jnp.argsort(IMAGES, axis=1)


class Network(nnx.Module):
    """Two hidden layers, and two values between -1 and 1 for each of the nine moves."""

    def __init__(self, rngs):
        self.hidden_1 = nnx.Linear(9, 128, rngs=rngs)
        self.hidden_2 = nnx.Linear(128, 128, rngs=rngs)
        self.heads = nnx.Linear(128, 2 * 9, rngs=rngs)

    def __call__(self, board):  # (9,)
        hidden = nnx.relu(self.hidden_1(board))
        hidden = nnx.relu(self.hidden_2(hidden))
        return nnx.tanh(self.heads(hidden)).reshape(2, 9)


def action_values(network, obs):
    """Return what each move is worth to the mover and to the other player, (2, 9).

    A move that wins at once is worth 1 to the mover and -1 to the other player. The
    values of illegal moves mean nothing.
    """
    own, other = obs[..., 0], obs[..., 1]  # PGX has a plane for each, (3, 3) bool
    board = own.ravel().astype(int) - other.ravel()
    images = board[IMAGES]  # (8, 9)
    # Read as a number with the digits -1, 0 and 1, the canonical image is the smallest.
    canonical = (images @ 3 ** jnp.arange(9)).argmin()
    values = network(images[canonical])
    return values[:, PLACES[canonical]]  # for the cells of the board again


def best_legal(values, legal):
    """Return the legal move with the highest value, the first one on a tie."""
    return jnp.where(legal, values, -jnp.inf).argmax()


# 2. Self-play


@partial(jax.vmap, in_axes=(None, 0, None, 0))
def play(network, game, epsilon, noise):
    """Return a move, random with probability epsilon, else the best, and the next game.

    `noise` (10,) has random numbers from 0 to 1. The first decides whether the move is
    random; if it is, the other nine take the place of the moves' values.
    """
    to_mover, _ = action_values(network, game.observation)
    values = jnp.where(noise[0] < epsilon, noise[1:], to_mover)
    action = best_legal(values, game.legal_action_mask)
    return action, ENV.step(game, action)


@jax.vmap
def new_game_if_over(game):
    """Return the game, or a new one if it is over."""
    return jax.lax.cond(game.terminated, lambda: NEW_GAME, lambda: game)


# 3. Learning
#
# After a move it is the other player's turn, and the values of the next board show what
# the move was worth. The two players judge it differently:
#
# - The other player expects to play its best reply. So to this player, the move is
#   worth GAMMA times as much as that reply.
# - The mover expects the other player to tremble: to play, with probability TREMBLE, a
#   random reply instead. So of two moves that draw against the best reply, the mover
#   prefers the one that sets a trap. If TREMBLE is near 1, it even risks a loss for a
#   trap. Part 4 shows whether the agent does.
#
# So the two values of a move do not add up to 0, and the network learns both. If a move
# ends the game, its values are the result: the only fact that the network gets. All
# other targets are estimates by the target network, a slower copy of the network: the
# pupil of yesterday teaches the pupil of today.


@partial(jax.vmap, in_axes=(None, 0, 0, 0))
def two_ply_target(target_network, game, action, after):
    """Return what a move was worth to its mover and to the other player, (2,)."""
    # A ply is one move of one player; the target looks at the move and at the reply.
    # On the next board it is the other player's turn, so its values come first.
    to_other, to_mover = action_values(target_network, after.observation)
    reply = best_legal(to_other, after.legal_action_mask)
    random_reply = to_mover.mean(where=after.legal_action_mask)
    expected = (1 - TREMBLE) * to_mover[reply] + TREMBLE * random_reply

    reward = after.rewards[game.current_player]  # to the mover
    # After the last move no reply counts. PGX then marks all moves as legal: no NaN.
    gamma = jnp.where(after.terminated, 0.0, GAMMA)
    return jnp.array([reward + gamma * expected, -reward + gamma * to_other[reply]])


def loss(network, games, actions, targets):
    """Return the Huber loss of both values of the moves, a mean over the games."""
    values = jax.vmap(action_values, in_axes=(None, 0))(network, games.observation)
    played = values[jnp.arange(NUM_GAMES), :, actions]  # (NUM_GAMES, 2)
    return optax.huber_loss(played, targets).sum(axis=1).mean()


class State(NamedTuple):
    """Everything that an update changes. An nnx module is a pytree of its weights."""

    network: Network  # plays and learns
    target_network: Network  # follows the network slowly
    average: Network  # its mean over many updates, which has less noise: the agent
    opt_state: optax.OptState
    games: pgx.State


def update(state, inputs):
    """Play a move in each game, and learn from these moves by one gradient step."""
    index, noise = inputs
    actions, after = play(state.network, state.games, EPSILON(index), noise)
    targets = two_ply_target(state.target_network, state.games, actions, after)
    gradient = jax.grad(loss)(state.network, state.games, actions, targets)
    change, opt_state = OPTIMIZER.update(gradient, state.opt_state, state.network)
    network = optax.apply_updates(state.network, change)
    share = 1 / (1 + AVERAGE_SPAN * index)  # of the new network in the average; first 1
    state = State(
        network=network,
        target_network=optax.incremental_update(network, state.target_network, TAU),
        average=optax.incremental_update(network, state.average, share),
        opt_state=opt_state,
        games=new_game_if_over(after),
    )
    return state, None


@jax.jit
def init(key):
    """Return the state before the first update."""
    network = Network(nnx.Rngs(key))
    games = jax.tree.map(lambda leaf: jnp.stack([leaf] * NUM_GAMES), NEW_GAME)
    return State(network, network, network, OPTIMIZER.init(network), games)


@jax.jit
def many_updates(state, begin, key):
    """Do the updates of one row of the table."""
    indices = begin + jnp.arange(UPDATES_PER_ROW)
    noise = jax.random.uniform(key, (UPDATES_PER_ROW, NUM_GAMES, 10))
    state, _ = jax.lax.scan(update, state, (indices, noise))
    return state


def train(seed):
    """Yield the number of updates so far and the agent, for each row of the table."""
    key, init_key = jax.random.split(jax.random.key(seed))
    state = init(init_key)
    yield 0, state.average
    for begin in range(0, NUM_UPDATES, UPDATES_PER_ROW):
        key, row_key = jax.random.split(key)
        state = many_updates(state, begin, row_key)
        yield begin + UPDATES_PER_ROW, state.average


# 4. Exact results and the proof
#
# Nothing from here on is used in training. A seat is 1 for X, who begins, and -1 for O.
# A policy is a matrix (P, 9): the probability of each move in each position.


class Positions(NamedTuple):
    """All positions of the game; the first is the empty board."""

    obs: np.ndarray  # (P, 3, 3, 2)
    legal: np.ndarray  # (P, 9) bool; all False where the game is over
    successor: np.ndarray  # (P, 9) the position after a move; 0, unused, if illegal
    seat: np.ndarray  # (P,) whose turn it is
    winner: np.ndarray  # (P,) the seat that won, or 0


def enumerate_positions():
    """Return all positions, found by playing every move of each, level by level."""
    step = jax.jit(jax.vmap(ENV.step))
    level = jax.tree.map(lambda leaf: np.asarray(leaf)[None], NEW_GAME)
    levels, begin = [level], 0
    successor = np.zeros((6_000, 9), int)  # room for more positions than there are
    while not level.terminated.all():
        end = begin + len(level.terminated)  # where the next level begins
        row, action = np.nonzero(level.legal_action_mask & ~level.terminated[:, None])
        # `step` compiles once for 5,000 moves, more than any level has: some repeat.
        row, action = np.resize(row, 5_000), np.resize(action, 5_000)
        after = jax.device_get(step(jax.tree.map(itemgetter(row), level), action))
        # The 18 bits of a board are a number. Equal numbers are one position.
        numbers = after.observation.reshape(-1, 18) @ 2 ** np.arange(18)
        _, new, child = np.unique(numbers, return_index=True, return_inverse=True)
        successor[begin + row, action] = end + child
        level, begin = jax.tree.map(itemgetter(new), after), end
        levels.append(level)

    games = jax.tree.map(lambda *leaves: np.concatenate(leaves), *levels)
    x = NEW_GAME.current_player  # PGX draws at random which player, 0 or 1, begins
    return Positions(
        obs=games.observation,
        legal=games.legal_action_mask & ~games.terminated[:, None],
        successor=successor[: len(games.terminated)],
        seat=np.where(games.current_player == x, 1, -1),
        winner=games.rewards[:, x].astype(int),
    )


@jax.jit
@partial(jax.vmap, in_axes=(None, 0, 0))
def policy_of(agent, obs, legal):
    """Return the agent's policy: it always plays the move with the highest value."""
    to_mover, _ = action_values(agent, obs)
    return jax.nn.one_hot(best_legal(to_mover, legal), 9) * legal  # 0 after the end


def results_against_random(positions, policy, seat):
    """Return the probabilities of a win, a draw and a loss against random moves.

    Nothing is sampled. As no game has more than nine moves, nine sweeps carry the
    results of the final positions back to the empty board.
    """
    num_legal = positions.legal.sum(axis=1, keepdims=True)
    random = positions.legal / num_legal.clip(1)
    chances = np.where(positions.seat[:, None] == seat, policy, random)
    results = positions.winner[:, None] == [seat, 0, -seat]  # (P, 3)
    values = results
    for _ in range(9):
        means = np.einsum("pa,par->pr", chances, values[positions.successor])
        values = np.where(num_legal == 0, results, means)
    return values[0]


def losing_line(positions, policy, seat):
    """Return the moves of a shortest game that the policy loses; None if none exists.

    The search is breadth-first. It follows every legal move of the opponent, and every
    move that the policy may play. So None proves that nobody beats it in this seat.
    """
    is_opponents_turn = positions.seat[:, None] != seat
    playable = positions.legal & (is_opponents_turn | (policy != 0))
    lines = {0: []}  # the moves that lead to each position found so far
    to_visit = [0]
    for position in to_visit:  # also visits the positions that are appended meanwhile
        if positions.winner[position] == -seat:
            return lines[position]
        for action in np.flatnonzero(playable[position]):
            successor = positions.successor[position, action]
            if successor not in lines:
                lines[successor] = [*lines[position], int(action)]
                to_visit.append(successor)
    return None


# 5. The program


def main():
    """Train an agent, and print the table while it learns, and then the verdict."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    seed = parser.parse_args().seed

    print("exact win rates against random moves; cells are 0 to 8, row by row")
    print("update    as X    as O    mean   a game that the agent loses")
    positions = enumerate_positions()
    for num_updates, agent in train(seed):
        policy = np.asarray(policy_of(agent, positions.obs, positions.legal))
        as_x, as_o = (results_against_random(positions, policy, s)[0] for s in (1, -1))
        line = losing_line(positions, policy, 1) or losing_line(positions, policy, -1)
        wins = f"{as_x:8.2%}{as_o:8.2%}{(as_x + as_o) / 2:8.2%}"
        print(f"{num_updates:6,}{wins}   {line or 'none'}")

    if line:
        loser = "O" if len(line) % 2 else "X"  # the winner moved last
        print(f"beatable: as {loser} it loses this game: {line}")
    else:
        print("unbeatable: every move of every opponent was followed, and no one wins.")
        print("The best that you can get is a draw.")


if __name__ == "__main__":
    main()
