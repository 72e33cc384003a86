"""The pages: their links exist, their Python runs, and commands accept their flags."""

import dataclasses
import functools
import importlib
import operator
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import as_users
import commands
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny
import tyro
from pages import (
    COMMAND_LINE,
    FENCE,
    PAGES,
    ROOT,
    blocks,
    joined_lines,
    page_id,
    shell_words,
)

import jax_ttt
from jax_ttt.__main__ import COMMANDS
from jax_ttt.config import settings_grid
from jax_ttt.config.errors import Refused, flag_name
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.config.settings import Config, setting_types
from jax_ttt.config.shared_flags import (
    DistributedFlags,
    MachineFlags,
    TrainingFlags,
    UserGameFlags,
)
from jax_ttt.players import saved_agents
from jax_ttt.text import policy_files
from tools import make_links

PACKAGE = Path(jax_ttt.__file__).parent  # not in ROOT where it is installed
DOCS = ROOT / "docs"
PROOF = DOCS / "learn" / "proof.md"
CHANGE_IT = ROOT / "docs" / "develop" / "change_it.md"
FRONT_PAGE = ROOT / "docs" / "index.md"
API = {*ROOT.glob("docs/api/[!R]*.md")}
"""Their blocks are the files that tests/test_examples.py runs."""
TOOLS = ("bench", "figures", "mutants", "published")

SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(
    r"(?:\]\(\s*<?|<[a-z]+\b[^>]*?\b(?:href|src|srcset)=[\"'])([^)\s>\"']+)"
)
"""The target of a link in Markdown or in HTML."""
NAMED = re.compile(r"\[`([\w.]+)`\]\([^)]*?((?:jax_ttt|tools)/[\w/]+)\.py\)")
COMMAND = re.compile(r"-m ((?:jax_ttt|tools)\.\w+)(.*)")

TEXTS = {page_id(page): page.read_text("utf-8") for page in PAGES}
NOTEBOOK = ROOT / "notebooks" / "jax_ttt.ipynb"


def prose(text):
    return FENCE.sub("", text)


def spans(text):
    """Return the spans of code in a text."""
    return [" ".join(span.split()) for span in SPAN.findall(prose(text))]


def code_lines(text):
    """Return the lines of blocks, but Python and plain text."""
    skipped = ("python", "text")
    shell = [block.code for block in blocks(text) if block.language not in skipped]
    return [line.removeprefix("$ ") for line in joined_lines("\n".join(shell))]


@functools.cache
def anchors(page):
    """Return what GitHub and the site make of a page's headings."""
    headings = re.findall(r"^#+ +(.*)$", prose(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def test_relative_links_lead_to_files_and_headings():
    links = [
        (page, target)
        for page in PAGES
        for target in LINK.findall(prose(TEXTS[page_id(page)]))
        if not urlsplit(target).scheme and not target.startswith("//")
    ]
    assert len(links) > 100
    missing = []
    for page, target in links:
        path, _, anchor = target.partition("#")
        file = Path(os.path.normpath(page.parent / unquote(path))) if path else page
        if file.relative_to(ROOT).parts[:1] == ("jax_ttt",):
            file = PACKAGE.parent / file.relative_to(ROOT)
        if not file.exists() or (anchor and anchor not in anchors(file)):
            missing.append((page_id(page), target))
    assert not missing


def test_the_module_of_a_link_defines_its_name():
    """The module itself, and does not only import it."""
    missing = []
    for page, text in TEXTS.items():
        for name, module in NAMED.findall(text):
            path = module.replace("/", ".")
            value = operator.attrgetter(name)(importlib.import_module(path))
            if getattr(value, "__module__", path) not in (path, "builtins"):
                missing.append((page, name))
    assert not missing


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def policy_csv(tree, host_tree, q_star, empty_folder):
    """Put the policy of a perfect agent where the code runs."""
    empty = tiny.untrained(Config.of(network="table"))
    params = jax.tree.map(lambda _: jnp.asarray(q_star), empty.params)
    agent = dataclasses.replace(empty, params=params)
    probs = np.asarray(saved_agents.greedy_policy(agent.network, params, tree))
    path = empty_folder / "policy.csv"
    rows = policy_files.policy_decisions(agent, probs, host_tree)
    policy_files.write_decisions_csv(path, rows)


def python_blocks(page):
    """Return a page's blocks of Python, without those that are files."""
    found = blocks(page.read_text("utf-8"))
    return [one for one in found if one.language == "python" and not one.file]


def run_blocks(page):
    """Run a page's Python, as one program; return its names.

    A block that is complete knows no name of the others.
    """
    names: dict[str, Any] = {"__name__": page.stem}
    for block in python_blocks(page):
        code = "\n" * (block.line - 1) + block.code  # errors name the page's line
        known = {"__name__": page.stem} if block.is_complete else names
        exec(compile(code, str(page), "exec"), known)
        names |= known
    return names


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if python_blocks(page) and page not in {PROOF, *API}],
    ids=page_id,
)
@pytest.mark.usefixtures("empty_folder", "trained_once")
def test_python_blocks_run(page):
    run_blocks(page)


@pytest.mark.slow
def test_the_front_page_shows_what_its_bot_gets(capsys):
    found = blocks(TEXTS[page_id(FRONT_PAGE)])
    (place,) = (i for i, block in enumerate(found) if block.language == "python")
    exec(found[place].code, {"__name__": "bot"})
    assert capsys.readouterr().out == found[place + 1].code


def diffs(page):
    """Return each block of `diff` of a page, and the file that it changes.

    The file is the first link of the paragraph before the block.
    """
    for block in blocks(page.read_text("utf-8")):
        if block.language == "diff":
            paragraph = block.introduction
            link = re.search(r"\]\((?:\.\./)+([\w/]+\.py)\)", paragraph)
            assert link, paragraph
            yield block.code, link[1]


def apply_diff(diff, path):
    """Change a file by hunks, which lines of `...` separate.

    A hunk of additions only belongs at the end of the file.
    """
    text = path.read_text("utf-8")
    for hunk in diff.split("...\n"):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        if old:
            assert text.count(old) == 1, f"{path.name} must have this once:\n{old}"
            text = text.replace(old, new)
        else:
            text += "\n\n" + new
    compile(text, str(path), "exec")
    path.write_text(text, "utf-8")


TRAIN_WITH_NEW_GAMES = """
import jax_ttt
jax_ttt.Config.of(env_id="go_19x19")
run = jax_ttt.train(
    1, "table", env_id="connect_4x3", num_envs=2, num_updates=2, eval_every=2
)
assert run.agent.grade.unbeatable is False
"""
"""The games of the page: a record of each is all that a training needs."""


FILES = {
    block.file: block.code
    for text in TEXTS.values()
    for block in blocks(text)
    if block.file
}
"""The blocks of the pages that are files, by their paths."""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return a function that runs Python for a reader who follows all of a page.

    All its diffs change one copy, and its files are in the copy, or in a folder of the
    reader's own. An installed package is in no folder with tests.
    """
    copy, own = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("own")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, copy / "jax_ttt", ignore=ignored)
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    page_diffs = list(diffs(CHANGE_IT))
    assert page_diffs
    for diff, path in page_diffs:
        apply_diff(diff, copy / path)
    for path, code in FILES.items():
        ((copy if "/" in path else own) / path).write_text(code, "utf-8")

    def run(*words, folder=copy):
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=as_users.environment(PYTHONPATH=copy),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return lambda path, *words: run(*words, path, folder=copy if "/" in path else own)


@pytest.mark.slow
def test_the_diffs_of_a_page_apply_and_commands_use_them(reader):
    reader("tests/dqn/test_losses.py", "-m", "pytest", "-q", "-k", "clipped")
    reader("", "-c", TRAIN_WITH_NEW_GAMES)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES)
def test_a_file_of_a_page_runs_alone(reader, path):
    is_test = Path(path).name.startswith("test_")
    reader(path, *(["-m", "pytest", "-q"] if is_test else []))


def test_each_block_that_is_called_complete_is_run_alone():
    """As a file, or as a block of a page; blocks of `py` are not run."""
    for page in PAGES:
        for block in blocks(TEXTS[page_id(page)]):
            if block.is_called_complete:
                assert block.file or block in python_blocks(page), block
    programs = [one for page in PAGES for one in python_blocks(page) if one.is_complete]
    assert len(programs) > 5


@pytest.mark.slow
@pytest.mark.usefixtures("policy_csv")
def test_the_proof_that_readers_run_finds_an_error(capsys):
    names = run_blocks(PROOF)
    assert "X None\nO None\n" in capsys.readouterr().out
    losing_game, moves = names["losing_game"], names["moves"]
    # X threatens 0, 1, 2 and O plays elsewhere.
    assert losing_game(moves | {"XX--O----": 8}, "O")[:4] == [0, 4, 1, 8]
    assert losing_game(moves | {"XX--O----": 8}, "X") is None


def parse(module_name, words):
    """Parse a command's words as the command does, and check the settings."""
    package, _, command = module_name.partition(".")
    is_tool = package == "tools"
    module = (
        importlib.import_module(module_name) if is_tool else commands.module_of(command)
    )
    if words in ([], ["--help"]):  # named, not called
        return
    if not hasattr(module, "COMMAND"):  # a tool with few flags
        tyro.cli(module.Args, args=words)
        return
    if words[0] == "--resume":  # there is no such run
        words = words[2:]
    args = commands.parse(module, words)
    if isinstance(args, TrainingFlags):
        settings_grid.grid_points(
            args.config, settings_grid.read_grid(getattr(args, "grid", ()), args.config)
        )


@functools.cache
def refusal(module_name, *words):
    """Return why a command refuses these words; None if it takes them."""
    try:
        parse(module_name, [*words])
    except (Refused, SystemExit) as error:
        return error
    return None


def test_commands_accept_the_flags_in_the_text():
    """`test_commands_of_docs.py` runs the lines of blocks that are the package's."""
    refused, num_commands = [], 0
    for page, text in TEXTS.items():
        others = [line for line in code_lines(text) if not COMMAND_LINE.match(line)]
        for line in [*spans(text), *others]:
            if match := COMMAND.search(line):
                num_commands += 1
                if why := refusal(match[1], *shell_words(match[2])):
                    refused.append((page, line, why))
    assert num_commands > 20
    assert not refused


def makefile():
    """Return what each target that users call runs, and the variables' names."""
    text = (ROOT / "Makefile").read_text("utf-8")
    rules = re.findall(r"^([a-z-]+):.*##.*\n((?:\t.*\n)+)", text, re.MULTILINE)
    return dict(rules), set(re.findall(r"^([A-Z]+) :?=", text, re.MULTILINE))


def test_the_page_without_a_server_is_made_without_the_tools_for_tests():
    text = (ROOT / "Makefile").read_text("utf-8")
    assert "\nplay: $(VENV)/.train ##" in text


def test_make_targets_exist_and_take_their_args():
    rules, variables = makefile()
    wrong = []
    for page, text in TEXTS.items():
        for line in [*code_lines(text), *spans(text)]:
            if line.split()[:1] != ["make"]:
                continue
            words = shell_words(line)[1:]
            changed = dict(word.split("=", 1) for word in words if "=" in word)
            made = {word for word in words if "=" not in word}
            if not (changed.keys() <= variables and made <= rules.keys()):
                wrong.append((page, line))
                continue
            args = shlex.split(changed.get("ARGS", ""))
            for target in made:
                called = COMMAND.search(rules[target])
                if called and args and refusal(called[1], *args):
                    wrong.append((page, line))
    assert not wrong


def test_flags_in_the_text_are_those_of_a_command():
    tools = [importlib.import_module(f"tools.{name}") for name in TOOLS]
    modules = [*map(commands.module_of, COMMANDS), *tools]
    types = [module.Args for module in modules]
    types += [MachineFlags, UserGameFlags, ProgramOptions, DistributedFlags]
    fields = {f.name for type_ in types for f in dataclasses.fields(type_)}
    flags = {flag_name(name) for name in fields | setting_types().keys()}
    flags |= {flag.replace("--", "--no-", 1) for flag in flags} | {"--help"}
    unknown = []
    for page, text in TEXTS.items():
        for span in SPAN.findall(prose(text)):
            if span.startswith("--"):
                words = [word for word in span.split() if word.startswith("--")]
                unknown += [(page, w) for w in words if w.split("=")[0] not in flags]
    assert not unknown


def test_extras_exist():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    named = {
        extra
        for text in TEXTS.values()
        for line in [*code_lines(text), *spans(text)]
        for names in re.findall(r"(?:jax_ttt|\.)\[([a-z0-9,]+)\]", line)
        for extra in names.split(",")
    }
    assert named <= extras.keys()


REPLACES_THE_INSTALL = re.compile(
    r"pip\S* install (?![^`#\n]*(?:-e|--editable) )(?:[^`#\n]*[ '\"])?"
    r"(?:\.{1,2}(?:[/\[ '\"`]|$)|\S*https?:)",
    re.MULTILINE,
)
"""An install line with a folder or an address, without `-e`."""


def test_no_install_line_replaces_an_editable_install():
    """Not on a page, in a file, or in a message of the package."""
    for line in (". -q", ".[web]", "-q --upgrade ./", "git+https://github.com/a/b"):
        assert REPLACES_THE_INSTALL.search(f"pip install {line}")
    other_span = "Run `pip install .` rather than `pip install -e .`"
    assert REPLACES_THE_INSTALL.search(other_span)
    files = [*PAGES, NOTEBOOK, ROOT / "Makefile"]
    for folder in (DOCS, PACKAGE, ROOT / "tools"):
        programs = [*folder.rglob("*.py")]
        assert programs, folder
        files += programs
    for file in files:
        assert not REPLACES_THE_INSTALL.search(file.read_text("utf-8")), file


def test_pip_keeps_the_installed_package_when_a_message_names_an_extra():
    words = "-m pip install --dry-run --no-index --no-deps jax_ttt[web]"
    done = as_users.run_python(*words.split(), cwd=ROOT)
    assert "Requirement already satisfied: jax_ttt[web]" in done.out
    assert "Would install" not in done.out


def test_the_addresses_on_the_pages_are_those_of_the_project():
    ours, sites = make_links.repository(), make_links.addresses()
    paths = [path for pattern in make_links.PAGES for path in ROOT.glob(pattern)]
    assert {ROOT / "CITATION.cff", NOTEBOOK, *PAGES} <= {*paths}
    for page in paths:
        text = page.read_text("utf-8")
        linked = make_links.with_sites(make_links.with_address(text, ours), sites)
        assert linked == text, page
        # No place is missed: none is left where the address is another one.
        assert ours not in make_links.with_address(text, "else/where"), page
    readme = TEXTS["README.md"]
    assert f"git clone https://github.com/{ours} " in readme
    assert all(f"]({sites[name]})" in readme for name in ("Documentation", "Play"))
    assert f"]({sites['Play']})" in TEXTS[page_id(FRONT_PAGE)]
