"""docs/api.md: it is what `make api` writes, and every public name is in it."""

import runpy
from pathlib import Path

import jax_ttt

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_is_what_the_command_writes():
    made = runpy.run_path(str(DOCS / "make_api.py"))["page"]()
    assert (DOCS / "api.md").read_text("utf-8") == made


def test_every_public_name_is_on_the_page():
    page = (DOCS / "api.md").read_text("utf-8")
    for name in jax_ttt.__all__:
        assert f"### `{name}`" in page or f"`jax_ttt.{name}`" in page, name
