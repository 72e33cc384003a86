"""Variables, streams and devices that a command does not expect."""

import pytest
import tiny

TRAIN = f"train {' '.join(tiny.flags())} --seed 3 --run-dir run"
REFUSED = {
    "JAX_ENABLE_X64=1": "PGX needs 32-bit numbers: unset JAX_ENABLE_X64",
    "JAX_DISABLE_JIT=1": "training needs compiled programs: unset JAX_DISABLE_JIT",
    "JAX_PLATFORMS=banana": "JAX_PLATFORMS must name platforms that this machine has",
}
WORKS = [
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "TERM": "dumb", "COLUMNS": "1"},
    {"HOME": None, "XDG_CACHE_HOME": None, "PYTHONOPTIMIZE": "2", "TZ": "Nowhere/At"},
    {"HOME": "/nonexistent", "PYTHONWARNINGS": "error", "PYTHONHASHSEED": "7"},
]


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("variable", REFUSED)
def test_a_variable_that_prevents_training_is_named(variable, run, tmp_path):
    name, _, value = variable.partition("=")
    code, out, err = run(TRAIN, env={name: value})
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(f"error: {REFUSED[variable]}")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize("env", WORKS, ids=[" ".join(env) for env in WORKS])
def test_a_run_works_all_the_same(env, run, tmp_path):
    code, out, err = run(TRAIN, env=env)
    assert code == 0, err
    assert "Traceback" not in err
    assert "beatable" in out
    assert (tmp_path / "run/agent.safetensors").exists()


@pytest.mark.slow
@pytest.mark.fault
def test_unknown_flags_of_xla_are_named(run):
    """XLA itself ends the process, and names the flag."""
    code, out, err = run(TRAIN, env={"XLA_FLAGS": "--xla_nonsense=1"})
    assert code != 0
    assert "xla_nonsense" in err
    assert "Traceback" not in err
    assert out == "" or "Traceback" not in out


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.parametrize(
    ("before", "said"),
    [("exec >&-;", ""), ("exec >&- 2>&- <&-;", ""), ("exec <&-;", "beatable")],
)
def test_streams_may_be_closed(before, said, run, tmp_path):
    code, out, err = run(TRAIN, before)
    assert (code, err) == (0, "")
    assert said in out
    assert (tmp_path / "run/agent.safetensors").exists()
