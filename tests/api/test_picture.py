"""The one function that draws: what it takes, what it writes, what it refuses."""

import jax
import jax.numpy as jnp
import pgx
import pytest

import jax_ttt
from jax_ttt.api.run import Runs


def test_it_draws_moves_and_results(run, tmp_path, promoted_ranks):
    path = tmp_path / "board.svg"
    board = jax_ttt.draw([4, 0], path)
    assert path.read_text("utf-8") == board.svg
    assert jax_ttt.draw([4, 0], theme="dark").svg != board.svg
    assert jax_ttt.draw([3], env_id="connect_four").svg != board.svg
    values = jax_ttt.q_values(run.agent, [4, 0])  # a mapping too, but not of runs
    runs = {"all": Runs(run.config, (run,))}
    for thing in (run, run.agent, values, runs, jax_ttt.prove("random")):
        assert "</svg>" in jax_ttt.draw(thing).svg


def test_it_draws_states_of_pgx():
    env = pgx.make("tic_tac_toe")
    start = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 4))
    after = jax.vmap(env.step)(start, jnp.array([4, 0, 8, 4]))
    one = jax.tree.map(lambda x: x[0], after)
    assert jax_ttt.draw(one).svg == jax_ttt.draw([4]).svg
    assert jax_ttt.draw(after).svg != jax_ttt.draw(start).svg
    game = jax_ttt.draw([start, after]).svg
    assert "@keyframes" in game
    assert "@keyframes" not in jax_ttt.draw(after).svg


def test_an_illegal_move_is_refused():
    with pytest.raises(jax_ttt.Refused, match="4 is no legal move"):
        jax_ttt.draw([4, 4])


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_it_says_what_to_install(run):
    with pytest.raises(jax_ttt.Refused, match=r"pip install 'jax_ttt\[plots\]'"):
        jax_ttt.draw(run)
    assert "</svg>" in jax_ttt.draw([4]).svg
