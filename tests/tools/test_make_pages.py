"""The pages of the public functions, and the repository's address in all pages."""

import inspect

import jax_ttt
from tools import make_api, make_links


def test_the_pages_of_the_api_are_up_to_date():
    for file, text in make_api.pages().items():
        assert (make_api.DOCS / file).read_text("utf-8") == text, "run `make api`"


def test_each_public_function_is_on_one_page_with_its_signature():
    text = "".join(make_api.pages().values())
    for name in jax_ttt.__all__:
        if inspect.isfunction(getattr(jax_ttt, name)):
            assert text.count(f"## `{name}`\n\n```py\n{name}(") == 1


def test_an_address_is_written_at_each_place_and_other_links_stay():
    other = "[PGX](https://github.com/sotetsuk/pgx)"
    text = (
        f"git clone https://github.com/old/name {other}\n"
        "pip install git+https://github.com/old/name\n"
        "https://github.com/old/name/blob/main/docs/web.md\n"
    )
    assert make_links.with_address(text, "new/name") == text.replace("old/", "new/")
