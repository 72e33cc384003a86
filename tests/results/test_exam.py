"""Marks as plain data."""

from typing import Any

from jax_ttt.results import plain
from jax_ttt.results.exam import Exam, Mark

MARK = Mark(num_positions=4, share=0.75, interval=(0.3, 0.95))


def test_marks_as_plain_data():
    exam = Exam(all=MARK, by_kind={"tactical": MARK}, by_ply={"8": MARK})
    written: dict[str, Any] = plain.to_dict(exam)
    assert written["by_ply"] == {
        "8": {"num_positions": 4, "share": 0.75, "interval": [0.3, 0.95]}
    }
    assert written["all"] == written["by_kind"]["tactical"]
