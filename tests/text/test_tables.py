"""Tables and wrapped text, and the width of the terminal."""

import os

from jax_ttt.text import tables

ROWS = [
    ["", "wins", "games"],
    ["a long label of a row", "99.479% (98.1% to 99.9%)", "1,024"],
    ["runs/20261127-004112-default-seed1", "5.000% (4.1% to 5.9%)", "16"],
]


def test_the_width_is_that_of_the_terminal_and_80_in_a_file(monkeypatch):
    for columns, width in (("123", 123), ("80", 80), ("1", 40)):
        monkeypatch.setenv("COLUMNS", columns)
        assert tables.terminal_width() == width
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((99, 9)))
    assert tables.terminal_width() == 99

    def no_terminal(descriptor):
        raise OSError

    monkeypatch.setattr(os, "get_terminal_size", no_terminal)
    assert tables.terminal_width() == 80


def test_long_lines_are_wrapped_in_a_terminal_and_stay_whole_in_a_pipe(monkeypatch):
    board = "  X - -   O - -"
    text = f"unbeatable: {'no line wins ' * 9}\n\n{board}"
    monkeypatch.setenv("COLUMNS", "60")
    *sentence, empty, last = tables.fitted_text(text).split("\n")
    assert max(map(len, sentence)) <= 60
    assert [line[:4] for line in sentence] == ["unbe", "    ", "    "]
    assert (empty, last) == ("", board)
    monkeypatch.delenv("COLUMNS")
    assert tables.fitted_text(text) == text


def test_no_cell_of_a_table_is_broken(monkeypatch):
    for columns in range(40, 100, 3):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = tables.table_lines(ROWS)
        assert max(map(len, lines)) <= columns
        text = "\n".join(lines)
        assert all(cell in text for row in ROWS[1:] for cell in row)


def test_a_path_stays_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    path = "runs/20261127-004112-a-very-long-name-of-a-preset-seed1"
    assert path in "\n".join(tables.wrapped_lines(f"saved in {path}: agent"))
    (first, second) = tables.hanging_lines([("name", "word " * 10), ("b", "text")])[:2]
    assert first.startswith("name  word")
    assert second.startswith("      word")
