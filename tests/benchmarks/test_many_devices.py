"""Updates on many devices."""

import json
from typing import Any

import pytest

from jax_ttt.benchmarks import many_devices
from jax_ttt.benchmarks.processes import Child
from jax_ttt.benchmarks.timing import Timed
from jax_ttt.config.presets import PRESETS
from jax_ttt.scaling import mesh

ALONE = Timed(1.0, [0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
TWICE = Timed(1.0, [0.2, 0.4, 0.6], [0.4, 0.8, 1.2])


@pytest.fixture
def child(monkeypatch):
    """Return the processes that were started; each prints what the test gives it."""
    found = {}

    def run(module, args, cache, also):
        assert (module, cache) == ("jax_ttt.benchmarks.many_devices", None)
        found["args"], found["also"] = args, also
        return Child(1.0, 1.0, json.dumps(found["prints"]))

    monkeypatch.setattr(many_devices.processes, "run_module", run)
    return found


def test_virtual_devices_are_timed_in_a_process_of_their_own(child, capsys):
    child["prints"] = [ALONE, TWICE]
    one, two = many_devices.measure_devices(quick=True)
    assert child["args"] == ["time_sizes", "1", "2"]
    assert child["also"] == {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "2"}
    assert (one["size"], two["size"]) == (1, 2)
    assert one["median"] == pytest.approx(200 / many_devices.NUM_UPDATES)
    assert two["cpu_seconds"] == 0.8
    assert "overhead" not in one
    assert two["overhead"]["median"] == pytest.approx(100)
    assert "speed_up" not in two
    out = capsys.readouterr().out
    assert "devices 2, virtual: overhead" in out
    assert "speed" not in out


def test_real_devices_are_timed_in_this_process(monkeypatch, capsys):
    timed: list[Any] = []

    def time_sizes(sizes):
        timed.extend(sizes)
        return [ALONE, TWICE._replace(wall=[0.075, 0.15, 0.225])][: len(sizes)]

    gpu = type("Device", (), {"platform": "gpu"})()
    monkeypatch.setattr(many_devices.devices, "current", lambda: gpu)
    monkeypatch.setattr(many_devices.jax, "devices", lambda kind: [gpu] * 2)
    monkeypatch.setattr(many_devices, "time_sizes", time_sizes)
    one, two = many_devices.measure_devices(quick=False)
    assert timed == [1, 2]
    assert one["kind"] == "devices"
    assert two["speed_up"]["median"] == pytest.approx(4 / 3)
    assert two["overhead"]["median"] == pytest.approx(50)  # 0.15 s, not 0.1
    assert "devices 2: speed-up" in capsys.readouterr().out


def test_a_size_is_timed_on_as_many_devices(small, monkeypatch):
    seen: list[int] = []
    monkeypatch.setitem(PRESETS, "default", small)
    monkeypatch.setattr(many_devices, "ROUNDS", 1)

    def fused(config, num_updates):
        assert config == small
        return lambda: seen.append(mesh.num_devices())

    monkeypatch.setattr(many_devices, "fused", fused)
    found = many_devices.time_sizes([1, 2, 4])
    assert seen == [1, 2, 4, 1, 2, 4]  # compiled, then a round
    assert [len(timed.wall) for timed in found] == [1, 1, 1]
    assert mesh.in_use() is None


def test_a_process_prints_the_result_of_its_task_as_json(monkeypatch, capsys):
    monkeypatch.setattr(many_devices, "time_sizes", lambda sizes: [TWICE] * len(sizes))
    assert many_devices.main(["time_sizes", "1", "8"]) == 0
    assert json.loads(capsys.readouterr().out) == [list(TWICE)] * 2
