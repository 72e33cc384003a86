"""Write the addresses, `project.urls` in pyproject.toml, into the pages.

python -m tools.make_links

The repository is in the clone line of the README, in badges and links to files, in
CITATION.cff and in the first cell of the notebook; the page to play on is in the
README and on the site's front page.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "CITATION.cff", "docs/**/*.md", "notebooks/*.ipynb", "mkdocs.yml")
"""The files that may name the addresses."""
SITE = "https://github.com/"
PLACES = (
    r"(git clone https://github\.com/)([\w.-]+/[\w.-]+)()",
    r"(repository-code: https://github\.com/)([\w.-]+/[\w.-]+)()",
    r"(git\+https://github\.com/)([\w.-]+/[\w.-]+)()",
    r"(https://colab\.research\.google\.com/github/)([\w.-]+/[\w.-]+)(/blob/)",
    r"(REPO = \\?\"https://github\.com/)([\w.-]+/[\w.-]+)(\\?\")",
    r"(https://github\.com/)([\w.-]+/[\w.-]+)(/blob/main/(?:jax_ttt|docs)/)",
    r"(?m)^(repo_url: https://github\.com/)([\w.-]+/[\w.-]+)()",
)
"""Patterns of the repository: the text before, the owner and name, the text after."""
SITES = {
    "Play": r"(\[Play it in your browser\]\()([^)]*)(\))",
    "Documentation": r"(?m)(^site_url: |\[documentation\]\()([^)\n]*)()",
}
"""Patterns of the other addresses by their names in `project.urls`."""


def addresses() -> dict[str, str]:
    """Return `project.urls` of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["urls"]


def repository() -> str:
    """Return the owner and name of the repository, for instance `jax-ttt/jax_ttt`.

    Raises:
        ValueError: the address is not one of GitHub, which Colab needs.
    """
    address = addresses()["Repository"]
    if not re.fullmatch(rf"{SITE}[\w.-]+/[\w.-]+", address):
        raise ValueError(f"project.urls must be {SITE}OWNER/NAME, got {address}")
    return address.removeprefix(SITE)


def with_address(text: str, name: str) -> str:
    """Return the text with the repository `name` in all addresses."""
    for place in PLACES:
        text = re.sub(place, rf"\g<1>{name}\g<3>", text)
    return text


def with_sites(text: str, addresses: Mapping[str, str]) -> str:
    """Return the text with these addresses of the page to play on and of the site."""
    for name, place in SITES.items():
        text = re.sub(place, rf"\g<1>{addresses[name]}\g<3>", text)
    return text


if __name__ == "__main__":
    for path in (path for pattern in PAGES for path in ROOT.glob(pattern)):
        text = path.read_text("utf-8")
        changed = with_sites(with_address(text, repository()), addresses())
        if changed != text:
            path.write_text(changed, "utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
