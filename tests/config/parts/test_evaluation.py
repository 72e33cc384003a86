"""The number of games of an evaluation's match."""

import pytest

from jax_ttt.config.parts.evaluation import EvaluationSettings
from jax_ttt.config.presets import PRESETS


@pytest.mark.parametrize("is_exact", [False, True])
@pytest.mark.parametrize("eval_games", [0, 8])
def test_a_given_number_is_played_beside_exact_results_too(eval_games, is_exact):
    settings = EvaluationSettings(eval_games=eval_games)
    assert settings.num_games(is_exact) == eval_games


def test_by_default_a_match_is_played_where_no_result_is_exact():
    assert EvaluationSettings().num_games(is_exact=False) == 1024
    assert EvaluationSettings().num_games(is_exact=True) == 0


def test_article_plays_the_match_of_its_original():
    assert PRESETS["article"].evaluation.num_games(is_exact=True) == 1024
