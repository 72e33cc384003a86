"""The files of a page, read once."""

import pytest

from jax_ttt.serving import static_files


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
