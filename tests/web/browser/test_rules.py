"""The rules that the page has too: in JavaScript they give what Python gives."""

import json
from pathlib import Path

import pytest
import rule_cases

from jax_ttt.web import one_file, security

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).with_name("same_rules.js")
URL = "http://page.test/static/"


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Return the cases as JSON."""
    made = rule_cases.rule_cases(tmp_path_factory.mktemp("agents"))
    return json.dumps(made, allow_nan=False)


@pytest.fixture(scope="module")
def page(browser, cases):
    """Return a blank page, under the page's policy, that has the cases."""
    context = browser.new_context()

    def reply(route):
        name = route.request.url.removeprefix(URL)
        body, kind = "", "text/html"
        if name:
            path = SCRIPT if name == SCRIPT.name else one_file.STATIC / name
            body, kind = path.read_text("utf-8"), "text/javascript"
        route.fulfill(body=body, content_type=kind, headers=security.HEADERS)

    context.route(f"{URL}**", reply)
    opened = context.new_page()
    opened.goto(URL)
    opened.evaluate("text => { window.cases = JSON.parse(text); }", cases)
    yield opened
    context.close()


CHECKS = (
    *("games", "impossible", "agents", "grades", "exact", "reviews", "levels"),
    *("hints", "histories", "digests", "refused", "engine"),
)


def test_the_page_computes_what_python_computes(page):
    """One test, so that one process computes the cases."""
    for check in CHECKS:
        compared = page.evaluate(
            """async (name) => {
                const { checks } = await import("/static/same_rules.js");
                return checks[name](window.cases);
            }""",
            check,
        )
        assert compared["different"][:5] == [], check
        assert compared["compared"] > 0, check
