"""Cases of the rules that exist in Python and in the page's JavaScript, as JSON.

What they hold comes from the package, or from the plain search here, which uses nothing
of it.
"""

import base64
import csv
import functools
import json
import math
import random
from collections.abc import Mapping
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import tiny

from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import Config
from jax_ttt.files import tensor_file
from jax_ttt.games import pgx_games, stones, symmetry
from jax_ttt.games import tree as trees
from jax_ttt.games.game import Game, replay
from jax_ttt.grading import exact, grader
from jax_ttt.players import (
    analysis,
    levels,
    lookahead,
    network_player,
    registry,
    saved_agents,
)
from jax_ttt.players.shipped import ALL
from jax_ttt.solver import minimax
from jax_ttt.web import tree_data

BOARDS = (
    *("tic_tac_toe", "connect_4x4", "connect_5x4", "connect_6x5", "connect_7x6"),
    *("connect_four", "mnk_4x4_4"),
)
"""The games of the page, in all kinds of sizes."""
NUM_GAMES = 4
"""Random games of each."""
MARGIN = 1e-5
"""Two values of a network are different if they are this far apart."""
_SMALL = {"hidden_size": 6, "hidden_layers": 1}
NETWORKS = (
    {"env_id": "tic_tac_toe", **_SMALL, "canonical": False},
    {"env_id": "tic_tac_toe", "hidden_layers": 0, "two_planes": True},
    {"env_id": "tic_tac_toe", **_SMALL, "filters": 2, "activation": "sigmoid"},
    {"env_id": "connect_four", **_SMALL, "activation": "tanh"},
    {"env_id": "connect_5x4", **_SMALL, "filters": 3},
    {"env_id": "connect_4x4", **_SMALL, "filters": 2, "two_planes": True},
    {"env_id": "mnk_4x4_4", **_SMALL, "backup": "two-ply", "tremble": 0.0},
    {"env_id": "connect_4x4", "hidden_layers": 0, "scale": 20.0},
    {"env_id": "connect_4x4", "hidden_layers": 0, "canonical": False, "scale": 20.0},
)
TABLES = (
    {"table_key": "position"},
    {"table_key": "position", "canonical": False, "backup": "two-ply"},
    {"table_key": "after-state"},
    {"table_key": "after-state", "canonical": False, "double": True},
    {"table_key": "hash", "backup": "two-ply"},
    {"table_key": "hash", "double": True},
    {"table_key": "hash", "scale": 1e-8},
)
"""Settings of agents of random weights, and their standard deviation, 0.5 by default.
Large weights make many values 1 or -1, so that equal values decide; small ones make
values that only a table tells apart."""
GRADED = ("network", "table", "connect-5x4")
"""The shipped agents whose lines are all followed."""
DEPTHS = {"network": 3, "connect-5x4": 4, "connect-7x6": 3}
"""How far the shipped networks look ahead."""

STONES = {"connect_4x4": 7, "connect_5x4": 11, "connect_6x5": 22, "mnk_4x4_4": 9}
"""Stones on the boards whose exact values are searched here."""
IMPOSSIBLE = (
    ("tic_tac_toe", "XX-------", "has as many stones"),
    ("tic_tac_toe", "O--------", "has as many stones"),
    ("tic_tac_toe", "XXXOOO---", "before the latest stone"),
    ("tic_tac_toe", "XXXOO-O--", "before the latest stone"),
    ("tic_tac_toe", "OOOXX-XX-", "before the latest stone"),
    ("tic_tac_toe", "X-", "size"),
    ("tic_tac_toe", "X-------?", "only X, O and -"),
    ("connect_4x4", "X" + 15 * "-", "free square below"),
    ("connect_4x4", "----XXXXOOXOXOOO", "No order of moves"),
    ("connect_4x4", "--------OOOOXXXX", "before the latest stone"),
    ("connect_5x4", "-----OXOO-XXXX-OXOOX", "No single stone"),
)
"""Boards that no game leads to, and a part of the reason that is shown."""
BROKEN_SCORES = (
    *({"seats": "first"}, {"seats": ["third"]}, {"unbeatable": "yes"}),
    *({"first": []}, {"first": {}}, {"sampled": []}, {"sampled": {"first": {}}}),
    *({"first.lines": {}}, {"second.lines.lost": -1}, {"first.win_rate": "all"}),
    *({"first.draw_rate": 2}, {"second.loss_rate": None}),
    *({"second.num_positions": 0.5}, {"first.losing_ends": "none"}),
    *({"first.optimal_move_rate": 7}, {"first.unbeatable": 1}),
    *({"first.losing_line": "012"}, {"first.losing_line": [0, 0]}),
    *({"first.losing_line": []}, {"first.losing_line": [0, 3, 1, 4, 2]}),
    {"first.win_rate_interval": 1},
)
"""Fields of scores that no grade has. The latter lines are illegal, none, or won."""


def rule_cases(folder: Path) -> dict:
    """Return all cases; agents of theirs are written to a folder."""
    paths = dict(ALL) | made_agents(folder)
    games = {env_id: random_games(env_id) for env_id in BOARDS}
    return {
        "tree": tree_data.tree_json("tic_tac_toe").decode(),
        "games": [case for each in games.values() for case in each],
        "agents": [agent_case(*pair, games) for pair in paths.items()],
        "grades": [grade_case(name, paths[name]) for name in (*GRADED, "network 5")],
        "exact": [*tic_tac_toe_values(), *late_values(), *exam_values()],
        "reviews": [review_case(case["moves"]) for case in games["tic_tac_toe"]],
        "beginner": levels.BEGINNER_CHANCE,
        "impossible": IMPOSSIBLE,
        "refused": refused_files(paths["network"]),
    }


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def random_games(env_id: str) -> list[dict]:
    """Return random games, as moves and as what is true before and after each."""
    rng, games = random.Random(1), []
    for _ in range(NUM_GAMES):
        game = Game.start(env_id)
        while not game.is_over:
            game = game.play(rng.choice(game.legal_moves))
        games.append([game.back_to(n) for n in range(len(game.moves) + 1)])
    # All positions in one array, since each size of an array has programs of its own.
    states = [state for steps in games for state in steps[-1].states]
    observations = jnp.concatenate([state.observation for state in states])
    ends = np.cumsum([len(steps) for steps in games])[:-1]
    views = [np.split(x, ends) for x in canonical_boards(env_id, observations)]
    cases = []
    for steps, boards, places in zip(games, *views, strict=True):
        signed = [signed_cells(step) for step in steps]
        cases.append(
            {
                "env_id": env_id,
                "name": "connect_7x6" if env_id == "connect_four" else env_id,
                "is_enumerable": GAMES[env_id].enumerable,
                "moves": steps[-1].moves,
                "legal": [step.legal_moves for step in steps],
                "cells": [cells.tolist() for cells in signed],
                "results": [steps[-1].result("first"), steps[-1].result("second")],
                "row": winning_cells(env_id, signed[-1]),
                "canonical": boards.tolist(),
                "places": places.tolist(),
            }
        )
    return cases


def signed_cells(game: Game) -> np.ndarray:
    """Return the first player's stones as 1, and the second's as -1."""
    own = stones.cells_on_host(np.asarray(game.state.observation))[0]
    return own if game.to_move == "first" else -own


def canonical_boards(env_id: str, obs) -> tuple[np.ndarray, np.ndarray]:
    """Return the stones of the canonical boards, and where each action is there."""
    views = symmetry.symmetric_views(env_id)
    assert views is not None
    least = symmetry.least_views(stones.cells(obs), views)
    boards = symmetry.to_canonical(obs, views, least)
    places = symmetry.to_canonical_actions(views, least)
    cells = stones.cells_on_host(np.asarray(boards))
    return cells, np.asarray(places)


@functools.cache
def lines_of(env_id: str) -> list[list[int]]:
    """Return the cells of each line that wins."""
    game = GAMES[env_id]
    rows, columns = game.shape
    size = 3 if env_id == "tic_tac_toe" else 4
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)]
    return [
        [(row + n * down) * columns + column + n * right for n in range(size)]
        for row in range(rows)
        for column in range(columns)
        for down, right in steps
        if row + (size - 1) * down < rows and 0 <= column + (size - 1) * right < columns
    ]


def winning_cells(env_id: str, cells) -> list[int]:
    """Return the cells of all complete lines."""
    complete = [line for line in lines_of(env_id) if is_complete(line, cells)]
    return sorted({cell for line in complete for cell in line})


def is_complete(line: list[int], cells) -> bool:
    """Return whether stones of one player fill a line."""
    return abs(sum(cells[cell] for cell in line)) == len(line)


def made_agents(folder: Path) -> dict[str, Path]:
    """Return files of agents of random weights, by name."""
    made = {}
    is_table = {"network": "table", "optimizer": "sgd", "learning_rate": 1.0}
    for fields in (*NETWORKS, *(is_table | fields for fields in TABLES)):
        scale = float(fields.get("scale", 0.5))
        settings = {name: value for name, value in fields.items() if name != "scale"}
        agent = tiny.untrained(Config.of(**settings))
        rng = np.random.default_rng(len(made))
        leaves, shape = jax.tree.flatten(agent.params)
        params = jax.tree.unflatten(
            shape,
            [jnp.asarray(rng.normal(0, scale, x.shape), jnp.float32) for x in leaves],
        )
        name = f"{fields.get('network', 'network')} {len(made)}"
        made[name] = folder / f"{name}.safetensors"
        saved_agents.save_agent(tiny.ungraded(agent.config, params), made[name])
    return made


def agent_case(name: str, path: Path, games: dict[str, list[dict]]) -> dict:
    """Return an agent's values and moves in the positions of random games."""
    agent = saved_agents.load_agent(path)
    env_id = agent.config.env_id
    positions = [
        case["moves"][:n] for case in games[env_id] for n in range(len(case["moves"]))
    ]
    state = replay(env_id, positions)
    legal = np.asarray(state.legal_action_mask)
    values = np.asarray(
        network_player.board_values(agent.network, agent.params, state.observation)
    )
    chosen = np.asarray(agent.player(jax.random.key(0), state))
    case = {
        "name": name,
        "env_id": env_id,
        "updates": agent.num_updates,
        "file": encoded(path.read_bytes()),
        "positions": positions,
        "values": legal_values(values, legal),
        "moves": decided_moves(values, legal, chosen, agent.config.network.is_table),
        "depth": DEPTHS.get(name, 0),
    }
    if case["depth"]:
        case["searched"] = legal_values(searched(agent, state, case["depth"]), legal)
    return case


def searched(agent: saved_agents.SavedAgent, state, depth: int) -> np.ndarray:
    """Return the values of moves by a search."""

    @jax.jit
    def computed(params, state):
        def q_fn(state):
            return network_player.board_values(agent.network, params, state.observation)

        env = pgx_games.make_env(agent.config.env_id)
        return lookahead.negamax(env, q_fn, state, depth, agent.config.target.gamma)

    return np.asarray(computed(agent.params, state))


def legal_values(values, legal) -> list[list[float | None]]:
    """Return values with None where a move is illegal."""
    return [
        [float(value) if allowed else None for value, allowed in zip(*row, strict=True)]
        for row in zip(values, legal, strict=True)
    ]


def decided_moves(values, legal, chosen, is_table: bool) -> list[int | None]:
    """Return the moves, None where two values of a network are too close to tell."""
    moves = []
    for row, allowed, move in zip(values, legal, chosen, strict=True):
        best = np.sort(row[allowed])[::-1]
        is_close = len(best) > 1 and 0 < best[0] - best[1] < MARGIN
        moves.append(None if is_close and not is_table else int(move))
    return moves


def grade_case(name: str, path: Path) -> dict:
    """Return the grade of an agent whose lines are all followed, by seat."""
    agent = saved_agents.load_agent(path)
    env_id = agent.config.env_id
    entrant = registry.agent_player(name, agent)
    tree = trees.host_tree(env_id)
    if tree is None:
        grade = grader.follow_lines(entrant)
    else:
        assert entrant.policy is not None  # the game is enumerable
        grade = exact.grade_seats(env_id, tree, entrant.policy, agent.config.seats)
    seats = {}
    for seat, followed in grade.followed.items():
        seats[seat] = {
            "lines": vars(followed.lines),
            "rates": [followed.win_rate, followed.draw_rate, followed.loss_rate],
            "unbeatable": followed.unbeatable,
            "losing_moves": followed.losing_line and len(followed.losing_line),
            "num_positions": followed.num_positions,
            "optimal_move_rate": followed.optimal_move_rate,
        }
    return {"name": name, "seats": seats}


def exact_case(env_id: str, cells, actions: dict[int, tuple[int, int]]) -> dict:
    """Return the exact values of a position's moves; each is a value and moves."""
    return {"env_id": env_id, "cells": [int(x) for x in cells], "actions": actions}


def tic_tac_toe_values() -> list[dict]:
    """Return the exact values of every position of tic-tac-toe, by `minimax`."""
    tree = trees.enumerated("tic_tac_toe")
    quick = minimax.to_mover(tree, minimax.values(tree, minimax.QUICK))
    cells = tree_data.stone_cells(tree).astype(int)
    cells[cells == 2] = -1
    cases = []
    for position in tree.decisions:
        actions = {}
        for action in np.flatnonzero(tree.legal_action_mask[position]):
            worth = quick[position, action]
            left = round(math.log(abs(worth), minimax.QUICK)) + 1 if worth else 0
            actions[int(action)] = int(np.sign(worth)), left
        cases.append(exact_case("tic_tac_toe", cells[position], actions))
    return cases


def late_values() -> list[dict]:
    """Return exact values late in games, by a search in plain Python."""
    cases = []
    for env_id, num_stones in STONES.items():
        values, rng = PlainSearch(env_id), random.Random(2)
        for _ in range(12):
            cells = (0,) * math.prod(GAMES[env_id].shape)
            while (legal := values.moves(cells)) and sum(map(abs, cells)) < num_stones:
                cells = values.after(cells, rng.choice(legal))
            if legal:
                cases.append(exact_case(env_id, cells, values.actions(cells)))
    return cases


class PlainSearch:
    """Best play in a game of lines. Cells are 1 for the first player, -1, or 0."""

    def __init__(self, env_id: str) -> None:
        self.rows, self.columns = GAMES[env_id].shape
        self.falls = GAMES[env_id].moves_on == "columns"
        self.lines = lines_of(env_id)
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


def exam_values(least_moves: int = 20) -> list[dict]:
    """Return known values of positions of 7 x 6.

    A score is 0, or the winner's stones that are left at the end, and 1.
    """
    path = Path(grader.__file__).with_name("connect_four.csv")
    values, cases = PlainSearch("connect_7x6"), []
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if len(row["moves"]) < least_moves:
                continue
            cells = (0,) * 42
            for column in row["moves"]:
                cells = values.after(cells, int(column) - 1)
            actions = {}
            for action in values.moves(cells):
                score = int(row[f"s{action + 1}"])
                is_win, left = score > 0, 0
                if score:
                    # The stone that ends the game has the parity of its player.
                    mover_wins = is_win == (len(row["moves"]) % 2 == 0)
                    last = (41 if mover_wins else 42) - 2 * (abs(score) - 1)
                    left = last - len(row["moves"])
                actions[action] = (score > 0) - (score < 0), left
            cases.append(exact_case("connect_7x6", cells, actions))
    return cases


def review_case(moves) -> dict:
    """Return the moves of a game of tic-tac-toe beside best play."""
    reviewed = analysis.review_moves(Game.start("tic_tac_toe", moves))
    assert reviewed is not None
    return {
        "moves": moves,
        "reviewed": [
            [one.value_before, one.value_after, one.best_moves] for one in reviewed
        ],
    }


def with_score(content: bytes, fields: Mapping[str, object]) -> bytes:
    """Return an agent's file whose score has other fields; dots lead into parts."""
    length = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + length])
    record = json.loads(head["__metadata__"]["jax_ttt"])
    for name, value in fields.items():
        *parents, last = name.split(".")
        part = record
        for parent in ("score", *parents):
            part = part.setdefault(parent, {})
        part[last] = value
    head["__metadata__"]["jax_ttt"] = json.dumps(record)
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def refused_files(path: Path) -> list[dict]:
    """Return files that are not agents of the page, each with a word of the reason."""
    content = path.read_bytes()
    board = Config.of(env_id="hex", hidden_size=1)
    other = saved_agents.agent_bytes(
        tiny.ungraded(board, saved_agents.load_agent(path).params)
    )
    version = tensor_file.FORMAT_VERSION

    def with_version(number: int) -> bytes:
        return f'format_version\\": {number}'.encode()

    future = content.replace(with_version(version), with_version(version + 1))
    files = {
        "empty": (b"", "not an agent's file"),
        "text": (b"no agent, but a text of some length", "not an agent's file"),
        "cut": (content[:-4], "not complete"),
        "format": (future, f"format {version + 1}"),
        "activation": (content.replace(b"relu", b"gelu"), "activation"),
        "size": (
            content.replace(b'hidden_size\\": 128', b'hidden_size\\": 127'),
            "do not fit",
        ),
        "game": (other, "game"),
        "finite": (content[:-4] + b"\0\0\xc0\x7f", "not finite"),
        **{
            f"score {fields}": (with_score(content, fields), "score")
            for fields in BROKEN_SCORES
        },
    }
    return [
        {"name": name, "file": encoded(file), "reason": reason}
        for name, (file, reason) in files.items()
    ]
