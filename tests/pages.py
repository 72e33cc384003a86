"""The pages of the documentation, their blocks of code and their command lines."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_FOLDERS = ("learn", "use", "develop", "results", "api")
PAGES = [
    *(ROOT / name for name in _TOP),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(page for name in _FOLDERS for page in ROOT.glob(f"docs/{name}/*.md")),
]
FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1[ ]*$", re.MULTILINE | re.DOTALL)
COMMAND_LINE = re.compile(r"(?:\w+=\S+ )*(?:python -m jax_ttt\b\.?|jax-ttt\b ?)(.*)")
"""A line that runs one of the commands, and its words."""


class Block(NamedTuple):
    """A block of code between fences."""

    language: str
    code: str
    line: int  # of the page, where the code begins
    introduction: str  # the paragraph before it

    @property
    def file(self):
        """Return the path of the new file that the block is; None if it is none."""
        match = re.search(r"\bnew\s+file\s+`([\w/]+\.py)`", self.introduction)
        return match and match[1]

    @property
    def is_complete(self):
        """Return whether the block is a program that needs no other block.

        The text says so, or it begins with its imports.
        """
        return self.is_called_complete or bool(re.match(r"import |from ", self.code))

    @property
    def is_called_complete(self):
        words = r"\bcomplete\b|\bfile\s+of\s+(?:your|its)\s+own\b"
        return bool(self.file or re.search(words, self.introduction))


def page_id(page):
    """Return the path of a page, which names it in a test."""
    return page.relative_to(ROOT).as_posix()


def blocks(text):
    return [
        Block(
            language=match[2],
            code=match[3],
            line=text[: match.start(3)].count("\n") + 1,
            introduction=text[: match.start()].rstrip().rpartition("\n\n")[2],
        )
        for match in FENCE.finditer(text)
    ]


def joined_lines(code):
    """Return the lines of a block; those that end with a backslash are joined."""
    return code.replace("\\\n", " ").splitlines()


def shell_words(text):
    """Return a command line's words, up to a comment or whatever comes after it."""
    words = shlex.split(text, comments=True)
    ends = [i for i, word in enumerate(words) if word in ("|", ">", "&&", ";", "&")]
    return words[: min(ends, default=None)]
