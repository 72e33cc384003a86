"""Named settings: what differs from the defaults of `Config`, and why.

The published systems keep their published settings but for the mends that stand beside
each; `published` prints what they gave and what these give.
"""

import dataclasses
from typing import Literal

from jax_ttt.config.settings import Config

Preset = Literal[
    "default",
    "plain",
    "table",
    "article",
    "tictac-q",
    "tictac-q-article",
    "tictac-double-q",
    "tictac-minimax",
    "tictac-neural",
    "go-first",
    "go-second",
    "matlab",
    "web",
]

# What every table has in common: a step takes the same share of each entry's error.
_TABLE = Config(
    network="table",
    optimizer="sgd",
    loss="mse",
    tau=1.0,
    tremble=0.0,
    backward=True,
)

# nestedsoftware/tictac: 14,000 games against random, half of them in each seat, a value
# for each position that a move leads to. Published: draw 1, loss 0. Mended: the loss,
# as a move that loses was worth as much as one never tried; epsilon ends at 0.1.
_TICTAC_Q = dataclasses.replace(
    _TABLE,
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

# andrey-matveyev/go-sample-tictactoe: double DQN with replay. Mended: the end of a game
# and a lost game reach the buffer, the next board is the one after the reply, illegal
# moves are no maximum, and the opponent plays well half of the time, as random alone
# teaches to take risks. With that: canonical boards, 72 neurons (the article's largest
# choice) for 27, Adam for SGD, larger batches, and epsilon ends at 0.5, not 0.001, so
# that the boards after rare replies are learned too.
_GO = Config(
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

PRESETS: dict[Preset, Config] = {
    # Our own: canonical boards, and a two-ply backup in which the opponent trembles.
    # With gamma 0.85 the corner is X's best opening at a tremble of 0.5 already, where
    # a move that loses is worth less by 0.07 at least (0.02 at 0.7 and gamma 1), more
    # than the network errs. Seeds 200 to 327: 128 proven, 126 at the ceiling.
    "default": Config(
        num_envs=128,
        num_updates=1500,
        learning_rate=8e-3,
        epsilon_end=0.15,
        tau=0.2,
        gamma=0.85,
        backup="two-ply",
        eval_every=150,
    ),
    # For any game and any opponent: a one-ply backup, nothing discounted.
    "plain": Config(),
    # Our own: exact values against an opponent who trembles often, alpha 1.
    "table": dataclasses.replace(
        _TABLE,
        backup="two-ply",
        tremble=0.7,
        backward=False,
        num_updates=400,
        learning_rate=1.0,
        learning_rate_end=1.0,
        eval_every=40,
    ),
    # J. Antognini's article and program, "jax-tic-tac-toe": one 2,048-game batch
    # played in lock-step, the plain maximum in the target.
    "article": Config(
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
    ),
    "tictac-q": _TICTAC_Q,
    # The article's rewards, and no mend; only that 32 games run at once, in both seats.
    "tictac-q-article": dataclasses.replace(
        _TICTAC_Q, reward_draw=0.0, epsilon_end=0.0
    ),
    "tictac-double-q": dataclasses.replace(_TICTAC_Q, double=True),
    "tictac-minimax": dataclasses.replace(
        _TICTAC_Q, reward_draw=0.0, epsilon_end=0.0, opponent="minimax"
    ),
    # Mended: a batch for one move a step, a target that follows by tau for one copied
    # after every game, legal moves only, the mover's view, Adam for SGD; a draw is
    # worth half a win, not as much as one; the opponent now and then plays well;
    # epsilon ends at 0.2, and boards are canonical.
    "tictac-neural": Config(
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
    "go-first": dataclasses.replace(_GO, seat="first"),
    # Against 0.5, one of 20 seeds took a risk as O.
    "go-second": dataclasses.replace(_GO, seat="second", opponent="blend:0.4:minimax"),
    # D. Tonderski's report: self-play, boards hashed in base 3, every value 1 at first,
    # alpha 1. Mended: epsilon falls by a tenth for each tenth of the games, and not to
    # a tenth, which left a third of the table untried; the next mover's view with its
    # sign turned for each player's own next move.
    "matlab": dataclasses.replace(
        _TABLE,
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
    # mayur9210/tic-tac-toe-ai. Mended: values come from the next board, its sign
    # turned, a draw is worth 0, and symmetric boards share their actions too; the
    # article's advice of alpha 0.3 and epsilon 0.5, held, over 30,000 games.
    "web": dataclasses.replace(
        _TABLE,
        num_envs=50,
        num_updates=600,
        gamma=0.9,
        learning_rate=0.3,
        learning_rate_end=0.3,
        epsilon_start=0.5,
        eval_every=60,
    ),
}
