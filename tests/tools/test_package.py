"""The wheel and the sdist: what is in them, and that the wheel runs by itself."""

import email
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import as_users
import pytest
import yaml

import jax_ttt

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jax_ttt"
VENDORED = ("htm", "preact", "signals")
FOLDERS = ("docs", "jax_ttt", "notebooks", "proofs", "tests", "tools")
FOLDERS += (".ci", ".github")
NAME = f"jax_ttt-{jax_ttt.__version__}"
WHEEL = f"{NAME}-py3-none-any.whl"


def files_of(folder):
    """Return the paths of a folder's files from the root, without generated ones."""
    generated = {"__pycache__", "node_modules", "play"}
    paths = (path.relative_to(ROOT) for path in folder.rglob("*") if path.is_file())
    return {
        path.as_posix()
        for path in paths
        if generated.isdisjoint(path.parts[:-1]) and not is_of_coq(path)
    }


def is_of_coq(path):
    """Return whether `make theorem` wrote a file."""
    kept = {".v", ".md", ".safetensors", ""}
    is_large = path.name.startswith(("Agent_connect", "Table_connect"))
    return path.parts[0] == "proofs" and (
        is_large or path.suffix not in kept or path.name.startswith(".")
    )


@pytest.mark.slow
def test_the_archives_have_what_they_should_and_the_wheel_runs_by_itself(tmp_path):
    """The wheel is built from the sdist."""
    # A build of its own environment downloads hatchling.
    here = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    command = [sys.executable, "-m", "build", *here, "--outdir", tmp_path, ROOT]
    variables = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    check_sdist(tmp_path / f"{NAME}.tar.gz")
    with zipfile.ZipFile(tmp_path / WHEEL) as wheel:
        check_wheel(wheel)
        wheel.extractall(tmp_path / "site")
    done = as_users.run(
        "evaluate shipped:table", cwd=tmp_path, PYTHONPATH=tmp_path / "site"
    )
    assert done.code == 0, done.err
    assert "unbeatable" in done.out


def check_sdist(path):
    """Check that it has what the repository has."""
    with tarfile.open(path) as archive:
        names = {
            member.name.removeprefix(f"{NAME}/")
            for member in archive
            if member.isfile()
        }
    top = {path.name for path in ROOT.glob("*.md")}
    top |= {"CITATION.cff", "LICENSE", "Makefile", "jsconfig.json", "mkdocs.yml"}
    generated = {"PKG-INFO", "pyproject.toml", ".gitignore"}
    expected = set().union(*(files_of(ROOT / folder) for folder in FOLDERS))
    assert names - generated == expected | top


def check_wheel(wheel):
    """Check that it has the package, its licences, and the readme as description."""
    info = f"{NAME}.dist-info/"
    names = {name for name in wheel.namelist() if not name.startswith(info)}
    assert names == files_of(PACKAGE)
    licences = {name for name in wheel.namelist() if f"{info}licenses/" in name}
    vendor = "jax_ttt/web/static/vendor/LICENSE."
    assert licences == {
        f"{info}licenses/{path}"
        for path in ("LICENSE", *(f"{vendor}{name}" for name in VENDORED))
    }
    entry_points = wheel.read(f"{info}entry_points.txt").decode()
    assert "jax-ttt = jax_ttt.__main__:main" in entry_points
    metadata = email.message_from_bytes(wheel.read(f"{info}METADATA"))
    assert metadata["Version"] == jax_ttt.__version__
    readme = (ROOT / "README.md").read_text("utf-8")
    assert metadata.get_payload(decode=True) == readme.encode()


def test_the_citation_and_a_page_name_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == jax_ttt.__version__
    install = (ROOT / "docs" / "use" / "install.md").read_text("utf-8")
    assert set(re.findall(r"jax_ttt-[\w.-]+\.whl", install)) == {WHEEL}
