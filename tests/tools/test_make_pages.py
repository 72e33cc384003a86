"""The pages of the public functions, the site, and the addresses in all pages."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import jax_ttt
from tools import ladder, make_agents

DOCS = Path(__file__).parents[2] / "docs"
HEADING = re.compile(r"^## `(\w+)`\n\n\[.*\]\((.*)\)\n\n::: ([\w.]+)$", re.MULTILINE)


def described():
    """Return what the pages of functions describe: the name, the file, the object."""
    pages = (DOCS / "api").glob("*.md")
    return [m for page in pages for m in HEADING.findall(page.read_text("utf-8"))]


def value_of(path):
    """Return the object of a module at a path with dots."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_each_public_function_is_on_one_page():
    functions = {
        name for name in jax_ttt.__all__ if inspect.isfunction(getattr(jax_ttt, name))
    }
    names = [name for name, _, _ in described()]
    assert len(set(names)) == len(names)
    assert functions <= set(names)
    for name, file, path in described():
        value = value_of(path)
        assert value.__name__ == name
        assert file.endswith(value.__module__.replace(".", "/") + ".py")
        assert name not in functions or value is getattr(jax_ttt, name)


def test_the_types_of_results_are_on_the_pages():
    objects = [value_of(path) for _, _, path in described()]
    functions = [value for value in objects if inspect.isfunction(value)]
    for function in functions:
        result = inspect.signature(function).return_annotation
        if getattr(result, "__module__", "").startswith("jax_ttt."):
            assert result in objects, function


def test_a_page_names_each_example_in_python_and_at_most_one_shows_it():
    """As a file that the site shows, or explained by another page, which names it."""
    text = "".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    paths = [*(DOCS / "examples").glob("*.py")]
    assert paths
    for path in paths:
        shown = text.count(f'--8<-- "examples/{path.name}"')
        assert shown <= 1, path.name
        assert f"examples/{path.name}" in text


@pytest.mark.parametrize(
    ("template", "page"),
    [
        (ladder.PAGE_TEXT, ladder.PAGE),
        (make_agents.TEXT, make_agents.PAGE),
    ],
    ids=["ladder", "shipped agents"],
)
def test_a_page_that_a_tool_writes_has_the_words_of_its_template(template, page):
    """So a change of the page is made in the template too."""
    text = " ".join(page.read_text("utf-8").split())
    for part in re.split(r"\{[^}]*\}", template):
        assert " ".join(part.split()) in text


def test_the_page_of_the_agents_links_their_certificates():
    text = make_agents.PAGE.read_text("utf-8")
    rows = make_agents.certificate_rows()
    assert rows
    assert all(f"| {agent} | {link} |" in text for agent, link in rows)


@pytest.fixture(scope="module")
def site_hooks():
    """Return the hooks; only one worker loads mkdocs, which the extra `test` lacks."""
    for package in ("mkdocs", "ziamath"):
        pytest.importorskip(package, reason="needs the extra docs")
    return importlib.import_module("tools.site_hooks")


def test_links_that_leave_the_docs_lead_to_the_repository(site_hooks):
    def link(target, page="learn/proof.md"):
        text = site_hooks.links_to_repository(f"[a]({target})", page, "https://x/y")
        return text.removeprefix("[a](").removesuffix(")")

    code = "https://x/y/blob/main/jax_ttt/games/tree.py"
    assert link("../../jax_ttt/games/tree.py") == code
    assert link("../../tests") == "https://x/y/tree/main/tests"
    assert link("../README.md", "index.md") == "https://x/y/blob/main/README.md"
    assert link("../examples/ladder") == "https://x/y/tree/main/docs/examples/ladder"
    for stays in ("../use/web.md#keys", "../examples/one_file.py", "https://a/b", "#c"):
        assert link(stays) == stays


def test_the_link_to_the_repository_runs_no_script_that_asks_another_host(site_hooks):
    html = '<a href="https://x/y" class="md-source" data-md-component="source">'
    link = '<a href="https://x/y" class="md-source">'
    assert site_hooks.on_post_page(html) == site_hooks.on_post_template(html) == link


def test_math_becomes_a_picture_with_its_source_as_the_name(site_hooks):
    html = site_hooks.on_page_content(
        r'<p>if <span class="arithmatex">\(a &lt; b\)</span></p>'
    )
    assert html.startswith('<p>if <svg role="img" aria-label="a &lt; b" style="')
    assert "vertical-align" in html
    assert "<path" in html
    block = site_hooks.on_page_content(
        r'<div class="arithmatex">\[\arg\max_a Q\]</div>'
    )
    assert "display: block" in block
    assert "arithmatex" not in html + block
