"""J. Antognini's article and program: self-play DQN in JAX."""

from jax_ttt.config.published.records import Result, System
from jax_ttt.config.settings import Config

# Published output: (updates, wins in %). 9 updates of one ply play 2,048 games.
_ARTICLE = (
    (207, 92.19),
    (405, 91.41),
    (603, 90.23),
    (801, 93.16),
    (1008, 93.65),
    (1206, 92.87),
    (1404, 93.16),
    (1602, 93.26),
    (1800, 93.07),
    (2007, 93.95),
    (2205, 94.34),
    (2403, 94.34),
    (2502, 94.14),
)

SYSTEMS = {
    # J. Antognini's article and program, "jax-tic-tac-toe": 2,048 games in lockstep,
    # the plain maximum in the TD target.
    "article": System(
        "J. Antognini's JAX DQN (github.com/joe-antognini/jax-tic-tac-toe)",
        Config.of(
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
        (
            Result("published, both seats", "94.14/5.86/0.00", None, None, "15"),
            Result(
                "its code, 10 seeds",
                "98.36/1.64/0.00",
                "89.10/10.77/0.13",
                "7 of 10",
                "37 to 47 CPU",
            ),
        ),
        "Algorithm and settings as published: not every seed ends unbeatable. The "
        "1,024 sampled games of the published figure can't show that.",
        tuple((update * 2048 // 9, wins) for update, wins in _ARTICLE),
    ),
}
