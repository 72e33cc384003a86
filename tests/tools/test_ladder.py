"""The ladder of players that others wrote: rows, certificates and the page."""

import json
import re
import runpy
import sys
from pathlib import Path

import pytest
import rules

from tools import ladder
from tools.ladder import System, Systems

CHECKER = Path(__file__).parents[2] / "docs" / "check_certificate.py"
MINIMAX = '''
import functools
import sys

LINES = "012 345 678 036 147 258 048 246".split()


@functools.cache
def best(board):
    """Return the value to the mover, and its first best move."""
    if any(all(board[int(i)] == "o" for i in line) for line in LINES):
        return -1, None
    free = [cell for cell in range(9) if board[cell] == "-"]
    values = [(-best(play(board, cell))[0], -cell) for cell in free]
    value, cell = max(values, default=(0, 0))
    return value, -cell


def play(board, cell):
    """Return the board as the other player sees it, after a move."""
    after = board[:cell] + "x" + board[cell + 1 :]
    return after.translate(str.maketrans("xo", "ox"))


sys.stdin.readline()
for line in sys.stdin:
    if line.strip() == "quit":
        break
    board = "-" * 9
    for move in line.split():
        board = play(board, int(move))
    print(best(board)[1], flush=True)
'''


@pytest.fixture
def systems(monkeypatch, tmp_path):
    """Put small systems in place of the outside ones, which need packages."""
    (tmp_path / "minimax.py").write_text(MINIMAX)
    (tmp_path / "garbage.py").write_text("input(); input(); print('?')")
    first_free = Path(ladder.ROOT, "docs", "examples", "programs", "first_free.py")
    names = {
        "first free": str(first_free),
        "minimax program": str(tmp_path / "minimax.py"),
        "garbage": str(tmp_path / "garbage.py"),
    }
    small = [
        System(name=name, source="here", how="a program", script=f"'{path}'")
        for name, path in names.items()
    ]
    trained = System(name="q", source="there", how="trained", preset="matlab")
    systems = Systems(
        installed=tuple(small), reproduced=(trained,), examined=(), missing={}
    )
    monkeypatch.setattr(ladder, "SYSTEMS", systems)
    return tmp_path


@pytest.mark.slow
def test_the_page_has_exact_results_lost_games_certificates_and_what_is_missing(
    systems, monkeypatch, capsys
):
    page, folder = systems / "ladder.md", systems / "certificates"
    folder.mkdir()
    for name in ("garbage.json", "schema.json"):
        (folder / name).write_text("{}")
    flags = "--no-exam --games 8 --copies 1 --num-updates 2"
    paths = ["--page", str(page), "--certificates", str(folder)]
    assert ladder.main([*flags.split(), *paths]) == 0
    text = page.read_text("utf-8")
    rows = {
        cells[1].strip(" `"): [cell.strip() for cell in cells[2:-1]]
        for cells in (line.split("|") for line in text.splitlines())
        if len(cells) == 9
    }
    # First free: computed by hand in `docs/use/programs.md`, by the same exact method.
    assert rows["first free"][2:5] == [
        "78.125 / 4.167 / 17.708",
        "44.021 / 3.810 / 52.169",
        "beatable",
    ]
    # Perfect play that chooses the first best move: 99.479% and 80.635% wins.
    assert rows["minimax program"][2:5] == [
        "99.479 / 0.521 / 0.000",
        "80.635 / 19.365 / 0.000",
        "unbeatable",
    ]
    assert rows["q"][4] == "beatable"
    assert [*rows].index("minimax program") < [*rows].index("first free")
    assert "`first free`, as O:\n\n```text\n  1. X0   2. O1   3. X8   4. O2" in text
    assert "garbage | program:" in text
    assert "answered '?', not one move, before the first move" in text
    assert re.search(r"\| `first free` \| [+-]\d+ \| .* \| beatable \|", text)
    names = {path.name for path in folder.iterdir()}
    assert {"ratings-light.svg", "schema.json"} <= names, "other files stay"
    assert "garbage.json" not in names

    start, end = "unbeatable by the moves that they gave", "be another player."
    sentence = text[text.index(start) : text.index(end)]
    assert "\n13% of which were [asked for twice]" in sentence
    assert sentence in ladder.PAGE.read_text("utf-8"), "of the same 4,520 positions"

    certificate = folder / "minimax program.json"
    assert json.loads(certificate.read_text())["player"] == (
        "minimax program, by the moves that it gave"
    )
    monkeypatch.setattr(sys, "argv", [str(CHECKER), str(certificate)])
    runpy.run_path(str(CHECKER), run_name="__main__")  # exits if it is wrong
    assert "checked: no line of play beats these moves" in capsys.readouterr().out


def rows_of_page():
    """Return the rows of the ladder with exact results, by the player's name."""
    lines = ladder.PAGE.read_text("utf-8").splitlines()
    tables = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return {cells[0].strip("`"): cells for cells in tables if len(cells) == 7}


@pytest.mark.slow
def test_the_rows_of_the_page_are_those_of_their_certificates(monkeypatch, capsys):
    """The results against random are computed again, by the rules of `rules`."""
    rows = rows_of_page()
    paths = sorted(ladder.CERTIFICATES.glob("*.json"))
    assert paths
    for path in paths:
        monkeypatch.setattr(sys, "argv", [str(CHECKER), str(path)])
        runpy.run_path(str(CHECKER), run_name="__main__")
        assert "checked: no line of play beats these moves" in capsys.readouterr().out

        _, _, _, as_x, as_o, verdict, link = rows[path.stem]
        assert link.startswith(f"[{path.name}](../ladder/{path.name}) as ")
        moves = json.loads(path.read_text())["moves"]
        for seat, text in (("first", as_x), ("second", as_o)):
            if seat not in moves:
                assert verdict == "beatable" or text == "-", path.stem
                continue
            rates = rates_against_random(moves[seat], seat)
            shown = [float(number) for number in text.split(" / ")]
            assert shown == pytest.approx([100 * rate for rate in rates], abs=0.001)
            assert rates[2] == 0, path.stem


def rates_against_random(moves, seat):
    """Return the wins, draws and losses of a player of these moves in a seat."""

    def own(board):
        return [moves[board]]

    if seat == "first":
        return [float(rate) for rate in rules.outcome(own, rules.moves)]
    return [float(rate) for rate in rules.outcome(rules.moves, own)[::-1]]
