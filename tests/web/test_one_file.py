"""The exported page: one file with everything, and nothing from elsewhere."""

import base64
import hashlib
import json
import re
import subprocess
import sys

import pytest

from jax_ttt.config.player_kinds import ALL, SHIPPED, SNAPSHOTS
from jax_ttt.web import agent_files, one_file
from jax_ttt.web.agent_files import ListedAgent


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the exported page of an agent with a hostile name, and of a snapshot."""
    folder = tmp_path_factory.mktemp("export") / "made" / "here"
    snapshots = {0: SNAPSHOTS["table"] / "00000.safetensors"}
    listed = ListedAgent("run/a", "</script><b>", "run", SHIPPED["table"], snapshots)
    path = one_file.write_page(folder, [listed])
    assert [*folder.iterdir()] == [path]
    return path.read_text("utf-8")


def content_of(page, name):
    (text,) = re.findall(rf'id="{name}">(.*?)</script>', page, re.DOTALL)
    return text


def data_of(page):
    return json.loads(content_of(page, "data"))


def test_a_page_asks_for_nothing_from_elsewhere(written):
    assert not re.search(r'(?:src|href)="(?!#|data:)', written)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', written)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert rules["worker-src"] == "data:"
    inline = re.findall(
        r"<(?:script|style)(?! type=.(?:application|text))[^>]*>(.*?)</s", written, re.S
    )
    assert len(inline) == 3, "styles, the import map and the start"
    for text in inline:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_no_text_ends_the_data_early(written):
    assert written.count("</script>") == 4
    assert data_of(written)["agents"][0]["name"] == "</script><b>"


def test_the_agents_files_are_inside_with_their_snapshots(written):
    data = data_of(written)
    files = {
        "run/a@0": SNAPSHOTS["table"] / "00000.safetensors",
        "run/a@400": SHIPPED["table"],
    }
    assert data["files"].keys() == files.keys()
    for key, path in files.items():
        assert base64.b64decode(data["files"][key]) == path.read_bytes()
    (agent,) = data["agents"]
    assert (agent["id"], agent["updates"], agent["snapshots"]) == ("run/a", 400, [0])
    tree = json.loads((one_file.STATIC / "tic_tac_toe.json").read_text("utf-8"))
    assert data["tree"] == tree


def test_by_default_the_shipped_agents_are_exported_with_their_trainings(tmp_path):
    path = one_file.write_page(tmp_path)
    data = data_of(path.read_text("utf-8"))
    assert [agent["id"] for agent in data["agents"]] == [f"shipped/{n}" for n in ALL]
    listed, _ = agent_files.AgentCollection(tmp_path / "runs").list_agents()
    assert data["agents"] == listed, "as a server lists them"
    for agent in data["agents"]:
        for update in {*agent["snapshots"], agent["updates"]}:
            assert f"{agent['id']}@{update}" in data["files"]
    assert path.stat().st_size < 12_000_000


def test_the_vendored_module_is_the_one_that_its_readme_names():
    vendor = one_file.STATIC / "vendor"
    (digest,) = re.findall(r"`([0-9a-f]{64})`", (vendor / "README.md").read_text())
    content = (vendor / "htm-preact.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest


def test_scripts_set_text_as_text():
    """So no name of an agent or a file becomes part of the page's HTML."""
    for path in one_file.STATIC.rglob("*.js"):
        code = path.read_text("utf-8")
        for unsafe in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "new Function",
            "srcdoc",
            "javascript:",
        ):
            assert path.parent.name == "vendor" or unsafe not in code, path


@pytest.mark.slow
def test_the_page_is_exported_without_the_extra_web(tmp_path):
    """Of its packages, `sys.modules` says that they can't be imported."""
    program = (
        "import runpy, sys\n"
        "sys.modules.update(dict.fromkeys(('starlette', 'uvicorn')))\n"
        "sys.argv = ['jax_ttt.web', '--export', 'page']\n"
        "runpy.run_module('jax_ttt.web', run_name='__main__')\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert [path.name for path in (tmp_path / "page").iterdir()] == ["index.html"]
