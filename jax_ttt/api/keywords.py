"""The settings as keywords of `train` and `train_many`, for editors and type checkers.

`make keywords` writes this file from `Config`.
"""

from typing import Literal, TypedDict

from flax import nnx


class Settings(TypedDict, total=False):
    """All settings of a run but its seed; a call changes those that it names."""

    env_id: str
    """The game to learn."""

    num_envs: int
    """Games played at once. Each update plays one move in each of them. A whole number
    from 1 to 1,048,576."""

    num_updates: int
    """Updates. Each takes one gradient step; with backward, one for each turn of a
    game; with replay, none before replay_start. The schedules of epsilon and of the
    learning rate end with the last update. A whole number from 1 to 1,000,000,000."""

    lockstep: bool
    """Restart all games together after the last one has ended, as J. Antognini's
    program does."""

    start_share: float
    """Share of the new games that start in the pool of start_positions. Only in
    self-play, in games that are too large to enumerate. A number from 0 to 1."""

    start_positions: str
    """counterexamples: those of the latest evaluations. A counterexample is a position
    in which the agent had a choice, on a line of play that beats it. Each evaluation
    searches all positions that the agent reaches for them. Or a corrected agent's file:
    the positions of its corrections, without their moves."""

    start_agent: str
    """A saved agent whose weights the training begins with, or none: random weights."""

    opponent: str
    """self (self-play), or any player of the arena: random, minimax, blend:0.7:minimax,
    a saved agent's path and others."""

    seat: Literal["both", "first", "second"]
    """The agent's seat against an opponent: first, second, or both (a random one in
    each game)."""

    first_move: int | None
    """The first move of every training game; without this flag, the players choose it.
    Evaluations leave it to them. A whole number from 0 to 65,536."""

    network: Literal["mlp", "table"] | type[nnx.Module]
    """mlp: a multilayer perceptron. table: a lookup table, see table_key; only in
    enumerable games. With a preset that trains a table, mlp needs a learning_rate too:
    a table's is a share of the error. Or a class of your own, a subclass of
    flax.nnx.Module."""

    canonical: bool
    """Map rotated and mirrored boards to one canonical board."""

    hidden_size: int
    """Neurons in each hidden layer of an mlp. A whole number from 1 to 16,384."""

    hidden_layers: int
    """Hidden layers of an mlp. 0: a linear function. A whole number from 0 to 16."""

    two_planes: bool
    """Input of an mlp for a board of stones: two planes of 0 and 1, the mover's stones
    and the opponent's, instead of one plane of +1 and -1."""

    filters: int
    """Filters of a convolution before an mlp's hidden layers. Each sees every patch of
    4 x 4 cells. 0: no convolution. A whole number from 0 to 1,024."""

    activation: Literal["relu", "tanh", "sigmoid"]
    """Activation function of an mlp's hidden layers and filters."""

    table_key: Literal["position", "after-state"]
    """A table's rows. position: the game's positions; after-state: the positions that
    moves lead to, one value each."""

    initial_value: float
    """Initial value of a table's entries. A number from -1 to 1."""

    backup: Literal["one-ply", "two-ply"]
    """one-ply: bootstrap from the next mover's value. two-ply (self-play only):
    bootstrap from a second head, which learns what each reply of the opponent is worth
    to the waiting player."""

    tremble: float
    """Probability, in the TD target only, that the next mover plays a random move: from
    0 (the plain maximum) to 1. With two-ply, each player assumes it of the opponent
    only. A higher one prefers moves that set traps. A number from 0 to 1."""

    gamma: float
    """Discount per move; its sign comes from the player to move next. A number from 0
    to 1."""

    double: bool
    """Double DQN: the network in training chooses the best next action, and the target
    network gives its value. With a table: two tables; each move updates one of them,
    the last move of a game both."""

    backward: bool
    """Play whole games, then learn from their moves, the last move first. The target
    network is updated after each learned turn; with target_update_every N, only in
    every N-th update."""

    tau: float
    """Weight of the new parameters in the Polyak average that gives the target network.
    A number above 0 and at most 1."""

    target_update_every: int
    """Updates between copies of the parameters to the target network. 0: the Polyak
    average with tau at every update instead. A whole number from 0 to 1,000,000,000."""

    reward_win: float
    """Reward of a win. A number from -1 to 1."""

    reward_draw: float
    """Reward of a draw; 0 in self-play, which is a zero-sum game. A number from -1 to
    1."""

    reward_loss: float
    """Reward of a loss; -reward_win in self-play. A number from -1 to 1."""

    epsilon_start: float
    """Share of random moves at the first update. A number from 0 to 1."""

    epsilon_end: float
    """Lowest share of random moves; linear reaches it at the last update. At most
    epsilon_start. Where only epsilon_start is given, the ratio of the two stays. A
    number from 0 to 1."""

    epsilon_schedule: Literal["linear", "steps", "exponential"]
    """Epsilon's schedule: linear; steps (minus epsilon_decay after each tenth of the
    updates); exponential (times epsilon_decay after each finished game)."""

    epsilon_decay: float
    """Step size (steps) or factor (exponential); unused with linear. A number from 0 to
    1."""

    random_opening: int
    """Maximum number of random moves at the start of a game. The game's place in the
    batch fixes their number: every fourth place has none, the others have 0 to this
    many in turn. The agent learns from these moves too. A whole number from 0 to
    1,000."""

    optimizer: Literal["adamw", "sgd"]
    """adamw, or sgd: plain gradient steps, without momentum and weight decay."""

    loss: Literal["huber", "mse"]
    """Loss of a TD error: mse, half its square; huber, the same up to an error of 1 and
    linear beyond."""

    learning_rate: float
    """Step size at the first update. With a table: the share of the error that a visit
    removes, often called alpha. A number above 0 and at most 1e+38."""

    learning_rate_end: float
    """Step size at the last update, linear in between. At most learning_rate. Where
    only learning_rate is given, the ratio of the two stays. A number from 0 to
    1e+38."""

    learning_rate_decay: float
    """Factor by which the step size falls after each eval_every updates, on top of the
    line from learning_rate to learning_rate_end. 1: no decay. A number from 0 to 1."""

    weight_decay: float
    """Decoupled weight decay of adamw. A number from 0 to 1."""

    average_span: float
    """Grade, save and play with an average of the network's weights over about this
    share of the updates so far. 0: no average. A number from 0 to 1."""

    precision: Literal["auto", "float32", "bfloat16"]
    """dtype of an mlp's matrix products while training (accumulated in float32). auto:
    bfloat16 on a CPU with AMX or AVX-512 BF16, else float32. Grades and play always use
    float32."""

    replay_capacity: int
    """Moves that the buffer holds; new ones replace the oldest. 0: no buffer, and the
    agent learns from each move once, when it is played. A whole number from 0 to
    16,777,216."""

    replay_batch: int
    """Moves sampled uniformly from the buffer in each update. A whole number from 1 to
    1,048,576."""

    replay_start: int
    """Moves in the buffer before learning begins. Until then updates are counted, but
    the agent does not change. A whole number from 0 to 16,777,216."""

    eval_every: int
    """Updates between evaluations. The training depends on it with start_share, and
    with learning_rate_decay below 1. A whole number from 1 to 1,000,000,000."""

    eval_games: int | None
    """Games of the sampled match against random in each evaluation: all games, each
    with a random seat. By default 0 in enumerable games, whose results are exact, else
    1,024. A whole number from 0 to 1,048,576."""

    max_positions: int
    """Maximum number of positions that an evaluation with start_share enumerates in
    each seat; beyond it counterexamples come from a sample. A whole number from 1 to
    4,294,967,295."""
