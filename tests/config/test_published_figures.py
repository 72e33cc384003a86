"""The figures of the published systems, written down once more."""

import dataclasses
from statistics import mean

import pytest

from jax_ttt.config.presets import SYSTEMS, Preset

NAMES = list(SYSTEMS)


def rates(wins, ties, losses, games=100):
    return "/".join(f"{100 * count / games:.2f}" for count in (wins, ties, losses))


def means(*seeds):
    return rates(*map(mean, zip(*seeds, strict=True)))


# From the articles, their READMEs and reports, and from what their code printed. Rates
# are wins, ties, losses of the agent against random: as it moves first, and second.
RESULTS = {
    "article": [
        # 1,024 games, seats mixed; "about 15 seconds on a laptop".
        ("published, both seats", rates(94.14, 5.86, 0), None, None, "15"),
        (
            "its code, 10 seeds",
            means(
                *((98.44, 1.56, 0), (97.92, 2.08, 0), (97.40, 2.60, 0)),
                *((98.70, 1.30, 0), (98.70, 1.30, 0), (98.18, 1.82, 0)),
                *((98.70, 1.30, 0), (98.44, 1.56, 0), (98.70, 1.30, 0)),
                (98.44, 1.56, 0),
            ),
            means(
                *((90.58, 9.00, 0.42), (90.16, 9.84, 0), (87.83, 12.17, 0)),
                *((88.47, 11.53, 0), (89.31, 10.48, 0.21), (90.37, 9.63, 0)),
                *((86.98, 13.02, 0), (88.47, 10.90, 0.64), (89.31, 10.69, 0)),
                (89.52, 10.48, 0),
            ),
            "7 of 10",
            "37 to 47 CPU",
        ),
    ],
    "tictac-q": [
        ("published", rates(93.1, 6.9, 0), rates(61.0, 39.0, 0), None, None),
        (
            "its rules, 20 seeds",
            rates(90.39, 9.61, 0),
            rates(66.64, 33.35, 0.01),
            "19 of 20",
            None,
        ),
        (
            "its code, 3 seeds",
            means((95.31, 4.69, 0), (95.05, 4.95, 0), (92.97, 7.03, 0)),
            means((67.62, 32.38, 0), (44.97, 55.03, 0), (51.64, 48.36, 0)),
            "3 of 3",
            "28 to 31 CPU",
        ),
    ],
    "tictac-q-article": [
        ("published", rates(99.1, 0.9, 0), rates(91.7, 8.3, 0), None, None),
        (
            "its rules, 20 seeds",
            rates(98.55, 1.32, 0.13),
            rates(91.78, 7.97, 0.25),
            "8 of 20",
            None,
        ),
    ],
    "tictac-double-q": [
        (
            "its rules, 20 seeds",
            rates(97.88, 2.12, 0),
            rates(77.19, 22.51, 0.31),
            "11 of 20",
            None,
        )
    ],
    "tictac-minimax": [
        ("published", None, rates(50, 27.3, 22.7), None, None),
        (
            "its rules, 20 seeds",
            rates(87.15, 5.73, 7.12),
            rates(66.53, 28.78, 4.68),
            "0 of 20",
            None,
        ),
    ],
    "tictac-neural": [
        ("published", rates(98.4, 1.6, 0), rates(75.4, 24.6, 0), None, None),
        # 1.8 ms of CPU a game, 2 x 2,000,000 games.
        ("its code, by 2,000 games", None, None, None, "some 7,200 CPU"),
    ],
    "go-first": [
        ("published", rates(956, 5, 39, games=1000), None, None, None),
        ("its code, 1 seed", rates(96.094, 0, 3.906), None, "0 of 1", "195 CPU"),
    ],
    "go-second": [
        ("published", None, rates(783, 26, 191, games=1000), None, None),
        ("its code, 1 seed", None, rates(80.212, 2.54, 17.249), "0 of 1", "203 CPU"),
    ],
    "matlab": [
        (
            "its saved tables",
            rates(90.548, 5.642, 3.811),
            rates(74.952, 23.280, 1.768),
            "0 of 1",
            None,
        )
    ],
    "web": [
        (
            "its code, 10 runs",
            rates(88.2, 5.9, 5.9),
            rates(50.74, 4.5, 44.77),
            "0 of 10",
            "0.1",
        )
    ],
    "default": [],
    "table": [],
}
# What the article's program printed: updates, and wins in %.
ARTICLE = {
    **{207: 92.19, 405: 91.41, 603: 90.23, 801: 93.16, 1008: 93.65, 1206: 92.87},
    **{1404: 93.16, 1602: 93.26, 1800: 93.07, 2007: 93.95, 2205: 94.34, 2403: 94.34},
    2502: 94.14,
}
# What the Go program printed: episodes, and wins of the latest 1,000; last its test.
GO: dict[Preset, dict[int, int]] = {
    "go-first": {
        **{1_000: 590, 50_000: 771, 100_000: 870, 200_000: 946, 300_000: 859},
        **{400_000: 966, 500_000: 967},
    },
    "go-second": {1_000: 265, 100_000: 630, 500_000: 804},
}


@pytest.mark.parametrize("name", NAMES)
def test_the_published_figures(name):
    assert [dataclasses.astuple(result) for result in SYSTEMS[name].results] == RESULTS[
        name
    ]


def test_the_published_curves():
    """The article's updates play a move in each of 2,048 games, 9 moves a game."""
    assert dict(SYSTEMS["article"].curve) == {
        updates * 2048 // 9: wins for updates, wins in ARTICLE.items()
    }
    for name, curve in GO.items():
        expected = {games: wins / 10 for games, wins in curve.items()}
        assert dict(SYSTEMS[name].curve) == pytest.approx(expected)
    drawn = {name for name in NAMES if SYSTEMS[name].curve}
    assert drawn == {"article", *GO}
