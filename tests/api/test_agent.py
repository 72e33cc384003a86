"""Agents: saved and loaded, printed, shown in a notebook."""

from typing import Any

import pytest
import tiny

import jax_ttt


@pytest.mark.usefixtures("any_types")
def test_only_an_agent_is_saved_and_only_a_path_is_read_or_written(run, tmp_path):
    wrong: Any
    for wrong, text in (("minimax", "'minimax'"), (run, "a Run")):
        with pytest.raises(jax_ttt.Refused, match=f"save needs an .* got {text}"):
            jax_ttt.save(wrong, tmp_path / "agent.safetensors")
    for wrong in (5, None, [b"agent"]):
        with pytest.raises(jax_ttt.Refused, match=r"\Aload needs the path of an agent"):
            jax_ttt.load(wrong)
        with pytest.raises(jax_ttt.Refused, match=r"\Asave needs the path of an agent"):
            jax_ttt.save(run.agent, wrong)
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_its_results_and_its_game(agent):
    text = agent._repr_html_()
    assert "<td>tic_tac_toe</td>" in text
    assert "never loses" in text
    assert "@keyframes" in text, "an animation"


def test_in_a_large_game_no_picture_is_shown(agent):
    config = jax_ttt.PRESETS["plain"].replace(env_id="connect_four", opponent="<b>")
    large = tiny.ungraded(config, agent.params, 1)
    text = large._repr_html_()
    assert "<svg" not in text
    assert "&lt;b&gt;" in text
    with pytest.raises(jax_ttt.Refused, match="connect_four"):
        large.picture()
