"""docs/check_strategy.py: it proves what is true of an agent, and nothing else."""

import dataclasses
import functools
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
import small_boards
import tiny

from jax_ttt.config.settings import Config
from jax_ttt.files import agent_file
from jax_ttt.games import pgx_games, position_keys
from jax_ttt.grading import correcting
from jax_ttt.networks import q_network
from jax_ttt.players import network_player, saved_agents
from jax_ttt.players.corrections import Corrections

CHECKER = Path(__file__).parents[1] / "docs" / "check_strategy.py"
SEATS = ("first", "second")
NETWORKS = {
    "filters": {"filters": 3, "two_planes": True},
    "boards as they are": {"canonical": False, "hidden_layers": 1},
    "one hidden layer": {"hidden_layers": 1},
    "equal scores": {"hidden_layers": 1},
    "halves": {"hidden_layers": 1},
    "limits": {"hidden_layers": 1},
}


def special(name, params):
    """Return the weights with what is special about the network of this name."""
    if name not in ("equal scores", "halves", "limits"):
        return params
    first, last = params["layer0"], params["layer1"]
    last["bias"] *= 0
    if name == "halves":  # where a sum is odd
        first["kernel"], first["bias"] = np.sign(first["kernel"]), 0 * first["bias"]
        first["scale"] = np.full(8, 0.5, np.float32)
        return params
    last["kernel"] *= 0
    if name == "limits":  # an activation of 128 would choose column 0, one of 127 not
        first["scale"] *= 1000
        last["kernel"] = last["kernel"].at[0, 0].set(2)
        last["bias"] = np.array([0, 255, 0, 0], np.int32)
    return params


@functools.cache
def corrected(name):
    """Return an untrained agent of integers with corrections, so that it can't lose."""
    fields = {"env_id": small_boards.ENV_ID, "hidden_size": 8} | NETWORKS[name]
    agent = tiny.untrained(Config.of(**fields))
    # The activations of one board set the scales, so those of others are too large.
    start = pgx_games.init(
        pgx_games.make_env(small_boards.ENV_ID), jax.random.key(0), 1
    )
    params = q_network.to_integers(agent.network, agent.params, start.observation)
    agent = dataclasses.replace(agent, params=special(name, params))
    return correcting.correct_agent(name, agent, SEATS, "not-lose", "int8").agent


@pytest.fixture(scope="module")
def agent():
    return corrected("filters")


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Return a function that checks an agent, or the bytes of a file.

    It returns the exit code, what is printed, and the line on stderr.
    """
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # it would be set for other tests
    path = tmp_path / "agent.safetensors"

    def check_one(agent, seat="first", goal="not-lose"):
        content = agent if isinstance(agent, bytes) else saved_agents.agent_bytes(agent)
        path.write_bytes(content)
        argv = [str(CHECKER), str(path), "--seat", seat, "--goal", goal]
        monkeypatch.setattr(sys, "argv", argv)
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(CHECKER), run_name="__main__")
        out, error = capsys.readouterr()
        assert error.count("\n") == (end.value.code != 0)
        assert ("never loses" in out or "every line" in out) == (end.value.code == 0)
        return end.value.code, out, error

    return check_one


def levels(out, seat):
    """Return the boards and the corrections of each level that the checker printed."""
    rows = [
        [int(number.replace(",", "")) for number in line.split()]
        for line in out.splitlines()
        if re.match(" +[0-9]", line)
    ]
    for stones, row in enumerate(rows):
        is_own = SEATS[stones % 2] == seat
        assert row[0] == stones
        assert len(row) == (4 if is_own else 2)
    return [row[1] for row in rows], [row[2] if row[2:] else 0 for row in rows]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_corrected_agent_is_proven_with_the_counts_of_its_grade(name, check):
    agent = corrected(name)
    for seat, grade in agent.grade.followed.items():
        assert grade.proven == "not-lose"
        assert grade.positions is not None
        assert grade.corrections is not None
        code, out, _ = check(agent, seat)
        assert code == 0
        assert levels(out, seat) == (list(grade.positions), list(grade.corrections))
        number = sum(grade.positions[seat == "second" :: 2])
        verdict = f"never loses: {number:,} boards of the agent, "
        assert out.endswith(f"{verdict}{sum(grade.corrections):,} corrections\n")


def replayed(line):
    """Return the board after a game such as `X2 O1`."""
    board = "-" * 16
    for move in line.split():
        column = int(move[1:]) - 1
        assert small_boards.winner(board) is None
        assert move[0] == small_boards.mover(board)
        assert column in small_boards.columns_of(board)
        board = small_boards.dropped(board, column, move[0])
    return board


def with_corrections(agent, keys, actions):
    return dataclasses.replace(agent, corrections=Corrections(keys, actions))


def stones_of(keys):
    words = position_keys.numbers_to_keys(keys)
    return position_keys.unpack(small_boards.ENV_ID, words)


def places(agent, seat):
    """Return the places of the corrections for a seat."""
    seats = agent.corrections.seats(small_boards.ENV_ID)
    return [place for place, other in enumerate(seats) if other == seat]


@pytest.mark.fault
def test_without_a_correction_it_is_shown_how_the_agent_loses(agent, check):
    """The file's grade still says that it is proven."""
    keys, actions = agent.corrections.keys, agent.corrections.actions
    for seat, other in (SEATS, SEATS[::-1]):
        for place in places(agent, seat)[::70]:
            rest = np.arange(len(keys)) != place
            fewer = with_corrections(agent, keys[rest], actions[rest])
            code, _, error = check(fewer, seat)
            assert code == 1
            _, game = error.split(": ")
            winner = small_boards.winner(replayed(game))
            assert winner == {"first": "X", "second": "O"}[other]
            # It is not needed in the other seat.
            assert check(fewer, other)[0] == 0


@pytest.mark.fault
def test_a_correction_to_a_losing_move_is_found(agent, check):
    """A move was corrected since the network's own move loses."""
    keys, actions = agent.corrections.keys, agent.corrections.actions
    greedy = network_player.greedy_player(agent.network, agent.params)

    @jax.jit
    def greedy_moves(stones):
        boards = position_keys.to_states(small_boards.ENV_ID, stones)
        return greedy(jax.random.key(0), boards)

    wrong = np.asarray(greedy_moves(stones_of(keys)), np.uint8)
    for seat in SEATS:
        place = places(agent, seat)[0]
        changed = np.where(np.arange(len(keys)) == place, wrong, actions)
        assert check(with_corrections(agent, keys, changed), seat)[0] == 1


@pytest.mark.fault
def test_an_agent_that_draws_does_not_win_every_game(agent, check):
    code, _, error = check(agent, goal="win")
    assert code == 1
    assert "does not win this game" in error
    assert small_boards.winner(replayed(error.split(": ")[1])) != "X"


@pytest.mark.fault
def test_wrong_corrections_are_refused(agent, check):
    keys, actions = agent.corrections.keys, agent.corrections.actions
    place = places(agent, "first")[0]
    mirrored = position_keys.stones_in_view(
        stones_of(keys[place : place + 1]),
        position_keys.all_views(small_boards.ENV_ID).cells[1],
    )
    # Only the least key of a board and its image is looked up.
    image = position_keys.pack(small_boards.ENV_ID, mirrored)
    (image,) = position_keys.keys_to_numbers(image)
    assert image > keys[place]
    more = np.searchsorted(keys, image)
    full = np.uint64(0b00001_00001_00001_11010)  # nobody has won
    at_full = np.searchsorted(keys, full)
    refused = {
        "not reached": (np.insert(keys, more, image), np.insert(actions, more, 0)),
        "legal": (np.insert(keys, at_full, full), np.insert(actions, at_full, 0)),
        "not legal": (keys, np.where(actions == actions[0], 4, actions)),
        "do not ascend": (
            keys[[0, *range(len(keys))]],
            actions[[0, *range(len(keys))]],
        ),
        "ascend": (keys[::-1], actions[::-1]),
        "not a board": (keys | np.uint64(1 << 31), actions),
    }
    for reason, (other_keys, other_actions) in refused.items():
        other_actions = np.ascontiguousarray(other_actions, np.uint8)
        other_keys = np.ascontiguousarray(other_keys)
        code, _, error = check(with_corrections(agent, other_keys, other_actions))
        assert code == 2, reason
        assert reason in error
    file = saved_agents.make_agent_file(agent)
    file.tensors["corrections.actions"] = actions[1:]
    code, _, error = check(agent_file.encode_agent(file))
    assert code == 2
    assert "as many moves" in error


def with_tensor(agent, name, change):
    """Return the agent with another tensor in a layer."""
    layer, part = name.split(".")
    params = jax.tree.map(lambda leaf: leaf, agent.params)
    params[layer][part] = change(params[layer][part])
    return dataclasses.replace(agent, params=params)


@pytest.mark.fault
def test_networks_that_are_not_exact_are_refused(agent, check):
    changes = {
        "layer1.bias": lambda bias: bias.at[0].set(2**24),
        "convolution.bias": lambda bias: bias.at[0].set(-(2**24)),
        "layer0.scale": lambda scale: scale.at[0].set(0.0),
        "layer2.scale": lambda scale: -scale,
        "layer0.kernel": lambda kernel: kernel.astype("float32"),
        "layer1.kernel": lambda kernel: kernel[:, 1:],
        "layer2.bias": lambda bias: bias[:, None],
    }
    for name, change in changes.items():
        code, _, error = check(with_tensor(agent, name, change))
        assert code == 2, name
        assert name.split(".")[0] in error
    layers = dataclasses.replace(agent, params=tiny.untrained(agent.config).params)
    assert check(layers)[0] == 2


@pytest.mark.fault
def test_damaged_files_are_refused(agent, check):
    content = saved_agents.agent_bytes(agent)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    end = str(header["layer2.kernel"]["data_offsets"][1])
    # Of equal lengths, so that the header keeps its own.
    texts = {
        "version 2; only 1": ('version\\": 1', 'version\\": 2'),
        "a game connect_WxH": ('\\"connect_4x4', '\\"connect_9x9'),
        "canonical": ('canonical\\": true', 'canonical\\": null'),
        "KeyError('F64')": ('"I16"', '"F64"'),
        "a name twice": ('"layer1.bias"', '"layer0.bias"'),
        "not those of a network": ('"layer1.kernel"', '"layer9.kernel"'),
        "outside the file": (f",{end}]", f",{'9' * len(end)}]"),
    }
    damaged = [("", b""), ("", b"{}" * 99), ("outside the file", content[:-1])]
    for reason, (text, becomes) in texts.items():
        assert text.encode() in content, reason
        damaged.append((reason, content.replace(text.encode(), becomes.encode())))
    for reason, other in damaged:
        code, _, error = check(other)
        assert code == 2, reason
        assert reason in error


def test_it_needs_only_numpy(agent, tmp_path):
    """In a Python that has no other package."""
    packages = tmp_path / "packages"
    packages.mkdir()
    site = Path(np.__file__).parents[1]
    for folder in ("numpy", "numpy.libs"):
        if (site / folder).exists():
            (packages / folder).symlink_to(site / folder)
    path = tmp_path / "agent.safetensors"
    saved_agents.save_agent(agent, path)
    python = [sys.executable, "-S", "-W", "error"]
    environment = os.environ | {"PYTHONPATH": str(packages)}
    for argv, code in ((["--goal", "not-lose"], 0), ([], 1), (["--seat", "third"], 2)):
        done = subprocess.run(
            [*python, str(CHECKER), str(path), *argv],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        assert bool(done.stderr) == (code != 0)
    missing = subprocess.run([*python, "-c", "import jax"], env=environment)
    assert missing.returncode == 1
