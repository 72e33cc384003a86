"""Files of every released format stay readable; agents and checkpoints: see there.

tests/players/test_agents.py and tests/checkpoints/test_contents.py have their files.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import tiny

from jax_ttt.checkpoints import sweeps
from jax_ttt.results import reading
from jax_ttt.results.rows import evaluations, read_row
from jax_ttt.results.saved_settings import read_settings
from jax_ttt.training import snapshots

FORMATS = Path(__file__).parent / "data" / "formats"
CHECKER = Path(__file__).parents[1] / "docs" / "check_certificate.py"


def test_a_run_of_format_3():
    run = FORMATS / "run-3"
    config, preset, seed = read_settings(run)
    assert (preset, seed) == ("default", 3)
    assert config == tiny.CONFIG
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    rows = [read_row(reading.strict_json(line)) for line in lines]
    assert [row.update for row in evaluations(rows)] == [0, 2, 4]
    found = snapshots.read_snapshots(run / "snapshots.safetensors")
    agent = found.agent(4)
    assert (agent.config, agent.seed, agent.num_updates) == (config, 3, 4)
    assert all(np.isfinite(leaf).all() for leaf in found.tensors_at(2).values())


def test_a_sweep_of_format_3(tmp_path):
    path = shutil.copy(FORMATS / "sweep-3.jsonl", tmp_path)
    file = sweeps.continued(Path(path))
    file.close()
    assert (file.sweep.first_seed, file.sweep.num_seeds) == (7, 2)
    assert [agent.seed for agent in file.rows(0)] == [7, 8]


def test_a_certificate_of_version_1():
    command = [sys.executable, CHECKER, FORMATS / "certificate-1.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == (
        "checked: no line of play beats it, 397 positions (as X and as O)\n"
    )
