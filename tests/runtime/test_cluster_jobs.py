"""The example jobs of `docs/use/scaling.md` have commands that are accepted."""

import importlib
import shlex
from pathlib import Path

import pytest
import yaml

from jax_ttt import cli

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SLURM = EXAMPLES / "sweep.sbatch"
JOBSET = EXAMPLES / "jobset.yaml"


def parse(words):
    """Return the arguments of a command, whose flags are checked."""
    assert words[:2] == ["python", "-m"]
    command = importlib.import_module(words[2])
    return cli.parse(command.COMMAND, words[3:])


def test_slurm_starts_a_process_for_each_gpu():
    lines = SLURM.read_text("utf-8").splitlines()
    resources = dict(
        line.removeprefix("#SBATCH --").split("=", 1)
        for line in lines
        if line.startswith("#SBATCH")
    )
    assert resources["ntasks-per-node"] == resources["gpus-per-node"]
    (command,) = [line for line in lines if line.startswith("srun ")]
    args = parse(shlex.split(command)[1:])
    assert args.parallel.distributed
    assert args.parallel.coordinator is None  # JAX finds the others
    number = int(resources["nodes"]) * int(resources["gpus-per-node"])
    assert args.num_seeds >= number, "else devices have nothing to do"


@pytest.mark.parametrize("index", [0, 1])
def test_each_pod_of_the_jobset_is_a_process(index):
    job_set = yaml.safe_load(JOBSET.read_text("utf-8"))
    (jobs,) = job_set["spec"]["replicatedJobs"]
    job = jobs["template"]["spec"]
    assert job["completions"] == job["parallelism"] == 2
    (container,) = job["template"]["spec"]["containers"]
    words = [
        word.replace("$(JOB_COMPLETION_INDEX)", str(index))
        for word in container["command"]
    ]
    args = parse(words)
    assert args.parallel.num_processes == job["completions"]
    assert args.parallel.process_id == index
    name = job_set["metadata"]["name"]
    assert args.parallel.coordinator == f"{name}-{jobs['name']}-0-0.{name}:1234"
    (mount,) = container["volumeMounts"]
    assert mount["mountPath"] == container["workingDir"]
