"""nestedsoftware/tictac: Q-tables, double Q, a neural network."""

from jax_ttt.config.published.records import TABLE, Result, System
from jax_ttt.config.settings import Config

_TICTAC = "github.com/nestedsoftware/tictac"
_RANDOM_TEACHES_RISKS = (
    "Trained against random, as published, so a move that loses only to good play "
    "can look best."
)

# nestedsoftware/tictac: 14,000 games against random, half of them in each seat, and a
# value for each position after a move. Published rewards: draw 1, loss 0. Fixed: the
# loss, which had the value of an untried move; epsilon ends at 0.1.
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
        "As published, a draw counts as a win, so the agent avoids losses but does not "
        "seek wins. Fixed: a loss counts -1 instead of 0, the value of an untried "
        "move; epsilon ends at 0.1 instead of 0.",
    ),
    # The article's rewards, without fixes; only 32 games run at once, in both seats.
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
        f"{_RANDOM_TEACHES_RISKS} Nothing is fixed. 32 games run at once, in either "
        "seat; the original plays one game at a time, first all games as X.",
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
        'Published without figures ("no improvement"). Fixed as in tictac-q.',
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
        "As published. An opponent that never makes mistakes shows the agent too few "
        "of the boards that a weaker one reaches.",
    ),
    # Changes: batches instead of one move per step, a Polyak-averaged target instead of
    # a copy after every game, legal moves only, the mover's perspective, Adam instead
    # of SGD, half the reward of a win for a draw, an opponent that sometimes plays
    # well, a final epsilon of 0.2, canonical boards.
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
        "Two hidden layers of 36 as published, but with a final tanh. Fixed: batches, "
        "a slow target network, legal moves only, the mover's perspective. Also "
        "changed: canonical boards; Adam (0.004, falling to 0) instead of SGD (0.1); "
        "rewards 1, 0.5, -1 instead of 1, 1, 0; an opponent that plays well 3 times in "
        "10; epsilon ends at 0.2 instead of 0; about 290,000 games instead of "
        "4,000,000.",
    ),
}
