"""andrey-matveyev/go-sample-tictactoe: double DQN with replay, in Go."""

from jax_ttt.config.published.records import Result, System
from jax_ttt.config.settings import Config

_GO = "github.com/andrey-matveyev/go-sample-tictactoe"

# andrey-matveyev/go-sample-tictactoe: double DQN with replay. Fixed: the end of a game
# and a lost game reach the buffer, the next board is the one after the reply, the
# maximum excludes illegal moves, and the opponent plays well half of the time, as a
# random one rewards risks. Also changed: canonical boards, 72 neurons (the article's
# largest choice) instead of 27, Adam instead of SGD, larger batches, and epsilon ends
# at 0.5 instead of 0.001, to learn the boards after rare replies too.
_CONFIG = Config.of(
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

SYSTEMS = {
    "go-first": System(
        f"double DQN, moving first ({_GO})",
        _CONFIG.replace(seat="first"),
        (
            Result("published", "95.60/0.50/3.90", None, None, None),
            Result("its code, 1 seed", "96.09/0.00/3.91", None, "0 of 1", "195 CPU"),
        ),
        "Fixed: the end of a game ends the bootstrap, a loss reaches the buffer, the "
        "next board is the one after the reply, the maximum excludes illegal moves, "
        "the opponent plays well half of the time. Also changed: canonical boards; 72 "
        "neurons instead of 27; Adam (0.01, falling to 0) instead of SGD (0.0002); "
        "batches of 512 instead of 8; a target copied every 100 updates instead of "
        "50,000; epsilon times 0.9999 per game down to 0.5 instead of 0.999996 per "
        "step down to 0.001; about 65,000 games instead of 500,000, all to their end, "
        "where the original stops at a sure draw.",
        (
            (1_000, 59.0),
            (50_000, 77.1),
            (100_000, 87.0),
            (200_000, 94.6),
            (300_000, 85.9),
            (400_000, 96.6),
            (500_000, 96.7),
        ),
    ),
    # With blend:0.5, one of 20 seeds took a risk as O.
    "go-second": System(
        f"double DQN, moving second ({_GO})",
        _CONFIG.replace(seat="second", opponent="blend:0.4:minimax"),
        (
            Result("published", None, "78.30/2.60/19.10", None, None),
            Result("its code, 1 seed", None, "80.21/2.54/17.25", "0 of 1", "203 CPU"),
        ),
        "Fixed as in go-first; the opponent may open with any cell and plays well 6 "
        "times in 10.",
        ((1_000, 26.5), (100_000, 63.0), (500_000, 80.4)),
    ),
}
