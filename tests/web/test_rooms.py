"""Which room of the page's JavaScript imports which."""

import re

import pytest

from jax_ttt.web.export import STATIC

MAY_IMPORT = {
    "engine": "",
    "files": "engine",
    "state": "engine files vendor",
    "views": "engine files state vendor",
}
"""The rooms that the modules of a room may import, besides their own."""
IMPORT = re.compile(r'(?m)^(?:import|export|\}).* from "([^"]+)";$|^import "([^"]+)";$')


def imported_paths(path):
    """Return what a module imports, as paths below the folder of the page."""
    names = [first or second for first, second in IMPORT.findall(path.read_text())]
    return [(path.parent / name).resolve().relative_to(STATIC) for name in names]


def test_every_room_is_in_the_table():
    rooms = {path.parent.relative_to(STATIC) for path in STATIC.rglob("*.js")}
    assert {*map(str, rooms)} == {*MAY_IMPORT, ".", "vendor"}
    assert {path.name for path in STATIC.glob("*.js")} == {"main.js", "worker.js"}


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_what_the_table_allows(room):
    allowed = {room, *MAY_IMPORT[room].split()}
    modules = [*(STATIC / room).glob("*.js")]
    assert sum(len(imported_paths(path)) for path in modules) > 5
    wrong = [
        f"{path.relative_to(STATIC)} imports {other}"
        for path in modules
        for other in imported_paths(path)
        if other.parts[0] not in allowed
    ]
    assert not wrong


def test_the_state_of_the_page_has_signals_and_no_views():
    modules = [*(STATIC / "state").glob("*.js")]
    names = {
        name
        for path in modules
        for imported in re.findall(r"{([^}]*)} from \"../vendor/", path.read_text())
        for name in imported.replace(" ", "").split(",")
    }
    assert (
        {"signal", "effect"}
        <= names
        <= {
            "batch",
            "computed",
            "effect",
            "signal",
            "untracked",
        }
    )
