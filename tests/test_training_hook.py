"""Grades within other people's programs: PyTorch and Mctx, which Colab has."""

import importlib.util
import os
import runpy
from pathlib import Path

import pytest

import jax_ttt

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


@pytest.fixture(autouse=True)
def has_packages():
    if not all(map(importlib.util.find_spec, ("torch", "mctx"))):
        assert os.environ.get("TORCH_TESTS") != "required", "PyTorch or Mctx is missing"
        pytest.skip("PyTorch and Mctx are not installed")


@pytest.mark.slow
@pytest.mark.colab
def test_a_training_in_pytorch_is_graded_every_100_steps():
    path = EXAMPLES / "torch_dqn.py"
    assert len(path.read_text("utf-8").splitlines()) <= 80
    steps = [*runpy.run_path(str(path))["train"](seed=0, num_steps=600)]
    assert [number for number, _ in steps] == [100, 200, 300, 400, 500, 600]
    grades = [grade for _, grade in steps]
    assert {grade.evidence for grade in grades} == {"asked"}
    assert grades[0].unbeatable is False
    assert grades[0].first.losing_line is not None
    assert grades[-1].loss_rate < 0.5 * grades[0].loss_rate


@pytest.mark.slow
@pytest.mark.colab
def test_a_search_of_mctx_has_a_losing_line():
    search = runpy.run_path(str(EXAMPLES / "mctx_search.py"))["search"]
    grade = jax_ttt.grade(search(20), env_id="tic_tac_toe")
    assert (grade.unbeatable, grade.evidence) == (False, "signature")
