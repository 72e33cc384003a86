"""What a person does on the page, and what it then shows: by roles, names and texts."""

import contextlib
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

AXE = Path(__file__).parent / "web" / "browser" / "axe.min.js"
GAMES = {
    "tic_tac_toe": "Tic-tac-toe",
    "connect_5x4": "Connect Four 5 \u00d7 4",
    "connect_7x6": "Connect Four 7 \u00d7 6",
}
"""The titles of the games that the page offers."""
TABS = ("Game", "Review", "Learning", "Proof", "Statistics")
WIDE = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}
PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
SCREENS = {"wide": WIDE, "phone": PHONE}
RESULTS = ("You won.", "You lost.", "A draw.")
STATUS = re.compile(
    r"Your turn: \w+|You won\.|You lost\.|A draw\."
    r"|\w+ won\.|\w+ to move|That did not work"
)
"""What the page says when it waits for the person, or the game is over."""
PENDING = "Your choice holds from the next game on."
"""What stands under the board while a choice waits for the next game."""
LONG = 120_000
"""Milliseconds that a training may take, on a busy machine."""
SCRIPT = """
// Replies, demonstrations and messages pause to be seen: the tests wait a tenth.
const wait = window.setTimeout;
window.setTimeout = (then, ms = 0, ...values) => wait(then, ms / 10, ...values);
// The same random numbers in each test.
let state = 1;
Math.random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
// What screen readers are told.
window.announced = [];
new MutationObserver((changes) => {
  for (const { target } of changes) {
    const element = target.closest ? target : target.parentElement;
    const region = element?.closest("[aria-live=polite], [role=status], [role=alert]");
    if (region?.textContent.trim()) window.announced.push(region.textContent.trim());
  }
}).observe(document, { childList: true, characterData: true, subtree: true });
"""
"""A script that each page runs first."""


def chromium():
    """Return the path of Chromium; skip the test where there is no browser.

    With BROWSER_TESTS=required, as in CI, a missing browser fails the test.
    """
    path, api = shutil.which("chromium"), importlib.util.find_spec("playwright")
    if path is None or api is None:
        reason = "there is no chromium on the path, or no Playwright"
        assert os.environ.get("BROWSER_TESTS") != "required", reason
        pytest.skip(reason)
    return path


def expect(locator):
    """Return Playwright's assertions; imported here, since it may be missing."""
    from playwright.sync_api import expect

    return expect(locator)


# ---- the board


def area(page):
    """Return the part of the page with the status, the board and the moves."""
    return page.get_by_role("region", name="Game", exact=True)


def squares(page):
    """Return the buttons of the board: squares, or columns where stones fall."""
    return page.get_by_role("grid").get_by_role("button")


def names(page):
    """Return what a screen reader says of each square or column."""
    return squares(page).evaluate_all(
        "all => all.map((one) => one.getAttribute('aria-label') ?? one.innerText)"
    )


def board(page):
    """Return the squares as text, like `X---O----`."""
    return "".join(
        "-" if name.split(", ")[2] == "empty" else name.split(", ")[2]
        for name in names(page)
    )


def columns(page):
    """Return the words for the stones in each column, from below."""
    stacks = [re.search(r"from below ([^;]*);", name) for name in names(page)]
    return [stack[1].split(", ") if stack else [] for stack in stacks]


def marked(page, text):
    """Return the squares or columns whose name has this text."""
    return [i for i, name in enumerate(names(page)) if text in name]


def legal(page):
    """Return the moves that the person may choose."""
    states = squares(page).evaluate_all(
        "all => all.map((one) => one.getAttribute('aria-disabled'))"
    )
    return [i for i, state in enumerate(states) if state == "false"]


def move_list(page):
    """Return the entries of the list of moves."""
    return page.get_by_role("list", name="Moves of this game").get_by_role("button")


def moves(page):
    """Return the moves of the game, as the list names them."""
    texts = " ".join(move_list(page).all_text_contents())
    pairs = re.findall(r"Move \d+: \w+, (?:row (\d), )?column (\d)", texts)
    return [3 * (int(row or 1) - 1) + int(column) - 1 for row, column in pairs]


def status(page):
    """Return the status: whose turn it is, or how the game ended."""
    shown = STATUS.search(area(page).inner_text())
    assert shown, area(page).inner_text()
    return shown[0]


def wait_for_turn(page):
    """Wait until the person may move or the game is over."""
    expect(area(page)).to_contain_text(STATUS)


def is_over(page):
    return status(page) in RESULTS


def says(page, text):
    """Wait until the part with the board shows a text."""
    expect(area(page)).to_contain_text(text)


def announced(page):
    """Return what screen readers were told since the page was opened."""
    return page.evaluate("window.announced")


def hear(page, text):
    """Wait until screen readers are told a text; return all that they were told."""
    for _ in range(200):
        texts = announced(page)
        if any(text in one for one in texts):
            return texts
        page.wait_for_timeout(50)
    raise AssertionError(f"not announced: {text}; only {announced(page)}")


def play(page, move):
    """Click a square or column, and wait for the reply."""
    squares(page).nth(move).click()
    wait_for_turn(page)


def play_to_the_end(page, choose=min):
    """Play moves that `choose` takes from the legal ones until the game is over."""
    wait_for_turn(page)
    while not is_over(page):
        play(page, choose(legal(page)))


# ---- controls


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def tab(page, name):
    """Open a tab and return its panel."""
    page.get_by_role("tab", name=name).click()
    panel = page.get_by_role("tabpanel", name=name)
    panel.wait_for()
    return panel


def radio(page, name):
    """Choose one of several options; `name` may be its beginning."""
    page.get_by_role("radio", name=re.compile(f"^{re.escape(name)}")).check(force=True)


def level(page, name):
    tab(page, "Game")
    radio(page, name)
    wait_for_turn(page)


def side(page, name):
    tab(page, "Game")
    radio(page, name)
    wait_for_turn(page)


def agent(page, title):
    tab(page, "Game")
    page.get_by_label("Learned agent", exact=True).select_option(title)
    wait_for_turn(page)


def look_ahead(page, text):
    tab(page, "Game")
    page.get_by_label("The agent looks ahead").select_option(text)


def game(page, env_id):
    """Open a game by its title."""
    links = page.get_by_role("navigation", name="Games")
    links.get_by_role("button", name=GAMES[env_id]).click()
    wait_for_turn(page)


def show(page, *layers):
    """Switch on values on the board."""
    for layer in layers:
        page.get_by_role("checkbox", name=layer).check(force=True)


def agree(page, verb):
    """Agree to the question of a dialog."""
    page.get_by_role("dialog").get_by_role("button", name=verb).click()


def figures(panel):
    """Return the figures of a panel by their names."""
    terms = panel.get_by_role("term").all_inner_texts()
    texts = panel.get_by_role("definition").all_inner_texts()
    return dict(zip(terms, texts, strict=True))


def counted(page):
    """Return the numbers of games in the statistics of the current game."""
    every = figures(tab(page, "Statistics"))
    return {
        name: int(every[name]) for name in ("Games", "You won", "Draws", "You lost")
    }


def row_of(panel, name):
    """Return the numbers in the row of a table."""
    row = panel.get_by_role("row", name=re.compile(f"^{re.escape(name)}"))
    return [int(text) for text in row.get_by_role("cell").all_inner_texts()]


def link(url, env_id, line, side="x", level="full", **fields):
    """Return the address of a position of the page."""
    line = ".".join(map(str, line))
    known = {"game": env_id, "moves": line, "side": side, "level": level}
    return f"{url.partition('#')[0]}#{urlencode(known | fields)}"


def upload(page, name, file):
    """Choose a file after a click on a button."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=name).click()
    chooser.value.set_files(file)


def download(control, path):
    """Click a control that offers a file; return the file's bytes."""
    with control.page.expect_download() as offered:
        control.click()
    offered.value.save_as(path)
    return path.read_bytes()


# ---- games in plain Python


def after(env_id, line):
    """Return the cells after moves: 1 for the first player, -1, or 0."""
    search = plain_search(env_id)
    cells = (0,) * (search.rows * search.columns)
    for action in line:
        cells = search.after(cells, action)
    return cells


@functools.cache
def plain_search(env_id):
    """Return best play by a search that uses nothing of the page."""
    import rule_cases

    return rule_cases.PlainSearch(env_id)


def result(env_id, line, side):
    """Return what the page says at the end of these moves to the player of a side."""
    if not plain_search(env_id).is_won(after(env_id, line)):
        return "A draw."
    winner = "x" if len(line) % 2 else "o"
    return "You won." if winner == side else "You lost."


def best_actions(env_id, line):
    """Return the quickest wins, the draws, or the latest losses."""
    known = plain_search(env_id).actions(after(env_id, line))
    value = max(value for value, _ in known.values())
    lengths = [length for one, length in known.values() if one == value]
    length = min(lengths) if value > 0 else max(lengths)
    return [move for move, one in known.items() if one == (value, length)]


def sensible(env_id, line):
    """Return a move that wins or blocks if possible, else one near the middle."""
    search, cells = plain_search(env_id), after(env_id, line)
    options = search.moves(cells)
    sign = 1 if len(line) % 2 == 0 else -1
    middle = (search.columns - 1) / 2
    for player in (sign, -sign):
        for action in options:
            pairs = zip(cells, search.after(cells, action), strict=True)
            cell = [old == new for old, new in pairs].index(False)
            put = (*cells[:cell], player, *cells[cell + 1 :])
            if search.is_won(put):
                return action
    return min(options, key=lambda action: abs(action % search.columns - middle))


# ---- the server, and accessibility


@contextlib.contextmanager
def serving(folder):
    """Serve the page with its data in a folder, at a free port."""
    command = (sys.executable, "-m", "jax_ttt.web", "--port", "0")
    folders = ("--data-dir", str(folder / "data"), "--runs", str(folder / "runs"))
    (folder / "data").mkdir(exist_ok=True)
    process = subprocess.Popen(
        (*command, *folders),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        output = ""
        for line in process.stdout:
            output += line
            if address := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield address[0]
                break
        else:
            raise AssertionError(f"the server ended: {output}")
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def axe(page, state):
    """Check the page as it is; only minor findings pass."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    report = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    bad = [
        (one["id"], one["impact"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in report["violations"]
        if one["impact"] != "minor"
    ]
    assert bad == [], state
    assert report["testEngine"]["name"] == "axe-core"
