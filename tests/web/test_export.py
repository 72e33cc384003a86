"""The exported page: one file with everything, and nothing from elsewhere."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest
import tiny

from jax_ttt.players import agents
from jax_ttt.players.levels import BEGINNER_CHANCE
from jax_ttt.players.shipped import SHIPPED, SNAPSHOTS
from jax_ttt.sessions import backup
from jax_ttt.web import agent_data, export, tree_data

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


def test_the_page_asks_for_nothing_from_elsewhere(written):
    assert not re.findall(r'(?:src|href)="(?!#|data:)', written)
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", written)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', written)
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    for text in re.findall(
        r"<(?:script|style)(?! type=.application)[^>]*>(.*?)</s", written, re.S
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_every_module_is_in_the_import_map_and_every_import_too(written):
    (text,) = re.findall(r'<script type="importmap">(.*?)</script>', written)
    found = json.loads(text)
    codes = {path.stem: path.read_text("utf-8") for path in SCRIPTS}
    assert found["imports"].keys() == {f"page/{name}" for name in codes}
    for name, code in codes.items():
        url = found["imports"][f"page/{name}"]
        assert base64.b64decode(url.partition("base64,")[2]).decode() == code
        asked = set(re.findall(r'from "(.*?)"', code))
        assert asked <= found["imports"].keys(), name


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


def test_each_snapshot_has_values_a_proof_and_a_row(data):
    latest = agents.load_agent(SHIPPED["network"]).num_updates
    (about,) = data["agents"]["agents"]
    assert about["snapshots"] == [0, latest]
    assert about["unbeatable"] == {"x": True, "o": True}
    assert [row["update"] for row in data["history"]["a/b"]["rows"]] == [0, latest]
    for part in ("values", "proofs"):
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
    assert not any(
        rows["rows"][0]["unbeatable"]
        for rows in export.page_data(found)["history"].values()
    )
    assert sum(path.stat().st_size for path in SNAPSHOTS.values()) < 700_000


def test_few_snapshots_are_kept_and_the_first_and_the_last_are_among_them():
    agent = agents.load_agent(SHIPPED["network"])
    kept = export.few_of(dict.fromkeys(range(0, 1000, 10), agent))
    assert len(kept) == export.MOST_SNAPSHOTS
    assert (min(kept), max(kept)) == (0, 990)
    assert export.few_of({}) == {}


def test_a_page_without_its_parts_is_refused(monkeypatch, tmp_path):
    for path in export.STATIC.iterdir():
        (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
    (tmp_path / "index.html").write_text("<html></html>", "utf-8")
    monkeypatch.setattr(export, "STATIC", tmp_path)
    with pytest.raises(ValueError, match="0 parts like"):
        export.page({})


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_module_is_short_and_sets_text_as_text(path):
    code = path.read_text("utf-8")
    assert len(code.splitlines()) <= 250
    assert code.startswith("// ")
    for unsafe in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
    ):
        assert unsafe not in code
    assert not re.search(r'"style"|\bon[a-z]+ *=|new Function', code)


def test_no_line_of_the_game_is_written_in_javascript():
    code = "".join(path.read_text("utf-8") for path in SCRIPTS)
    assert not re.search(r"\[ *0, *1, *2 *\]|\[ *0, *4, *8 *\]|\[ *2, *4, *6 *\]", code)
