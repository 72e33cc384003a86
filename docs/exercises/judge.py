"""Judge the function of an exercise: by its values, and by the agent that it trains.

`file` is the module one_file.py, and `own` the same with the student's function.
"""

import jax
import numpy as np

SEED = 1
SEATS = {1: "X", -1: "O"}


class WrongAnswerError(Exception):
    """Why a function can't be used at all."""


def is_right(number, file, own, place):
    """Print what is wrong with a function, or the proof; return whether it is right."""
    difference = DIFFERENCES[number](file, own)
    if difference:
        print(f"{place}: not right. The first difference:\n\n{difference}\n")
        if number == 6:  # no agent learns from its proof
            return False
    print("Training an agent with your function...", flush=True)
    num_updates, seat, line = train(file, own, until_proven=not difference)
    after = f"after {num_updates:,} updates"
    if line:
        print(f"{after} the agent loses this game as {SEATS[seat]}:\n")
        print(drawn_line(line))
    elif difference:
        print(f"{after} the agent is proven all the same. The difference remains.")
    else:
        print(f"proven: {after} no opponent wins against the agent, as X or as O.")
    return not (line or difference)


def train(file, own, until_proven):
    """Return the number of updates of a training, and a seat and a game that it loses.

    The game is None if there is none; with `until_proven` the training then ends.
    """
    positions = file.enumerate_positions()
    num_updates, seat, line = 0, 1, None
    for num_updates, agent in own.train(SEED):
        if not until_proven and num_updates < file.NUM_UPDATES:
            continue
        policy = policy_of(file, own, agent, positions)
        for seat in SEATS:
            line = own.losing_line(positions, policy, seat)
            if line:
                break
        if not line:
            break
    return num_updates, seat, line


def policy_of(file, own, agent, positions):
    """Return the policy that plays the legal move with the highest value."""

    def move(obs, legal):
        to_mover, _ = own.action_values(agent, obs)
        return jax.nn.one_hot(file.best_legal(to_mover, legal), 9) * legal

    return np.asarray(jax.jit(jax.vmap(move))(positions.obs, positions.legal))


# The six comparisons. Each returns the first difference as text, or None.


def first_best_legal(file, own):
    """Compare the moves for random values."""
    rng = np.random.default_rng(0)
    values = rng.uniform(-1, 1, (500, 9)).round(1).astype(np.float32)
    legal = rng.random((500, 9)) < 0.5
    legal[np.arange(500), rng.integers(9, size=500)] = True
    expected, got = (
        jax.jit(jax.vmap(module.best_legal))(values, legal) for module in (file, own)
    )
    return text_of_first(
        *checked(expected, got, "a move"),
        lambda i: f"values       {numbers(values[i])}\nlegal moves  {marks(legal[i])}",
    )


def first_play(file, own):
    """Compare the moves in games, half of them random."""
    _, _, games = transitions(file)
    games = jax.jit(file.new_game_if_over)(games)
    network = file.init(jax.random.key(2)).network
    noise = jax.random.uniform(jax.random.key(3), (len(games.terminated), 10))
    expected, got = (
        jax.jit(module.play)(network, games, 0.5, noise)[0] for module in (file, own)
    )
    values = jax.vmap(file.action_values, (None, 0))(network, games.observation)
    return text_of_first(
        *checked(expected, got, "a move"),
        lambda i: (
            f"{drawn_game(games.observation[i])}\n\nepsilon      0.5\n"
            f"noise[0]     {noise[i, 0]:.4g}\nnoise[1:]    {numbers(noise[i, 1:])}\n"
            f"to_mover     {numbers(values[i, 0])}"
        ),
    )


def first_action_values(file, own):
    """Compare the values of all legal moves in all positions."""
    positions = file.enumerate_positions()
    network = file.init(jax.random.key(2)).network
    expected, got = (
        jax.jit(jax.vmap(module.action_values, (None, 0)))(network, positions.obs)
        for module in (file, own)
    )
    expected, got = checked(expected, got, "the values of all moves")
    position, move = np.nonzero(positions.legal)
    return text_of_first(
        expected[position, :, move],
        got[position, :, move],
        lambda i: f"{drawn_game(positions.obs[position[i]])}\n\nmove         {move[i]}",
    )


def first_two_ply_target(file, own):
    """Compare the targets of moves in games, the last moves first."""
    games, moves, after = transitions(file)
    rewards = after.rewards[np.arange(len(moves)), games.current_player]
    order = np.lexsort([~after.terminated, rewards == 0])
    games, moves, after = jax.tree.map(lambda leaf: leaf[order], (games, moves, after))
    network = file.init(jax.random.key(2)).network
    expected, got = (
        jax.jit(module.two_ply_target)(network, games, moves, after)
        for module in (file, own)
    )
    return text_of_first(
        *checked(expected, got, "the target"),
        lambda i: (
            f"{drawn_game(games.observation[i])}\n\nmove         {moves[i]}\n"
            "             (to its mover, to the other player)"
        ),
    )


def first_update(file, own):
    """Compare the weights after an update."""
    state = file.init(jax.random.key(1))
    state = state._replace(target_network=file.init(jax.random.key(2)).network)
    noise = jax.random.uniform(jax.random.key(3), (file.NUM_GAMES, 10))
    expected, got = (jax.jit(m.update)(state, (1, noise))[0] for m in (file, own))
    if jax.tree.structure(got.target_network) != jax.tree.structure(state.network):
        raise WrongAnswerError(
            "the new target network is not a network like `state.network`"
        )

    def weights(network):
        return np.ravel(network.hidden_1.kernel[...])

    old = weights(state.target_network), weights(expected.network)
    return text_of_first(
        weights(expected.target_network),
        weights(got.target_network),
        lambda i: (
            f"one weight of the network, after an update: {old[1][i]:.4g}\n"
            f"the same of the target network, before it: {old[0][i]:.4g}"
        ),
    )


def first_losing_line(file, own):
    """Compare the proofs of players: what they never lose, and what they lose."""
    positions = file.enumerate_positions()
    for name, policy in players(positions):
        for seat, letter in SEATS.items():
            expected = file.losing_line(positions, policy, seat)
            got = own.losing_line(positions, policy, seat)
            player = f"The player {name}; it is {letter}."
            if got is None and expected:
                text = "Your proof says that nobody beats it. This game does:"
                return f"{player}\n{text}\n\n{drawn_line(expected)}"
            if got is not None:
                fault = fault_of_line(positions, policy, seat, list(got))
                if fault:
                    text = f"Your line is no proof: {fault}."
                    return f"{player}\n{text}\n\n{drawn_line(got)}"
                if len(got) > len(expected):
                    text = "Your line is not a shortest one; this one is shorter:"
                    return f"{player}\n{text}\n\n{drawn_line(expected)}"
    return None


DIFFERENCES = {
    1: first_best_legal,
    2: first_play,
    3: first_action_values,
    4: first_two_ply_target,
    5: first_update,
    6: first_losing_line,
}


# Cases


def transitions(file):
    """Return games, a random move in each, and the games after it."""
    state = file.init(jax.random.key(0))
    play, new_game = jax.jit(file.play), jax.jit(file.new_game_if_over)
    games, steps = state.games, []
    for ply in range(9):
        noise = jax.random.uniform(jax.random.key(ply), (file.NUM_GAMES, 10))
        moves, after = play(state.network, games, 1.0, noise)
        steps.append((games, moves, after))
        games = new_game(after)
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *steps)


def players(positions):
    """Yield the names and policies of players; only one of them can't be beaten."""
    legal, seat = positions.legal, positions.seat
    yield "takes the first free cell", np.eye(9)[legal.argmax(axis=1)] * legal
    random = legal / legal.sum(axis=1, keepdims=True).clip(1)
    yield "takes any free cell", random
    results, to_mover = positions.winner, np.zeros(legal.shape)
    for _ in range(9):  # as in results_against_random, with best play of both
        to_mover = np.where(legal, seat[:, None] * results[positions.successor], -2)
        best = seat * to_mover.max(axis=1)
        results = np.where(legal.any(axis=1), best, positions.winner)
    perfect = np.eye(9)[to_mover.argmax(axis=1)] * legal
    yield "plays perfectly", perfect
    yield "plays one move in 100 at random", 0.99 * perfect + 0.01 * random


def fault_of_line(positions, policy, seat, line):
    """Return why a line is not a game that a policy loses in a seat; None if it is."""
    position = 0
    for number, move in enumerate(line, 1):
        if not positions.legal[position, move]:
            return f"move {number} is not legal"
        if positions.seat[position] == seat and policy[position, move] == 0:
            return f"the player never makes move {number}"
        position = positions.successor[position, move]
    is_lost = positions.winner[position] == -seat
    return None if is_lost else "the player does not lose it"


# Text


def checked(expected, got, what):
    """Return both as arrays; the second must have the shape and kind of the first."""
    expected, got = np.asarray(expected), np.asarray(got)
    if got.dtype.kind not in "fiu":
        raise WrongAnswerError(f"returns no number for {what}")
    if got.shape != expected.shape:
        shapes = f"{got.shape[1:]} for {what}, not {expected.shape[1:]}"
        raise WrongAnswerError(f"returns the shape {shapes}")
    if expected.dtype.kind == "i" and got.dtype.kind == "f":
        raise WrongAnswerError(f"returns {got.dtype} for {what}, not an integer")
    return expected, got


def text_of_first(expected, got, describe):
    """Return the first case in which two arrays differ, as text; None if none does."""
    is_close = np.isclose(expected, got, atol=1e-4)
    differs = ~is_close.reshape(len(expected), -1).all(axis=1)
    if not differs.any():
        return None
    first = int(differs.argmax())
    return (
        f"{describe(first)}\n\nexpected     {numbers(expected[first])}\n"
        f"yours        {numbers(got[first])}\n\n"
        f"({differs.sum():,} of {len(differs):,} cases differ.)"
    )


def numbers(array):
    """Return numbers as text."""
    array = np.ravel(array)
    return " ".join(f"{x}" if array.dtype.kind in "iu" else f"{x:.4g}" for x in array)


def marks(legal):
    """Return the legal moves as text."""
    return " ".join(map(str, np.flatnonzero(legal)))


def drawn_game(obs):
    """Return the board that a player sees, and who it is."""
    own, other = np.asarray(obs).reshape(9, 2).T
    mover, waiting = "XO" if own.sum() == other.sum() else "OX"
    cells = np.where(own, mover, np.where(other, waiting, "."))
    return "\n".join([*map(" ".join, cells.reshape(3, 3)), f"{mover} is to move"])


def drawn_line(line):
    """Return the boards of a game side by side, each under its move."""
    cells = np.full(9, ".")
    columns = []
    for number, move in enumerate(line):
        cells[move] = "XO"[number % 2]
        head = f"{cells[move]}: {move}"
        columns.append(
            [f"{row:<7}" for row in (head, *map(" ".join, cells.reshape(3, 3)))]
        )
    return "\n".join("".join(rows).rstrip() for rows in zip(*columns, strict=True))
