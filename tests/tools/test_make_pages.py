"""The makers of pages: the functions of the API, the address of the repository."""

import inspect

import jax_ttt
from tools import make_api, make_links


def test_the_page_of_the_api_has_each_public_function_with_its_signature():
    page = make_api.page()
    for name in jax_ttt.__all__:
        if inspect.isfunction(getattr(jax_ttt, name)):
            assert f"### `{name}`\n\n```py\n{name}(" in page


def test_an_address_is_written_at_each_place_and_other_links_stay():
    other = "[PGX](https://github.com/sotetsuk/pgx)"
    text = (
        f"git clone https://github.com/old/name {other}\n"
        "pip install git+https://github.com/old/name\n"
        "https://github.com/old/name/blob/main/docs/web.md\n"
    )
    assert make_links.with_address(text, "new/name") == text.replace("old/", "new/")
