"""The marks of an exam as text."""

from jax_ttt.reports import exam_text
from jax_ttt.results.exam import Exam, Mark


def mark(share, number=44):
    """Return a mark."""
    return Mark(num_positions=number, share=share, interval=(share - 0.1, share + 0.1))


def test_the_table():
    exam = Exam(
        all=mark(0.5, 1012),
        by_kind={"random": mark(0.625), "tactical": mark(0.375)},
        by_ply={str(n): mark(n / 100) for n in range(8, 13)},
    )
    lines = [" ".join(line.split()) for line in exam_text.exam_table(exam).splitlines()]
    assert lines == [
        "moves that keep the value share 95 % interval",
        "all (1,012 positions) 50.0% 40.0% to 60.0%",
        "random (44 positions) 62.5% 52.5% to 72.5%",
        "tactical (44 positions) 37.5% 27.5% to 47.5%",
        "after 8 to 11 moves 8.0% 9.0% 10.0% 11.0%",
        "after 12 12.0%",
    ]
