"""Where a refused setting comes from."""

import pytest

from jax_ttt.config.command_line.origins import origin
from jax_ttt.config.errors import SettingError
from jax_ttt.config.presets import PRESETS

TABLE = PRESETS["table"]


def hint(field, rule, value, given, grid=None):
    error = SettingError(field, rule, value)
    return origin(error, "preset table", TABLE, given, grid or {})


@pytest.mark.parametrize(
    ("field", "rule", "given", "said"),
    [
        (
            *("backup", "one-ply against an opponent", ["opponent"]),
            "set by preset table; add --backup one-ply",
        ),
        (
            *("backward", "false in hex", []),
            "set by preset table; add --no-backward",
        ),
        (
            *("replay_capacity", "0 or at least 1,000 (num_envs)", ["num_envs"]),
            "set by preset table; add --replay-capacity 0",
        ),
        (
            *("hidden_size", "left out: it has no effect with network table"),
            *(
                ["hidden_size"],
                "network table is set by preset table; add --network mlp",
            ),
        ),
        (
            *("lockstep", "left out: it has no effect with num_envs 1", ["lockstep"]),
            f"num_envs {TABLE.run.num_envs} is set by preset table; "
            "--num-envs changes it",
        ),
        ("tau", "at most 1", ["tau"], ""),
        ("double", "false with a two-ply backup", ["double", "backup"], ""),
    ],
)
def test_the_source_and_the_flag_are_named(field, rule, given, said):
    assert hint(field, rule, "a value", given) == said


def test_a_grid_is_named_before_the_preset():
    grid = {"backup": ("one-ply", "two-ply")}
    said = hint("backup", "one-ply against an opponent", "two-ply", ["opponent"], grid)
    assert said == "set by --grid backup=one-ply,two-ply"


def test_the_flag_that_is_named_ends_the_contradiction():
    said = hint("backup", "one-ply against an opponent", "two-ply", ["opponent"])
    changed = TABLE.replace(opponent="minimax", backup=said.rpartition(" ")[2])
    assert changed.opponent.opponent == "minimax"
