"""mayur9210/tic-tac-toe-ai: Q-learning in a web page."""

from jax_ttt.config.published.records import TABLE, Result, System

SYSTEMS = {
    # mayur9210/tic-tac-toe-ai. Fixed: values come from the next board with the sign
    # changed, a draw counts 0, and symmetric boards share their actions too. Also
    # changed: alpha 0.3 and epsilon 0.5, as the article advises, and 30,000 games.
    "web": System(
        "Q-learning web page (github.com/mayur9210/tic-tac-toe-ai)",
        TABLE.replace(
            num_envs=50,
            num_updates=600,
            gamma=0.9,
            learning_rate=0.3,
            learning_rate_end=0.3,
            epsilon_start=0.5,
            eval_every=60,
        ),
        (
            Result(
                "its code, 10 runs",
                "88.20/5.90/5.90",
                "50.74/4.50/44.77",
                "0 of 10",
                "0.1",
            ),
        ),
        "Published without figures. Fixed: values come from the next board with the "
        "sign changed, a draw counts 0 instead of -1, symmetric boards share their "
        "moves too. Also changed: alpha 0.3, as its article advises, instead of 0.1; a "
        "constant epsilon of 0.5, which it advises as a start; 30,000 games instead of "
        "1,000.",
    ),
}
