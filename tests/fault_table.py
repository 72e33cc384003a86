"""A plugin of pytest: the table of faults at the end of `pytest -m fault`."""

import collections
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest

PROPERTY = "fault"
"""The name under which a report carries its faults, also from a worker of xdist."""
WIDTH = 100


class FaultTable:
    """Collects what became of each test with the marker `fault`."""

    def __init__(self) -> None:
        self._cases: dict[tuple[str, str], dict[str, str]] = collections.defaultdict(
            dict
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        """Add a test's faults to its reports."""
        report = yield
        faults = [mark.args[:2] for mark in item.iter_markers("fault")]
        report.user_properties.append((PROPERTY, faults))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what became of a test: `failed` in any phase counts."""
        given: dict[str, Any] = dict(report.user_properties)
        for name, what in given.get(PROPERTY, ()):
            cases = self._cases[name, what]
            case = re.sub(r"^.*?::", "", report.nodeid)
            if report.failed:
                cases[case] = "failed"
            elif report.when == "call" or report.skipped:
                cases.setdefault(case, report.outcome)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table."""
        if self._cases:
            terminalreporter.section("faults")
            terminalreporter.write_line(table(self._cases))


def table(cases: dict[tuple[str, str], dict[str, str]]) -> str:
    """Return the table; `cases` are the outcomes of the cases of each fault."""
    rows = [("fault", "what was done", "verdict")]
    for name, what in sorted(cases, key=_place):
        rows.append((name, what, verdict(cases[name, what])))
    first = max(len(name) for name, _, _ in rows)
    lines = []
    for name, what, found in rows:
        wrapped = textwrap.wrap(what, WIDTH - first - 32) or [""]
        begin = f"{name:{first}}  {wrapped[0]:{WIDTH - first - 32}}  {found}"
        lines += [begin, *(f"{'':{first}}  {rest}" for rest in wrapped[1:])]
    return "\n".join(lines)


def verdict(outcomes: dict[str, str]) -> str:
    """Return in words what became of a fault's cases."""
    failed = [case for case, outcome in outcomes.items() if outcome == "failed"]
    if failed:
        return f"FAILED: {_joined(failed)}"
    passed = sum(outcome == "passed" for outcome in outcomes.values())
    skipped = len(outcomes) - passed
    left_out = f", {skipped} skipped" if skipped else ""
    if not passed:
        return f"not tested here{left_out}"
    return f"survived ({passed} case{'s' * (passed != 1)}{left_out})"


def _joined(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
    return cases[0] + more


def _place(fault: tuple[str, str]) -> tuple[int, str]:
    """Return a key that puts F2 before F10."""
    number = re.search(r"\d+", fault[0])
    return int(number.group()) if number else 0, fault[1]


def pytest_configure(config: pytest.Config) -> None:
    """Add the table where only the tests of faults run."""
    if re.search(r"\bfault\b", config.option.markexpr or ""):
        config.pluginmanager.register(FaultTable(), "fault-table")
