"""The notebook: its committed outputs, and that it runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "jax_ttt.ipynb"


def read(path):
    """Return the notebook, and its cells of code."""
    notebook = nbformat.read(path, as_version=4)
    return notebook, [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell, name="stdout"):
    return "".join(out.text for out in cell.outputs if out.get("name") == name)


@pytest.fixture(scope="module")
def committed():
    return read(NOTEBOOK)


def test_it_opens_in_colab_and_installs_from_the_same_place(committed):
    notebook, (first, *_) = committed
    nbformat.validate(notebook)
    colab = re.escape("(https://colab.research.google.com/github/")
    badge = colab + r"([\w/-]+)/blob/main/notebooks/jax_ttt\.ipynb\)"
    (repository,) = re.findall(badge, notebook.cells[0].source)
    assert f'REPO = "https://github.com/{repository}"' in first.source
    assert '\n    %pip install -q "{source}"\n' in first.source
    assert notebook.metadata.kernelspec.name == "python3"
    assert "widgets" not in notebook.metadata


@pytest.mark.parametrize(
    ("missing", "works"),
    [
        ({"jax_ttt", "matplotlib"}, True),
        ({"jax_ttt", "matplotlib"}, False),
        ({"matplotlib"}, True),  # no copy replaces an editable install
    ],
)
def test_the_first_cell_installs_what_is_missing_or_names_the_address_to_set(
    missing, works, committed, monkeypatch, capsys
):
    source = committed[1][0].source.removeprefix("%%time\n")
    there = {"jax_ttt", "matplotlib"} - missing

    def install(package):
        is_copy = package.startswith("jax_ttt[plots] @ git+")
        assert is_copy == ("jax_ttt" in missing)
        assert is_copy or package == "jax_ttt[plots]"
        if works:
            there.update(missing)

    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: "spec" if name in there else None
    )
    code = re.sub(r"^( *)%pip install -q ", r"\1install", source, flags=re.MULTILINE)
    assert code != source
    names = {"install": install}
    exec(code.replace('"{source}"', "(source)"), names)
    out, _ = capsys.readouterr()
    message = "" if works else f"{names['REPO']} can't be reached: set REPO to "
    assert out.startswith(message)
    assert out.count("\n") == (not works)


def test_its_outputs_are_committed_and_clean(committed):
    _, cells = committed
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    text = NOTEBOOK.read_text("utf-8")
    for private in ("/home/", "/root/", "/tmp/", "/work/", "/content/", "Users"):
        assert private not in text
    assert_outputs_are_clean(cells)
    *_, seconds = re.findall(r"\[[\d.]+ s, (\d+) s in all\]", printed(cells[-1]))
    assert int(seconds) < 300


def assert_outputs_are_clean(cells):
    outputs = [out for cell in cells for out in cell.outputs]
    assert "error" not in {out.output_type for out in outputs}
    assert not any("\r" in out.get("text", "") for out in outputs)
    data = [out.data for out in outputs if "data" in out]
    pictures = [each for each in data if "image/svg+xml" in each]
    assert len(pictures) == 11
    for picture in pictures:
        assert picture["image/svg+xml"].rstrip().endswith("</svg>")
        assert len(picture["text/plain"]) < 200


# CI repeats it with the versions of Colab.
@pytest.mark.slow
@pytest.mark.colab
def test_it_runs(committed, tmp_path):
    """In a new process, since its libraries give warnings."""
    env = os.environ | {
        "JAX_TTT_SMOKE": "1",
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "true",
        "PYTHONWARNINGS": "default",
        # Neither the user's settings nor their kernels.
        "IPYTHONDIR": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "JUPYTER_DATA_DIR": str(tmp_path),
    }
    target = tmp_path / "executed.ipynb"
    done = subprocess.run(
        [sys.executable, NOTEBOOK.parent / "run.py", NOTEBOOK, target],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    _, executed = read(target)
    assert [cell.source for cell in executed] == [cell.source for cell in committed[1]]
    for cell in executed:
        assert "Warning" not in printed(cell, "stderr"), cell.source
    assert_outputs_are_clean(executed)


def test_the_rounds_of_connect_four_end_in_a_proof(committed):
    (cell,) = (c for c in committed[1] if '"connect-4x4"' in c.source)
    rows = [row.split() for row in printed(cell).splitlines()[1:]]
    rounds = [row for row in rows if row[0].isdigit()]
    assert [row[0] for row in rounds] == [str(n) for n in range(len(rounds))]
    assert [row[-2:] == ["0,", "0"] for row in rounds].index(True) == len(rounds) - 1
    assert "unbeatable: no line of play by any opponent" in printed(cell)


def test_an_agent_that_can_be_beaten_lost_no_sampled_game(committed):
    (cell,) = (c for c in committed[1] if "beatable(agent) and lost" in c.source)
    rows = [row.split(maxsplit=4) for row in printed(cell).splitlines()[1:-1]]
    assert len(rows) > 20
    looks_perfect = [row[:4] for row in rows if row[4:]]
    assert looks_perfect == [r[:4] for r in rows if r[1] == "0" and r[3] == "yes"]
    is_invented = any("one move changed" in printed(cell) for cell in committed[1])
    assert bool(looks_perfect) != is_invented
