"""The rules that the page has too: in JavaScript they give what Python gives.

Node.js runs the page's modules. What only a browser can run is in `browser`.
"""

import json
import shutil
from pathlib import Path

import pytest
import rule_cases
from page_modules import printed_by_node

from jax_ttt.web import one_file

SCRIPT = Path(__file__).with_name("browser") / "same_rules.js"
RUN = """
import { readFileSync } from "node:fs";
import { checks } from "./same_rules.js";
const { names, cases } = JSON.parse(readFileSync("cases.json", "utf-8"));
const results = names.map((name) => [name, checks[name](cases)]);
console.log(JSON.stringify(Object.fromEntries(results)));
"""
QUICK = (
    *("games", "bestResults", "impossible", "exact", "reviews", "histories"),
    *("levels", "digests", "refused"),
)


def compare(folder, names, cases):
    """Compare JavaScript with Python in a folder that is created."""
    shutil.copytree(one_file.STATIC, folder)
    shutil.copy(SCRIPT, folder)
    text = json.dumps({"names": names, "cases": cases}, allow_nan=False)
    (folder / "cases.json").write_text(text, "utf-8")
    results = printed_by_node(["--input-type=module", "--eval", RUN], folder=folder)
    assert [*results] == [*names]
    for name, result in results.items():
        assert result["different"][:5] == [], name
        assert result["compared"] > 0, name


def test_games_and_files_are_the_same_in_javascript(tmp_path):
    compare(tmp_path / "page", QUICK, rule_cases.quick_cases())


@pytest.mark.slow
def test_agents_and_searches_are_the_same_in_javascript(tmp_path):
    cases = rule_cases.agent_cases(tmp_path)
    names = ("agents", "grades", "exact", "hints", "refused")
    compare(tmp_path / "page", names, cases)
