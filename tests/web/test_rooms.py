"""Which room of the page's JavaScript imports which."""

import re

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


def test_a_room_imports_what_the_table_allows():
    for room, others in MAY_IMPORT.items():
        allowed = {room, *others.split()}
        modules = [*(STATIC / room).glob("*.js")]
        imports = [
            (path.name, other) for path in modules for other in imported_paths(path)
        ]
        assert len(imports) > 5
        assert [pair for pair in imports if pair[1].parts[0] not in allowed] == []


def test_the_state_of_the_page_has_signals_and_no_views():
    code = "".join(path.read_text() for path in (STATIC / "state").glob("*.js"))
    imports = re.findall(r"{([^}]*)} from \"../vendor/", code)
    names = {*re.findall(r"\w+", " ".join(imports))}
    assert {"signal", "effect"} <= names
    assert names <= {"batch", "computed", "effect", "signal", "untracked"}
