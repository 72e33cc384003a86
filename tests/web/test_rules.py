"""The rules that the page has too: in JavaScript they give what Python gives.

Node.js runs the page's modules. What only a browser can run is in `browser`.
"""

import base64
import hashlib
import itertools

import jax
import made
import numpy as np
import pytest
import rule_cases
import tiny
from marks import mark_slow
from page_modules import compute, compute_all
from rule_cases import random_games, random_positions

from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.player_kinds import ALL
from jax_ttt.config.settings import Config
from jax_ttt.files import json_records
from jax_ttt.files.metrics_rows import source_of_rates
from jax_ttt.games import pgx_games, stone_boards
from jax_ttt.games.played_game import Game
from jax_ttt.grading import grader
from jax_ttt.networks import q_network
from jax_ttt.pictures import curves
from jax_ttt.players import registry, saved_agents, search_players
from jax_ttt.text import dialogue_advice

# ---- games

MORE_BOARDS = (
    "connect_4x4",
    "connect_4x5",
    "connect_5x4",
    "connect_6x6",
    "connect_four",
    "mnk_4x4_4",
)


@pytest.mark.parametrize(
    "env_id", mark_slow(["tic_tac_toe", "connect_7x6", *MORE_BOARDS], *MORE_BOARDS)
)
def test_games_are_those_of_python(env_id):
    starts, state = random_positions(env_id)
    obs, views = np.asarray(state.observation), pgx_games.symmetric_views(env_id)
    assert views is not None
    least = stone_boards.least_views(stone_boards.cells(obs), views)
    boards = stone_boards.cells(stone_boards.to_canonical(obs, views, least))
    places = stone_boards.to_canonical_actions(views, least)
    # The mover's stones are 1, and the first player moves at even numbers of moves.
    signs = np.array([(-1) ** len(moves) for moves in starts])
    cells = signs[:, None] * stone_boards.cells(obs)
    games, number = random_games(env_id), 0
    tasks = [("game", {"envId": env_id, "moves": game.moves}) for game in games]
    for game, played in zip(games, compute_all(tasks), strict=True):
        name = "connect_7x6" if env_id == "connect_four" else env_id
        assert played["name"] == played["game"] == name
        assert played["isEnumerable"] == GAMES[env_id].enumerable
        assert played["next"] is None, "no move after the end"
        assert len(played["positions"]) == len(game.moves) + 1
        for ply, position in enumerate(played["positions"]):
            now = game.back_to(ply)
            assert position == {
                "legal": [*now.legal_moves],
                "cells": cells[number].tolist(),
                "results": [now.result("first"), now.result("second")],
                "row": rule_cases.winning_cells(env_id, cells[number]),
                "canonical": boards[number].tolist(),
                "places": places[number].tolist(),
                "isReadAgain": True,
            }
            number += 1


def test_best_results_are_those_of_python():
    known = {name: game.best_result for name, game in GAMES.items() if game.packing}
    assert compute("bestResults", envIds=[*known]) == [*known.values()]


IMPOSSIBLE = (
    ("tic_tac_toe", "XX-------", "has as many stones"),
    ("tic_tac_toe", "O--------", "has as many stones"),
    ("tic_tac_toe", "XXXOOO---", "before the latest stone"),
    ("tic_tac_toe", "OOOXX-XX-", "before the latest stone"),
    ("tic_tac_toe", "X-", "size"),
    ("tic_tac_toe", "X-------?", "only X, O and -"),
    ("connect_4x4", "X" + 15 * "-", "free square below"),
    ("connect_5x4", "-----OXOO-XXXX-OXOOX", "No single stone"),
)
"""Boards that the page refuses, and a part of the reason that the page shows."""


def test_impossible_boards_are_refused_with_the_reason():
    reasons = compute("impossible", boards=[board[:2] for board in IMPOSSIBLE])
    for reason, (*board, part) in zip(reasons, IMPOSSIBLE, strict=True):
        assert part in reason, board


@pytest.mark.parametrize("name", mark_slow([None, "table", "network"], "network"))
def test_hints_are_those_of_python(name):
    """Values of an agent decide between equal moves."""
    path = name and ALL[name]
    agent = path and saved_agents.load_agent(path)
    tasks, expected = [], []
    for game in random_games("tic_tac_toe"):
        for ply in range(len(game.moves)):
            hint = dialogue_advice.suggest_move(game.back_to(ply), agent)
            assert hint is not None
            expected.append([hint.move, [*hint.as_good]])
            moves = game.moves[:ply]
            tasks.append(("hint", {"path": path and str(path), "moves": moves}))
    assert compute_all(tasks) == expected


BEATEN = made.exact((0.9, 0.1, 0), (0.5, 0.3, 0.2))
PROVEN = made.exact((0.9, 0.1, 0), (0.6, 0.4, 0), unbeatable=True)
NOTHING = made.grade()
SAMPLED = made.grade(sampled=made.sampled((1, 0, 0), (0.5, 0.25, 0.25)))
OPEN = {"complete": False, "open_rate": 0.25, "win_rate": 0.5}
HISTORIES = (
    (),
    (NOTHING,),
    (BEATEN, NOTHING, PROVEN, NOTHING, PROVEN),
    (PROVEN, BEATEN),
    (PROVEN, SAMPLED),
    (PROVEN, SAMPLED, PROVEN),
    (SAMPLED,),
    # One seat is proven; that is all that the agent learned, or not.
    (
        made.grade({"first": made.reached()}),
        made.grade({"first": made.reached()}, seats=("first",)),
    ),
    # A search that is not complete has no rates of its own.
    (made.grade(made.searched(**OPEN)),),
    (made.grade(made.searched(**OPEN), SAMPLED.sampled), NOTHING),
    (made.grade(made.searched(second=False), SAMPLED.sampled), BEATEN),
    (made.grade({"second": made.reached()}, SAMPLED.sampled),),
)
"""Grades of trainings in their order, some of which say nothing."""


def test_what_follows_from_a_history_is_that_of_python():
    tasks, expected = [], []
    for grades in HISTORIES:
        rows = [made.evaluated(10 * n, grade) for n, grade in enumerate(grades)]
        tasks.append(("history", {"rows": [*map(json_records.to_dict, rows)]}))
        rates = [
            {seat: [*one.rates, one.is_exact] for seat, one in grade.rates.items()}
            for grade in grades
        ]
        known = {"provenFrom": curves.proven_from(rows), "rates": rates}
        expected.append(known | {"source": source_of_rates(grades)})
    assert compute_all(tasks) == expected


# ---- files


def test_digests_are_those_of_python():
    """By the platform, and by hand, for platforms without digests."""
    sizes = range(200)
    for size, shown in zip(
        sizes, compute_all([("digests", {"size": n}) for n in sizes]), strict=True
    ):
        digest = hashlib.sha256(bytes(size * i % 256 for i in range(size)))
        assert shown == [digest.hexdigest()] * 2


def check_refusals(folder, files):
    """Check that the page refuses files for the reasons beside them."""
    paths = [folder / str(number) for number in range(len(files))]
    for path, (_, content) in zip(paths, files, strict=True):
        path.write_bytes(content)
    refusals = compute("refusals", paths=[*map(str, paths)])
    for refusal, (reason, _) in zip(refusals, files, strict=True):
        assert refusal is not None, reason
        assert reason in refusal


def test_files_that_are_not_agents_are_refused_with_the_reason(tmp_path):
    check_refusals(tmp_path, rule_cases.refused_files(rule_cases.float_network()))


@pytest.mark.slow
def test_broken_corrections_are_refused_with_the_reason(tmp_path):
    path = rule_cases.save_corrected(tmp_path / "corrected", "connect_4x4")
    check_refusals(tmp_path, rule_cases.broken_corrections(path))


# ---- agents

FLOATS = "network of floats"
"""The name of the shipped network before it was made of integers."""
NEARLY = "nearly unbeatable"
"""The name of an agent that loses one line of play and its mirror image, no other."""
CORRECTED = ("tic_tac_toe", "connect_4x4")
"""Games with an agent that was corrected until it was proven, and its name."""
GRADED = ("network", "table", FLOATS, *CORRECTED, "network 2", NEARLY)
"""Agents whose lines are all followed; the last two can be beaten."""
DEPTHS = {"network": 3, "connect-5x4": 3, FLOATS: 3}
"""How far trained networks look ahead."""
MARGIN = 1e-5
"""Two values of a network are different if they are this far apart."""


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """Return the files of shipped, random, corrected and other agents, by name."""
    folder = tmp_path_factory.mktemp("agents")
    paths = dict(ALL) | rule_cases.save_random_agents(folder)
    paths[FLOATS] = rule_cases.float_network()
    paths[NEARLY] = rule_cases.save_nearly_unbeatable(folder / "nearly.safetensors")
    for env_id in CORRECTED:
        paths[env_id] = rule_cases.save_corrected(folder / env_id, env_id)
    return paths


def search_values(agent, state, depth):
    """Return the values of moves by a search."""
    env = pgx_games.make_env(agent.config.env_id)

    @jax.jit
    def search(params, state):  # constant parameters would compile for long
        def q_fn(state):
            return saved_agents.board_values(agent.network, params, state.observation)

        return search_players.negamax(env, q_fn, state, depth, agent.config.gamma)

    return search(agent.params, state)


def assert_close(shown, values, legal):
    """Check the values of legal moves; others have none."""
    shown = np.array(shown, float)
    np.testing.assert_allclose(shown, np.where(legal, values, np.nan), atol=MARGIN)


@pytest.mark.slow
def test_values_and_moves_of_agents_are_those_of_python(agents):
    for name, path in agents.items():
        agent, depth = saved_agents.load_agent(path), DEPTHS.get(name, 0)
        starts, state = random_positions(agent.config.env_id)
        is_open = ~np.asarray(state.terminated)
        legal = np.asarray(state.legal_action_mask)[is_open]
        positions = [*itertools.compress(starts, is_open)]
        shown = compute("agent", path=str(path), positions=positions, depth=depth)
        env_id = agent.config.env_id
        assert shown["game"] == ("connect_7x6" if env_id == "connect_four" else env_id)
        assert shown["updates"] == agent.num_updates
        values = np.asarray(
            saved_agents.board_values(agent.network, agent.params, state.observation)
        )[is_open]
        assert_close(shown["values"], values, legal)
        # Rounding may decide between moves whose values are nearly equal.
        gaps = np.where(legal, values, -np.inf).max(axis=1, keepdims=True) - values
        is_decided = ((gaps == 0) | (gaps >= MARGIN) | ~legal).all(axis=1)
        is_exact = agent.config.is_table or agent.precision == "int8"
        moves = np.asarray(agent.player(jax.random.key(0), state))[is_open]
        is_same = np.array(shown["moves"]) == moves
        assert (is_same | ~(is_decided | is_exact)).all(), name
        if depth:
            searched = np.asarray(search_values(agent, state, depth))[is_open]
            assert_close(shown["searched"], searched, legal)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRADED)
def test_a_grade_is_that_of_python(agents, name):
    agent = saved_agents.load_agent(agents[name])
    followed = grader.follow_lines(registry.agent_player(name, agent)).followed
    shown = compute("grade", path=str(agents[name]))
    assert shown.keys() == followed.keys()
    for seat, python in followed.items():
        own = shown[seat]
        assert own["lines"] == vars(python.lines)
        for field in ("unbeatable", "proven", "num_corrections"):
            assert own[field] == getattr(python, field)
        for field in ("win_rate", "draw_rate", "loss_rate", "optimal_move_rate"):
            known = getattr(python, field)
            assert own.get(field) == (known if known is None else pytest.approx(known))
        if python.num_positions is not None:
            assert own["num_positions"] == python.num_positions
        line, known = own["losing_line"], python.losing_line
        assert (line and len(line)) == (known and len(known))
        if line:
            assert Game.start(agent.config.env_id, line).result(seat) == "lost"
    if name == NEARLY:
        assert [shown[seat]["lines"]["lost"] for seat in followed] == [0, 2]


SHAPE = (6, 7)


@pytest.mark.parametrize("num_boards", mark_slow([500, 100_000], 100_000))
def test_the_page_computes_the_integers_of_jax(tmp_path, num_boards):
    config = Config.of(env_id="connect_7x6", two_planes=True, filters=4, hidden_size=16)
    shapes = jax.eval_shape(lambda: tiny.untrained(config).params)
    rng = np.random.default_rng(0)
    agent = tiny.ungraded(config, rule_cases.random_integers(shapes, rng))
    path = tmp_path / "agent.safetensors"
    saved_agents.save_agent(agent, path)
    # Stones of the player to move are 1, of the opponent -1. Columns are filled from
    # below, and not all of them up to the top.
    cells = rng.choice([-1, 1], (num_boards, *SHAPE)).astype(np.int8)
    heights = rng.integers(0, SHAPE[0], (num_boards, 1, SHAPE[1]))
    cells[np.arange(SHAPE[0])[::-1, None] >= heights] = 0
    obs = np.stack([cells == 1, cells == -1], axis=-1)
    scores = jax.jit(q_network.action_scores)(agent.network, agent.params, obs)
    assert len(np.unique(scores)) > 100
    text = base64.b64encode(cells.tobytes()).decode()
    shown = base64.b64decode(compute("scores", path=str(path), cells=text))
    np.testing.assert_array_equal(
        np.frombuffer(shown, np.int32), np.asarray(scores, np.int32).ravel()
    )
