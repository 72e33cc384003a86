"""The published systems: their figures, and why ours differ from them.

Rates are wins/draws/losses in % against the random player. The settings are presets.
"""

import dataclasses
from typing import NamedTuple


@dataclasses.dataclass(frozen=True)
class PublishedFigures:
    """The figures of a system from one source."""

    source: str
    first: str | None  # wins/draws/losses of the agent as it moves first
    second: str | None  # as it moves second
    unbeatable: str | None  # unbeatable agents, "n of N" seeds
    seconds: str | None  # of one training


class PublishedSystem(NamedTuple):
    """A published learner, which the preset of its name reproduces."""

    title: str
    results: tuple[PublishedFigures, ...]
    explanation: str  # why our figures differ from the published ones
    curve: tuple[tuple[int, float], ...] = ()  # published: (games played, wins in %)


# Published output: (updates, wins in %). An update plays one move in each of 2,048
# games, and a game has at most 9 moves, so 9 updates play about 2,048 games.
_ARTICLE_CURVE = (
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

_TICTAC = "github.com/nestedsoftware/tictac"
_RANDOM_TEACHES_RISKS = (
    "Trained against random, as published, so a move that loses only to good play "
    "can look best."
)

_GO = "github.com/andrey-matveyev/go-sample-tictactoe"

SYSTEMS: dict[str, PublishedSystem] = {
    "article": PublishedSystem(
        "J. Antognini's JAX DQN (github.com/joe-antognini/jax-tic-tac-toe)",
        (
            PublishedFigures(
                "published, both seats", "94.14/5.86/0.00", None, None, "15"
            ),
            PublishedFigures(
                "its code, 10 seeds",
                "98.36/1.64/0.00",
                "89.10/10.77/0.13",
                "7 of 10",
                "37 to 47 CPU",
            ),
        ),
        "Algorithm and settings as published: not every seed ends unbeatable. The "
        "1,024 sampled games of the published figure can't show that.",
        tuple((update * 2048 // 9, wins) for update, wins in _ARTICLE_CURVE),
    ),
    "tictac-q": PublishedSystem(
        f"Q-table ({_TICTAC})",
        (
            PublishedFigures(
                "published", "93.10/6.90/0.00", "61.00/39.00/0.00", None, None
            ),
            PublishedFigures(
                "its rules, 20 seeds",
                "90.39/9.61/0.00",
                "66.64/33.35/0.01",
                "19 of 20",
                None,
            ),
            PublishedFigures(
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
    "tictac-q-article": PublishedSystem(
        f"Q-table with the article's rewards ({_TICTAC})",
        (
            PublishedFigures(
                "published", "99.10/0.90/0.00", "91.70/8.30/0.00", None, None
            ),
            PublishedFigures(
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
    "tictac-double-q": PublishedSystem(
        f"double Q-tables ({_TICTAC})",
        (
            PublishedFigures(
                "its rules, 20 seeds",
                "97.88/2.12/0.00",
                "77.19/22.51/0.31",
                "11 of 20",
                None,
            ),
        ),
        'Published without figures ("no improvement"). Fixed as in tictac-q.',
    ),
    "tictac-minimax": PublishedSystem(
        f"Q-table trained against randomized minimax ({_TICTAC})",
        (
            PublishedFigures("published", None, "50.00/27.30/22.70", None, None),
            PublishedFigures(
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
    "tictac-neural": PublishedSystem(
        f"neural network ({_TICTAC})",
        (
            PublishedFigures(
                "published",
                "98.40/1.60/0.00",
                "75.40/24.60/0.00",
                None,
                None,
            ),
            PublishedFigures(
                "its code, by 2,000 games", None, None, None, "some 7,200 CPU"
            ),
        ),
        "Two hidden layers of 36 as published, but with a final tanh. Fixed: batches, "
        "a slow target network, legal moves only, the mover's perspective. Also "
        "changed: canonical boards; Adam (0.004, falling to 0) instead of SGD (0.1); "
        "rewards 1, 0.5, -1 instead of 1, 1, 0; an opponent that plays well 3 times in "
        "10; epsilon ends at 0.2 instead of 0; about 290,000 games instead of "
        "4,000,000.",
    ),
    "go-first": PublishedSystem(
        f"double DQN, moving first ({_GO})",
        (
            PublishedFigures("published", "95.60/0.50/3.90", None, None, None),
            PublishedFigures(
                "its code, 1 seed", "96.09/0.00/3.91", None, "0 of 1", "195 CPU"
            ),
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
    "go-second": PublishedSystem(
        f"double DQN, moving second ({_GO})",
        (
            PublishedFigures("published", None, "78.30/2.60/19.10", None, None),
            PublishedFigures(
                "its code, 1 seed", None, "80.21/2.54/17.25", "0 of 1", "203 CPU"
            ),
        ),
        "Fixed as in go-first; the opponent may open with any cell and plays well 6 "
        "times in 10.",
        ((1_000, 26.5), (100_000, 63.0), (500_000, 80.4)),
    ),
    "matlab": PublishedSystem(
        "D. Tonderski's hashed Q-table (report, 2020)",
        (
            PublishedFigures(
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
    "web": PublishedSystem(
        "Q-learning web page (github.com/mayur9210/tic-tac-toe-ai)",
        (
            PublishedFigures(
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
    "default": PublishedSystem(
        "ours: the network", (), "The ceiling is 99.48% and 91.64% wins."
    ),
    "table": PublishedSystem("ours: the table", (), "It reaches the ceiling."),
}
"""The published systems and ours, by the preset that trains them."""
