"""Positions, agents and files by which the page's rules are compared with Python's.

The plain search here uses nothing of the package but the sizes of boards, and whether
stones fall.
"""

import csv
import dataclasses
import functools
import math
import random
from pathlib import Path

import jax
import jax.numpy as jnp
import made
import numpy as np
import pgx
import tiny
from forged import Forgery, wrong_corrections

import jax_ttt
from docs.examples.exam import FILE as EXAM
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.grade import SeatGrade
from jax_ttt.config.player_kinds import ALL, SNAPSHOTS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import greedy_player
from jax_ttt.games import position_keys
from jax_ttt.games.played_game import Game, replay
from jax_ttt.networks import integer_network
from jax_ttt.players import saved_agents
from jax_ttt.solver.corrections import Corrections

NUM_GAMES = 4
"""Random games on each board."""
_SMALL = {"hidden_size": 6, "hidden_layers": 1}
_TABLE = {"network": "table", "optimizer": "sgd", "learning_rate": 1.0}
_INTEGERS = {"integers": True, "corrected": True}
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
    _INTEGERS | {"env_id": "tic_tac_toe", **_SMALL},
    _INTEGERS | {"env_id": "connect_four", **_SMALL, "filters": 3, "two_planes": True},
    _INTEGERS | {"env_id": "connect_5x4", **_SMALL, "canonical": False},
)
"""Settings of agents of random weights, and their standard deviation, 0.5 by default.
Large weights make many values 1 or -1, so that equal values decide; small ones make
values that only a table tells apart. Some are networks of integers, and some have
random corrections."""
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


def winning_cells(env_id: str, cells) -> list[int]:
    """Return the cells of all complete lines."""
    search = plain_search(env_id)
    complete = [line for line in search.lines if search.is_complete(line, cells)]
    return sorted({int(cell) for line in complete for cell in line})


# ---- exact values: of each move, a value and the number of moves to the end


class PlainSearch:
    """Best play in a game of lines. Cells are 1 for the first player, -1, or 0."""

    def __init__(self, env_id: str) -> None:
        self.rows, self.columns = GAMES[env_id].shape
        self.falls = GAMES[env_id].moves_on == "columns"
        self.start = (0,) * (self.rows * self.columns)
        size = 3 if env_id == "tic_tac_toe" else 4
        self.lines = [
            [(row + n * down) * self.columns + column + n * right for n in range(size)]
            for row in range(self.rows)
            for column in range(self.columns)
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
            if row + (size - 1) * down < self.rows
            and 0 <= column + (size - 1) * right < self.columns
        ]
        self.scores: dict[tuple[int, ...], int] = {}

    def is_complete(self, line: list[int], cells) -> bool:
        """Return whether stones of one player fill a line."""
        return abs(sum(cells[cell] for cell in line)) == len(line)

    def is_won(self, cells) -> bool:
        """Return whether the game has been won."""
        return any(self.is_complete(line, cells) for line in self.lines)

    def moves(self, cells) -> list[int]:
        """Return the legal actions."""
        if self.is_won(cells):
            return []
        actions = range(self.columns if self.falls else len(cells))
        return [action for action in actions if cells[action] == 0]

    def after(self, cells, *actions: int):
        """Return the cells after moves."""
        for action in actions:
            if self.falls:
                column = range(action, len(cells), self.columns)
                action = max(cell for cell in column if not cells[cell])
            sign = 1 if sum(cells) == 0 else -1
            cells = (*cells[:action], sign, *cells[action + 1 :])
        return cells

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


@functools.cache
def plain_search(env_id: str) -> PlainSearch:
    """Return a search that remembers its values."""
    return PlainSearch(env_id)


def best_actions(actions: dict[int, tuple[int, int]]) -> list[int]:
    """Return the quickest wins, the draws, or the latest losses."""
    value = max(value for value, _ in actions.values())
    lengths = [length for one, length in actions.values() if one == value]
    length = min(lengths) if value > 0 else max(lengths)
    return [action for action, one in actions.items() if one == (value, length)]


def exam(least: int, most: int) -> list[tuple[list[int], dict[int, tuple[int, int]]]]:
    """Return games of 7 x 6 of so many moves, and the known values of each move.

    A score is 0, or the winner's stones that are left at the end, and 1.
    """
    games = []
    with EXAM.open(newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if least <= len(row["moves"]) <= most
        ]
    for row in rows:
        moves = [int(column) - 1 for column in row["moves"]]
        actions = {}
        for action in range(7):
            if not row[f"s{action + 1}"]:
                continue
            score = int(row[f"s{action + 1}"])
            # The stone that ends the game has the parity of its player.
            first_wins = (score > 0) == (len(moves) % 2 == 0)
            last = (41 if first_wins else 42) - 2 * (abs(score) - 1)
            value = (score > 0) - (score < 0)
            actions[action] = value, last - len(moves) if value else 0
        games.append((moves, actions))
    return games


# ---- agents


def save_random_agents(folder: Path) -> dict[str, Path]:
    """Write agents of random weights, and return their files by name."""
    paths = {}
    for number, fields in enumerate(AGENTS):
        others = {"scale": 0.5, "integers": False, "corrected": False}
        config = Config.of(**{k: v for k, v in fields.items() if k not in others})
        options = others | fields
        params = tiny.random_params(
            config.architecture, number, float(options["scale"])
        )
        rng = np.random.default_rng(number)
        if options["integers"]:
            params = random_integers(params, rng)
        agent = tiny.ungraded(config, params)
        if options["corrected"]:
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
    forgery = Forgery(ALL["connect-5x4"].read_bytes())
    bias, scale = (forgery.tensors[f"layer2.{name}"] for name in ("bias", "scale"))
    bias = bias.copy()
    bias[1] += round(0.03 / scale)
    path.write_bytes(forgery.but(layer2__bias=bias).content())
    return path


def proven_seat() -> SeatGrade:
    """Return the part of a grade that says that an agent is proven in a seat."""
    rates = made.rates(1.0, evidence="construction")
    return SeatGrade(**vars(rates), complete=True, beaten=False)


# ---- files that the page refuses, each with a part of the reason


def with_zero_weights(content: bytes) -> bytes:
    """Return a damaged file: its header is right, and all weights are 0."""
    begin = 8 + int.from_bytes(content[:8], "little")
    return content[:begin] + bytes(len(content) - begin)


def refused_files(path: Path) -> list[tuple[str, bytes]]:
    content = path.read_bytes()
    forgery = Forgery(content)
    last = max(forgery.tensors)
    not_a_number = forgery.tensors[last].copy()
    not_a_number.flat[-1] = math.nan
    not_finite = forgery.but(**{last.replace(".", "__"): not_a_number})
    no_version = forgery.content(text=lambda text: text.replace('"version"', '"v"'))
    other_seed = forgery.but("seed", 2).content(sha256=forgery.digest())
    not_agent, changed = "not an agent's file", "changed after they were saved"
    files = [
        (not_agent, b""),
        (not_agent, b"no agent, but a text of some length"),
        ("not complete", content[:-4]),
        ("format 3", forgery.but("version", 4).content()),
        ("no format version", no_version),
        ("activation", forgery.but("config.activation", "gelu").content()),
        ("do not fit", forgery.but("config.hidden_size", 127).content()),
        ("game", forgery.but("config.env_id", "hex").content()),
        ("not finite", not_finite.content()),
        (changed, with_zero_weights(content)),
        (changed, content[:-1] + bytes([content[-1] ^ 1])),
        (changed, other_seed),
        (changed, content.replace(b"layers.0.bias", b"layers.9.bias")),
    ]
    for fields in BROKEN_GRADES:
        ((name, value),) = fields.items()
        files.append(("grade", forgery.but(f"grade.{name}", value).content()))
    return files


def broken_corrections(path: Path) -> list[tuple[str, bytes]]:
    """Change a corrected agent of 4 x 4 and its network; the SHA-256 is right."""
    forgery = Forgery(path.read_bytes())
    tensors = forgery.tensors
    keys, actions = (tensors[f"corrections.{one}"] for one in ("keys", "actions"))
    kernel, bias = tensors["layer0.kernel"], tensors["layer1.bias"]
    won = 0b00001_00001_01000_11111  # columns of 5 bits; a free one is 1
    changes = [
        ("as many keys", {"corrections__keys": keys[1:]}),
        ("as many keys", {"corrections__keys": None}),
        ("as many keys", {"corrections__actions": None}),
        ("as many keys", {"corrections__actions": actions.astype(np.int32)}),
        ("not legal", {"corrections__keys": np.sort(np.r_[keys[1:], np.uint64(won)])}),
        # A network that is not one of exact integers.
        ("do not fit", {"layer0__scale": None}),
        ("do not fit", {"layer0__kernel": kernel.astype(np.int16)}),
        ("do not fit", {"layer0__kernel": kernel[:, :-1].copy()}),
        ("do not fit", {"layer2__kernel": tensors["layer2.kernel"].astype(np.int8)}),
        ("above 0", {"layer1__scale": np.zeros_like(tensors["layer1.scale"])}),
        ("not exact", {"layer1__bias": np.full_like(bias, -(2**24))}),
    ]
    files = [(reason, forgery.but(**parts).content()) for reason, parts in changes]
    tanh = forgery.but("config.activation", "tanh").content()
    return [*files, ("needs relu", tanh), *wrong_corrections(forgery)]
