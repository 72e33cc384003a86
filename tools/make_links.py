"""Write the repository's address, `project.urls` in pyproject.toml, into the pages.

python -m tools.make_links

The address is in the clone line of the README, in badges and links to files, and in
the first cell of the notebook.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "docs/*.md", "notebooks/*.ipynb")
"""The files that may name the address."""
SITE = "https://github.com/"
PLACES = (
    r"(git clone https://github\.com/)([\w.-]+/[\w.-]+)()",
    r"(git\+https://github\.com/)([\w.-]+/[\w.-]+)()",
    r"(https://colab\.research\.google\.com/github/)([\w.-]+/[\w.-]+)(/blob/)",
    r"(REPO = \\?\"https://github\.com/)([\w.-]+/[\w.-]+)(\\?\")",
    r"(https://github\.com/)([\w.-]+/[\w.-]+)(/blob/main/(?:jax_ttt|docs)/)",
)
"""Patterns of the address: the text before, the owner and name, the text after."""


def repository() -> str:
    """Return the owner and name of the repository, for instance `jax-ttt/jax_ttt`.

    Raises:
        ValueError: the address is not one of GitHub, which Colab needs.
    """
    with (ROOT / "pyproject.toml").open("rb") as file:
        address: str = tomllib.load(file)["project"]["urls"]["Repository"]
    if not re.fullmatch(rf"{SITE}[\w.-]+/[\w.-]+", address):
        raise ValueError(f"project.urls must be {SITE}OWNER/NAME, got {address}")
    return address.removeprefix(SITE)


def repositories_in(text: str) -> list[str]:
    """Return the owners and names of all addresses in a text."""
    return [groups[1] for place in PLACES for groups in re.findall(place, text)]


def with_address(text: str, name: str) -> str:
    """Return the text with the repository `name` in all addresses."""
    for place in PLACES:
        text = re.sub(place, rf"\g<1>{name}\g<3>", text)
    return text


if __name__ == "__main__":
    for path in (path for pattern in PAGES for path in ROOT.glob(pattern)):
        text = path.read_text("utf-8")
        if (changed := with_address(text, repository())) != text:
            path.write_text(changed, "utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
