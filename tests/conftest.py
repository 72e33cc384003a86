"""What the tests share: the tree of tic-tac-toe and its exact values."""

import contextlib
import ctypes
import gc
import os
from importlib.metadata import version
from pathlib import Path

from jax_ttt.runtime import compile_cache

# XLA's older code generator compiles faster. Later releases do not have the flag, and
# an unknown flag aborts the process.
OLDER = "--xla_cpu_use_fusion_emitters=false"
FLAGS = os.environ.get("XLA_FLAGS", "").split()
if (0, 6) <= tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 11):
    # Once: the flags of xdist's workers are those of the process that started them.
    os.environ["XLA_FLAGS"] = " ".join([*(x for x in FLAGS if x != OLDER), OLDER])

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(os.environ.get("TEST_PROGRAMS", ROOT / ".test_programs"))
"""Where compiled programs are kept: for both workers, the commands that tests start,
and the next time. Never the user's folder. `make clean` removes it."""
JAX_SETTINGS = {
    "jax_enable_compilation_cache": True,
    "jax_compilation_cache_dir": str(PROGRAMS / compile_cache.folder().name),
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    # Nearly all of the tests' time is compiling.
    "jax_disable_most_optimizations": True,
}
os.environ |= {name.upper(): str(value) for name, value in JAX_SETTINGS.items()}

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax_ttt.config.presets import PRESETS
from jax_ttt.config.settings import Config
from jax_ttt.envs import positions
from jax_ttt.envs import tree as trees
from jax_ttt.networks import q_network
from jax_ttt.players import agents, players, registry
from jax_ttt.players.agents import Agent
from jax_ttt.players.network import network_of
from jax_ttt.reports import text_board
from jax_ttt.runtime import devices, process
from jax_ttt.solver import minimax
from jax_ttt.training import programs

for name, value in JAX_SETTINGS.items():  # a plugin may have imported JAX before
    jax.config.update(name, value)
jax.config.update("jax_numpy_rank_promotion", "raise")
# A busy machine is no failure; each run tries other values.
hypothesis.settings.register_profile("tests", deadline=None, max_examples=30)
hypothesis.settings.load_profile("tests")


@pytest.fixture(autouse=True)
def programs_are_kept():
    """Keep compiled programs after a test of who wants none kept."""
    yield
    jax.config.update("jax_enable_compilation_cache", True)


MOST_MIB = 900


@pytest.fixture(autouse=True, scope="module")
def bounded_memory():
    """Let go of programs after a file where they have become many; they are on disk."""
    yield
    if memory_mib() > MOST_MIB:
        programs._compiling.cache_clear()
        jax.clear_caches()
        gc.collect()
        give_back_memory()


def memory_mib():
    """Return the memory that the process has now; without /proc, the most it had."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return process.peak_mib() or 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def give_back_memory():
    """Return freed memory to the system, where the C library can: else it stays ours."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


@pytest.fixture(autouse=True, scope="session")
def no_amx():
    """Where nothing else is asked for, test float32 arithmetic on every CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "has_amx", lambda: False)
        yield


@pytest.fixture
def optimized():
    """Compile with optimizations: a long training then takes less time in total."""
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture
def promoted_ranks():
    """Some of PGX's games add arrays of different ranks."""
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="session")
def tree():
    return trees.game_tree("tic_tac_toe")


@pytest.fixture(scope="session")
def host_tree():
    """The same tree of NumPy arrays."""
    return trees.host_tree("tic_tac_toe")


@pytest.fixture(scope="session")
def boards(host_tree):
    """The positions' boards, as `rules` writes them."""
    return [
        text_board.cells_as_text(host_tree, p) for p in range(host_tree.num_positions)
    ]


@pytest.fixture(scope="session")
def position(boards):
    """The positions by their boards."""
    return {board: p for p, board in enumerate(boards)}


@pytest.fixture(scope="session")
def values(host_tree):
    """Minimax values of all positions, to the first player."""
    return minimax.values(host_tree)


@pytest.fixture(scope="session")
def q_star(tree, values):
    """Exact action values to the mover; junk where illegal and where it is over."""
    to_mover = np.where(tree.first_to_move, 1, -1)[:, None]
    legal = np.asarray(tree.legal_action_mask)
    junk = np.random.default_rng(0).uniform(0.9, 5, legal.shape)
    return np.where(legal, values[np.asarray(tree.successor)] * to_mover, junk).astype(
        np.float32
    )


@pytest.fixture(scope="session")
def row_by_row(host_tree):
    """Return who plays the first free cell: easily beaten."""
    legal = host_tree.legal_action_mask
    probs = (legal & (legal.cumsum(axis=1) == 1)).astype(float)
    player = players.policy_player(positions.index("tic_tac_toe"), probs)
    return registry.Entrant("row by row", player, probs)


@pytest.fixture
def drawn(monkeypatch):
    """Return a function that draws and returns the figure of a picture."""
    from matplotlib.figure import Figure

    figures = []
    savefig = Figure.savefig

    def kept(figure, *args, **kwargs):
        figures.append(figure)
        savefig(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", kept)

    def draw(function, *args, **kwargs):
        function(*args, **kwargs)
        return figures.pop()

    return draw


@pytest.fixture
def small():
    """Return the settings of the article, made small."""
    return PRESETS["article"].replace(
        num_envs=32,
        hidden_size=16,
        num_updates=24,
        eval_every=10,
        eval_games=2048,
    )


@pytest.fixture
def growth_figures():
    """Return figures as `growth` gives them, an update of 2 ms where not told."""

    def rows(*medians):
        return [
            {"size": 4**i, "min": m / 2, "median": m, "max": 2 * m}
            for i, m in enumerate(medians)
        ]

    return {
        "num_envs": rows(2.0, 2.0),
        "hidden_size": rows(2.0, 2.0),
        "num_seeds": {"loop": rows(2.0, 3.0), "vmap": rows(2.0, 0.5)},
    }


@pytest.fixture(scope="session")
def one_seat(host_tree, q_star, tmp_path_factory):
    """Return the file of a table that is perfect as X and the worst as O."""
    path = tmp_path_factory.mktemp("one-seat") / "agent.safetensors"
    config = Config.of(
        network="table", canonical=False, opponent="random", seat="first", eval_games=0
    )
    first = host_tree.first_to_move[:, None]
    params = q_network.init_params(network_of(config.architecture), jax.random.key(0))
    worst_as_second = jnp.asarray(np.where(first, q_star, -q_star))
    params = jax.tree.map(lambda _: worst_as_second, params)
    agents.save_agent(Agent(config, params, 5, 0), path)
    return path
