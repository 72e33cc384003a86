"""The exported page: one file with everything, and nothing from elsewhere."""

import base64
import hashlib
import json
import re
from typing import Any

import numpy as np
import pytest
import tiny

from jax_ttt.players import agents
from jax_ttt.players.levels import BEGINNER_CHANCE
from jax_ttt.players.shipped import SHIPPED, SNAPSHOTS
from jax_ttt.sessions import backup
from jax_ttt.web import agent_data, connect_four_data, export, tree_data

SCRIPTS = sorted(export.STATIC.glob("*.js"))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the exported page of a network, with a snapshot of it."""
    folder = tmp_path_factory.mktemp("export") / "made" / "here"
    before = agents.load_agent(tiny.save_untrained(folder.parent / "agent.safetensors"))
    network = agents.load_agent(SHIPPED["network"])
    shown = export.Exported("a/b", "</script><b>", "run", network, {0: before})
    return export.write_page(folder, [shown]).read_text("utf-8")


@pytest.fixture(scope="module")
def connect_four(tmp_path_factory):
    """Return the exported page of Connect Four."""
    path = export.write_connect_four(tmp_path_factory.mktemp("connect_four"))
    assert path.name == "connect_four.html"
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def data(written):
    (found,) = re.findall(r'id="data">(.*?)</script>', written, re.DOTALL)
    return json.loads(found)


def test_the_numbers_of_the_page_are_those_of_the_server():
    def constant(name, script):
        text = (export.STATIC / script).read_text("utf-8")
        (value,) = re.findall(rf"const {name} = (.*?);", text)
        return json.loads(value)

    assert constant("RANDOM_SHARE", "replies.js") == BEGINNER_CHANCE
    assert constant("NOT_OVER", "tree.js") == tree_data.NOT_OVER
    assert constant("FORMAT", "local_statistics.js") == backup.FORMAT
    assert constant("VERSION", "local_statistics.js") == backup.VERSION


@pytest.mark.parametrize("name", ["written", "connect_four"])
def test_a_page_asks_for_nothing_from_elsewhere(name, request):
    written = request.getfixturevalue(name)
    links = re.findall(r'<a href="(\w+\.html)"', written)
    assert links == ["index.html", "connect_four.html"], "to both pages"
    assert len(re.findall(r'(?:src|href)="(?!#|data:)', written)) == len(links)
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", written)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', written)
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    for text in re.findall(
        r"<(?:script|style)(?! type=.application)[^>]*>(.*?)</s", written, re.S
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_every_module_is_in_an_import_map_with_its_imports(written, connect_four):
    maps = []
    codes = {f"page/{path.stem}": path.read_text("utf-8") for path in SCRIPTS}
    for page in (written, connect_four):
        (text,) = re.findall(r'<script type="importmap">(.*?)</script>', page)
        maps.append(json.loads(text)["imports"])
        for name, url in maps[-1].items():
            code = base64.b64decode(url.partition("base64,")[2]).decode()
            assert code == codes[name]
            assert set(re.findall(r'from "(.*?)"', code)) <= maps[-1].keys(), name
    assert maps[0].keys() | maps[1].keys() == codes.keys()
    assert "page/line_game" not in maps[0]
    assert "page/main" not in maps[1]


def test_the_agents_of_connect_four_are_in_their_page(connect_four):
    (text,) = re.findall(r'id="data">(.*?)</script>', connect_four, re.DOTALL)
    assert json.loads(text) == connect_four_data.connect_four_json()


def test_no_text_ends_the_data_early(written, data):
    assert written.count("</script>") == 3
    assert data["agents"]["agents"][0]["name"] == "</script><b>"


def test_the_values_are_those_of_the_legal_moves(data):
    agent = agents.load_agent(SHIPPED["network"])
    values = agent_data.action_values(agent)
    sent = np.frombuffer(
        base64.b64decode(data["values"][f"a/b@{agent.num_updates}"]), "<f4"
    )
    assert len(sent) == 16167
    np.testing.assert_array_equal(sent, values[~np.isnan(values)])


def test_each_snapshot_has_values_and_a_grade(data):
    latest = agents.load_agent(SHIPPED["network"]).num_updates
    (about,) = data["agents"]["agents"]
    assert about["snapshots"] == [0, latest]
    assert about["unbeatable"] == {"x": True, "o": True}
    for part in ("values", "grades"):
        assert data[part].keys() == {"a/b@0", f"a/b@{latest}"}


@pytest.mark.slow
def test_the_shipped_agents_are_exported_with_their_trainings(host_tree):
    found = export.shipped()
    ids = [one.agent_id for one in found]
    assert ids == ["shipped/network", "shipped/table"]
    for one in found:
        assert len(one.past) >= 8
        assert 0 in one.past
        assert max(one.past) < one.agent.num_updates
        last = agent_data.action_values(one.past[max(one.past)])
        latest = agent_data.action_values(one.agent)
        assert np.nanmean(abs(last - latest)) < 0.1, "of the same training"
    grades: Any = export.page_data(found[1:])["grades"]
    assert grades["shipped/table@0"]["unbeatable"] is False
    kept = [path for folder in SNAPSHOTS.values() for path in folder.iterdir()]
    assert sum(path.stat().st_size for path in kept) < 1_700_000


def test_few_snapshots_are_kept_and_the_first_and_the_last_are_among_them():
    agent = agents.load_agent(SHIPPED["network"])
    kept = export.few_of(dict.fromkeys(range(0, 1000, 10), agent))
    assert len(kept) == export.MOST_SNAPSHOTS
    assert (min(kept), max(kept)) == (0, 990)
    assert export.few_of({}) == {}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_module_sets_text_as_text(path):
    code = path.read_text("utf-8")
    for unsafe in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
    ):
        assert unsafe not in code
    assert not re.search(r'"style"|\bon[a-z]+ *=|new Function', code)
