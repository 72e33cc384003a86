"""The workers of the page compute what Python computes, under the page's policy."""

import pytest
import rule_cases

pytestmark = pytest.mark.slow


def test_the_workers_compute_what_python_computes(script_page):
    compared = script_page.evaluate(
        """async (cases) => {
            const { checks } = await import("/static/same_rules.js");
            return checks.engine(cases);
        }""",
        rule_cases.worker_cases(),
    )
    assert compared["different"] == []
    assert compared["compared"] > 0
