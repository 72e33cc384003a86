"""Cases of the rules that exist in Python and in the page's JavaScript, as JSON.

The package computes them, or the plain search here, which uses nothing of it.
"""

import base64
import csv
import dataclasses
import functools
import hashlib
import itertools
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import made
import numpy as np
import pgx
import safetensors.numpy
import tiny

import jax_ttt
from docs.examples.exam import FILE as EXAM
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ALL, SNAPSHOTS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.files import json_records
from jax_ttt.files.metrics_rows import source_of_rates
from jax_ttt.games import pgx_games, position_keys, stone_boards
from jax_ttt.games.played_game import Game, replay
from jax_ttt.grading import grader, move_values
from jax_ttt.networks import integer_network
from jax_ttt.pictures import curves
from jax_ttt.players import registry, saved_agents, search_players
from jax_ttt.solver.corrections import Corrections
from jax_ttt.text import dialogue_advice
from tools import page_data

BOARDS = ("tic_tac_toe", "connect_7x6")
MORE_BOARDS = (
    "connect_4x4",
    "connect_4x5",
    "connect_5x4",
    "connect_6x6",
    "connect_four",
    "mnk_4x4_4",
)
"""Boards that are compared with the agents, since each has compiled programs."""
NUM_GAMES = 4
"""Random games on each board."""
MARGIN = 1e-5
"""Two values of a network are different if they are this far apart."""
_SMALL = {"hidden_size": 6, "hidden_layers": 1}
_TABLE = {"network": "table", "optimizer": "sgd", "learning_rate": 1.0}
AGENTS = (
    {"env_id": "tic_tac_toe", **_SMALL, "canonical": False, "activation": "tanh"},
    {"env_id": "tic_tac_toe", **_SMALL, "filters": 2, "activation": "sigmoid"},
    {"env_id": "connect_4x4", **_SMALL, "filters": 2, "two_planes": True},
    {"env_id": "mnk_4x4_4", "hidden_layers": 0, "two_planes": True}
    | {"backup": "two-ply", "tremble": 0.0},
    {"env_id": "connect_4x4", "hidden_layers": 0, "scale": 20.0},
    {"env_id": "connect_4x4", "hidden_layers": 0, "canonical": False, "scale": 20.0},
    _TABLE | {"table_key": "position", "canonical": False, "double": True},
    _TABLE | {"table_key": "after-state"},
    _TABLE | {"table_key": "position", "backup": "two-ply"},
    _TABLE | {"table_key": "position", "scale": 1e-8},
    _TABLE | {"table_key": "position", "corrected": True},
    *(
        fields | {"integers": True, "corrected": True}
        for fields in (
            {"env_id": "tic_tac_toe", **_SMALL},
            {"env_id": "connect_four", **_SMALL, "filters": 3, "two_planes": True},
            {"env_id": "connect_5x4", **_SMALL, "canonical": False},
        )
    ),
)
"""Settings of agents of random weights, and their standard deviation, 0.5 by default.
Large weights make many values 1 or -1, so that equal values decide; small ones make
values that only a table tells apart. Some are networks of integers, and some have
random corrections."""
NEARLY = "nearly unbeatable"
"""The name of an agent that loses one line of play and its mirror image, no other."""
CORRECTED = ("tic_tac_toe", "connect_4x4")
"""Games with an agent that was corrected until it was proven, and its name."""
FLOATS = "network of floats"
"""The name of the shipped network before it was made of integers."""
GRADED = ("network", "table", FLOATS, *CORRECTED, "network 2", NEARLY)
"""Agents whose lines are all followed; the last two can be beaten."""
DEPTHS = {"network": 3, "connect-5x4": 3, FLOATS: 3}
"""How far trained networks look ahead."""
STONES = {"connect_4x4": 7, "connect_5x4": 11, "connect_6x5": 22, "mnk_4x4_4": 9}
"""Stones on the boards whose exact values are searched here."""
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
BROKEN_GRADES = (
    {"first.lines": {}},
    {"second.lines.lost": -1},
    {"first.lines": "all"},
    {"second.num_positions": 0.5},
    {"first.num_corrections": -1},
    {"first.losing_line": "012"},
    {"first.losing_line": [0, 0]},  # illegal
    {"first.losing_line": []},
    {"first.losing_line": [0, 3, 1, 4, 2]},  # won
)
"""Fields that no grade has and that the page would show."""

HINTED = ("none", "table", "network 1")
"""Agents whose values decide between equal moves in hints, and no agent."""
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


def quick_cases() -> dict:
    """Return the cases of games and of files, which need few compiled programs."""
    return {
        "best_results": {
            env_id: game.best_result for env_id, game in GAMES.items() if game.packing
        },
        "games": [case for env_id in BOARDS for case in game_cases(env_id)],
        "exact": tic_tac_toe_values(),
        "reviews": [review_case(game) for game in random_games("tic_tac_toe")],
        "histories": [history_case(grades) for grades in HISTORIES],
        "impossible": IMPOSSIBLE,
        "digests": [digest_of(size) for size in range(200)],
        "refused": refused_files(float_network()),
    }


def agent_cases(folder: Path) -> dict:
    """Return the cases of agents and searches; files of agents are written there."""
    paths = dict(ALL) | save_random_agents(folder)
    paths[FLOATS] = float_network()
    paths[NEARLY] = save_nearly_unbeatable(folder / "nearly.safetensors")
    for env_id in CORRECTED:
        paths[env_id] = save_corrected(folder / f"{env_id}.safetensors", env_id)
    return {
        "tree": page_data.tree_json("tic_tac_toe").decode(),
        "games": [case for env_id in MORE_BOARDS for case in game_cases(env_id)],
        "agents": [agent_case(name, path) for name, path in paths.items()],
        "grades": [grade_case(name, paths[name]) for name in GRADED],
        "exact": [*late_values(), *exam_values()],
        "hints": [case for name in HINTED for case in hint_cases(paths.get(name))],
        "refused": broken_corrections(paths["connect_4x4"]),
    }


def worker_cases() -> dict:
    """Return the cases of the page's workers: two agents of tic-tac-toe."""
    names = ("network", "table")
    return {
        "tree": page_data.tree_json("tic_tac_toe").decode(),
        "agents": [agent_case(name, ALL[name]) for name in names],
        "grades": [grade_case(name, ALL[name]) for name in names],
    }


def float_network() -> Path:
    """Return the last snapshot of the shipped network's training."""
    return max(SNAPSHOTS["network"].iterdir())


# ---- games


@functools.cache
def random_games(env_id: str) -> list[Game]:
    rng, games = random.Random(1), []
    for _ in range(NUM_GAMES):
        game = Game.start(env_id)
        while not game.is_over:
            game = game.play(rng.choice(game.legal_moves))
        games.append(game)
    return games


@functools.cache
def random_positions(env_id: str) -> tuple[list[tuple[int, ...]], pgx.State]:
    """Return the moves to all positions of the random games, and their states.

    All are one batch, since each size of a batch has compiled programs of its own.
    """
    games = random_games(env_id)
    starts = [game.moves[:n] for game in games for n in range(len(game.moves) + 1)]
    return starts, replay(env_id, starts)


def game_cases(env_id: str) -> list[dict]:
    """Return what is true before and after each move of random games."""
    starts, state = random_positions(env_id)
    obs, views = np.asarray(state.observation), pgx_games.symmetric_views(env_id)
    assert views is not None
    least = stone_boards.least_views(stone_boards.cells(obs), views)
    boards = stone_boards.cells(stone_boards.to_canonical(obs, views, least))
    places = stone_boards.to_canonical_actions(views, least)
    # The mover's stones are 1, and the first player moves at even numbers of moves.
    signs = np.array([(-1) ** len(moves) for moves in starts])
    cells = signs[:, None] * stone_boards.cells(obs)
    cases, begin = [], 0
    for game in random_games(env_id):
        end = begin + len(game.moves) + 1
        cases.append(
            {
                "env_id": env_id,
                "name": "connect_7x6" if env_id == "connect_four" else env_id,
                "is_enumerable": GAMES[env_id].enumerable,
                "moves": game.moves,
                "legal": [game.back_to(n).legal_moves for n in range(end - begin)],
                "cells": cells[begin:end].tolist(),
                "results": [game.result("first"), game.result("second")],
                "row": winning_cells(env_id, cells[end - 1]),
                "canonical": boards[begin:end].tolist(),
                "places": places[begin:end].tolist(),
            }
        )
        begin = end
    return cases


def winning_cells(env_id: str, cells) -> list[int]:
    """Return the cells of all complete lines."""
    complete = [line for line in winning_lines(env_id) if is_complete(line, cells)]
    return sorted({int(cell) for line in complete for cell in line})


def winning_lines(env_id: str) -> list[list[int]]:
    """Return the cells of each line that wins."""
    rows, columns = GAMES[env_id].shape
    size = 3 if env_id == "tic_tac_toe" else 4
    return [
        [(row + n * down) * columns + column + n * right for n in range(size)]
        for row, column in itertools.product(range(rows), range(columns))
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        if row + (size - 1) * down < rows and 0 <= column + (size - 1) * right < columns
    ]


def is_complete(line: list[int], cells) -> bool:
    """Return whether stones of one player fill a line."""
    return abs(sum(cells[cell] for cell in line)) == len(line)


def review_case(game: Game) -> dict:
    """Return the moves of a game of tic-tac-toe beside best play."""
    reviewed = move_values.review_moves(game)
    assert reviewed is not None
    return {
        "moves": game.moves,
        "reviewed": [
            [move.value_before, move.value_after, move.best_moves] for move in reviewed
        ],
    }


def hint_cases(path: Path | None) -> list[dict]:
    """Return the hints in random positions of tic-tac-toe, with an agent or without."""
    agent = None if path is None else saved_agents.load_agent(path)
    cases = []
    for game in random_games("tic_tac_toe"):
        for earlier in (game.back_to(n) for n in range(len(game.moves))):
            hint = dialogue_advice.suggest_move(earlier, agent)
            assert hint is not None
            cases.append(
                {
                    "file": None if path is None else as_base64(path.read_bytes()),
                    "env_id": "tic_tac_toe",
                    "moves": earlier.moves,
                    "action": hint.move,
                    "as_good": hint.as_good,
                }
            )
    return cases


def history_case(grades: Sequence[Grade]) -> dict:
    """Return the grades of a training, and what follows from them."""
    rows = [made.evaluated(10 * n, grade) for n, grade in enumerate(grades)]
    return {
        "rows": [json_records.to_dict(row) for row in rows],
        "proven_from": curves.proven_from(rows),
        "source": source_of_rates(grades),
        "rates": [
            {
                seat: [*known.rates, float(known.is_exact)]
                for seat, known in grade.rates.items()
            }
            for grade in grades
        ],
    }


# ---- agents


def save_random_agents(folder: Path) -> dict[str, Path]:
    """Write agents of random weights, and return their files by name."""
    paths = {}
    for number, fields in enumerate(AGENTS):
        scale = float(fields.get("scale", 0.5))
        other = ("scale", "integers", "corrected")
        settings = {name: value for name, value in fields.items() if name not in other}
        config = Config.of(**settings)
        params = tiny.random_params(config.architecture, number, scale)
        rng = np.random.default_rng(number)
        if fields.get("integers"):
            params = random_integers(params, rng)
        agent = tiny.ungraded(config, params)
        if fields.get("corrected"):
            corrections = random_corrections(agent, rng)
            agent = dataclasses.replace(agent, corrections=corrections)
        name = f"{fields.get('network', 'network')} {number}"
        paths[name] = folder / f"{name}.safetensors"
        saved_agents.save_agent(agent, paths[name])
    return paths


def random_integers(float_shapes, rng: np.random.Generator):
    """Return random weights for a network of integers.

    The scales are powers of 2, so that many numbers between two layers are halves.
    """

    def weights(leaf):
        if leaf.dtype == np.float32:
            return np.asarray(2.0 ** rng.integers(-6, -1, leaf.shape), np.float32)
        highest = {np.dtype(np.int8): 20, np.dtype(np.int16): 2000}.get(leaf.dtype, 50)
        return rng.integers(-highest, highest + 1, leaf.shape).astype(leaf.dtype)

    params = jax.tree.map(weights, integer_network.integer_shapes(float_shapes))
    integer_network.check_integers(params)
    return params


def random_corrections(agent: saved_agents.Agent, rng: np.random.Generator):
    """Return random moves in every other position of the random games."""
    env_id = agent.config.env_id
    _, state = random_positions(env_id)
    stones = position_keys.stones_of(state)
    is_symmetric = greedy_player.is_symmetric(agent.network)
    pack = position_keys.pack_least if is_symmetric else position_keys.pack
    words = np.asarray(pack(env_id, stones))[~np.asarray(state.terminated)][::2]
    keys = np.unique(position_keys.keys_to_numbers(words))
    words = jnp.asarray(position_keys.numbers_to_keys(keys))
    stones = position_keys.unpack(env_id, words)
    legal = np.asarray(position_keys.to_states(env_id, stones).legal_action_mask)
    actions = [rng.choice(np.flatnonzero(row)) for row in legal]
    return Corrections(keys, np.array(actions, np.uint8))


def save_corrected(path: Path, env_id: str) -> Path:
    """Write an untrained network, made of integers and corrected until it is proven."""
    agent = tiny.untrained(Config.of(env_id=env_id, hidden_size=8, two_planes=True))
    corrected = jax_ttt.correct(agent, precision="int8")
    saved_agents.save_agent(corrected.agent, path)
    return path


def save_nearly_unbeatable(path: Path) -> Path:
    """Write an agent that loses in 1 of 96,000 games against random, as second player.

    It is the unbeatable one of 5 x 4 with another bias of one action. The file says
    that it is unbeatable, with a right SHA-256.
    """

    def change(description: dict, tensors: dict) -> None:
        tensors["layer2.bias"][1] += round(0.03 / tensors["layer2.scale"])

    path.write_bytes(signed_again(ALL["connect-5x4"].read_bytes(), change))
    return path


def agent_case(name: str, path: Path) -> dict:
    """Return an agent's values and moves in the positions of random games."""
    agent = saved_agents.load_agent(path)
    env_id, depth = agent.config.env_id, DEPTHS.get(name, 0)
    starts, state = random_positions(env_id)
    values = board_values(agent, agent.params, state)
    moves = np.asarray(agent.player(jax.random.key(0), state))
    case = {
        "name": name,
        "env_id": env_id,
        "updates": agent.num_updates,
        "file": as_base64(path.read_bytes()),
        "depth": depth,
    }
    is_open = ~np.asarray(state.terminated)
    legal = np.asarray(state.legal_action_mask)[is_open]
    values = np.asarray(values)[is_open]
    is_exact = agent.config.is_table or agent.precision == "int8"
    is_certain = is_decided(values, legal) | is_exact
    case["positions"] = list(itertools.compress(starts, is_open))
    case["values"] = legal_values(values, legal)
    case["moves"] = or_none(moves[is_open], is_certain)
    if depth:
        searched = np.asarray(search_values(agent, state, depth))[is_open]
        case["searched"] = legal_values(searched, legal)
    return case


def board_values(agent: saved_agents.Agent, params, state):
    return saved_agents.board_values(agent.network, params, state.observation)


def search_values(agent: saved_agents.Agent, state, depth: int):
    """Return the values of moves by a search."""
    env, gamma = pgx_games.make_env(agent.config.env_id), agent.config.gamma

    @jax.jit
    def search(params, state):  # constant parameters would compile for long
        def q_fn(state):
            return board_values(agent, params, state)

        return search_players.negamax(env, q_fn, state, depth, gamma)

    return search(agent.params, state)


def legal_values(values, legal) -> list[list[float | None]]:
    """Return values with None where a move is illegal."""
    return [or_none(*row) for row in zip(values, legal, strict=True)]


def or_none(values, mask) -> list:
    """Return values with None where a mask is False."""
    pairs = zip(values.tolist(), mask, strict=True)
    return [value if is_kept else None for value, is_kept in pairs]


def is_decided(values, legal) -> np.ndarray:
    """Return where each value is equal to the highest one, or clearly below it.

    In other positions, the rounding of a network's values decides.
    """
    gaps = np.where(legal, values, -np.inf).max(axis=1, keepdims=True) - values
    return ((gaps == 0) | (gaps >= MARGIN) | ~legal).all(axis=1)


def grade_case(name: str, path: Path) -> dict:
    """Return the grade of an agent whose lines are all followed, by seat."""
    agent = saved_agents.load_agent(path)
    grade = grader.follow_lines(registry.agent_player(name, agent))
    if name == NEARLY:
        lines = {
            seat: vars(followed.lines) for seat, followed in grade.followed.items()
        }
        assert [one["lost"] for one in lines.values()] == [0, 2]
    seats = {
        seat: {
            "lines": vars(followed.lines),
            "rates": [followed.win_rate, followed.draw_rate, followed.loss_rate],
            "unbeatable": followed.unbeatable,
            "losing_moves": followed.losing_line and len(followed.losing_line),
            "num_positions": followed.num_positions,
            "proven": followed.proven,
            "num_corrections": followed.num_corrections,
            "optimal_move_rate": followed.optimal_move_rate,
        }
        for seat, followed in grade.followed.items()
    }
    return {"name": name, "seats": seats}


# ---- exact values: of each move, a value and the number of moves to the end


class PlainSearch:
    """Best play in a game of lines. Cells are 1 for the first player, -1, or 0."""

    def __init__(self, env_id: str) -> None:
        self.rows, self.columns = GAMES[env_id].shape
        self.falls = GAMES[env_id].moves_on == "columns"
        self.start = (0,) * (self.rows * self.columns)
        self.lines = winning_lines(env_id)
        self.scores: dict[tuple[int, ...], int] = {}

    def is_won(self, cells) -> bool:
        """Return whether the game has been won."""
        return any(is_complete(line, cells) for line in self.lines)

    def moves(self, cells) -> list[int]:
        """Return the legal actions."""
        if self.is_won(cells):
            return []
        actions = range(self.columns if self.falls else len(cells))
        return [action for action in actions if cells[action] == 0]

    def after(self, cells, action):
        """Return the cells after a move."""
        if self.falls:
            action = max(
                c for c in range(action, len(cells), self.columns) if not cells[c]
            )
        sign = 1 if sum(cells) == 0 else -1
        return (*cells[:action], sign, *cells[action + 1 :])

    def score(self, cells) -> int:
        """Return 0, or 100 less the moves to a win of the mover, or its negative."""
        if cells not in self.scores:
            worth = [-self.score(self.after(cells, a)) for a in self.moves(cells)]
            best = max((x - (x > 0) + (x < 0) for x in worth), default=0)
            self.scores[cells] = -100 if self.is_won(cells) else best
        return self.scores[cells]

    def actions(self, cells) -> dict[int, tuple[int, int]]:
        """Return the value of each move, and the moves to the end from it on."""
        values = {}
        for action in self.moves(cells):
            worth = -self.score(self.after(cells, action))
            left = 101 - abs(worth) if worth else 0
            values[action] = (worth > 0) - (worth < 0), left
        return values


def tic_tac_toe_values() -> list[dict]:
    """Return the exact values of every position of tic-tac-toe."""
    search = PlainSearch("tic_tac_toe")
    search.score(search.start)  # visits every position
    return [
        {"env_id": "tic_tac_toe", "cells": cells, "actions": search.actions(cells)}
        for cells in [*search.scores]
        if search.moves(cells)
    ]


def late_values() -> list[dict]:
    """Return exact values of 12 positions late in each game."""
    cases = []
    for env_id, num_stones in STONES.items():
        search, rng = PlainSearch(env_id), random.Random(2)
        for _ in range(12):
            cells = search.start
            while (legal := search.moves(cells)) and sum(map(abs, cells)) < num_stones:
                cells = search.after(cells, rng.choice(legal))
            actions = search.actions(cells)
            if legal:
                cases.append({"env_id": env_id, "cells": cells, "actions": actions})
    return cases


def exam_values(least_moves: int = 20) -> list[dict]:
    """Return known values of positions of 7 x 6.

    A score is 0, or the winner's stones that are left at the end, and 1.
    """
    search, cases = PlainSearch("connect_7x6"), []
    with EXAM.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if len(row["moves"]) >= least_moves]
    for row in rows:
        cells, num_moves = search.start, len(row["moves"])
        for column in row["moves"]:
            cells = search.after(cells, int(column) - 1)
        actions = {}
        for action in search.moves(cells):
            score = int(row[f"s{action + 1}"])
            # The stone that ends the game has the parity of its player.
            first_wins = (score > 0) == (num_moves % 2 == 0)
            last = (41 if first_wins else 42) - 2 * (abs(score) - 1)
            value = (score > 0) - (score < 0)
            actions[action] = value, last - num_moves if value else 0
        cases.append({"env_id": "connect_7x6", "cells": cells, "actions": actions})
    return cases


# ---- files that are not agents


def as_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def signed_again(content: bytes, change: Callable[[dict, dict], None]) -> bytes:
    """Return an agent's file with other contents and a right SHA-256.

    `change` gets the description and the tensors. The SHA-256 is the one of
    docs/use/files.md.
    """
    tensors = safetensors.numpy.load(content)
    length = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + length])
    description = json.loads(head["__metadata__"]["jax_ttt"])
    del description["sha256"]
    change(description, tensors)
    digest = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        line = json.dumps([name, tensor.dtype.str, tensor.shape])
        digest.update(f"\n{line}\n".encode() + tensor.tobytes())
    description["sha256"] = digest.hexdigest()
    text = json.dumps(description, sort_keys=True)
    return safetensors.numpy.save(tensors, {"jax_ttt": text})


def digest_of(size: int) -> str:
    """Return the SHA-256 of so many bytes."""
    return hashlib.sha256(bytes(size * i % 256 for i in range(size))).hexdigest()


def with_grade(content: bytes, fields: Mapping[str, object]) -> bytes:
    """Return an agent's file whose grade has other fields; dots lead into parts."""

    def change(description: dict, tensors: dict) -> None:
        for name, value in fields.items():
            *parents, last = name.split(".")
            part = description
            for parent in ("grade", *parents):
                part = part.setdefault(parent, {})
            part[last] = value

    return signed_again(content, change)


def with_setting(content: bytes, name: str, value: object) -> bytes:
    """Return an agent's file with another value of a setting."""

    def change(description: dict, tensors: dict) -> None:
        description["config"][name] = value

    return signed_again(content, change)


def with_last_bias(content: bytes, value: float) -> bytes:
    """Return an agent's file with another value of the last tensor's last number."""

    def change(description: dict, tensors: dict) -> None:
        tensors[max(tensors)].flat[-1] = value

    return signed_again(content, change)


def with_zero_weights(content: bytes) -> bytes:
    """Return a damaged file: its header is right, and all weights are 0."""
    begin = 8 + int.from_bytes(content[:8], "little")
    return content[:begin] + bytes(len(content) - begin)


def refused_files(path: Path) -> list[dict]:
    """Return files that are not agents of the page, each with a word of the reason."""
    content, params = path.read_bytes(), saved_agents.load_agent(path).params
    other_game = tiny.ungraded(Config.of(env_id="hex", hidden_size=1), params)

    def replaced(name: str, old: object, new: object) -> bytes:
        """Return the file with another value of a field, of the same length."""
        before, after = (f'{name}\\": {value}'.encode() for value in (old, new))
        assert before in content
        return content.replace(before, after)

    later_format = replaced("version", 3, 4)
    changed = "changed after they were saved"
    files = {
        "empty": (b"", "not an agent's file"),
        "text": (b"no agent, but a text of some length", "not an agent's file"),
        "cut": (content[:-4], "not complete"),
        "format": (later_format, "format 3"),
        "no version": (
            content.replace(b'version\\": 3', b'vershon\\": 3'),
            "no format version",
        ),
        "activation": (with_setting(content, "activation", "gelu"), "activation"),
        "size": (with_setting(content, "hidden_size", 127), "do not fit"),
        "game": (saved_agents.agent_bytes(other_game), "game"),
        "finite": (with_last_bias(content, math.nan), "not finite"),
        "zeros": (with_zero_weights(content), changed),
        "one bit": (content[:-1] + bytes([content[-1] ^ 1]), changed),
        "one setting": (replaced("seed", 1, 2), changed),
        "renamed": (content.replace(b"layers.0.bias", b"layers.9.bias"), changed),
    }
    for fields in BROKEN_GRADES:
        files[f"grade {fields}"] = with_grade(content, fields), "grade"
    return [
        {"name": name, "file": as_base64(file), "reason": reason}
        for name, (file, reason) in files.items()
    ]


def broken_corrections(path: Path) -> list[dict]:
    """Return broken files of a corrected agent of 4 x 4 with a right SHA-256.

    Each has a word of the reason for which the page refuses it.
    """
    content = path.read_bytes()
    cases = []

    def add(reason: str, **changes: Callable[[np.ndarray], np.ndarray | None]) -> None:
        """Change tensors by their names, in which `_` is a dot; None removes one."""

        def change(description: dict, tensors: dict) -> None:
            for name, tensor_fn in changes.items():
                name = name.replace("_", ".")
                tensors[name] = tensor_fn(tensors[name])
                if tensors[name] is None:
                    del tensors[name]

        file = signed_again(content, change)
        name = f"{reason}: {', '.join(changes)}"
        cases.append({"name": name, "file": as_base64(file), "reason": reason})

    def with_key(key: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return what puts this key in place of the first, in order."""
        return lambda keys: np.sort(np.array([key, *keys[1:]], np.uint64))

    add("as many keys", corrections_keys=lambda keys: keys[1:])
    add("as many keys", corrections_keys=lambda keys: None)
    add("as many keys", corrections_actions=lambda actions: None)
    add("as many keys", corrections_actions=lambda actions: actions.astype(np.int32))
    add("do not ascend", corrections_keys=lambda keys: keys[::-1].copy())
    add(
        "do not ascend",
        corrections_keys=lambda keys: np.sort(np.r_[keys[:-1], keys[0]]),
    )
    # Columns of 5 bits. Without a stone, each is 1.
    add("not a board", corrections_keys=with_key(0))
    add("not a board", corrections_keys=lambda keys: np.r_[keys[:-1], np.uint64(2**60)])
    add("can't be reached", corrections_keys=with_key(0b00001_00001_00001_00010))
    add("not legal", corrections_actions=lambda actions: np.full_like(actions, 4))
    # X has won, and a full column.
    add("not legal", corrections_keys=with_key(0b00001_00001_01000_11111))
    full = {"corrections_keys": with_key(0b00001_00001_00001_11010)}
    add("not legal", **full, corrections_actions=np.zeros_like)
    # A network that is not one of exact integers.
    add("do not fit", layer0_scale=lambda scale: None)
    add("do not fit", layer0_kernel=lambda kernel: kernel.astype(np.int16))
    add("do not fit", layer0_kernel=lambda kernel: kernel[:, :-1].copy())
    add("do not fit", layer2_kernel=lambda kernel: kernel.astype(np.int8))
    add("above 0", layer1_scale=np.zeros_like)
    add("not exact", layer1_bias=lambda bias: np.full_like(bias, -(2**24)))
    tanh = with_setting(content, "activation", "tanh")
    cases.append({"name": "tanh", "file": as_base64(tanh), "reason": "needs relu"})
    return cases
