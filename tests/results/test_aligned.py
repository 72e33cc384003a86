"""Rows and sentences that fit 100 columns."""

import pytest

from jax_ttt.results.aligned import WIDTH, aligned, wrapped


@pytest.mark.parametrize(("room", "beside"), [(0, True), (-1, False)])
def test_labels_without_room_stand_above_their_rows(room, beside):
    cells = [["wins", "of all"], ["1", "x" * (WIDTH - 22 - room)]]
    label = "a" * 14
    lines = aligned(["", label], cells)
    assert lines[0].split() == ["wins", "of", "all"]
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) == (2 if beside else 3)
    assert lines[1].startswith(label)
    assert lines[-1].index(" 1 ") + 2 == lines[0].index("wins") + len("wins")


def test_a_long_sentence_is_indented_from_its_second_line_on():
    lines = wrapped("seeds: " + ", ".join(map(str, range(1000, 1064))))
    assert len(lines) > 1
    assert max(map(len, lines)) <= WIDTH
    assert all(line.startswith("    1") for line in lines[1:])
