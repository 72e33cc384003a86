"""Published settings and figures, from the programs and articles of the systems."""

from pathlib import Path
from statistics import mean
from typing import get_args

import pytest

from jax_ttt.config import presets
from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.config.settings import Config
from tools.published_systems import SYSTEMS

_TABLE = {
    **{"network": "table", "optimizer": "sgd", "loss": "mse", "backward": True},
    **{"tau": 1.0, "target_update_every": 0, "backup": "one-ply", "tremble": 0.0},
    **{"replay_capacity": 0, "weight_decay": 0.0, "lockstep": False},
    **{"first_move": None, "seat": "both", "reward_win": 1.0, "reward_loss": -1.0},
    **{"env_id": "tic_tac_toe", "double": False, "reward_draw": 0.0},
}
_TICTAC = _TABLE | {
    **{"table_key": "after-state", "canonical": True, "initial_value": 0.0},
    **{"learning_rate": 0.4, "learning_rate_end": 0.4, "gamma": 1.0},
    **{"epsilon_start": 0.7, "epsilon_schedule": "steps", "epsilon_decay": 0.1},
    **{"opponent": "random", "num_envs": 32, "num_updates": 438},  # 14,000 games
}
_NET = {
    **{"network": "mlp", "env_id": "tic_tac_toe", "backup": "one-ply"},
    **{"tremble": 0.0, "backward": False, "lockstep": False, "canonical": True},
    **{"optimizer": "adamw", "weight_decay": 0.0, "loss": "mse", "first_move": None},
    **{"reward_win": 1.0, "reward_loss": -1.0, "learning_rate_end": 0.0},
}
_GO = _NET | {
    **{"hidden_size": 72, "hidden_layers": 1, "activation": "tanh"},
    **{"double": True, "gamma": 0.75, "target_update_every": 100},
    **{"replay_capacity": 50_000, "replay_batch": 512, "replay_start": 1000},
    **{"reward_win": 0.999, "reward_draw": 0.001, "learning_rate": 0.01},
    **{"epsilon_start": 1.0, "epsilon_end": 0.5, "epsilon_decay": 0.9999},
    **{"epsilon_schedule": "exponential", "num_envs": 64, "num_updates": 4000},
}
_TWO_PLY = {
    **{"env_id": "tic_tac_toe", "opponent": "self", "seat": "both"},
    **{"backup": "two-ply", "canonical": True, "replay_capacity": 0},
}
_ARTICLE = {
    **{"env_id": "tic_tac_toe", "network": "mlp", "canonical": False},
    **{"backup": "one-ply", "double": False, "tremble": 0.0, "gamma": 1.0},
    **{"num_envs": 2048, "num_updates": 2500, "lockstep": True},
    **{"hidden_size": 128, "hidden_layers": 2, "activation": "relu"},
    **{"optimizer": "adamw", "loss": "huber", "weight_decay": 1e-4},
    **{"learning_rate": 2e-3, "learning_rate_end": 0.0, "tau": 0.005},
    **{"epsilon_start": 0.9, "epsilon_end": 0.05, "epsilon_schedule": "linear"},
    **{"reward_win": 1.0, "reward_draw": 0.0, "reward_loss": -1.0},
    **{"opponent": "self", "replay_capacity": 0, "eval_games": 1024},
}
SETTINGS = {
    "article": _ARTICLE,
    "tictac-q": _TICTAC | {"reward_draw": 1.0, "epsilon_end": 0.1},
    "tictac-q-article": _TICTAC | {"epsilon_end": 0.0},
    "tictac-double-q": _TICTAC
    | {"reward_draw": 1.0, "epsilon_end": 0.1, "double": True},
    "tictac-minimax": _TICTAC | {"epsilon_end": 0.0, "opponent": "minimax"},
    "tictac-neural": _NET
    | {
        **{"hidden_size": 36, "hidden_layers": 2, "activation": "relu"},
        **{"learning_rate": 0.004, "reward_draw": 0.5, "gamma": 1.0, "seat": "both"},
        **{"epsilon_start": 0.7, "epsilon_end": 0.2, "epsilon_decay": 0.1},
        **{"epsilon_schedule": "steps", "opponent": "blend:0.7:minimax"},
        **{"double": False, "target_update_every": 0, "tau": 0.05},
        **{"replay_capacity": 0, "num_envs": 256, "num_updates": 4000},
    },
    "go-first": _GO | {"seat": "first", "opponent": "blend:0.5:minimax"},
    "go-second": _GO | {"seat": "second", "opponent": "blend:0.4:minimax"},
    "matlab": _TABLE
    | {
        **{"table_key": "position", "canonical": False, "initial_value": 1.0},
        **{"learning_rate": 1.0, "learning_rate_end": 1.0, "gamma": 1.0},
        **{"epsilon_start": 1.0, "epsilon_end": 0.1, "epsilon_decay": 0.1},
        **{"epsilon_schedule": "steps", "opponent": "self"},
        **{"num_envs": 500, "num_updates": 200},  # 100,000 games
    },
    "web": _TABLE
    | {
        **{"table_key": "position", "canonical": True, "initial_value": 0.0},
        **{"learning_rate": 0.3, "learning_rate_end": 0.3, "gamma": 0.9},
        **{"epsilon_start": 0.5, "epsilon_end": 0.5, "opponent": "self"},
        **{"num_envs": 50, "num_updates": 600},  # 30,000 games
    },
    "default": _TWO_PLY
    | {
        **{"network": "mlp", "optimizer": "adamw", "loss": "huber"},
        **{"tremble": 0.5, "gamma": 0.85, "tau": 0.12, "average_span": 0.15},
        **{"learning_rate": 6e-3, "learning_rate_end": 2e-3},
        **{"epsilon_start": 1.0, "epsilon_end": 0.1},
        **{"num_envs": 128, "num_updates": 1800},
    },
    "table": _TWO_PLY
    | {
        **{"network": "table", "optimizer": "sgd", "loss": "mse", "weight_decay": 0.0},
        **{"tremble": 0.7, "gamma": 1.0, "tau": 1.0, "average_span": 0.0},
        **{"learning_rate": 1.0, "learning_rate_end": 1.0},
        **{"epsilon_start": 1.0, "epsilon_end": 0.5},
        **{"num_envs": 256, "num_updates": 400},
    },
}
"""The settings of each system, written down a second time. They come from its
program or article, except for the changes that `config/presets.toml` lists."""


@pytest.mark.parametrize("name", SETTINGS)
def test_a_preset_has_the_published_settings(name):
    config, expected = PRESETS[name].as_dict(), SETTINGS[name]
    assert {field: config[field] for field in expected} == expected
    default = Config().as_dict()
    changed = {field for field in config if config[field] != default[field]}
    assert changed <= expected.keys() | {"eval_every"}


def test_the_settings_of_each_preset_are_written_down(snapshot):
    """All those of `plain`, which are the defaults, and the others' differences."""
    default = Config().as_dict()
    lines = [
        f"{preset}: {field} = {value!r}"
        for preset, config in PRESETS.items()
        for field, value in config.as_dict().items()
        if preset == "plain" or value != default[field]
    ]
    assert "\n".join(lines) == snapshot


def test_a_preset_has_the_settings_of_its_base_and_its_own():
    text = '[_few]\nnum_envs = 8\ntau = 0.5\n[one]\nbase = "_few"\ntau = 0.1\n'
    assert presets.read_tables(text)["one"] == Config.of(num_envs=8, tau=0.1)
    with pytest.raises(SettingError, match="gama must be the name of a setting"):
        presets.read_tables("[wrong]\ngama = 0.9\n")


def test_every_preset_belongs_to_a_system_or_a_board():
    boards = {f"connect-{size}" for size in ("4x4", "5x4", "5x5", "6x5", "6x6", "7x6")}
    boards.add("connect-7x6-large")
    assert {*PRESETS} == {*get_args(Preset)} == {*SYSTEMS} | boards | {"plain"}
    assert SETTINGS.keys() == SYSTEMS.keys()
    for name in boards:
        assert PRESETS[name].env_id == name.removesuffix("-large").replace("-", "_")


@pytest.mark.parametrize(
    ("env_id", "opponents", "name"),
    [
        (None, [None], "default"),
        ("tic_tac_toe", ["self", None], "default"),
        ("connect_four", ["self"], "plain"),
        ("tic_tac_toe", ["random"], "plain"),
        (None, [None, "self", "minimax"], "plain"),
        ("chess", [None], "plain"),
    ],
)
def test_the_default_preset_depends_on_the_game_and_the_opponents(
    env_id, opponents, name
):
    assert presets.default_preset(env_id, *opponents) == name


def mean_rates(*seeds):
    """Return the means of wins, draws and losses over seeds, as they are printed."""
    return "/".join(f"{mean(rates):.2f}" for rates in zip(*seeds, strict=True))


# What the programs printed for each seed, in the first seat and in the second.
PRINTED = {
    ("article", "its code, 10 seeds"): (
        mean_rates(
            (98.44, 1.56, 0),
            (97.92, 2.08, 0),
            (97.40, 2.60, 0),
            (98.70, 1.30, 0),
            (98.70, 1.30, 0),
            (98.18, 1.82, 0),
            (98.70, 1.30, 0),
            (98.44, 1.56, 0),
            (98.70, 1.30, 0),
            (98.44, 1.56, 0),
        ),
        mean_rates(
            (90.58, 9.00, 0.42),
            (90.16, 9.84, 0),
            (87.83, 12.17, 0),
            (88.47, 11.53, 0),
            (89.31, 10.48, 0.21),
            (90.37, 9.63, 0),
            (86.98, 13.02, 0),
            (88.47, 10.90, 0.64),
            (89.31, 10.69, 0),
            (89.52, 10.48, 0),
        ),
    ),
    ("tictac-q", "its code, 3 seeds"): (
        mean_rates((95.31, 4.69, 0), (95.05, 4.95, 0), (92.97, 7.03, 0)),
        mean_rates((67.62, 32.38, 0), (44.97, 55.03, 0), (51.64, 48.36, 0)),
    ),
    ("go-first", "published"): (mean_rates((95.6, 0.5, 3.9)), None),
    ("go-second", "published"): (None, mean_rates((78.3, 2.6, 19.1))),
    ("matlab", "its saved tables"): (
        mean_rates((90.548, 5.642, 3.811)),
        mean_rates((74.952, 23.280, 1.768)),
    ),
}


@pytest.mark.parametrize(("name", "source"), PRINTED)
def test_figures_are_the_means_of_what_a_program_printed(name, source):
    figures = {each.source: each for each in SYSTEMS[name].results}[source]
    assert (figures.first, figures.second) == PRINTED[name, source]


HEADINGS = ("as X", "as O", "unbeatable", "seconds")
"""The headings of the table of `published.md`, at the ends of its columns."""


def page_figures():
    """Return what the page prints in each column, by the preset and the source."""
    page = Path(__file__).parents[2] / "docs" / "results" / "published.md"
    text = page.read_text("utf-8")
    table = text.partition("$ make published\n")[2].partition("```")[0].splitlines()
    header = next(line for line in table if HEADINGS[0] in line)
    ends = [header.index(heading) + len(heading) for heading in HEADINGS]
    figures, preset = {}, ""
    for line in table:
        name, colon, _ = line.partition(": ")
        if colon and name in SYSTEMS:
            preset = name
        for source in (
            {each.source for each in SYSTEMS[preset].results} if preset else ()
        ):
            if line.startswith(f"  {source}  "):
                starts = [2 + len(source), *ends[:-1]]
                cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
                figures[preset, source] = tuple(cell or None for cell in cells)
    return figures


def test_the_page_prints_the_published_figures():
    assert page_figures() == {
        (preset, each.source): (each.first, each.second, each.unbeatable, each.seconds)
        for preset, system in SYSTEMS.items()
        for each in system.results
    }


def test_figures_are_rates_that_sum_to_100():
    results = [each for system in SYSTEMS.values() for each in system.results]
    for figures in results:
        for rates in filter(None, (figures.first, figures.second)):
            assert sum(map(float, rates.split("/"))) == pytest.approx(100, abs=0.02)
        if figures.unbeatable:
            number, total = map(int, figures.unbeatable.split(" of "))
            assert 0 <= number <= total


# What the article's program printed: updates, and wins in %.
ARTICLE_WINS = {
    **{207: 92.19, 405: 91.41, 603: 90.23, 801: 93.16, 1008: 93.65, 1206: 92.87},
    **{1404: 93.16, 1602: 93.26, 1800: 93.07, 2007: 93.95, 2205: 94.34, 2403: 94.34},
    2502: 94.14,
}
# What the Go program printed: games, and wins of the latest 1,000.
GO_WINS = {
    "go-first": {
        **{1_000: 590, 50_000: 771, 100_000: 870, 200_000: 946, 300_000: 859},
        **{400_000: 966, 500_000: 967},
    },
    "go-second": {1_000: 265, 100_000: 630, 500_000: 804},
}


def test_the_published_curves_are_wins_after_games():
    """An update of the article plays a move in each of 2,048 games of 9 moves."""
    curves = {name: dict(s.curve) for name, s in SYSTEMS.items() if s.curve}
    expected = {
        name: {games: wins / 10 for games, wins in curve.items()}
        for name, curve in GO_WINS.items()
    }
    expected["article"] = {
        updates * 2048 // 9: wins for updates, wins in ARTICLE_WINS.items()
    }
    assert curves.keys() == expected.keys()
    for name, curve in curves.items():
        assert curve == pytest.approx(expected[name])


def test_the_error_of_a_wrong_name_has_a_hint():
    with pytest.raises(KeyError, match="no preset 'tabel'; did you mean table"):
        PRESETS["tabel"]
    with pytest.raises(KeyError, match=r"no preset 3\b"):
        PRESETS[3]  # pyright: ignore[reportArgumentType]
    assert PRESETS.get("tabel") is None
    assert "tabel" not in PRESETS
