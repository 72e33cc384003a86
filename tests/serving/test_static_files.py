"""The files of a page, read once."""

import json
import re

import pytest
from starlette.requests import Request

from jax_ttt.serving import static_files
from jax_ttt.serving.replies import Refusal


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "static").mkdir()
    static = tmp_path / "static"
    (static / "a.js").write_text("export const a = 1;")
    (static / "index.html").write_text('<script type="importmap">\n</script>')
    (static / "other.html").write_text('<script type="importmap">{}</script>')
    (static / "notes.txt").write_text("not served")
    (static / "deep").mkdir()
    (static / "deep" / "b.js").write_text("not served")
    (static / "link.js").symlink_to(tmp_path / "secret.txt")
    return static


@pytest.mark.fault
def test_only_the_files_of_the_page_are_read_and_no_links(folder):
    assert static_files.read_files(folder).keys() == {
        *("a.js", "index.html", "other.html")
    }


@pytest.mark.parametrize("name", ["index.html", "other.html"])
def test_the_import_map_names_each_module(folder, name):
    page = static_files.read_files(folder)[name]
    (text,) = re.findall(r">(.*)<", page.contents.decode())
    assert json.loads(text) == {"imports": {"page/a": "/static/a.js"}}
    assert "sha256-" in page.policy


def asking(**headers):
    found = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": found})


def test_a_file_that_the_client_has_is_not_sent_again(folder):
    file = static_files.read_files(folder)["a.js"]
    first = static_files.file_reply(asking(), file)
    assert (first.status_code, first.body) == (200, file.contents)
    tags = {"if-none-match": f'"other", {first.headers["etag"]}'}
    again = static_files.file_reply(asking(**tags), file)
    assert (again.status_code, again.body) == (304, b"")


def test_a_file_that_is_not_there():
    with pytest.raises(Refusal) as refusal:
        static_files.file_reply(asking(), None)
    assert refusal.value.status == 404


def test_a_file_that_changes_has_another_tag():
    tags = [static_files.as_file(text, "text/css").tag for text in (b"a", b"b", b"a")]
    assert tags[0] == tags[2] != tags[1]
