"""The structure of the package: which folder imports which, how deep, how large."""

import ast
import collections
import functools
import itertools
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import jax_ttt
from jax_ttt.config.catalogue import GAMES
from jax_ttt.config.choices import BackupRule, Heads
from jax_ttt.config.settings import RULES

PACKAGE = Path(jax_ttt.__file__).parent
TESTS = Path(__file__).parent
ROOT = TESTS.parent

LOWER = (
    *("config", "runtime", "results", "envs"),
    *("networks", "solver", "dqn", "players", "drawing"),
)
MAY_IMPORT = {
    "config": (),
    "runtime": (),
    "scaling": ("config", "runtime"),
    "results": ("config",),
    "envs": ("config", "runtime"),
    "networks": ("config", "runtime", "envs"),
    "solver": ("config", "envs"),
    "dqn": ("config", "envs", "networks"),
    "players": (
        *("config", "runtime", "results", "envs"),
        *("networks", "dqn", "solver"),
    ),
    "evaluation": ("config", "runtime", "results", "envs", "solver", "players"),
    "exams": ("config", "results", "envs", "evaluation"),
    "proving": (
        *("config", "runtime", "scaling", "results", "solver"),
        *("players", "evaluation"),
    ),
    "training": (
        *("config", "runtime", "scaling", "results", "envs"),
        *("dqn", "players", "evaluation", "proving"),
    ),
    "checkpoints": (
        *("config", "runtime", "scaling", "results", "envs"),
        *("dqn", "players", "evaluation", "training"),
    ),
    "drawing": ("config", "runtime"),
    "reports": (*LOWER, "evaluation", "exams", "proving", "training"),
    "terminal": ("config", "runtime", "results", "envs", "players", "reports"),
    "simulation": ("config", "runtime", "scaling", "training"),
    "benchmarks": (
        *(*LOWER, "scaling", "simulation", "evaluation", "exams", "proving"),
        *("training", "reports", "terminal"),
    ),
    "plotting": (
        *("config", "results", "envs", "solver", "players"),
        *("drawing", "evaluation", "reports"),
    ),
    "api": (*LOWER, "evaluation", "training", "reports", "plotting"),
    "live": (*LOWER, "evaluation", "training", "plotting"),
    "serving": (),
    "sessions": (
        *("config", "runtime", "results", "envs", "solver"),
        *("players", "training", "serving"),
    ),
    "web": (
        *(*LOWER, "evaluation", "training", "reports"),
        *("api", "live", "serving", "sessions"),
    ),
}
"""The folders that the modules of a folder may import, besides their own."""

COMMANDS = (
    *("train", "evaluate", "play", "arena", "sweep", "runs"),
    *("published", "plot", "figures", "bench"),
)
FOLDERS_OF_COMMANDS = {"web"}
MAIN_MODULES = {f"{name}.__main__" for name in FOLDERS_OF_COMMANDS}
"""Folders that are commands: their `__main__` uses what the commands share."""
MOST_LEVELS = 16
MOST_LINES = 280
MOST_FUNCTION_LINES = 60
MOST_MODULES = 13
MOST_FOLDER_LINES = 1500
MOST_BENCHMARKS_LINES = 1600
"""A module for each part of the benchmark."""
MOST_PLAYERS_LINES = 1730
"""Also searches: over a tree, and by steps of the game."""
MOST_RUNTIME_LINES = 1535
"""All that knows the process, the system and the compiler."""
MOST_TRAINING_LINES = 1560
"""The loop and its parts, with the folder of a run and its snapshots."""
MOST_CONFIG_LINES = 2630
"""With the settings' flags, in config/command_line: help, parsing, refusals."""


@functools.cache
def modules():
    """Return the path of every module, by its name without `jax_ttt.`."""
    paths = {path.relative_to(PACKAGE): path for path in PACKAGE.rglob("*.py")}
    return {".".join(short.with_suffix("").parts): paths[short] for short in paths}


@functools.cache
def syntax(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def nodes(path):
    """Return all nodes of a file's syntax tree."""
    return tuple(ast.walk(syntax(path)))


def imported(name, path):
    """Yield what a module imports of the package, wherever in the file it stands."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import"
            named = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        else:
            continue
        for full in named:
            short = full.removeprefix("jax_ttt.")
            if full != short and short in modules():
                yield short


@functools.cache
def arrows():
    """Return the modules that each module imports."""
    return {name: set(imported(name, path)) for name, path in modules().items()}


def folder(module):
    """Return a module's folder, "" at the root."""
    return module.partition(".")[0] if "." in module else ""


def test_contributing_shows_the_table():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    shown, above = {}, ()
    for name, cell in re.findall(r"^\| \[`(\w+)/`\].* \| (.*) \|$", page, re.MULTILINE):
        cells = tuple(re.findall(r"`(\w+)`", cell))
        shown[name] = set(above if cell == "all above" else cells)
        assert cells or cell in ("nothing", "all above")
        above += (name,)
    assert shown == {name: set(allowed) for name, allowed in MAY_IMPORT.items()}


def test_shapes_are_checked_in_every_folder_that_states_some():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (checked,) = (
        flag.partition("=")[2].split(",")
        for flag in settings["tool"]["pytest"]["ini_options"]["addopts"]
        if flag.startswith("--jaxtyping-packages=")
    )
    stated = {
        f"jax_ttt.{path.parent.name}"
        for path in PACKAGE.glob("*/*.py")
        if "from jaxtyping import" in path.read_text("utf-8")
    }
    assert stated <= {*checked}


def test_every_folder_is_in_the_table():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == MAY_IMPORT.keys()


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_folder_imports_what_the_table_allows(name):
    allowed = {name, *MAY_IMPORT[name]}
    wrong = [
        f"{module} imports {other}"
        for module, others in arrows().items()
        for other in others
        if folder(module) == name and folder(other) not in allowed
        if module not in MAIN_MODULES or other != "cli"
    ]
    assert not wrong


def test_the_learner_and_the_proof_do_not_know_each_other():
    """No chain of imports leads from one to the other."""
    for start, never in (
        ("dqn", {"solver", "players", "evaluation"}),
        ("solver", {"dqn", "networks", "players", "training"}),
    ):
        reached = {m for m in modules() if folder(m) == start}
        while more := set().union(*(arrows()[m] for m in reached)) - reached:
            reached |= more
        assert not {m for m in reached if folder(m) in never}


def test_no_module_but_a_command_stands_at_the_root():
    others = {"cli", "__init__", "__main__"}
    assert {m for m in modules() if not folder(m)} == {*COMMANDS, *others}


def test_the_list_of_commands_has_each_and_no_other():
    from jax_ttt import __main__

    assert __main__.COMMANDS.keys() == {*COMMANDS, *FOLDERS_OF_COMMANDS}
    assert modules().keys() >= MAIN_MODULES


def test_the_library_imports_no_command():
    for module, others in arrows().items():
        used = {other for other in others if not folder(other)}
        if module in MAIN_MODULES:
            assert used == {"cli"}, module
        elif folder(module):
            assert not used, module


def level(module, above=()):
    """Return how many modules the longest chain of imports from this one has."""
    assert module not in above, f"a cycle: {' -> '.join((*above, module))}"
    below = (level(other, (*above, module)) for other in arrows()[module])
    return 1 + max(below, default=0)


def test_imports_have_no_cycle_and_few_levels():
    # The package itself imports its functions when they are asked for.
    levels = {m: level(m) for m in modules() if m != "__init__"}
    assert max(levels.values()) <= MOST_LEVELS, levels


def test_no_module_is_long():
    lines = {m: len(p.read_text("utf-8").splitlines()) for m, p in modules().items()}
    assert {m: n for m, n in lines.items() if n > MOST_LINES} == {}


def test_no_folder_is_large():
    for name in MAY_IMPORT:
        own = [p for m, p in modules().items() if folder(m) == name]
        own = [p for p in own if p.name != "__init__.py"]
        if name != "config":  # its published systems are a folder in the folder
            assert len(own) <= MOST_MODULES, name
        lines = sum(len(path.read_text("utf-8").splitlines()) for path in own)
        if name != "api":  # half of it is docstrings: the text of docs/api.md
            large = {
                "benchmarks": MOST_BENCHMARKS_LINES,
                "config": MOST_CONFIG_LINES,
                "players": MOST_PLAYERS_LINES,
                "runtime": MOST_RUNTIME_LINES,
                "training": MOST_TRAINING_LINES,
            }
            assert lines <= large.get(name, MOST_FOLDER_LINES), name


def test_no_function_is_long():
    long = [
        f"{module}.{node.name}"
        for module, path in modules().items()
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MOST_FUNCTION_LINES
    ]
    assert not long


def test_only_the_catalogue_compares_a_game_with_a_string():
    found = []
    for module, path in modules().items():
        for node in nodes(path):
            if not isinstance(node, ast.Compare):
                continue
            parts = [ast.unparse(part) for part in (node.left, *node.comparators)]
            texts = [n for n in ast.walk(node) if isinstance(n, ast.Constant)]
            named = any(re.search(r"\benv_id\b", part) for part in parts)
            if named and any(isinstance(text.value, str) for text in texts):
                found.append(f"{module}:{node.lineno} {ast.unparse(node)}")
    assert not found


def has_logic(path):
    """Return whether a module defines a function or a method."""
    tree = syntax(path)
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))


def test_the_tests_mirror_the_folders():
    missing = []
    for module, path in modules().items():
        *folders, name = module.split(".")
        test = TESTS.joinpath(*folders, f"test_{name.strip('_')}.py")
        if has_logic(path) and not test.exists():
            missing.append(str(test.relative_to(TESTS)))
    assert not missing


PGX_ONLY = {"_step_count", "current_player", "rewards"}
"""What a PGX state holds by player id, or for itself: `envs/` alone reads it."""
SHOWN = {"jax_ttt.ipynb": {"rewards"}}
"""What a page shows of it on purpose: the notebook prints a state."""


def read_of_pgx(code):
    """Return the names of `PGX_ONLY` that code reads of a state, or sets."""
    named = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            named.add(node.attr)
        elif isinstance(node, ast.keyword):
            named.add(node.arg)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            named |= {a.value for a in node.args if isinstance(a, ast.Constant)}
    return named & PGX_ONLY


def pages():
    """Yield the Python code of every page, and of the notebook's cells."""
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for code in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S):
            yield page.name, code
    for path in ROOT.glob("notebooks/*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                magic = re.compile(r"^(\s*)[%!].*", re.MULTILINE)
                yield path.name, magic.sub(r"\1pass", "".join(cell["source"]))


def test_only_the_games_read_what_pgx_keeps_by_player_id():
    found = {m: read_of_pgx(path.read_text("utf-8")) for m, path in modules().items()}
    assert found["envs.pgx_games"] == PGX_ONLY, "the test sees them"
    outside = {m: names for m, names in found.items() if folder(m) != "envs"}
    assert {m: names for m, names in outside.items() if names} == {}


def test_pages_read_nothing_that_pgx_keeps_by_player_id():
    for name, code in pages():
        assert read_of_pgx(code) <= SHOWN.get(name, set()), f"{name}: {code}"


NOT_PRIVATE = {"_asdict", "_fields", "_replace", "_exit"}
"""Public names of the standard library that begin with an underscore."""
PRIVATE_OF_OTHERS = {
    "benchmarks.openspiel": {"_q_values"},
    # What Python itself does at its end; multiprocessing's processes end with both.
    "runtime.process": {"_run_exitfuncs", "_shutdown"},
}
"""Private fields of other packages that a module has to read."""


def test_private_fields_are_read_by_their_owner_alone():
    """A PGX state has more of them than the games' module names."""
    for module, path in modules().items():
        if folder(module) == "envs":
            continue
        private = {
            node.attr
            for node in nodes(path)
            if isinstance(node, ast.Attribute)
            and re.match(r"_[^_]", node.attr)
            and ast.unparse(node.value) not in ("self", "cls")
        }
        assert private - NOT_PRIVATE <= PRIVATE_OF_OTHERS.get(module, set()), module


SHARED_NAMES = {
    "as_json": "returns what a command prints with --json",
    "main": "runs a command, or a process of the benchmark",
    "init": "makes the first state: of games, of a learner, of a replay buffer",
    "legal_moves": "of one game; of a session, which asks its game",
    "q_values": "of a network and observations; of a player and a board",
    "play_move": "in one game; in a session, which asks its game",
    "result": "of one game; of a session, which asks its game",
}
"""The public functions that several modules have: they do the same for other things."""


def test_public_functions_of_one_name_do_the_same_thing():
    homes = collections.defaultdict(list)
    for module, path in modules().items():
        for node in syntax(path).body:
            if isinstance(node, ast.FunctionDef) and node.name[0] != "_":
                homes[node.name].append(module)
    shared = {name: found for name, found in homes.items() if len(found) > 1}
    assert {n: found for n, found in shared.items() if n not in SHARED_NAMES} == {}
    assert shared.keys() == SHARED_NAMES.keys(), "a name that one module has"


def imported_modules(tree):
    """Yield the names that a file's imports give to modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}".removeprefix("jax_ttt.")
                if {full, f"{full}.__init__"} & modules().keys():
                    yield alias.asname or alias.name


def other_names(node, of_class=False):
    """Yield a file's parameters, locals, variables and functions; no class's fields."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) if not of_class:
                yield name
            case ast.FunctionDef(name=name) if not of_class:
                yield name
        field = of_class and isinstance(child, ast.Assign | ast.AnnAssign)
        yield from other_names(child, field or isinstance(child, ast.ClassDef))


def test_no_module_has_the_name_of_a_local():
    found = {}
    for path in (*modules().values(), *TESTS.rglob("*.py")):
        tree = syntax(path)
        if both := set(imported_modules(tree)) & set(other_names(tree)):
            found[str(path)] = both
    assert found == {}


ENDINGS = ("s", "e", "es", "ed", "er", "ers", "ing", "ings", "ion", "ions")
ALIKE = {
    ("play", "players"): "a command, and whoever can choose a move",
    ("train", "training"): "a command, and the runs that it makes",
    ("evaluate", "evaluation"): "a command, and what it and others grade with",
}
"""Names beside each other that differ in an ending, and why they stay."""


def stems(name):
    """Return a name, and what is left of it without each of the endings."""
    cut = {name.removesuffix(ending) for ending in ENDINGS}
    return {name} | {stem for stem in cut if len(stem) > 2}


def test_modules_beside_each_other_differ_in_more_than_an_ending():
    assert stems("plot") & stems("plots")
    assert not stems("proof_rows") & stems("proof")
    beside = collections.defaultdict(set)
    for path in modules().values():
        beside[path.parent].add(path.stem)
        if path.parent != PACKAGE:
            beside[path.parent.parent].add(path.parent.name)
    pairs = [
        pair
        for names in beside.values()
        for pair in itertools.combinations(sorted(names - {"__init__"}), 2)
        if stems(pair[0]) & stems(pair[1])
    ]
    assert set(pairs) == {tuple(sorted(pair)) for pair in ALIKE}


CACHES = {
    "envs.enumeration.compile_programs": "env",
    "envs.pgx_games.make_env": "env_id",
    "envs.pgx_games.sizes": "env_id",
    "envs.positions._cells": "env_id",
    "envs.positions.after_states": "env_id, canonical",
    "envs.positions.first_views": "env_id",
    "envs.positions.index": "env_id",
    "envs.symmetry.views": "env_id",
    "envs.tree._kept": "env_id",
    "envs.tree.env_states": "env_id",
    "envs.tree.game_tree": "env_id",
    "envs.tree.host_tree": "env_id",
    "figures.lost_line": "seed",
    "figures.trained": "preset, seed",
    "networks.q_network._graph": "architecture, dtype",
    "players.mcts.graph": "env_id",
    "runtime.devices.has_bfloat16": "cpuinfo",
    "runtime.kept_files._sources": "",
    "runtime.lowering._register": "kind",
    "runtime.process.versions": "",
    "scaling.device_memory.num_bytes": "program",
    "training.programs._compiling": "name, static, many, structure, shapes, keep",
    "training.programs._pool": "",
    "web.services._connect_four_file": "",
}
"""What is kept as long as the process lives, by what it is kept: names, numbers and
paths. A compiled program is kept by its settings and its arguments' shapes."""


def is_cached(function):
    """Return whether a function is decorated with one of functools' caches."""
    texts = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any(re.search(r"\b(cache|lru_cache|cached_property)\b", t) for t in texts)


def caches(path):
    """Yield the functions of a module that are cached, with their parameters."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef) and is_cached(node):
            args = node.args
            named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
            yield node.name, ", ".join(arg.arg for arg in named)


def test_every_cache_is_listed_with_its_key():
    found = {
        f"{module}.{name}": key
        for module, path in modules().items()
        for name, key in caches(path)
    }
    assert found == CACHES
    text = "".join(path.read_text("utf-8") for path in modules().values())
    named = re.findall(r"@?(?:functools\.|import )(?:lru_)?cache\w*", text)
    assert len(named) == len(found), "a cache that is no decorator"


def test_contributing_shows_the_caches():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = page.partition("\n## Caches\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", section, re.MULTILINE)
    shown = {
        name: ", ".join(re.findall(r"`(\w+)`", key))
        for names, key in rows
        for name in re.findall(r"`([\w.]+)`", names)
    }
    assert shown == CACHES


@pytest.mark.parametrize("name", ["config", "results", ""])
def test_settings_results_and_commands_are_imported_without_jax(name):
    """In a process of its own, as this one has imported JAX."""
    import subprocess

    named = [m.removesuffix(".__init__") for m in modules() if folder(m) == name]
    lines = [
        f"import jax_ttt.{m}; assert 'jax' not in sys.modules, '{m}'"
        for m in named
        if m != "__init__"
    ]
    code = "\n".join(["import sys", *lines])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


MOST_CONDITIONS = 30
SWITCHES = {"double", "canonical", "lockstep", "backward", "is_self", "is_table"}
"""Settings, and what is derived of them, that are true or false."""
WORDED = {
    *("network", "activation", "optimizer", "loss", "epsilon_schedule", "backup"),
    *("backup_rule", "precision", "table_key", "key", "heads", "opponent", "seats"),
    *("setting", "name"),
}
"""Names of settings that are words; a bare `seat` is one of a game, no setting."""


def setting_words():
    """Return the words that settings, and what is derived of them, may be."""
    words = {word for rule in RULES.values() for word in getattr(rule, "allowed", ())}
    return (words | {"self"} | set(get_args(BackupRule)) | set(get_args(Heads))) - {
        *GAMES
    }


def conditions_on_settings(tree):
    """Yield the place of each comparison with a setting's word, or test of a switch."""
    words = setting_words()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
            named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            read = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            if (texts & words or "SELF" in named) and (
                (named | read) & WORDED or "seat" in read
            ):
                yield node.lineno, node.col_offset
        tests = [getattr(node, "test", None), *getattr(node, "ifs", ())]
        if isinstance(node, ast.BoolOp):
            tests += node.values
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            tests.append(node.operand)
        for test in tests:
            while isinstance(test, ast.UnaryOp):
                test = test.operand
            name = getattr(test, "attr", getattr(test, "id", None))
            if name in SWITCHES:
                yield test.lineno, test.col_offset


def test_few_conditions_ask_for_the_word_of_a_setting():
    """A variant is a function chosen once, not a word that many modules test."""
    found = {
        module: len(set(conditions_on_settings(syntax(path))))
        for module, path in modules().items()
    }
    found = {module: number for module, number in found.items() if number}
    assert 10 < sum(found.values()) <= MOST_CONDITIONS, found
    owners = {"config", "envs", "networks", "dqn", "players", "training", "reports"}
    assert {folder(module) for module in found if module != "cli"} <= owners, found
