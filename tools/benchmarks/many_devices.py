"""Updates on the devices of this machine.

A CPU has virtual devices, which share its cores. Their number is fixed when JAX starts,
so a child process uses them.
"""

import json
import sys
from collections.abc import Sequence

import jax

from jax_ttt.config.device_flags import DistributedFlags
from jax_ttt.config.presets import PRESETS
from jax_ttt.runtime import devices, mesh
from jax_ttt.training.layout import Layout
from tools.benchmarks import processes
from tools.benchmarks.timing import Figures, Timed, in_turn, ratios, show, show_ms
from tools.benchmarks.updates import fused

TIMED = (1, 2, 4, 8)
NUM_UPDATES = 50
"""Updates in a round."""
ROUNDS = 5
_NAME = "tools.benchmarks.many_devices"


def measure_devices(quick: bool) -> list[Figures]:
    """Time an update of the default preset on 1, 2, 4 and 8 devices of this process.

    A CPU has virtual ones.
    """
    kind = devices.current_device().platform
    virtual = kind == "cpu"
    sizes = [n for n in TIMED if virtual or n <= len(jax.devices(kind))]
    sizes = sizes[: 2 if quick else None]
    rows = time_in_child(sizes) if virtual else time_sizes(sizes)
    return [
        device_row(size, timed, rows[0], virtual)
        for size, timed in zip(sizes, rows, strict=True)
    ]


def device_row(size: int, timed: Timed, alone: Timed, virtual: bool) -> Figures:
    """Print and return the time of an update on so many devices, and the overhead.

    The overhead is the time beyond a perfect division of the work: the time of one
    device, divided by `size` if the devices are real.
    """
    text = f"devices {size}, virtual" if virtual else f"devices {size}"
    row = {"size": size, "kind": "virtual devices" if virtual else "devices"}
    row |= show_ms(text, timed, NUM_UPDATES, "ms/update")
    if size == 1:
        return row
    perfect = 1 if virtual else 1 / size
    slower = ratios(timed.wall, alone.wall)
    over = [100 * (ratio / perfect - 1) for ratio in slower]
    row["overhead"] = show(f"{text}: overhead", over, "%", 0)
    if not virtual:
        faster = ratios(alone.wall, timed.wall)
        row["speed_up"] = show(f"{text}: speed-up", faster, "x")
    return row


def time_sizes(sizes: Sequence[int]) -> list[Timed]:
    """Time updates of the default preset on each number of devices, in this process."""
    config = PRESETS["default"]
    hardware = [
        mesh.use_devices("auto", DistributedFlags(devices=str(size))) for size in sizes
    ]
    layouts = [Layout(mesh=used.mesh) for used in hardware]
    runs = [fused(config, NUM_UPDATES, layout) for layout in layouts]
    return in_turn(runs, ROUNDS)


def time_in_child(sizes: Sequence[int]) -> list[Timed]:
    """Return the result of `time_sizes` in a process with virtual devices."""
    cpu = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": str(max(sizes))}
    child = processes.run_module(_NAME, [str(n) for n in sizes], None, also=cpu)
    return [Timed(*timed) for timed in json.loads(child.output)]


if __name__ == "__main__":
    print(json.dumps(time_sizes([int(word) for word in sys.argv[1:]])))
