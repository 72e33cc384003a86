"""A refusal says where the values come from that the user did not give."""

import pytest

from jax_ttt.config.errors import SettingError
from jax_ttt.config.origins import naming_origins
from jax_ttt.config.presets import PRESETS


@pytest.mark.parametrize(
    ("preset", "fields", "origin"),
    [
        ("plain", {"reward_draw": 0.5}, "opponent self is from preset plain"),
        ("default", {"epsilon_start": 0.05}, "from preset default"),
        ("tictac-q", {"reward_win": -1.0}, "from preset tictac-q"),
        ("matlab", {"network": "mlp"}, "learning_rate 1.0 is from preset matlab"),
        ("plain", {"tau": 2.0}, ""),
        ("plain", {"epsilon_start": 0.1, "epsilon_end": 0.2}, ""),
    ],
)
def test_the_preset_is_named_unless_the_user_gave_all(preset, fields, origin):
    config = PRESETS[preset]
    source = f"preset {preset}"
    with pytest.raises(SettingError) as error, naming_origins(config, source, fields):
        config.replace(**fields)
    assert error.value.origin == origin
    assert str(error.value).endswith(
        f"({origin})" if origin else repr(error.value.value)
    )


@pytest.mark.parametrize(
    ("grid", "origin"),
    [
        ({"backup": ("two-ply",)}, "from --grid backup=two-ply"),
        (
            {"opponent": ("self", "random")},
            "from preset table; opponent is from --grid opponent=self,random",
        ),
    ],
)
def test_a_grid_is_named_where_a_value_comes_from_it(grid, origin):
    config = PRESETS["table"]
    with (
        pytest.raises(SettingError) as error,
        naming_origins(config, "preset table", ["opponent"], grid),
    ):
        config.replace(opponent="random")
    assert error.value.origin == origin


def test_what_is_no_setting_has_no_origin():
    with (
        pytest.raises(SettingError) as error,
        naming_origins(PRESETS["plain"], "preset plain", []),
    ):
        raise SettingError("seed", "a whole number", "x")
    assert error.value.origin == ""
