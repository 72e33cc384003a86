"""The exported page: a folder for a static host, and one file with everything."""

import base64
import hashlib
import json
import re
import subprocess
import sys

import pytest
from page_modules import printed_by_node

from jax_ttt.config.player_kinds import ALL, SHIPPED, SNAPSHOTS
from jax_ttt.web import agent_files, export
from jax_ttt.web.agent_files import ListedAgent

SCRIPTS = ("main.js", "worker.js")
AGENTS = {
    "agents/run/a/0.safetensors": SNAPSHOTS["table"] / "00000.safetensors",
    "agents/run/a/400.safetensors": SHIPPED["table"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the exported page of an agent with a hostile name, and of a snapshot."""
    folder = tmp_path_factory.mktemp("export") / "made" / "here"
    snapshots = {0: SNAPSHOTS["table"] / "00000.safetensors"}
    listed = ListedAgent("run/a", "</script><b>", "run", SHIPPED["table"], snapshots)
    assert export.write_page(folder, [listed]) == folder / "index.html"
    return folder


@pytest.fixture
def pages(folder):
    """Return the texts of the hosted page and of the one file."""
    return [
        (folder / name).read_text("utf-8") for name in ("index.html", "offline.html")
    ]


def content_of(page, name):
    (text,) = re.findall(rf'id="{name}">(.*?)</script>', page, re.DOTALL)
    return text


def policy_of(page):
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    return dict(rule.split(" ", 1) for rule in policy.split("; "))


def test_the_folder_has_the_page_with_its_parts_and_one_file(folder, pages):
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    sheets = {path.name for path in export.STATIC.glob("*.css")}
    assert sheets
    assert names == {
        *("index.html", "offline.html", "tic_tac_toe.json"),
        *(*SCRIPTS, *sheets, *AGENTS),
    }
    # The one file has all of them behind what is seen first.
    _, page = pages
    assert page.index("Loading") < page.index('id="data"') < page.index("</body>")
    for name, path in AGENTS.items():
        assert (folder / name).read_bytes() == path.read_bytes()
        assert base64.b64decode(content_of(page, name)) == path.read_bytes()
        assert page.index("Loading") < page.index(f'id="{name}"')
    for name in ("worker.js", "tic_tac_toe.json"):
        assert content_of(page, name) == (folder / name).read_text("utf-8")


def test_a_page_asks_for_nothing_from_elsewhere(pages):
    hosted, one_file = pages
    addresses = re.findall(r'(?:src|href)="(?!#|data:)(.*?)"', hosted)
    assert "main.js" in addresses
    assert [one for one in addresses if not re.fullmatch(r"\w+\.(js|css)", one)] == []
    assert not re.search(r'(?:src|href)="(?!#|data:)', one_file)
    for page, source in ((hosted, "'self'"), (one_file, "'none'")):
        policy = policy_of(page)
        assert policy["default-src"] == "'none'"
        assert policy["connect-src"] == source
    assert policy_of(hosted)["worker-src"] == "'self'"
    assert policy_of(one_file)["worker-src"] == "data:"


def test_each_inline_script_and_style_has_its_digest_in_the_policy(pages):
    for page, names in zip(pages, (["script"], ["style", "script"]), strict=True):
        inline = re.findall(
            r"<(script|style)(?: type=.module.)?>(.*?)</(?:script|style)>", page, re.S
        )
        assert [name for name, _ in inline] == names
        sources = " ".join(policy_of(page)[f"{name}-src"] for name in names)
        assert "unsafe" not in sources
        assert sources.count("sha256-") == len(names)
        for _, text in inline:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in sources


def test_both_have_the_list_of_agents_with_the_rows_of_their_trainings(pages):
    data, same = (json.loads(content_of(page, "data")) for page in pages)
    assert data == same
    (agent,) = data["agents"]
    assert agent["name"] == "</script><b>", "no text ends the data early"
    assert pages[0].count("</script>") == 3
    assert (agent["id"], agent["updates"], agent["snapshots"]) == ("run/a", 400, [0])
    (row,) = data["histories"]["run/a"]
    assert row["update"] == 0
    assert row["grade"]["by_file"] is True
    assert 0 < row["grade"]["first"]["win_rate"] < 1


def test_by_default_the_shipped_agents_are_exported_with_their_trainings(tmp_path):
    page = export.write_page(tmp_path).read_text("utf-8")
    data = json.loads(content_of(page, "data"))
    assert [agent["id"] for agent in data["agents"]] == [f"shipped/{n}" for n in ALL]
    files = agent_files.AgentCollection(tmp_path / "runs")
    assert data["agents"] == files.list_agents()[0], "as a server lists them"
    for agent in data["agents"]:
        for update in {*agent["snapshots"], agent["updates"]}:
            name = f"agents/{agent['id']}/{update}.safetensors"
            assert (tmp_path / name).exists()
        rows = data["histories"][agent["id"]]
        assert [row["update"] for row in rows] == agent["snapshots"]
        assert rows == files.history(agent["id"])


# ---- scripts


def test_a_script_has_each_module_once(folder):
    modules = [*export.STATIC.rglob("*.js")]
    # Each begins with a sentence of its own, which stays in the script.
    first_lines = {path.read_text("utf-8").partition("\n")[0] for path in modules}
    assert len(first_lines) == len(modules)
    for script in SCRIPTS:
        code = (folder / script).read_text("utf-8")
        assert not re.search(r"(?m)^(import|export)\b", code)
        counts = [code.count(line) for line in first_lines]
        assert {0, 1} == {*counts}
        if script == "worker.js":
            assert sum(counts) < len(modules) / 3, "it needs no views"


MODULES = {
    "main.js": """
import { one, two as second } from "./first.js";
import * as other from "./rooms/other-one.js";
import {
  Thing,
  count,
} from "./rooms/things.js";
const all = [one, second(), other.h(2), new Thing().name, [...count(2)]];
console.log(JSON.stringify(all));
""",
    "first.js": """
export const one = 1;
const hidden = 2;
export function two() {
  return hidden;
}
export async function later() {}
""",
    "rooms/other-one.js": 'import { one } from "../first.js";'
    "\nconst twice = (number) => 2 * number + one;export{twice as h};",
    "rooms/things.js": """
import { one } from "../first.js";
export class Thing { name = `thing ${one}`; }
export function* count(end) { for (let i = 0; i < end; i += 1) yield i; }
""",
}


def test_modules_are_joined_to_one_that_does_the_same(tmp_path):
    for name, code in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code, "utf-8")
    main = tmp_path / "main.js"
    joined = export.join_modules(main)
    result = printed_by_node(["--input-type=module", "--eval", joined])
    assert result == [1, 2, 5, "thing 1", [0, 1]]
    assert joined.count("hidden = 2") == 1
    # What can't be joined is refused.
    main.write_text('import { one } from "./one.js";\n')
    for code, reason in (
        ("export let one = 1;\n", "unknown form"),
        ("export default 1;\n", "unknown form"),
        ('import "./main.js";\n', "unknown form"),
        ('import { x } from "./main.js";\nexport const one = 1;\n', "main.js"),
    ):
        (tmp_path / "one.js").write_text(code)
        with pytest.raises(ValueError, match=reason):
            export.join_modules(main)


def test_the_vendored_module_is_the_one_that_its_readme_names():
    vendor = export.STATIC / "vendor"
    (digest,) = re.findall(r"`([0-9a-f]{64})`", (vendor / "README.md").read_text())
    content = (vendor / "preact.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest


UNSAFE = (
    r"innerHTML|outerHTML|insertAdjacent|srcdoc|javascript:"
    r"|document\.write|eval\(|new Function"
)


def test_scripts_set_text_as_text():
    """So no name of an agent or a file becomes part of the page's HTML."""
    paths = [*export.STATIC.rglob("*.js")]
    own = [path for path in paths if path.parent.name != "vendor"]
    assert own
    unsafe = [path for path in own if re.search(UNSAFE, path.read_text("utf-8"))]
    assert unsafe == []


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
    assert (tmp_path / "page" / "index.html").exists()
