"""Presets: named settings, given by their differences from the defaults of `Config`.

Those of published systems come from the programs and articles of their authors, except
for the changes that stand beside them. `tools/published_systems.py` has their figures.
"""

from typing import TYPE_CHECKING, Literal

from jax_ttt.config import game_facts
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import SELF, Config

# Rounds of counterexamples: a round is `eval_every` updates and a search. Epsilon is
# low, as half of the games start where the agent has lost. The average
# of the weights forgets less from round to round than the weights do.
_CONNECT_4X4 = Config.of(
    env_id="connect_4x4",
    num_envs=512,
    num_updates=60_000,
    start_share=0.5,
    two_planes=True,
    learning_rate=2e-3,
    learning_rate_end=2e-3,
    learning_rate_decay=0.9,
    average_span=0.03,
    tau=0.1,
    gamma=0.95,
    tremble=0.0,
    epsilon_start=0.3,
    epsilon_end=0.3,
    eval_every=1500,
)

_CONNECT_5X5 = _CONNECT_4X4.replace(
    env_id="connect_5x5",
    num_updates=240_000,
    start_share=0.6,
    hidden_size=512,
    learning_rate=1e-3,
    learning_rate_end=1e-3,
    learning_rate_decay=0.88,
    tau=0.05,
    gamma=0.97,
    epsilon_start=0.25,
    epsilon_end=0.25,
    eval_every=8000,
)

# The agent reaches too many positions to search them, so this is plain self-play.
# Random openings show it many positions. Without a tremble, a lookahead search gains
# more from the values.
_CONNECT_7X6 = Config.of(
    env_id="connect_7x6",
    num_updates=200_000,
    two_planes=True,
    filters=32,
    hidden_size=512,
    hidden_layers=1,
    learning_rate=1e-3,
    learning_rate_end=2e-5,
    gamma=0.99,
    tremble=0.0,
    epsilon_start=0.3,
    epsilon_end=0.1,
    random_opening=24,
    eval_every=40_000,
)

_TABLE = Config.of(
    network="table",
    optimizer="sgd",
    loss="mse",
    tau=1.0,
    tremble=0.0,
    backward=True,
)
"""Common to all tables: plain gradient steps, so that a visit removes the share
`learning_rate` of an entry's error."""

_OUR_PRESETS: dict[str, Config] = {
    # Our network: canonical boards, and a two-ply backup with a trembling opponent.
    # With gamma 0.85 and tremble 0.5, X's best opening is the corner, by 0.007.
    "default": Config.of(
        num_envs=128,
        num_updates=1800,
        learning_rate=6e-3,
        learning_rate_end=2e-3,
        average_span=0.15,
        epsilon_end=0.1,
        tau=0.12,
        gamma=0.85,
        backup="two-ply",
        eval_every=150,
    ),
    # For any game and any opponent: a one-ply backup, no discount.
    "plain": Config(),
    # Our table: learning rate 1, for exact values, against an opponent that trembles
    # often.
    "table": _TABLE.replace(
        backup="two-ply",
        tremble=0.7,
        backward=False,
        num_updates=400,
        learning_rate=1.0,
        learning_rate_end=1.0,
        eval_every=40,
    ),
    "connect-4x4": _CONNECT_4X4,
    "connect-5x4": _CONNECT_4X4.replace(
        env_id="connect_5x4",
        num_updates=120_000,
        hidden_size=256,
        learning_rate=1.5e-3,
        learning_rate_end=1.5e-3,
        learning_rate_decay=0.87,
        eval_every=3000,
    ),
    "connect-5x5": _CONNECT_5X5,
    "connect-6x5": _CONNECT_5X5.replace(env_id="connect_6x5"),
    "connect-6x6": _CONNECT_5X5.replace(env_id="connect_6x6", max_positions=1_000_000),
    "connect-7x6": _CONNECT_7X6,
    # For a GPU: 173 s of training on an H100.
    "connect-7x6-large": _CONNECT_7X6.replace(
        num_envs=8192,
        num_updates=114_000,
        filters=128,
        hidden_size=1024,
        hidden_layers=2,
        precision="bfloat16",
        eval_every=11_400,
    ),
}

# nestedsoftware/tictac: 14,000 games against random, half of them in each seat, and a
# value for each position after a move. Published rewards: draw 1, loss 0. Fixed: the
# loss, which had the value of an untried move; epsilon ends at 0.1.
_TICTAC_Q = _TABLE.replace(
    table_key="after-state",
    opponent="random",
    num_envs=32,
    num_updates=438,
    learning_rate=0.4,
    learning_rate_end=0.4,
    epsilon_start=0.7,
    epsilon_end=0.1,
    epsilon_schedule="steps",
    reward_draw=1.0,
    eval_every=44,
)

# andrey-matveyev/go-sample-tictactoe: double DQN with replay. Fixed: the end of a game
# and a lost game reach the buffer, the next board is the one after the reply, the
# maximum excludes illegal moves, and the opponent plays well half of the time, as a
# random one rewards risks. Also changed: canonical boards, 72 neurons (the article's
# largest choice) instead of 27, Adam instead of SGD, larger batches, and epsilon ends
# at 0.5 instead of 0.001, to learn the boards after rare replies too.
_GO_DOUBLE_DQN = Config.of(
    opponent="blend:0.5:minimax",
    num_envs=64,
    num_updates=4000,
    learning_rate=1e-2,
    loss="mse",
    hidden_size=72,
    hidden_layers=1,
    activation="tanh",
    gamma=0.75,
    reward_win=0.999,
    reward_draw=0.001,
    double=True,
    tremble=0.0,
    epsilon_schedule="exponential",
    epsilon_decay=0.9999,
    target_update_every=100,
    replay_capacity=50_000,
    replay_batch=512,
    eval_every=400,
)

_PUBLISHED: dict[str, Config] = {
    # J. Antognini's article and program, "jax-tic-tac-toe": 2,048 games in lockstep,
    # the plain maximum in the TD target.
    "article": Config.of(
        num_envs=2048,
        num_updates=2500,
        learning_rate=2e-3,
        weight_decay=1e-4,
        epsilon_start=0.9,
        epsilon_end=0.05,
        tau=0.005,
        tremble=0.0,
        canonical=False,
        lockstep=True,
        eval_every=200,
        eval_games=1024,
    ),
    "tictac-q": _TICTAC_Q,
    # The article's rewards, without fixes; only 32 games run at once, in both seats.
    "tictac-q-article": _TICTAC_Q.replace(reward_draw=0.0, epsilon_end=0.0),
    "tictac-double-q": _TICTAC_Q.replace(double=True),
    "tictac-minimax": _TICTAC_Q.replace(
        reward_draw=0.0, epsilon_end=0.0, opponent="minimax"
    ),
    # Changes: batches instead of one move per step, a Polyak-averaged target instead of
    # a copy after every game, legal moves only, the mover's perspective, Adam instead
    # of SGD, half the reward of a win for a draw, an opponent that sometimes plays
    # well, a final epsilon of 0.2, canonical boards.
    "tictac-neural": Config.of(
        opponent="blend:0.7:minimax",
        num_updates=4000,
        loss="mse",
        hidden_size=36,
        reward_draw=0.5,
        tremble=0.0,
        epsilon_start=0.7,
        epsilon_end=0.2,
        epsilon_schedule="steps",
        eval_every=400,
    ),
    "go-first": _GO_DOUBLE_DQN.replace(seat="first"),
    # With blend:0.5, one of 20 seeds took a risk as O.
    "go-second": _GO_DOUBLE_DQN.replace(seat="second", opponent="blend:0.4:minimax"),
    # D. Tonderski's report: self-play, boards hashed in base 3, initial values 1, alpha
    # 1. Fixed: epsilon falls by 0.1 after each tenth of the games, instead of to a
    # tenth, which left a third of the table untried; the target is the next mover's
    # value with its sign changed, instead of each player's own next move.
    "matlab": _TABLE.replace(
        table_key="hash",
        canonical=False,
        initial_value=1.0,
        num_envs=500,
        num_updates=200,
        learning_rate=1.0,
        learning_rate_end=1.0,
        epsilon_end=0.1,
        epsilon_schedule="steps",
        eval_every=20,
    ),
    # mayur9210/tic-tac-toe-ai. Fixed: values come from the next board with the sign
    # changed, a draw counts 0, and symmetric boards share their actions too. Also
    # changed: alpha 0.3 and epsilon 0.5, as the article advises, and 30,000 games.
    "web": _TABLE.replace(
        num_envs=50,
        num_updates=600,
        gamma=0.9,
        learning_rate=0.3,
        learning_rate_end=0.3,
        epsilon_start=0.5,
        epsilon_end=0.5,
        eval_every=60,
    ),
}

PRESETS: dict[str, Config] = {**_OUR_PRESETS, **_PUBLISHED}
"""The settings of each preset."""

if TYPE_CHECKING:
    Preset = str
else:  # the command line and type checks at run time need the choices
    Preset = Literal[tuple(PRESETS)]


def default_preset(env_id: object, *opponents: object) -> Preset:
    """Return the default preset: the game's, or `plain` against an opponent.

    `env_id` None means the default game. An opponent None, or no opponents, means
    self-play. The preset is `plain` if any of the opponents is another player.
    """
    is_self_play = all(name in (None, SELF) for name in opponents)
    game = GAMES.get(str(env_id or game_facts.DEFAULT_GAME))
    return game.preset if game and is_self_play else "plain"
