"""The settings that a run wrote: what is read, and what is refused."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_ttt.config.errors import UsageError
from jax_ttt.config.presets import PRESETS
from jax_ttt.results.saved_settings import SavedSettings, read_settings

ABOUT = {"format_version": 2, "preset": "table", "seed": 7, "config": {}}


@pytest.mark.parametrize("preset", PRESETS)
def test_what_a_run_wrote_is_read(preset, tmp_path):
    config = PRESETS[preset]
    about = ABOUT | {"preset": preset, "config": config.as_dict()}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(about))
    assert read_settings(file) == SavedSettings(config, preset, 7)
    assert read_settings(tmp_path) == read_settings(file)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"config": {"tau": 2.0}}, "tau must be a number above 0 and at most 1, got 2"),
        ({"config": {"nonsense": 1}}, "nonsense must be absent"),
    ],
)
def test_what_no_run_writes_is_refused(wrong, why, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(ABOUT | wrong))
    with pytest.raises(UsageError, match=f"not a run's settings .*{why}"):
        read_settings(tmp_path)


@pytest.mark.parametrize("version", [0, 99, True, "3", None, 3.0])
@pytest.mark.fault
def test_another_version_is_named(version, tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps(ABOUT | {"format_version": version})
    )
    reason = f"format version {version!r}; this program reads 1, 2 and 3"
    with pytest.raises(UsageError, match=reason):
        read_settings(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
)
SETTINGS = st.fixed_dictionaries(
    {name: st.just(value) for name, value in ABOUT.items()}
    | {
        "seed": JSON,
        "config": st.dictionaries(
            st.sampled_from(sorted(PRESETS["table"].as_dict())), JSON
        ),
    }
)
HOSTILE = ("[" * 100_000, '{"a":' * 1000 + "1" + "}" * 1000, "1" * 5000, '"\\ud800"')


@pytest.mark.fault
@given(
    text=st.text()
    | (JSON | SETTINGS).map(json.dumps)
    | st.sampled_from([*HOSTILE, " " * 2**20 + "{}"])
)
def test_any_text_gives_settings_or_is_refused_in_one_line(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any-config.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read_settings(path)
    except UsageError as error:
        message = str(error).removeprefix(str(path))
        assert message.isprintable()
        assert len(message) < 500


@pytest.mark.fault
def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "config.json").mkdir()
    for path in (tmp_path / "fifo", tmp_path):
        with pytest.raises(UsageError, match="not a regular file"):
            read_settings(path)


def test_a_file_that_is_absent_or_no_json_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"none\.json: no such file"):
        read_settings(tmp_path / "none.json")
    (tmp_path / "config.json").write_text("[")
    with pytest.raises(UsageError, match="not a run's settings"):
        read_settings(tmp_path)
    for field in ABOUT.keys() - {"format_version"}:  # the first runs wrote none
        about = {name: value for name, value in ABOUT.items() if name != field}
        (tmp_path / "config.json").write_text(json.dumps(about))
        with pytest.raises(UsageError, match=f"KeyError.*{field}"):
            read_settings(tmp_path)
