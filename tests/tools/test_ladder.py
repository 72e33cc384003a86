"""The ladder of players that others wrote: rows, certificates and the page."""

import json
import re
import runpy
from pathlib import Path

import pytest
import rules

from tools import ladder
from tools.ladder import System, Systems

CHECKER = Path(__file__).parents[2] / "docs" / "check_certificate.py"
FIRST_FREE = Path(ladder.ROOT, "docs", "examples", "programs", "first_free.py")
PERFECT = f"""
import sys
sys.path.insert(0, {str(Path(rules.__file__).parent)!r})
import rules

input()
while (line := input().strip()) != "quit":
    board = "-" * 9
    for move in line.split():
        board = rules.after(board, int(move))
    print(min(rules.best_moves(board)), flush=True)
"""


@pytest.fixture
def systems(monkeypatch, tmp_path):
    """Put small systems in place of the outside ones, which need packages."""
    (tmp_path / "perfect.py").write_text(PERFECT)
    (tmp_path / "garbage.py").write_text("input(); input(); print('?')")
    paths = {"first free": FIRST_FREE}
    paths |= {name: tmp_path / f"{name}.py" for name in ("perfect", "garbage")}
    small = [
        System(name=name, source="here", how="a program", script=f"'{path}'")
        for name, path in paths.items()
    ]
    trained = System(name="q", source="there", how="trained", preset="matlab")
    systems = Systems(
        installed=tuple(small), reproduced=(trained,), examined=(), missing={}
    )
    monkeypatch.setattr(ladder, "SYSTEMS", systems)


@pytest.mark.slow
def test_the_page_has_exact_results_lost_games_certificates_and_what_is_missing(
    systems, tmp_path
):
    page, folder = tmp_path / "ladder.md", tmp_path / "certificates"
    folder.mkdir()
    for name in ("garbage.json", "schema.json"):
        (folder / name).write_text("{}")
    flags = "--no-exam --games 8 --copies 1 --num-updates 2"
    paths = ["--page", str(page), "--certificates", str(folder)]
    assert ladder.main([*flags.split(), *paths]) == 0
    text = page.read_text("utf-8")
    rows = rows_of_page(page)
    # First free: computed by hand in `docs/use/programs.md`, by the same exact method.
    assert rows["first free"][3:6] == [
        "78.125 / 4.167 / 17.708",
        "44.021 / 3.810 / 52.169",
        "beatable",
    ]
    # Perfect play that chooses the first best move: 99.479% and 80.635% wins.
    assert rows["perfect"][3:6] == [
        "99.479 / 0.521 / 0.000",
        "80.635 / 19.365 / 0.000",
        "unbeatable",
    ]
    assert rows["q"][5] == "beatable"
    assert [*rows].index("perfect") < [*rows].index("first free")
    assert "`first free`, as O:\n\n```text\n  1. X0   2. O1   3. X8   4. O2" in text
    assert "answered '?', not one move, before the first move" in text
    assert re.search(r"\| `first free` \| [+-]\d+ \| .* \| beatable \|", text)
    names = {path.name for path in folder.iterdir()}
    assert {"ratings-light.svg", "schema.json"} <= names, "other files stay"
    assert "garbage.json" not in names
    start, end = "unbeatable by the moves that they gave", "be another player."
    sentence = text[text.index(start) : text.index(end)]
    assert sentence in ladder.PAGE.read_text("utf-8"), "of the same 4,520 positions"
    certificate = json.loads((folder / "perfect.json").read_text())
    assert certificate["player"] == "perfect, by the moves that it gave"
    check(certificate)


def check(certificate):
    """Check a certificate with the program of one file, which exits if it is wrong."""
    runpy.run_path(str(CHECKER))["check"](certificate)


def rows_of_page(page):
    """Return the rows of a ladder with exact results, by the player's name."""
    lines = page.read_text("utf-8").splitlines()
    tables = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return {cells[0].strip("`"): cells for cells in tables if len(cells) == 7}


def test_the_rows_of_the_page_are_those_of_their_certificates():
    """The results against random are computed again, by the rules of `rules`."""
    rows = rows_of_page(ladder.PAGE)
    paths = sorted(ladder.CERTIFICATES.glob("*.json"))
    assert paths
    for path in paths:
        certificate = json.loads(path.read_text())
        check(certificate)
        _, _, _, as_x, as_o, verdict, link = rows[path.stem]
        assert link.startswith(f"[{path.name}](../ladder/{path.name}) as ")
        moves = certificate["moves"]
        for seat, text in (("first", as_x), ("second", as_o)):
            if seat not in moves:
                assert verdict == "beatable" or text == "-", path.stem
                continue
            rates = rules.rates_against_random(moves[seat], seat)
            shown = [float(number) for number in text.split(" / ")]
            assert shown == pytest.approx([100 * rate for rate in rates], abs=0.001)
            assert rates[2] == 0, path.stem
