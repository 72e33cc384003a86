"""The exported page: one file with everything, and nothing from elsewhere."""

import base64
import hashlib
import json
import re

import pytest

from jax_ttt.players.shipped import ALL, SHIPPED, SNAPSHOTS
from jax_ttt.web import agent_files, one_file
from jax_ttt.web.agent_files import Listed

SCRIPTS = sorted(one_file.STATIC.rglob("*.js"))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the exported page of an agent with a hostile name, and of a snapshot."""
    folder = tmp_path_factory.mktemp("export") / "made" / "here"
    snapshots = {0: SNAPSHOTS["table"] / "00000.safetensors"}
    listed = Listed("run/a", "</script><b>", "run", SHIPPED["table"], snapshots)
    path = one_file.write_page(folder, [listed])
    assert [*folder.iterdir()] == [path]
    return path.read_text("utf-8")


def content_of(page, name):
    (text,) = re.findall(rf'id="{name}">(.*?)</script>', page, re.DOTALL)
    return text


def data_of(page):
    return json.loads(content_of(page, "data"))


def module(url):
    """Return the code of a `data:` URL."""
    head, _, code = url.partition(";base64,")
    assert head == "data:text/javascript;charset=utf-8"
    return base64.b64decode(code).decode()


def imports_of(code):
    return re.findall(r'(?:from|import) "(.*?)"', code)


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


def test_every_module_is_in_the_import_map_with_its_imports(written):
    (text,) = re.findall(r'<script type="importmap">(.*?)</script>', written)
    modules = json.loads(text)["imports"]
    assert {"page/main", "page/rules", "page/vendor/htm-preact"} < modules.keys()
    assert "page/worker" not in modules
    for name, url in modules.items():
        code = module(url)
        assert set(imports_of(code)) <= modules.keys(), name
        path = one_file.STATIC / f"{name.removeprefix('page/')}.js"
        source = path.read_text("utf-8")
        assert len(imports_of(code)) == len(imports_of(source))
        if not imports_of(source):
            assert code == source
    assert '<script type="module">import "page/main";</script>' in written


def test_the_worker_has_all_its_imports_inside(written):
    def check(url, path):
        code, source = module(url), path.read_text("utf-8")
        inside, outside = imports_of(code), imports_of(source)
        assert len(inside) == len(outside)
        for url, name in zip(inside, outside, strict=True):
            check(url, path.parent / name)

    check(content_of(written, "worker"), one_file.STATIC / "worker.js")


def test_the_styles_are_inside(written):
    for name in ("style.css", "panels.css"):
        assert (one_file.STATIC / name).read_text("utf-8") in written


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
    listed, _ = agent_files.AgentFiles(tmp_path / "runs").as_json()
    assert data["agents"] == listed, "as a server lists them"
    for agent in data["agents"]:
        for update in {*agent["snapshots"], agent["updates"]}:
            assert f"{agent['id']}@{update}" in data["files"]
    assert path.stat().st_size < 5_000_000


def test_a_page_that_lacks_a_part_is_refused(tmp_path, monkeypatch):
    for path in SCRIPTS:
        target = tmp_path / path.relative_to(one_file.STATIC)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    (tmp_path / "index.html").write_text("<meta charset=utf-8>")
    (tmp_path / "tic_tac_toe.json").write_text("{}")
    monkeypatch.setattr(one_file, "STATIC", tmp_path)
    with pytest.raises(ValueError, match=r"index\.html has 0 parts"):
        one_file.write_page(tmp_path / "out", [])


def test_the_vendored_module_is_the_one_that_its_readme_names():
    vendor = one_file.STATIC / "vendor"
    (digest,) = re.findall(r"`([0-9a-f]{64})`", (vendor / "README.md").read_text())
    content = (vendor / "htm-preact.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_module_sets_text_as_text(path):
    if path.parent.name == "vendor":
        return
    code = path.read_text("utf-8")
    for unsafe in (
        *("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("),
        *("new Function", "srcdoc", "javascript:"),
    ):
        assert unsafe not in code
