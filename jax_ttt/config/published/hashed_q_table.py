"""D. Tonderski's report: a hashed Q-table in MATLAB."""

from jax_ttt.config.published.records import TABLE, Result, System

SYSTEMS = {
    # D. Tonderski's report: self-play, boards hashed in base 3, initial values 1, alpha
    # 1. Fixed: epsilon falls by 0.1 after each tenth of the games, instead of to a
    # tenth, which left a third of the table untried; the target is the next mover's
    # value with its sign changed, instead of each player's own next move.
    "matlab": System(
        "D. Tonderski's hashed Q-table (report, 2020)",
        TABLE.replace(
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
        (
            Result(
                "its saved tables",
                "90.55/5.64/3.81",
                "74.95/23.28/1.77",
                "0 of 1",
                None,
            ),
        ),
        "Published only as a curve of self-play. Fixed: epsilon falls by 0.1 for each "
        "tenth of the games, to 0.1, where the code divides it by 10; one table, and "
        "the reply's value with its sign changed. It learns plain minimax values, so "
        "it never loses and sets no traps.",
    ),
}
