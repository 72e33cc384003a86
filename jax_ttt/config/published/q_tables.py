"""nestedsoftware/tictac: Q-tables, double Q, a neural network."""

from jax_ttt.config.published.records import TABLE, Result, System
from jax_ttt.config.settings import Config

_TICTAC = "github.com/nestedsoftware/tictac"
_RANDOM_TEACHES_RISKS = (
    "Trained as published, against random, so that a move which loses only to good "
    "play can look best."
)

# nestedsoftware/tictac: 14,000 games against random, half of them in each seat, a value
# for each position that a move leads to. Published: draw 1, loss 0. Mended: the loss,
# as a move that loses was worth as much as one never tried; epsilon ends at 0.1.
_TICTAC_Q = TABLE.replace(
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

SYSTEMS = {
    "tictac-q": System(
        f"Q-table ({_TICTAC})",
        _TICTAC_Q,
        (
            Result("published", "93.10/6.90/0.00", "61.00/39.00/0.00", None, None),
            Result(
                "its rules, 20 seeds",
                "90.39/9.61/0.00",
                "66.64/33.35/0.01",
                "19 of 20",
                None,
            ),
            Result(
                "its code, 3 seeds",
                "94.44/5.56/0.00",
                "54.74/45.26/0.00",
                "3 of 3",
                "28 to 31 CPU",
            ),
        ),
        "A draw counts as a win, as published: so it never loses, and does not hurry "
        "to win. Mended: a loss is worth -1, not 0 like a move never tried; epsilon "
        "ends at 0.1, not 0.",
    ),
    # The article's rewards, and no mend; only that 32 games run at once, in both seats.
    "tictac-q-article": System(
        f"Q-table with the article's rewards ({_TICTAC})",
        _TICTAC_Q.replace(reward_draw=0.0, epsilon_end=0.0),
        (
            Result("published", "99.10/0.90/0.00", "91.70/8.30/0.00", None, None),
            Result(
                "its rules, 20 seeds",
                "98.55/1.32/0.13",
                "91.78/7.97/0.25",
                "8 of 20",
                None,
            ),
        ),
        f"{_RANDOM_TEACHES_RISKS} Nothing is mended; 32 games are played at once, "
        "in either seat, where the original plays one by one, first all as X.",
    ),
    "tictac-double-q": System(
        f"double Q-tables ({_TICTAC})",
        _TICTAC_Q.replace(double=True),
        (
            Result(
                "its rules, 20 seeds",
                "97.88/2.12/0.00",
                "77.19/22.51/0.31",
                "11 of 20",
                None,
            ),
        ),
        'Published without figures ("no improvement"). The mends of tictac-q.',
    ),
    "tictac-minimax": System(
        f"Q-table trained against randomized minimax ({_TICTAC})",
        _TICTAC_Q.replace(reward_draw=0.0, epsilon_end=0.0, opponent="minimax"),
        (
            Result("published", None, "50.00/27.30/22.70", None, None),
            Result(
                "its rules, 20 seeds",
                "87.15/5.73/7.12",
                "66.53/28.78/4.68",
                "0 of 20",
                None,
            ),
        ),
        "As published: an opponent that never errs shows it too few of the boards that "
        "a weaker one reaches.",
    ),
    # Mended: a batch for one move a step, a target that follows by tau for one copied
    # after every game, legal moves only, the mover's view, Adam for SGD; a draw is
    # worth half a win, not as much as one; the opponent now and then plays well;
    # epsilon ends at 0.2, and boards are canonical.
    "tictac-neural": System(
        f"neural network ({_TICTAC})",
        Config.of(
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
        (
            Result(
                "published",
                "98.40/1.60/0.00",
                "75.40/24.60/0.00",
                None,
                None,
            ),
            Result("its code, by 2,000 games", None, None, None, "some 7,200 CPU"),
        ),
        "As published two hidden layers of 36, but tanh at the end. Mended: batches, a "
        "target network that follows slowly, legal moves only, the mover's view. With "
        "that: canonical boards, Adam (0.004, falling to 0) for SGD (0.1), rewards 1, "
        "0.5 and -1 for 1, 1 and 0, an opponent that plays well 3 times in 10, epsilon "
        "0.2 for 0 at the end; some 290,000 games for 4,000,000.",
    ),
}
