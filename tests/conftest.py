"""The CPU seconds of each file, and the shared fixtures where tests run."""

import collections
import os

import pytest


def pytest_addoption(pluginmanager):
    """Import the shared fixtures where tests run or are listed.

    They import JAX, for which a process that only hands tests to workers need not wait.
    No later hook runs before a folder's `conftest.py` imports the package.
    """
    options = pluginmanager.get_plugin("pytestconfig").known_args_namespace
    has_workers = getattr(options, "numprocesses", None)
    alone = options.collectonly or options.usepdb or options.showfixtures
    if "PYTEST_XDIST_WORKER" in os.environ or alone or not has_workers:
        pluginmanager.import_plugin("shared_fixtures")


def pytest_configure(config):
    config.pluginmanager.register(CpuSeconds())


def _cpu_seconds():
    """Return the CPU seconds of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class CpuSeconds:
    """Print the files whose tests take the most CPU seconds, with `--durations`.

    A report carries the seconds of its phase to the process that prints.
    """

    def __init__(self):
        self.before = 0.0
        self.of_file = collections.Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        self.before = _cpu_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = _cpu_seconds()
        report.cpu_seconds = now - self.before
        self.before = now
        return report

    def pytest_runtest_logreport(self, report):
        # The report of a worker that died has no seconds.
        seconds = getattr(report, "cpu_seconds", 0)
        self.of_file[report.nodeid.partition("::")[0]] += seconds

    def pytest_terminal_summary(self, terminalreporter, config):
        if not (number := config.getoption("durations")):
            return
        terminalreporter.section(f"CPU seconds of the {number} files with the most")
        for name, seconds in self.of_file.most_common(number):
            terminalreporter.write_line(f"{seconds:7.1f} {name}")
        terminalreporter.write_line(f"{self.of_file.total():7.1f} all files")
