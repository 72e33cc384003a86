"""The settings as keywords for editors: the file of the package is up to date."""

from typing import Literal, get_args, get_type_hints

from flax import nnx

from jax_ttt.api.keywords import Settings
from jax_ttt.config.settings import setting_types
from tools import make_keywords


def test_the_file_in_the_package_is_up_to_date():
    text = make_keywords.PATH.read_text("utf-8")
    assert text == make_keywords.page(), "the file is old: run make keywords"


def test_a_type_has_the_words_and_none_of_the_setting_but_no_range():
    kinds = get_type_hints(Settings)
    assert list(kinds) == list(setting_types())
    assert kinds["learning_rate"] is float
    assert kinds["num_envs"] is int
    assert kinds["double"] is bool
    assert kinds["env_id"] is str
    assert kinds["first_move"] == int | None
    assert kinds["activation"] == Literal["relu", "tanh", "sigmoid"]
    assert get_args(kinds["network"]) == (Literal["mlp", "table"], type[nnx.Module])
