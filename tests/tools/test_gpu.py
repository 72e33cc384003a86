"""The part `gpu` of the benchmark: whole commands in processes with time limits."""

import commands

from tools.benchmarks import gpu
from tools.benchmarks.gpu import Job

ENDLESS = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(1)
"""


def test_an_unfinished_command_and_a_failed_one_have_no_seconds(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "endless.py").write_text(ENDLESS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    jobs = {
        "slow": Job(module="endless", quick="", limit=1),
        "wrong": Job(module="jax_ttt.runs", words="--nonsense", quick="", limit=120),
    }
    monkeypatch.setattr(gpu, "JOBS", jobs)
    slow, wrong = gpu.measure_gpu(quick=False)["commands"].values()
    assert (slow["seconds"], slow["limit_seconds"]) == (None, 1)
    assert wrong["seconds"] is None
    assert "--nonsense" in wrong["error"]
    out, err = capsys.readouterr()
    assert "slow                not finished after 1 s\n" in out
    assert "wrong               failed\n" in out
    assert "--nonsense" in err


def test_the_commands_take_their_words():
    """In less than four minutes, beside the time of the benchmark itself."""
    for job in gpu.JOBS.values():
        command = commands.module_of(job.module.removeprefix("jax_ttt."))
        commands.parse(command, f"{job.words} {job.full}".split())
        config = commands.parse(command, f"{job.words} {job.quick}".split()).config
        assert config.num_envs * config.num_updates == 32
    assert sum(job.limit for job in gpu.JOBS.values()) <= 225
