"""Two processes that want one folder: the second is refused.

Others: `training/test_resume.py`, and of a sweep's file `files/test_sweep_file.py`.
"""

import as_users
import pytest
import tiny

pytestmark = [pytest.mark.slow, pytest.mark.fault]

SMALL = f"--quiet {' '.join(tiny.flags('num_envs', 'hidden_size', 'eval_games'))}"


def test_one_of_two_runs_that_start_together_is_refused(tmp_path):
    """Whichever comes second; the other one ends as if it had been alone."""
    # Tests compute in float32, where a process of a user may choose another precision.
    precision = "--precision float32"
    line = f"train {SMALL} {precision} --num-updates 3000 --eval-every 1000 --run-dir"
    both = [as_users.start(f"{line} run", cwd=tmp_path) for _ in range(2)]
    texts = [process.communicate(timeout=120) for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 2], texts
    as_users.assert_refused(as_users.Done(2, *texts[codes.index(2)]), "run")
    assert not (tmp_path / "run/.lock").exists()
    assert as_users.run_here(line, tmp_path / "alone").code == 0
    agents = [tmp_path / name / "agent.safetensors" for name in ("run", "alone")]
    assert agents[0].read_bytes() == agents[1].read_bytes()
