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
from forged import Forgery, with_columns, wrong_corrections

import jax_ttt
from jax_ttt.config.errors import AgentError
from jax_ttt.config.player_kinds import ALL
from jax_ttt.config.settings import Config
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import Game
from jax_ttt.networks import q_network
from jax_ttt.players import saved_agents
from jax_ttt.solver.corrections import Corrections

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
    first, last = params["layer0"], params["layer1"]
    if name not in ("equal scores", "halves", "limits", "middle first"):
        return params
    last["bias"] *= 0
    if name == "halves":  # where a sum is odd
        first["kernel"], first["bias"] = np.sign(first["kernel"]), 0 * first["bias"]
        first["scale"] = np.full(8, 0.5, np.float32)
        return params
    last["kernel"] *= 0
    if name == "middle first":
        last["bias"] = np.array([3, 2, 5, 4, 1], np.int32)
    elif name == "limits":  # an activation of 128 would choose column 0, one of 127 not
        first["scale"] *= 1000
        last["kernel"] = last["kernel"].at[0, 0].set(2)
        last["bias"] = np.array([0, 255, 0, 0], np.int32)
    return params


def in_integers(name, agent):
    """Return an agent with weights that are integers."""
    env_id = agent.config.env_id
    # The activations of one board set the scales, so those of others are too large.
    start = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(0), 1)
    params = q_network.to_integers(agent.network, agent.params, start.observation)
    return dataclasses.replace(agent, params=special(name, params))


@functools.cache
def corrected(name):
    """Return an untrained agent of integers with corrections, so that it can't lose."""
    fields = {"env_id": small_boards.ENV_ID, "hidden_size": 8} | NETWORKS[name]
    agent = in_integers(name, tiny.untrained(Config.of(**fields)))
    return jax_ttt.correct(agent, precision="int8").agent


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


@pytest.mark.slow
@pytest.mark.parametrize("seat", SEATS)
def test_the_shipped_agent_of_5x4_is_proven_with_the_counts_of_its_grade(seat, check):
    grade = saved_agents.load_agent(ALL["connect-5x4"]).grade.seat(seat)
    assert grade is not None
    assert grade.positions is not None
    code, out, _ = check(ALL["connect-5x4"].read_bytes(), seat)
    assert code == 0
    assert levels(out, seat) == (list(grade.positions), [0] * len(grade.positions))


def replayed(line):
    """Return the board after a game such as `X2 O1`."""
    board = "-" * 16
    for move in line.split():
        column = int(move[1:]) - 1
        assert move[0] == small_boards.mover(board)
        assert column in small_boards.moves(board)
        board = small_boards.after(board, column)
    return board


def test_the_lost_game_is_one_that_the_agent_plays(check):
    """Here on a board with a middle column, where images of a move are one move."""
    config = Config.of(env_id="connect_5x4", hidden_size=8, hidden_layers=1)
    agent = in_integers("middle first", tiny.untrained(config))
    code, _, error = check(agent)
    assert code == 1
    line = [int(move[1:]) - 1 for move in error.split(": ")[1].split()]
    game = Game.start("connect_5x4", line)
    assert game.result("first") == "lost"
    assert line[0] == 2
    for number in range(0, len(line), 2):
        before = game.back_to(number)
        assert before.move_of(agent.player, jax.random.key(0)) == line[number]


def with_corrections(agent, keys, actions):
    return dataclasses.replace(agent, corrections=Corrections(keys, actions))


def is_proven(agent, seat):
    """Return whether the package proves the agent; it may refuse its corrections."""
    try:
        return jax_ttt.prove(agent, seat=seat).unbeatable
    except jax_ttt.Refused as error:
        if "never needs" not in str(error):
            raise
        return False


@pytest.mark.fault
def test_without_a_correction_it_is_shown_how_the_agent_loses(agent, check):
    """The file's grade still says that it is proven."""
    keys, actions = agent.corrections.keys, agent.corrections.actions
    for seat, other in (SEATS, SEATS[::-1]):
        seats = agent.corrections.seats(small_boards.ENV_ID)
        for place in np.flatnonzero(np.equal(seats, seat))[::70]:
            rest = np.arange(len(keys)) != place
            fewer = with_corrections(agent, keys[rest], actions[rest])
            code, _, error = check(fewer, seat)
            assert code == 1
            assert not is_proven(fewer, seat)
            _, game = error.split(": ")
            winner = small_boards.winner(replayed(game))
            assert winner == {"first": "X", "second": "O"}[other]
            # It is not needed in the other seat.
            assert check(fewer, other)[0] == 0


@pytest.mark.fault
def test_an_agent_that_draws_does_not_win_every_game(agent, check):
    code, _, error = check(agent, goal="win")
    assert code == 1
    assert "does not win this game" in error
    assert small_boards.winner(replayed(error.split(": ")[1])) != "X"


@pytest.mark.fault
def test_a_correction_that_is_never_reached_is_refused(agent, check):
    """Only the least key of a board and its image is looked up. So says the package."""
    keys, actions = agent.corrections.keys, agent.corrections.actions
    image = max(
        sum((key >> 5 * column & 31) << 15 - 5 * column for column in range(4))
        for key in keys.tolist()
    )
    assert image not in keys
    place = np.searchsorted(keys, image)
    more = np.insert(keys, place, image), np.insert(actions, place, 0)
    other = with_corrections(agent, *more)
    code, _, error = check(other)
    assert (code, "not reached" in error) == (2, True)
    with pytest.raises(jax_ttt.Refused, match="1 correction X never needs"):
        jax_ttt.prove(other)


@pytest.fixture(scope="module")
def forgery(agent):
    return Forgery(saved_agents.agent_bytes(agent))


@pytest.fixture
def refused(check, tmp_path):
    """Return a function that returns why the checker refuses a file.

    The package must refuse the file too.
    """

    def refused(content):
        path = tmp_path / "forged.safetensors"
        path.write_bytes(content)
        with pytest.raises(AgentError):
            saved_agents.load_agent(path)
        code, _, error = check(content)
        assert code == 2
        return error

    return refused


def test_a_file_that_another_program_wrote_is_checked(forgery, check, tmp_path):
    path = tmp_path / "agent.safetensors"
    path.write_bytes(forgery.content())
    saved_agents.load_agent(path)
    assert check(forgery.content())[0] == 0


@pytest.mark.fault
def test_damaged_files_are_refused(forgery, refused):
    content = forgery.content()
    damaged = [b"", b"{}" * 99, content[:-1], content[:200], content + b"\0"]
    place = len(content) - 30
    damaged.append(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    for other in damaged:
        refused(other)
    for sha256 in ("0" * 64, forgery.digest().upper(), "-"):
        changed = "its contents were changed"
        assert changed in refused(forgery.content(sha256=sha256)), sha256


WRONG_VALUES = {
    "version": (1, True, 2.0, "2\n\x1b[1mproven", None, 10**30),
    "kind": ("checkpoint", None),
    "config.env_id": ("connect_9x9", "connect_4x5", "tic_tac_toe", 4, None),
    "config.canonical": (None, 1, "true"),
    "config.two_planes": (False, 1),
    "config.filters": (0, 4, -3, True, 3.0),
    "config.hidden_size": (9, 0, -8, 8.0, "8", 2**15),
    "config.hidden_layers": (1, 3, -1, True, 17, 10**12),
    "config.activation": ("tanh", "sigmoid", None),
    "config.network": ("table", "cnn", None),
    "config.unknown": (1,),
    "config.backup": ("two-ply", "three-ply", None),
}


@pytest.mark.fault
def test_other_descriptions_are_refused(forgery, refused):
    """With the right checksum."""
    for path, values in WRONG_VALUES.items():
        for value in values:
            refused(forgery.but(path, value).content())


@pytest.mark.fault
def test_a_description_that_is_not_strict_json_is_refused(forgery, refused):
    texts = {
        "version 1 first": lambda text: '{"version": 1, ' + text[1:],
        "twice the same": lambda text: text[:-1] + ', "version": 3}',
        "within": lambda text: text.replace(
            '"canonical": true', '"canonical": false, "canonical": true'
        ),
        "not a number": lambda text: text.replace('"seed": 0', '"seed": NaN'),
        "mark of the order of bytes": lambda text: "\ufeff" + text,
        "more": lambda text: text + "}",
        "a list": lambda text: f"[{text}]",
    }
    for change in texts.values():
        refused(forgery.content(text=change))


def with_entry(name, **fields):
    """Return a function that changes a tensor's entry in a header."""
    return lambda entries: entries | {name: entries[name] | fields}


@pytest.mark.fault
def test_headers_that_are_not_exact_are_refused(forgery, refused):
    """Each byte belongs to one tensor, and each name stands once."""
    start = {"dtype": "I32", "shape": [8], "data_offsets": [0, 32]}
    twice = json.dumps({"layer0.bias": start})[1:-1]
    name = next(iter(forgery.tensors))  # its bytes are the first
    length, shape = forgery.tensors[name].nbytes, [*forgery.tensors[name].shape]
    for change in (
        with_entry(name, data_offsets=[0.0, length]),
        with_entry(name, data_offsets=[False, length]),
        with_entry(name, data_offsets=[0, length - 1]),
        with_entry(name, data_offsets=[1, length]),
        with_entry(name, data_offsets=[0, length, length]),
        with_entry(name, data_offsets=[0, 10**9]),
        with_entry(name, data_offsets=[-1, length]),
        with_entry("layer0.bias", **start),  # two tensors share bytes
        with_entry(name, shape=[-shape[0], -1]),
        with_entry(name, shape=[-1]),
        with_entry(name, shape=[float(shape[0])]),
        with_entry(name, shape=[1, *shape]),
        with_entry(name, shape=shape[0]),
        with_entry(name, dtype="F64"),
        with_entry(name, dtype="X"),
        lambda entries: {"more": start, **entries},
    ):
        refused(forgery.content(entries=change))
    for change in (
        lambda text: f"{{{twice}, {text[1:]}",
        lambda text: f"{text[:-1]}, {twice}}}",
        lambda text: text.replace('{"jax_ttt":', '{"jax_ttt": "", "jax_ttt":'),
        lambda text: f"{text[:-1]}, " + '"__metadata__": {"jax_ttt": "{}"}}',
        lambda text: f"{text} []",
    ):
        refused(forgery.content(header=change))


@pytest.mark.fault
def test_other_tensors_are_refused(forgery, refused, agent, check):
    for name, tensor in forgery.tensors.items():
        field, layer = name.replace(".", "__"), name.split(".")[0]
        others = [tensor[..., None], tensor.astype("<i8"), tensor.astype("<f8")]
        others.append(tensor.reshape(-1)[1:])
        if tensor.dtype.kind == "i":
            # The first ones stand for the same numbers.
            others += [tensor.astype(dtype) for dtype in ("<i4", "<i2", "|i1")]
            others += [np.full(tensor.shape, x, "<i4") for x in (2**31 - 1, -(2**31))]
            others.append(tensor.astype("<f4"))
        for other in others:
            if (other.dtype, other.shape) != (tensor.dtype, tensor.shape):
                refused(forgery.but(**{field: other}).content())
        if layer != "corrections":
            assert layer in refused(forgery.but(**{field: None}).content())
        wrong = {
            "bias": (2**31 - 1, -(2**31), 2**24, -(2**24)),
            "scale": (np.nan, np.inf, 0, -1),
        }.get(name.split(".")[1], ())
        for number in wrong:
            other = tensor.copy()
            other.flat[0] = number
            error = refused(forgery.but(**{field: other}).content())
            assert layer in error
            assert "sums of" in error or not name.endswith("bias")
    for more in ({"layer9__kernel": np.zeros(3, "i1")}, {"x": np.zeros(0, "i1")}):
        refused(forgery.but(**more).content())
    floats = dataclasses.replace(agent, params=tiny.untrained(agent.config).params)
    assert check(floats)[0] == 2


@pytest.mark.fault
def test_wrong_corrections_are_refused_those_of_the_other_seat_too(forgery, refused):
    for reason, content in wrong_corrections(forgery):
        assert reason in refused(content)
    keys = forgery.tensors["corrections.keys"]
    actions = forgery.tensors["corrections.actions"]
    for other_keys, other_actions in (
        (keys[:0], actions[:0]),
        (keys[:, None], actions[:, None]),
        (None, actions),
        (keys, None),
        (keys, actions[1:]),
    ):
        refused(with_columns(forgery, other_keys, other_actions))


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
