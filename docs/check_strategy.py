"""Check that an agent of four in a row wins every game, or never loses one.

python check_strategy.py FILE [--seat first|second] [--goal win|not-lose]

FILE is an `agent.safetensors` for a game `connect_WxH`: a network of integers, and
corrections, which are boards with the move to play there in place of the network's.
What the file says about its strength is not read. This program plays the agent's move
and every reply, level by level, until all games have ended. It needs Python 3.10 and
NumPy 2, or later, and nothing of the package that wrote the file. Exit codes: 0 every
game ends as the goal says; 1 one does not, and a line on stderr shows it; 2 the file
can't be used.

The network is exact: all its sums are integers below 2**24, and float32 holds each of
these, so the order of the terms makes no difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

# Batches of boards are computed at once, so each matrix product takes one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

Array = np.ndarray
DTYPES = {
    "U64": "<u8",
    "U8": "u1",
    "I8": "i1",
    "I16": "<i2",
    "I32": "<i4",
    "F32": "<f4",
}
SIZES = {"hidden_layers": (0, 16), "hidden_size": (1, 2**14), "filters": (0, 2**10)}
SETTINGS = {"network", "activation", "canonical", "two_planes", *SIZES}
NO_EFFECT = """
table_key initial_value
env_id num_envs num_updates lockstep start_share start_positions start_agent
opponent seat first_move backup tremble gamma double backward tau target_update_every
reward_win reward_draw reward_loss epsilon_start epsilon_end epsilon_schedule
epsilon_decay random_opening optimizer loss learning_rate learning_rate_end
learning_rate_decay weight_decay average_span precision replay_capacity replay_batch
replay_start eval_every eval_games max_positions
""".split()  # noqa: SIM905  of tables, of the game, and of how the network learned
BATCH = 2**16  # boards that share work
PART = 2**9  # boards whose sums fit into the cache of a processor


def parts(length: int, size: int) -> list[slice]:
    """Return slices of at most this size, in order."""
    return [slice(begin, begin + size) for begin in range(0, length, size)]


class Rules:
    """The rules, for arrays of boards with the same number of stones.

    A set of cells is a number of 64 bits: each column has a bit for each cell, the
    lowest cell first, and one bit more. A board's key is the set of the first player's
    stones, and a 1 above the highest stone of each column.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height, self.bits = width, height, height + 1
        self.bottom = sum(1 << column * self.bits for column in range(width))
        self.column = 2**height - 1
        self.start = np.array([self.bottom], np.uint64)  # the board without stones

    def stones(self, keys: Array, num_stones: int = 0) -> tuple[Array, Array]:
        """Return the stones of the player to move, and of the other player."""
        below, cells = keys, self.column * self.bottom
        for _ in range(self.height):  # fill each column below its highest 1
            below = below | (below >> 1 & cells)
        both = below >> 1 & cells
        first, second = keys & both, both & ~keys
        return (second, first) if num_stones % 2 else (first, second)

    def landing(self, both: Array, columns: Array | int) -> Array:
        """Return the cell where a stone comes to rest; 0 in a full column."""
        places = np.asarray(columns).astype(np.uint64) * self.bits
        return (both + self.bottom) & (self.column << places)

    def play(
        self, keys: Array, num_stones: int, columns: Array | int
    ) -> tuple[Array, Array, Array]:
        """Return the boards after a move, where it wins, and where no one has won.

        An illegal move has neither.
        """
        mover, other = self.stones(keys, num_stones)
        cell = self.landing(mover | other, columns)
        is_legal = cell != 0
        mover, wins = mover | cell, np.zeros(len(keys), bool)
        for step in (1, self.bits - 1, self.bits, self.bits + 1):
            pairs = mover & mover >> step
            wins |= (pairs & pairs >> 2 * step) != 0
        first = other if num_stones % 2 else mover
        return first | (mover | other) + self.bottom, is_legal & wins, is_legal & ~wins

    def reordered(self, boards: Array, order: Iterable[int]) -> Array:
        """Return boards with their columns in another order, the lowest bits first."""
        result = np.zeros_like(boards)
        for place, column in enumerate(order):
            stones = boards >> column * self.bits & 2**self.bits - 1
            result |= stones << place * self.bits
        return result

    def mirrored(self, boards: Array) -> Array:
        """Return the mirror images."""
        return self.reordered(boards, reversed(range(self.width)))

    def side(self, mover: Array, other: Array) -> Array:
        """Return which view is canonical: 1 the board, -1 its mirror image, 0 both.

        A cell is 1 with the mover's stone, -1 with the other's, else 0. The views are
        compared in the last cell where they differ, row by row from the top. The one
        with the lesser cell is canonical.
        """
        side = np.zeros(len(mover), np.int8)
        for row in reversed(range(self.height)):  # so the lowest row decides
            for right in range((self.width + 1) // 2, self.width):
                left = self.width - 1 - right
                board, image = (
                    (mover >> cell & 1).astype("i1") - (other >> cell & 1).astype("i1")
                    for cell in (right * self.bits + row, left * self.bits + row)
                )
                side = np.where(board == image, side, np.sign(image - board))
        return side


class Network:
    """A network of integers: from boards to a score for each column.

    A convolution has the same weights in every patch of 4 x 4 cells. The layer after it
    adds up what the patches give; without a convolution, what the columns give. So the
    sums of that layer are computed for each *window*: four columns with their patches,
    or one column. Boards with an equal window share its sums.
    """

    def __init__(self, rules: Rules, tensors: dict[str, Array], settings: dict) -> None:
        backup = settings["backup"]
        if settings.keys() - {*NO_EFFECT} != SETTINGS:
            raise ValueError(f"its network must have the settings {sorted(SETTINGS)}")
        for name, (low, high) in SIZES.items():
            if type(settings[name]) is not int or not low <= settings[name] <= high:
                raise ValueError(f"{name} must be from {low} to {high:,}")
        if (settings["network"], settings["activation"]) != ("mlp", "relu"):
            raise ValueError("its network must be an mlp with relu")
        if backup not in ("one-ply", "two-ply"):
            raise ValueError("its backup must be one-ply or two-ply")
        self.rules, self.num_planes = rules, 1 + settings["two_planes"]
        shape = (rules.height, rules.width, self.num_planes)  # of the inputs
        self.filters, self.span, self.rows = None, 1, rules.height
        names = [f"layer{number}" for number in range(settings["hidden_layers"] + 1)]
        if num_filters := settings["filters"]:
            self.span = self.rows = 4
            patches = (rules.height - 3, rules.width - 3)
            kernel_shape = (num_filters, 16 * self.num_planes)
            self.filters = take_layer(
                tensors, "convolution", kernel_shape, patches=(math.prod(patches),)
            )
            shape = (num_filters, *patches)
            self.patch_bias = self.filters[1].reshape(shape)
        self.layers, num_inputs = [], math.prod(shape)
        for name in names:
            is_last = name == names[-1]
            num_outputs = settings["hidden_size"]
            if is_last:  # of two-ply, the second half of the scores is not used in play
                num_outputs = rules.width * (1 + (backup == "two-ply"))
            kernel_shape = (num_outputs, num_inputs)
            self.layers.append(take_layer(tensors, name, kernel_shape, is_last=is_last))
            num_inputs = num_outputs
        if tensors:
            raise ValueError("its tensors are not those of a network of integers")
        # The first layer's weights: window, patch, inputs, output.
        first = self.layers[0][0].reshape(*shape, -1)
        order = (2, 1, 0, 3) if self.filters else (1, 2, 0, 3)
        first = np.ascontiguousarray(first.transpose(order))
        num_patches = rules.height - 3 if self.filters else 1
        self.first = first.reshape(len(first), num_patches, -1, first.shape[-1])

    def scores(self, mover: Array, other: Array) -> Array:
        """Return the scores on these boards, not on their canonical views."""
        tables = []
        for left in range(len(self.first)):
            place, mask = left * self.rules.bits, 2 ** (self.span * self.rules.bits) - 1
            windows = (mover >> place & mask) | (other >> place & mask) << 32
            windows, window_of_board = np.unique(windows, return_inverse=True)
            table = np.empty((len(windows), self.first.shape[-1]), np.float32)
            for part in parts(len(windows), PART):
                table[part] = self.window_sums(windows[part], left)
            tables.append((table, window_of_board))
        scores = np.empty((len(mover), self.rules.width), np.float32)
        for part in parts(len(mover), PART):
            sums = self.layers[0][1] + sum(table[of[part]] for table, of in tables)
            for (_, _, scale), (kernel, bias, _) in pairwise(self.layers):
                sums = activations(sums, scale) @ kernel + bias
            scores[part] = sums[:, : self.rules.width]
        return scores

    def window_sums(self, windows: Array, left: int) -> Array:
        """Return what windows add to the first layer's sums; `left` is their column."""
        rows, columns = np.ogrid[self.rules.height - 1 : -1 : -1, : self.span]
        cells = (columns * self.rules.bits + rows).astype(np.uint64)
        planes = [
            (windows[:, None, None] >> cells + place & 1).astype(np.float32)
            for place in (0, 32)
        ]
        if self.num_planes == 1:
            planes = [planes[0] - planes[1]]
        board = np.stack(planes, axis=1)
        sums = np.zeros((len(windows), self.first.shape[-1]), np.float32)
        for top, weights in enumerate(self.first[left]):
            inputs = board[:, :, top : top + self.rows].reshape(len(windows), -1)
            if self.filters:
                kernel, _, scale = self.filters
                patch_sums = inputs @ kernel + self.patch_bias[:, top, left]
                inputs = activations(patch_sums, scale)
            sums += inputs @ weights
        return sums


def activations(sums: Array, scale: Array) -> Array:
    """Return the activations of 0 to 127 after a layer, in the memory of its sums."""
    sums *= scale
    np.rint(sums, out=sums)  # ties to even
    return np.clip(sums, 0, 127, out=sums)


def take_layer(
    tensors: dict[str, Array],
    name: str,
    kernel_shape: tuple[int, int],
    patches: tuple[int, ...] = (),
    is_last: bool = False,
) -> tuple[Array, Array, Array]:
    """Remove a layer's tensors, and return its weights, biases and scales.

    A convolution's bias differs by patch. The last layer has weights of 16 bits, and
    one scale, which is not used in play.
    """
    num_outputs, _ = kernel_shape
    parts = {
        "kernel": ("<i2" if is_last else "|i1", kernel_shape),
        "bias": ("<i4", (num_outputs, *patches)),
        "scale": ("<f4", () if is_last else (num_outputs,)),
    }
    for part, expected in parts.items():
        tensor = tensors.get(f"{name}.{part}")
        if tensor is None or (tensor.dtype.str, tensor.shape) != expected:
            raise ValueError(f"{name}.{part} is not that of a network of integers")
    kernel, bias, scale = (tensors.pop(f"{name}.{part}") for part in parts)
    largest = 127 * np.abs(kernel.astype(np.int64)).sum(axis=1)
    largest += np.abs(bias.astype(np.int64)).reshape(num_outputs, -1).max(axis=1)
    if largest.max() >= 2**24:
        raise ValueError(f"the sums of {name} are not below 2**24")
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise ValueError(f"the scales of {name} are not numbers above 0")
    return np.ascontiguousarray(kernel.T, np.float32), bias.astype(np.float32), scale


class Agent:
    """A network with corrections: one move for each board."""

    def __init__(self, path: str) -> None:
        config, tensors = read_file(path)
        self.env_id = config["env_id"]
        size = re.fullmatch("connect_([4-7])x([4-6])", self.env_id)
        if size is None:
            raise ValueError("it must have a game connect_WxH")
        if {type(config["canonical"]), type(config["two_planes"])} != {bool}:
            raise ValueError("canonical and two_planes must be true or false")
        self.canonical = config["canonical"]
        self.rules = rules = Rules(*map(int, size.groups()))
        keys = tensors.pop("corrections.keys", None)
        self.columns = tensors.pop("corrections.actions", None)
        if keys is None and self.columns is None:
            keys, self.columns = np.zeros(0, "<u8"), np.zeros(0, "u1")
        elif keys is None or self.columns is None or not keys.size:
            raise ValueError("it must have corrections, or no tensors of them")
        self.network = Network(rules, tensors, config)
        if (keys.dtype, self.columns.dtype) != ("u8", "u1"):
            raise ValueError("its corrections must be numbers of the types U64 and U8")
        if keys.ndim != 1 or keys.shape != self.columns.shape:
            raise ValueError("it must have as many moves as boards to correct")
        if (keys[1:] <= keys[:-1]).any():
            raise ValueError("the boards of its corrections do not ascend")
        # In the file, no column is divided between the lower and the upper 32 bits.
        place = 32 // rules.bits * rules.bits
        self.keys = keys & 2**place - 1 | keys >> 32 << place
        first, second = rules.stones(self.keys)
        both = first | second
        is_board = (keys & 2**32 - 2**place == 0) & (
            self.keys == first | both + rules.bottom
        )
        if not is_board.all():
            raise ValueError("a key of its corrections is not a board")
        more_of_first = np.bitwise_count(first) - np.bitwise_count(second)
        if (more_of_first > 1).any():  # -1 is 255
            raise ValueError("a board of its corrections can't be reached")
        cells = rules.landing(both, self.columns % rules.width)
        if (self.columns >= rules.width).any() or not cells.all():
            raise ValueError("a move of its corrections is not legal")
        self.num_stones = np.bitwise_count(both)
        self.is_reached = np.zeros(len(keys), bool)

    def merged(self, keys: Array) -> Array:
        """Return the keys by which boards are counted.

        An agent that sees canonical boards plays mirrored moves on mirrored boards. So
        a board and its image count once, and the lesser key stands for both.
        """
        return np.minimum(keys, self.rules.mirrored(keys)) if self.canonical else keys

    def moves(self, keys: Array, num_stones: int, pool: ThreadPoolExecutor) -> Array:
        """Return its columns on boards, whose keys ascend."""
        rules, last = self.rules, self.rules.width - 1
        moves = np.zeros(len(keys), np.int8)
        sides, seen = np.ones_like(moves), keys.copy()

        def find_views(part: slice) -> None:
            sides[part] = rules.side(*rules.stones(keys[part], num_stones))
            is_mirrored = sides[part] < 0
            seen[part] = np.where(is_mirrored, rules.mirrored(keys[part]), keys[part])

        def choose(part: slice) -> None:
            places = order[part]
            mover, other = rules.stones(seen[places], num_stones)
            columns = np.arange(rules.width)
            allowed = rules.landing((mover | other)[:, None], columns) != 0
            # On a symmetric board, a column and its image are the same move.
            allowed &= (sides[places, None] != 0) | (columns <= last - columns)
            scores = np.where(allowed, self.network.scores(mover, other), -np.inf)
            best = scores.argmax(axis=1)  # the lowest of equal ones
            moves[places] = np.where(sides[places] < 0, last - best, best)

        if self.canonical:
            list(pool.map(find_views, parts(len(keys), BATCH)))
        # Boards that agree in the inner columns have many equal windows.
        inner_last = sorted(range(rules.width), key=lambda c: -abs(2 * c - last))
        order = np.argsort(rules.reordered(seen, inner_last))
        for number, _ in enumerate(pool.map(choose, parts(len(keys), BATCH))):
            show_progress(f"{num_stones:10} {number * BATCH:,} of {len(keys):,} boards")
        places = np.minimum(np.searchsorted(keys, self.keys), len(keys) - 1)
        is_here = keys[places] == self.keys
        moves[places[is_here]] = self.columns[is_here]
        self.is_reached |= is_here
        return moves


class Walk:
    """All games of an agent in a seat, level by level: by the number of stones."""

    def __init__(
        self, agent: Agent, seat: str, goal: str, pool: ThreadPoolExecutor
    ) -> None:
        self.agent, self.rules, self.pool = agent, agent.rules, pool
        self.seat, self.goal = ("first", "second").index(seat), goal
        self.keys: list[Array] = []  # of each level, in ascending order
        self.moves: list[Array | None] = []  # the agent's, where it is to move

    def failing_game(self) -> list[int] | None:
        """Play all games, and print the levels.

        Return the columns of a game that does not end as the goal says; None if all do.
        """
        print(" stones  agent's boards  corrections  wins at once  opponent's boards")
        keys = self.rules.start
        while len(keys):
            num_stones, num_before = len(self.keys), self.agent.is_reached.sum()
            is_own = num_stones % 2 == self.seat
            moves = self.agent.moves(keys, num_stones, self.pool) if is_own else None
            self.keys.append(keys)
            self.moves.append(moves)
            results = list(self.pool.map(self.play, parts(len(keys), BATCH)))
            if is_own:
                num_corrections = self.agent.is_reached.sum() - num_before
                num_wins = sum(wins for _, wins, _ in results)
                counts = f"{len(keys):14,} {num_corrections:12,} {num_wins:13,}"
            else:
                counts = f"{len(keys):60,}"
            print(f"{num_stones:7} {counts}", flush=True)
            for _, _, failure in results:
                if failure is not None:
                    return self.game_to(failure)
            keys = np.unique(np.concatenate([boards for boards, _, _ in results]))
        return None

    def branches(self, level: int, part: slice) -> Iterator[tuple[Array, ...]]:
        """Yield moves in boards of a level, with the results of `Rules.play`."""
        keys, moves = self.keys[level][part], self.moves[level]
        for column in range(self.rules.width) if moves is None else [moves[part]]:
            columns = np.broadcast_to(column, len(keys))
            yield keys, columns, *self.rules.play(keys, level, columns)

    def play(self, part: slice) -> tuple[Array, int, tuple[int, int] | None]:
        """Play the moves on boards of the latest level.

        Return the boards after them, the number of moves that win, and a board and a
        move that end a game not as the goal says.
        """
        level, boards, num_wins, failure = len(self.keys) - 1, [], 0, None
        is_last = level + 1 == self.rules.width * self.rules.height
        for keys, columns, after, wins, is_open in self.branches(level, part):
            fails = wins & (self.moves[level] is None)
            if is_last and self.goal == "win":
                fails = fails | is_open  # a draw
            if fails.any():
                failure = keys[fails][0], columns[fails][0]
            num_wins += int(wins.sum())
            boards.append(self.agent.merged(after[is_open & (not is_last)]))
        return np.unique(np.concatenate(boards)), num_wins, failure

    def game_to(self, failure: tuple[int, int]) -> list[int]:
        """Return the columns of a game that ends with a move on a board."""
        path = [failure]
        for level in reversed(range(len(self.keys) - 1)):
            path.append(self.step_to(level, path[-1][0]))
        game, board = [], self.rules.start
        for num_stones, (key, column) in enumerate(reversed(path)):
            # The key may be that of the mirror image.
            played = column if board[0] == key else self.rules.width - 1 - column
            game.append(int(played))
            board, _, _ = self.rules.play(board, num_stones, game[-1])
        return game

    def step_to(self, level: int, key: int) -> tuple[int, int]:
        """Return a board of a level, and a move there that leads to a key."""
        for part in parts(len(self.keys[level]), BATCH):
            for keys, columns, after, _, is_open in self.branches(level, part):
                leads = is_open & (self.agent.merged(after) == key)
                if leads.any():
                    return keys[leads][0], columns[leads][0]
        raise LookupError("a board that nothing leads to")


def show_progress(text: str) -> None:
    """Show a line on a terminal, which the next line replaces."""
    if sys.stderr.isatty():
        print(f"{text:<60}", end="\r", file=sys.stderr, flush=True)


def read_file(path: str) -> tuple[dict, dict[str, Array]]:
    """Return the settings and the tensors of a file in the format safetensors."""
    if not os.path.isfile(path) or os.path.getsize(path) > 2**30:
        raise ValueError("not a file of at most 1 GB")
    with open(path, "rb") as file:
        content = file.read()
    begin = end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin].decode(), object_pairs_hook=unique)
    text = header.pop("__metadata__")["jax_ttt"]
    description = json.loads(text, object_pairs_hook=unique)
    version, kind = description["version"], description["kind"]
    if type(version) is not int or version != 3:
        raise ValueError(f"version {version!r:.20}; only 3 can be checked")
    if kind != "agent":
        raise ValueError(f"it is a file of the kind {str(kind)[:20]!r}")
    tensors = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape = np.dtype(DTYPES[entry["dtype"]]), entry["shape"]
        start, end = end, end + math.prod(shape) * dtype.itemsize
        place = entry["data_offsets"]
        are_sizes = all(type(x) is int and x >= 0 for x in shape + place)
        if not are_sizes or place != [start - begin, end - begin]:
            raise ValueError(f"the tensor {name!r} is not where the one before ends")
        tensors[name] = np.frombuffer(content[start:end], dtype).reshape(shape)
    expected = description.pop("sha256")
    digest = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        head = json.dumps([name, tensor.dtype.str, tensor.shape])
        digest.update(f"\n{head}\n".encode() + tensor.tobytes())
    if end != len(content) or digest.hexdigest() != expected:
        raise ValueError("its contents were changed after they were saved")
    return description["config"], tensors


def unique(pairs: list) -> dict:
    """Return a JSON object; raise ValueError if it has a name twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("an object has a name twice")
    return dict(pairs)


def main() -> int:
    """Check the file that the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(description="Play all games of an agent.")
    parser.add_argument("file", metavar="FILE", help="an agent.safetensors")
    parser.add_argument("--seat", choices=("first", "second"), default="first")
    parser.add_argument("--goal", choices=("win", "not-lose"), default="win")
    args = parser.parse_args()
    try:
        agent = Agent(args.file)
    except Exception as error:  # whatever a damaged file leads to
        reason = error if isinstance(error, ValueError) else repr(error)
        print(f"{args.file!r} is refused: {reason}", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
        walk = Walk(agent, args.seat, args.goal, pool)
        game = walk.failing_game()
    if game is not None:
        stones = " ".join(f"{'XO'[n % 2]}{c + 1}" for n, c in enumerate(game))
        failure = "does not win" if args.goal == "win" else "loses"
        print(f"it {failure} this game (columns from 1): {stones}", file=sys.stderr)
        return 1
    is_own = agent.num_stones % 2 == walk.seat
    if num_unused := (is_own & ~agent.is_reached).sum():
        reason = f"{num_unused:,} corrections are for boards that are not reached"
        print(f"{args.file!r} is refused: {reason}", file=sys.stderr)
        return 2
    own = sum(len(keys) for keys in walk.keys[walk.seat :: 2])
    verdict = "every line is won" if args.goal == "win" else "never loses"
    counts = f"{own:,} boards of the agent, {is_own.sum():,} corrections"
    print(f"{agent.env_id} as {'XO'[walk.seat]}, {verdict}: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
