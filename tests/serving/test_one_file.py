"""A page and its data as one file."""

import base64
import json
import re

import pytest

from jax_ttt.serving import one_file

PAGE = """<meta charset="utf-8">
<link rel="stylesheet" href="/static/style.css">
<script type="importmap">{}</script>
<script type="module" src="/static/main.js"></script>"""


@pytest.fixture
def folder(tmp_path):
    parts = {
        "page.html": PAGE,
        "style.css": "p { margin: 0; }",
        "main.js": 'import { a } from "page/a";',
        "a.js": 'import { b } from "page/b"; import { main } from "page/main";',
        "b.js": "export const b = 1;",
        "other.js": "export const other = 1;",
    }
    for name, text in parts.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_the_modules_that_the_page_needs_are_in_its_import_map(folder):
    text = one_file.inlined(folder / "page.html", {})
    (found,) = re.findall(r'<script type="importmap">(.*?)</script>', text)
    imports = json.loads(found)["imports"]
    assert imports.keys() == {"page/main", "page/a", "page/b"}
    code = base64.b64decode(imports["page/b"].partition("base64,")[2])
    assert code == b"export const b = 1;"
    assert 'import "page/main";</script>' in text
    assert "/static/" not in text


def test_no_text_of_the_data_ends_it(folder):
    data = {"name": "</script><b>"}
    text = one_file.inlined(folder / "page.html", data)
    (found,) = re.findall(r'id="data">(.*?)</script>', text)
    assert json.loads(found) == data


def test_the_policy_allows_the_inline_parts_alone():
    policy = one_file.content_security_policy(("a",), "b")
    a, b = "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=", "PiPoFgA5WUoziU9lZOGxNIu9"
    assert f"script-src data: 'sha256-{a}'" in policy
    assert f"style-src 'sha256-{b}" in policy
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy


def test_a_page_without_its_parts_is_refused(folder):
    (folder / "page.html").write_text(PAGE.replace("charset", "c"), "utf-8")
    with pytest.raises(ValueError, match=r"page\.html has 0 parts like"):
        one_file.inlined(folder / "page.html", {})
