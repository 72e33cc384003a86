"""The published systems: what their authors and others measured, and why ours differ.

Rates are in %, wins/ties/losses against a random opponent.
"""

from typing import NamedTuple

from jax_ttt.config.presets import Preset


class Result(NamedTuple):
    """Somebody's figures of one system."""

    source: str
    as_first: str | None  # wins/ties/losses
    as_second: str | None
    unbeatable: str | None  # n of N seeds
    seconds: str | None


class System(NamedTuple):
    """A published learner."""

    title: str
    results: tuple[Result, ...]
    why: str  # our figures are not theirs
    curve: tuple[tuple[int, float], ...] = ()  # theirs: (games played, wins)


_TICTAC = "github.com/nestedsoftware/tictac"
_GO = "github.com/andrey-matveyev/go-sample-tictactoe"
_RANDOM_TEACHES_RISKS = (
    "Trained as published, against random, so that a move which loses only to good "
    "play can look best."
)

# What it printed as it trained: 9 updates play 2,048 games, one ply each.
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

SYSTEMS: dict[Preset, System] = {
    "article": System(
        "J. Antognini's JAX DQN (github.com/joe-antognini/jax-tic-tac-toe)",
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
        "Its algorithm and settings as they are: not every seed ends unbeatable. The "
        "1,024 sampled games of the published figure can't show that.",
        tuple((update * 2048 // 9, wins) for update, wins in _ARTICLE),
    ),
    "tictac-q": System(
        f"Q-table ({_TICTAC})",
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
    "tictac-q-article": System(
        f"Q-table with the article's rewards ({_TICTAC})",
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
    "tictac-neural": System(
        f"neural network ({_TICTAC})",
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
    "go-first": System(
        f"double DQN, moving first ({_GO})",
        (
            Result("published", "95.60/0.50/3.90", None, None, None),
            Result("its code, 1 seed", "96.09/0.00/3.91", None, "0 of 1", "195 CPU"),
        ),
        "Mended: the end of a game cuts the bootstrap, a loss reaches the buffer, the "
        "next board is the one after the reply, no illegal move is a maximum, and the "
        "opponent plays well half of the time. With that: canonical boards, 72 neurons "
        "for 27, Adam (0.01, falling to 0) for SGD (0.0002), batches of 512 for 8, a "
        "target copied every 100 updates for 50,000, epsilon times 0.9999 a game down "
        "to 0.5 for 0.999996 a step down to 0.001; some 65,000 games for 500,000. "
        "Games are played to their end, where the original stops at a sure draw.",
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
    "go-second": System(
        f"double DQN, moving second ({_GO})",
        (
            Result("published", None, "78.30/2.60/19.10", None, None),
            Result("its code, 1 seed", None, "80.21/2.54/17.25", "0 of 1", "203 CPU"),
        ),
        "The mends of go-first; the opponent may open with every cell, and plays well "
        "6 times in 10.",
        ((1_000, 26.5), (100_000, 63.0), (500_000, 80.4)),
    ),
    "matlab": System(
        "D. Tonderski's hashed Q-table (report, 2020)",
        (
            Result(
                "its saved tables",
                "90.55/5.64/3.81",
                "74.95/23.28/1.77",
                "0 of 1",
                None,
            ),
        ),
        "Published as a curve of self-play only. Mended: epsilon falls by 0.1 for each "
        "tenth of the games, to 0.1, where the code divides it by 10; one table, and "
        "the reply's value with its sign turned. Plain minimax values: it never loses, "
        "and sets no traps.",
    ),
    "web": System(
        "Q-learning web page (github.com/mayur9210/tic-tac-toe-ai)",
        (
            Result(
                "its code, 10 runs",
                "88.20/5.90/5.90",
                "50.74/4.50/44.77",
                "0 of 10",
                "0.1",
            ),
        ),
        "Published without figures. Mended: values come from the next board with the "
        "sign turned, a draw is worth 0 and not -1, symmetric boards share their moves "
        "too. With that: alpha 0.3, which its article advises, for 0.1; epsilon 0.5 "
        "all the time, where it advises to begin there; 30,000 games for 1,000.",
    ),
    "default": System("ours: the network", (), "The ceiling is 99.48 and 91.64 wins."),
    "table": System("ours: the table", (), "It reaches the ceiling."),
}
