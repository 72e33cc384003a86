"""What the tests of faults share: commands within shell code."""

import subprocess
import sys

import as_users
import pytest


@pytest.fixture
def shell(tmp_path):
    """Return a function that runs shell code, in which `jax_ttt COMMAND` is ours.

    `before` are the words of a program that starts the shell.
    """

    def run(code, *before):
        function = f'jax_ttt() {{ "{sys.executable}" -m "jax_ttt.$@"; }}'
        done = subprocess.run(
            [*before, "sh", "-c", f"{function}; {code}"],
            cwd=tmp_path,
            env=as_users.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert "Traceback" not in done.stderr
        return as_users.Done(done.returncode, done.stdout, done.stderr)

    return run
