"""Measure speed, growth, start-up and pass rate.

python -m tools.bench
"""

import contextlib
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import tyro
from msgspec import Meta

from jax_ttt import __version__, cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import Refused, require_package
from jax_ttt.config.presets import Preset
from jax_ttt.config.ranges import NumSeeds, Seed, check_seeds
from jax_ttt.config.shared_flags import MachineFlags
from jax_ttt.files import picture_file
from jax_ttt.networks import q_network
from jax_ttt.runtime import atomic_files, devices, standard_streams
from jax_ttt.runtime.words import count_phrase
from jax_ttt.training import reproducibility
from tools.benchmarks import (
    gpu,
    growth,
    speed,
    startup,
    time_to_proof,
    updates,
)
from tools.benchmarks.progress import Steps, say
from tools.benchmarks.timing import Figures

Part = Literal[
    "updates",
    "startup",
    "proof",
    "steps",
    "evaluation",
    "arena",
    "tabular",
    "growth",
    "gpu",
]
ON_REQUEST: tuple[Part, ...] = ("gpu",)
"""The parts that are measured only with `--only`: they need a GPU."""
NUM_SEEDS = {"default": 64, "table": 16}
"""The default numbers of agents, by preset."""
FEW_SEEDS = 2
"""The default for other presets, which train for longer."""
_DEFAULT_PARTS = tuple(part for part in get_args(Part) if part not in ON_REQUEST)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Measure speed, growth, start-up and pass rate, in one process tree.

    Each line has a median with its spread in brackets, then the CPU and wall seconds of
    the median round. Programs that are compared run in turn. The default parts take
    less than ten minutes on two cores. Ctrl-C keeps the parts that are finished.
    """

    only: tuple[Part, ...] = _DEFAULT_PARTS
    """Parts to measure. updates: J. Antognini's updates; startup: whole processes;
    proof: the time to a proof; steps: moves; evaluation: exact grades; arena: matches;
    tabular: a table; growth: the time at growing sizes; gpu: whole commands on an
    accelerator, at most four minutes."""
    presets: tuple[Preset, ...] = ("default", "article", "table")
    """Presets that `proof` trains."""
    num_seeds: NumSeeds | None = None
    """Agents of each preset that `proof` trains; by default 64 of `default`, 16 of
    `table`, 2 of all others. 64 of each take about 20 minutes."""
    first_seed: Seed = 1000
    """The first seed; the others follow it."""
    rounds: Annotated[int, Meta(ge=1, le=1000)] = 9
    """Measurements of each speed; a third as many of whole processes."""
    quick: tyro.conf.FlagCreatePairsOff[bool] = False
    """Measure with few rounds, seeds and sizes, without J. Antognini's whole program,
    and `gpu` on any device, to see that everything runs."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the lines."""
    out: Path | None = None
    """File to write the same object to."""
    svg: Path | None = None
    """File to draw `growth` to, as SVG, PNG or PDF by its ending; needs the extra
    `plots`."""


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    args = check_args(args)
    # The processes that `startup` starts need a GPU's memory too.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    machine = MachineFlags(no_compile_cache=True)  # compilation is measured too
    device = cli.set_up_device(machine).name
    check_accelerator(args, device)
    setup = {
        "jax_ttt": __version__,
        "device": device,
        "precision": f"{q_network.learning_dtype('auto')} (auto)",
        "machine": machine_name(),
        "versions": libraries(),
    }
    figures: dict[str, Figures] = {}
    try:
        with silent() if args.json else contextlib.nullcontext():
            measure_parts(args, setup, figures)
    finally:
        write_figures(args, setup | {"quick": args.quick, "parts": figures})
    if args.svg:
        growth.growth_chart(figures["growth"], setup["device"]).save(args.svg)
        standard_streams.print_written(args.svg, as_json=args.json)
    return 0


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Print nothing on stdout within the context."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def measure_parts(
    args: Args, setup: dict[str, str], figures: dict[str, Figures]
) -> None:
    """Measure the parts of `--only`, and add the results to `figures`."""
    say("\n".join(f"{name}: {text}" for name, text in setup.items()))
    chosen = {part: run for part, run in parts(args).items() if part in args.only}
    with Steps(len(chosen), "part") as bar:
        for part, measure in chosen.items():
            say(f"\n{part}")
            figures[part] = bar.step(part, measure)


def write_figures(args: Args, results: dict[str, Any]) -> None:
    """Write the results as JSON with `--out`, and print them with `--json`."""
    if args.out:
        text = json.dumps(results, indent=2) + "\n"
        atomic_files.write_output(args.out, text.encode())
        standard_streams.print_written(args.out, as_json=args.json)
    if args.json:
        print(json.dumps(results))


def check_args(args: Args) -> Args:
    """Return the arguments, with few rounds and seeds if `quick`.

    Raises:
        SettingError: a number is outside its range.
        Refused: a file can't be written, or there will be nothing to draw.
    """
    check_seeds(args.first_seed, args.num_seeds or max(NUM_SEEDS.values()))
    atomic_files.check_output_path("--out", args.out)
    atomic_files.check_output_path("--svg", args.svg)
    picture_file.check_picture_file("--svg", args.svg)
    if args.svg:
        require_package("matplotlib", "plots", "--svg")
        if "growth" not in args.only:
            raise Refused("--svg draws growth, which --only leaves out")
    if args.quick:
        num_seeds = min(args.num_seeds or 2, 2)
        return dataclasses.replace(
            args, rounds=min(args.rounds, 3), num_seeds=num_seeds
        )
    return args


def check_accelerator(args: Args, device: str) -> None:
    """Raise `Refused` if `gpu` is asked for and the device in use is a CPU."""
    is_cpu = devices.current_device().platform == "cpu"
    if is_cpu and "gpu" in args.only and not args.quick:
        raise Refused(
            f"--only gpu needs an accelerator, and this is {device}; with --quick it "
            "runs on any device, to see that it works"
        )


def parts(args: Args) -> dict[Part, Callable[[], Figures]]:
    """Return the function that measures each part."""

    def seeds(name: str) -> range:
        count = args.num_seeds or NUM_SEEDS.get(name, FEW_SEEDS)
        return range(args.first_seed, args.first_seed + count)

    processes = max(args.rounds // 3, 1)
    return {
        "updates": lambda: updates.measure_updates(args.rounds),
        "startup": lambda: startup.measure_startup(processes, not args.quick),
        "proof": lambda: time_to_proof.measure_proof(
            {name: seeds(name) for name in args.presets}
        ),
        "steps": lambda: speed.measure_steps(args.rounds),
        "evaluation": lambda: speed.measure_exact_evaluation(args.rounds),
        "arena": lambda: speed.measure_arena(args.rounds),
        "tabular": lambda: speed.measure_tabular(args.rounds),
        "growth": lambda: growth.measure_growth(args.quick),
        "gpu": lambda: gpu.measure_gpu(args.quick),
    }


def libraries() -> str:
    """Return the versions of Python and of the main libraries."""
    versions = {
        "Python": platform.python_version(),
        **reproducibility.library_versions(),
    }
    names = ("Python", "jax", "jaxlib", "flax", "pgx")
    return ", ".join(f"{name} {versions[name]}" for name in names)


def machine_name() -> str:
    """Return the processor's name, if it is known, and the number of cores."""
    name = platform.processor() or platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
    has = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has else os.cpu_count()
    return f"{name}, {count_phrase(cores or 1, 'core')}, {platform.system()}"


COMMAND = cli.Command(module="tools.bench", args_type=Args, main=main)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
