"""Shared fixtures: the tree of tic-tac-toe, its exact values, players and settings.

`conftest` imports this where tests run or are listed.
"""

import gc
import json
import os
import signal
from pathlib import Path

import as_users
import filelock
import hypothesis
import jax
import jaxtyping
import layout
import numpy as np
import player_programs
import pytest
import quick  # before jax_ttt
import tiny

import jax_ttt
from jax_ttt.config.game_facts import GAMES
from jax_ttt.config.settings import Config
from jax_ttt.config.shared_flags import DistributedFlags
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.players import saved_agents
from jax_ttt.players.player import Player, policy_player
from jax_ttt.runtime import devices, mesh
from jax_ttt.solver import policies
from jax_ttt.text import board_text

_TESTS = Path(__file__).parent

if not quick.AS_USERS:
    jax.config.update("jax_numpy_rank_promotion", "raise")
# Without a deadline, since the machine may be busy.
hypothesis.settings.register_profile("tests", deadline=None, max_examples=30)
hypothesis.settings.load_profile("tests")

# A job in the background, or under nohup, ignores these signals, and so would the
# processes that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# The imports of the tests' files make many objects that stay.
gc.disable()

_WITH_TRAININGS = ("web", "training", "faults", "api", "files")
"""Folders of tests that train with the same few programs; those in no folder do too."""
_WITH_OWN_GAMES = ("test_large_search.py", "test_own_rules.py", "test_walk.py")


def pytest_collection_modifyitems(items):
    """Put the tests with trainings last, so that fewer workers need their programs.

    The longest are among the first of these, since a worker that has nothing left can't
    take a part of a test. Files that register games are last: to forget these drops
    all compiled programs.
    """

    def place(item):
        if item.path.name in _WITH_OWN_GAMES:
            return len(_WITH_TRAININGS) + 1
        if item.path.parent == _TESTS:
            return len(_WITH_TRAININGS)
        for number, folder in enumerate(_WITH_TRAININGS):
            if _TESTS / folder in item.path.parents:
                return number
        return -1

    items.sort(key=place)


def pytest_collection_finish():
    """Freeze the objects so far and collect less often: tracing makes many objects.

    They are not collected before, since nearly all of them are needed.
    """
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    gc.enable()


def pytest_sessionfinish(session):
    """Freeze all objects: to collect garbage at a worker's end takes seconds.

    Nobody is told what it finds there.
    """
    if hasattr(session.config, "workerinput"):
        gc.freeze()


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    """Let the terminal have 80 columns; a test may set another number."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def program_cache_is_on():
    """Turn JAX's cache on again after a test that turned it off."""
    yield
    jax.config.update("jax_enable_compilation_cache", True)


@pytest.fixture(autouse=True, scope="module")
def same_games():
    """Forget the games that the tests of a file register, and what is compiled of them.

    So each test of a file has another name for its game.
    """
    before = set(GAMES)
    yield
    if new := GAMES.keys() - before:
        for name in new:
            del GAMES[name]
        pgx_games.forget_games()


@pytest.fixture(autouse=True, scope="module")
def bounded_memory():
    """Keep the memory of a worker below 3 GB."""
    yield
    quick.keep_memory_bounded()


@pytest.fixture(autouse=True, scope="session")
def quick_product():
    """Compute in float32 on every CPU; `TESTS_AS_USERS=1` leaves this out."""
    with pytest.MonkeyPatch.context() as patch:
        if not quick.AS_USERS:
            patch.setattr(devices, "has_bfloat16", lambda: False)
        yield


@pytest.fixture
def optimized():
    with quick.optimized():
        yield


@pytest.fixture
def spread():
    """Return a function that returns the mesh of so many devices."""
    return lambda number: (
        mesh.use_devices("auto", DistributedFlags(devices=str(number))).mesh
    )


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """Return the folder, stdout and stderr of a run with the flags of `tiny`.

    One worker trains it, and all tests only read it or take a copy.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path, output = folder / "tiny" / "runs" / "one", folder / "tiny" / "output.json"
    with filelock.FileLock(folder / "tiny.lock"):
        if not output.exists():
            with pytest.MonkeyPatch.context() as patch:
                # The tests' workers may have it; then long lines would be wrapped.
                patch.delenv("COLUMNS", raising=False)
                done = as_users.run_here("train", *tiny.flags(), "--run-dir", path)
            output.write_text(json.dumps(done))
    code, out, err = json.loads(output.read_text())
    assert code == 0, err
    return path, out, err


@pytest.fixture
def write_program(tmp_path):
    """Return a function that writes a program; nothing may hang or stay behind."""
    programs = []

    def write(*args, folder=tmp_path, **kwargs):
        programs.append(player_programs.PlayerProgram(folder, *args, **kwargs))
        return programs[-1]

    with as_users.limited(seconds=100):
        yield write
        assert [pid for program in programs for pid in program.left_running()] == []


@pytest.fixture
def trained_once(monkeypatch):
    """Let examples with the same training share its result."""
    for name in ("train", "train_many"):
        once = quick.train_once(getattr(jax_ttt, name))
        monkeypatch.setattr(jax_ttt, name, once)


@pytest.fixture
def promoted_ranks():
    """Allow arrays of different ranks, which some of PGX's games add."""
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="session")
def tree():
    return trees.game_tree("tic_tac_toe")


@pytest.fixture(scope="session")
def host_tree():
    """Return the tree of NumPy arrays."""
    return trees.host_tree("tic_tac_toe")


@pytest.fixture(scope="session")
def boards(host_tree):
    """Return the boards of all positions in the notation of `rules`."""
    return [
        board_text.cells_as_text(host_tree, p) for p in range(host_tree.num_positions)
    ]


@pytest.fixture(scope="session")
def position(boards):
    """Return the positions by their boards."""
    return {board: p for p, board in enumerate(boards)}


@pytest.fixture(scope="session")
def values(host_tree):
    """Return the minimax values of all positions to the first player."""
    return policies.minimax_values(host_tree)


@pytest.fixture(scope="session")
def q_star(tree, values):
    """Return exact action values to the player to move; random for illegal actions."""
    to_mover = np.where(tree.first_to_move, 1, -1)[:, None]
    legal = np.asarray(tree.legal_action_mask)
    legal_values = values[np.asarray(tree.successor)] * to_mover
    illegal_values = np.random.default_rng(0).uniform(0.9, 5, legal.shape)
    return np.where(legal, legal_values, illegal_values).astype(np.float32)


@pytest.fixture(scope="session")
def row_by_row(host_tree):
    """Return the player of the first free cell, which is easy to beat."""
    legal = host_tree.legal_action_mask
    probs = (legal & (legal.cumsum(axis=1) == 1)).astype(float)
    player = policy_player(trees.position_index("tic_tac_toe"), probs)
    return Player(
        env_id="tic_tac_toe",
        name="row by row",
        choose=player,
        policy=probs,
        evidence="construction",
    )


@pytest.fixture
def drawn():
    """Return a function that draws a picture and returns its figure."""
    return layout.drawn


@pytest.fixture(scope="session")
def one_seat(host_tree, q_star, tmp_path_factory):
    """Return the file of a table that plays perfectly as X and worst as O."""
    path = tmp_path_factory.mktemp("one-seat") / "agent.safetensors"
    config = Config.of(
        network="table", canonical=False, opponent="random", seat="first", eval_games=0
    )
    first = host_tree.first_to_move[:, None]
    worst_as_second = np.where(first, q_star, -q_star)
    params = jax.tree.map(lambda _: worst_as_second, tiny.untrained(config).params)
    saved_agents.save_agent(tiny.ungraded(config, params, seed=5), path)
    return path


_FIRST_FREE = _TESTS.parent / "docs" / "examples" / "programs" / "first_free.sh"
AGENT_FILES = {
    "THREE": "tic_tac_toe",
    "FOUR": "connect_4x4",
    "LARGE": "connect_four",
    "WIDE": "connect_7x6",
    "MNK": "mnk_4x4_4",
    "HEX": "hex",
}


@pytest.fixture(scope="session")
def agent_files(tiny_run, one_seat, tmp_path_factory):
    """Return variables for the shell: a run's folder, agents by game, and a program.

    The table `ONE_SEAT` is perfect in the seat that it learned; the others have random
    weights.
    """
    folder = tmp_path_factory.mktemp("agents")
    files: dict[str, Path] = {
        name: tiny.save_untrained(folder / f"{env_id}.safetensors", env_id=env_id)
        for name, env_id in AGENT_FILES.items()
    } | {"TINY_RUN": tiny_run[0], "ONE_SEAT": one_seat, "FIRST_FREE": _FIRST_FREE}
    return {name: str(path) for name, path in files.items()}


@pytest.fixture
def any_types():
    """Turn off the type checks of arguments, which only tests have."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
