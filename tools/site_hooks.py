"""Hooks of mkdocs for the site of the pages: links to the code, and math.

`mkdocs.yml` names this file.
"""

import posixpath
import re
from html import escape, unescape

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from ziamath.config import config as math_config
from ziamath.tex import declareoperator
from ziamath.zmath import Latex

LINK = re.compile(r"(\]\(|\]: )(\.\./[^)\s#]+)")
MATH = re.compile(
    r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL
)

declareoperator(r"\arg")
math_config.precision = 1  # digits

SIZE = 16
"""Points of a formula's letters before they follow the text."""


def on_page_markdown(
    markdown: str, *, page: Page, config: MkDocsConfig, **_: object
) -> str:
    """Make links that leave `docs/`, or lead to a folder, links to the repository."""
    assert config.repo_url is not None
    repository = config.repo_url.removesuffix("/")
    return links_to_repository(markdown, page.file.src_uri, repository)


def on_page_content(html: str, **_: object) -> str:
    """Write math as SVG: the site needs no script, font or other host for it."""
    return MATH.sub(lambda match: math_element(match[3], match[2] == "["), html)


def on_post_page(output: str, **_: object) -> str:
    """Keep the theme's script from asking GitHub for the repository's stars."""
    return output.replace(' data-md-component="source"', "")


def on_post_template(output_content: str, **_: object) -> str:
    """Do the same in the page of an address that does not exist."""
    return on_post_page(output_content)


def links_to_repository(markdown: str, uri: str, repository: str) -> str:
    """Return the Markdown of the page `docs/URI` with links to the code on GitHub.

    A link within `docs/` to a file stays as it is.
    """

    def new_link(match: re.Match[str]) -> str:
        path = posixpath.normpath(f"docs/{posixpath.dirname(uri)}/{match[2]}")
        is_file = "." in posixpath.basename(path)
        if path.startswith("docs/") and is_file:
            return match[0]
        kind = "blob" if is_file else "tree"
        return f"{match[1]}{repository}/{kind}/main/{path}"

    return LINK.sub(new_link, markdown)


def math_element(html: str, is_block: bool) -> str:
    """Return the picture of a formula in TeX, as it stands in HTML.

    Its size and its place on the line are in `em`, so that they follow the text.
    """
    tex = unescape(html).strip()
    latex = Latex(tex, size=SIZE, color="currentColor", inline=not is_block)
    svg = latex.svg()
    lengths = re.findall(r' (width|height)="([^"]*)"', svg)[:2]
    style = "; ".join(f"{name}: {float(n) / SIZE:.3f}em" for name, n in lengths)
    if is_block:
        style += "; display: block; margin: 1em auto; max-width: 100%"
    else:
        style += f"; vertical-align: {latex.getyofst() / SIZE:.3f}em"
    svg = re.sub(r' (width|height)="[^"]*"', "", svg, count=2)
    label = escape(tex, quote=True)
    return svg.replace(
        "<svg", f'<svg role="img" aria-label="{label}" style="{style}"', 1
    )
