"""The records of the games agree with PGX, and a new game needs one record."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pgx
import pytest

import jax_ttt
from jax_ttt.config import game_facts
from jax_ttt.config.game_facts import ENUMERABLE, GAMES
from jax_ttt.games import line_games, pgx_games

FAST = "tic_tac_toe", "connect_four"


@pytest.mark.usefixtures("promoted_ranks")
@pytest.mark.parametrize(
    "env_id",
    [
        pytest.param(game, marks=() if game in FAST else pytest.mark.slow)
        for game in GAMES
    ],
)
def test_a_record_agrees_with_pgx(env_id):
    game = GAMES[env_id]
    (*shape, channels), num_actions = pgx_games.sizes(env_id)
    assert tuple(shape) == game.shape
    num_cells = shape[0] * shape[1]
    # A last action may be to pass, or to swap sides.
    named = {num_cells: "cells", num_cells + 1: "cells", shape[1]: "columns"}
    assert game.moves_on == named.get(num_actions)
    if game.pgx_id is None:  # a game of our own
        assert isinstance(pgx_games.make_env(env_id), line_games.LineGame)
        assert game.in_a_row == 4
    else:
        assert game.pgx_id in pgx.available_envs()
    if game.stones:  # own less other's: one plane of +1 and -1
        assert channels == 1
    for symmetry in game.symmetries:
        assert len(symmetry.cells) == num_cells
        assert len(symmetry.actions) == num_actions


def test_the_enumerable_games():
    """All that needs the tree needs the length, and stones that can be numbered."""
    assert ENUMERABLE == ("tic_tac_toe",)
    for env_id in ENUMERABLE:
        assert GAMES[env_id].max_moves == 9
        assert GAMES[env_id].stones


def test_symmetries_need_stones():
    with pytest.raises(ValueError, match="go_9x9: symmetries need stones"):
        game_facts.GameFacts(
            pgx_id="go_9x9", shape=(9, 9), symmetries=game_facts.square_views(9)
        )


def test_what_the_seats_are_called():
    assert game_facts.seat_name("tic_tac_toe", "first") == "X"
    assert game_facts.seat_name("tic_tac_toe", "second") == "O"
    assert game_facts.seat_name("hex", "second") == "second"


def test_symmetries_are_written_as_the_board_is_seen():
    """A quarter turn of 3 x 3, and Connect Four's mirror image."""
    turned = game_facts.square_views(3)[2]
    assert turned.cells == (2, 5, 8, 1, 4, 7, 0, 3, 6)
    assert turned.actions == turned.cells
    _, mirror = game_facts.column_views(2, 3)
    assert mirror == ((2, 1, 0, 5, 4, 3), (2, 1, 0))


RECORD = """
    "go_19x19": Game(pgx_id="go_19x19", shape=(19, 19), moves_on="cells"),
}
\"\"\"The games, by"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs code with a package that has one more record."""
    folder = tmp_path_factory.mktemp("new-game")
    package = Path(jax_ttt.__file__).parent
    shutil.copytree(package, folder / "jax_ttt", ignore=shutil.ignore_patterns("*.pyc"))
    path = folder / "jax_ttt" / "config" / "catalogue.py"
    before = path.read_text("utf-8")
    after = before.replace('\n}\n"""The games, by', RECORD)
    assert len(after.splitlines()) == len(before.splitlines()) + 1
    path.write_text(after, "utf-8")

    def run(code, *args):
        return subprocess.run(
            [sys.executable, "-c", code, *args],
            env=os.environ | {"PYTHONPATH": str(folder)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_a_new_game_takes_one_record(run):
    done = run(
        "from jax_ttt import cli\n"
        "from jax_ttt.train import COMMAND\n"
        "from jax_ttt.games import pgx_games\n"
        "args = cli.parse(COMMAND, ['--env-id', 'go_19x19'])\n"
        "assert args.preset == 'plain'\n"
        "assert args.config.env_id == 'go_19x19'\n"
        "print(*pgx_games.sizes('go_19x19'))\n"
    )
    assert done.stdout == "(19, 19, 17) 362\n", done.stderr


@pytest.mark.slow
def test_a_new_game_is_learned(run, tmp_path):
    folder = tmp_path / "run"
    flags = "--env-id go_19x19 --num-envs 2 --num-updates 2 --eval-every 2 --quiet"
    done = run(
        "import runpy\nrunpy.run_module('jax_ttt.train', run_name='__main__')",
        *f"{flags} --hidden-size 8 --eval-games 2 --run-dir {folder}".split(),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nothing is proven: ")
    assert (folder / "agent.safetensors").exists()
