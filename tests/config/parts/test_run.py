"""Which runs can be proven."""

import pytest

from jax_ttt.config.parts.run import RunSettings


@pytest.mark.parametrize(
    ("env_id", "start_share", "expected"),
    [
        ("tic_tac_toe", 0.0, True),  # its tree is enumerated
        ("connect_4x4", 0.5, True),  # by a search of what the agent reaches
        ("connect_4x4", 0.0, False),
        ("go_9x9", 0.0, False),
    ],
)
def test_a_run_can_be_proven_by_the_tree_or_by_counterexamples(
    env_id, start_share, expected
):
    settings = RunSettings(env_id=env_id, start_share=start_share)
    assert settings.can_be_proven is expected
