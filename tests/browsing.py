"""What a person does on the page, and what it then shows: by roles, names and texts."""

import contextlib
import os
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
import rule_cases
import served
from playwright.sync_api import expect

from tools import screenshots

AXE = Path(__file__).parent / "web" / "browser" / "axe.min.js"
GAMES = {
    "tic_tac_toe": "Tic-tac-toe",
    "connect_5x4": "Connect Four 5 \u00d7 4",
    "connect_7x6": "Connect Four 7 \u00d7 6",
}
"""The titles of the games that the page offers."""
TABS = ("Game", "Learn", "Proof", "More")
PARTS = {
    "Settings": ("Game", "Settings"),
    "Review": ("Game", "Review"),
    "The network at work": ("Game", "The network at work"),
    "Learning": ("Learn", None),
    "Compare": ("More", "Compare two agents"),
    "Statistics": ("More", "Statistics"),
    "Keys": ("More", "Keys"),
}
"""What a person looks for: its tab, and the title of its part of the tab."""
STILL = {"reduced_motion": "reduce"}
"""Clicks wait until their target holds still, so most tests have no animations."""
WIDE = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", **STILL}
PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", **STILL}
SCREENS = {"wide": WIDE, "phone": PHONE}
RESULTS = ("You won.", "You lost.", "A draw.")
STATUS = re.compile(
    r"Your turn: \w+|You won\.|You lost\.|A draw\."
    r"|\w+ won\.|\w+ to move|That did not work"
)
"""What the page says when it waits for the person, or the game is over."""
PENDING = "This starts with the next game."
"""What stands under the board while a choice waits for the next game."""
LONG = 120_000
"""Milliseconds that a training or a long search may take, on a busy machine."""
SCRIPT = """
// Replies, demonstrations and messages pause to be seen: the tests wait a tenth.
const wait = window.setTimeout;
window.setTimeout = (then, ms = 0, ...values) => wait(then, ms / 10, ...values);
// A test may set how long a search for an exact result takes at most, so that it finds
// the same on every machine.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...more) {
  const { task } = message;
  if (task?.seconds && window.exactSeconds) task.seconds = window.exactSeconds;
  return post.call(this, message, ...more);
};
// The same random numbers in each test.
let state = 1;
Math.random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
// The texts that screen readers read out.
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
AT_BEST = """
// Not before the document is read, and before its scripts run: a new document of a file
// may still have an empty storage of its own until then.
document.addEventListener("readystatechange", () => {
  try {
    const boards = ["4x4", "5x4", "5x5", "7x6"].map((size) => `connect_${size}`);
    const names = ["tic_tac_toe", ...boards];
    const games = names.map((name) => [name, { level: "full" }]);
    const choices = JSON.stringify(Object.fromEntries(games));
    const key = "jax_ttt.games";
    if (!localStorage.getItem(key)) localStorage.setItem(key, choices);
  } catch {}  // a blank page has no storage
}, { once: true });
"""
"""A script that each page of a person runs first who plays the agents at their best."""
NOTE_TEXTS = """(area) => {
  window.shown = [];
  const show = () => window.shown.push(area.textContent);
  const all = { characterData: true, childList: true, subtree: true };
  new MutationObserver(show).observe(area, all);
}"""
"""Note what an area shows, even if only for a moment."""
CLICK_ONCE = """(area, [pattern, name]) => {
  const isButton = (one) =>
    one.textContent.trim() === name && !one.matches(":disabled, [aria-disabled=true]");
  const click = (_, observer) => {
    if (!new RegExp(pattern).test(area.textContent)) return;
    const button = [...document.querySelectorAll("button")].find(isButton);
    if (!button) return;
    observer.disconnect();
    button.click();
  };
  const changes = { characterData: true, childList: true, subtree: true };
  new MutationObserver(click).observe(area, changes);
}"""


def chromium():
    """Return the path of Chromium; skip the test where there is no browser.

    With BROWSER_TESTS=required, as in CI, a missing browser fails the test.
    """
    path = screenshots.find_chromium()
    if path is None:
        reason = "there is no chromium on the path"
        assert os.environ.get("BROWSER_TESTS") != "required", reason
        pytest.skip(reason)
    return path


class Page:
    """A page of Playwright, with what a person does and sees on it."""

    def __init__(self, page):
        self.page = page

    def __getattr__(self, name):
        return getattr(self.page, name)

    def set_hidden(self, is_hidden):
        """Let the page be in a hidden tab, or in a visible one.

        A browser without windows hides no tab itself.
        """
        self.evaluate(
            """(value) => {
              Object.defineProperty(document, "hidden", { value, configurable: true });
              document.dispatchEvent(new Event("visibilitychange"));
            }""",
            is_hidden,
        )

    def visit(self, url):
        """Open an address as a new document, even if only its fragment is new."""
        self.page.goto("about:blank")
        self.page.goto(url)
        self.leave_first_screen()

    def search_for(self, seconds):
        """Let each search for an exact result take so long, until the next document.

        Results that a test needs must not depend on how fast the machine is.
        """
        self.evaluate("(seconds) => (window.exactSeconds = seconds)", seconds)

    # ---- the board

    def area(self):
        """Return the part of the page with the status, the board and the moves."""
        return self.get_by_role("region", name="Game", exact=True)

    def squares(self):
        """Return the buttons of the board: squares, or columns where stones fall."""
        return self.get_by_role("grid").get_by_role("button")

    def names(self):
        """Return what a screen reader says of each square or column."""
        return self.squares().evaluate_all(
            "all => all.map((one) => one.getAttribute('aria-label') ?? one.innerText)"
        )

    def board(self):
        """Return the squares as text, like `X---O----`."""
        words = [name.split(", ")[1] for name in self.names()]
        return "".join("-" if word == "empty" else word for word in words)

    def columns(self):
        """Return the words for the stones in each column, from below."""
        stacks = [re.search(r"from below ([^;]*);", name) for name in self.names()]
        return [stack[1].split(", ") if stack else [] for stack in stacks]

    def shown(self):
        """Return the stones on the board."""
        return self.columns() if "Column" in self.names()[0] else self.board()

    def marked(self, text):
        """Return the squares or columns whose name has this text."""
        return [i for i, name in enumerate(self.names()) if text in name]

    def place_says(self, place, pattern):
        """Wait until the name of a square or column has this pattern."""
        name = re.compile(pattern, re.DOTALL)
        expect(self.squares().nth(place)).to_have_accessible_name(name)

    def legal(self):
        """Return the moves that the person may choose."""
        states = self.squares().evaluate_all(
            "all => all.map((one) => one.getAttribute('aria-disabled'))"
        )
        return [i for i, state in enumerate(states) if state == "false"]

    def move_list(self):
        """Return the entries of the list of moves."""
        moves = self.get_by_role("list", name="Moves of this game")
        return moves.get_by_role("button")

    def moves(self):
        """Return the moves of the game, as the list names them."""
        texts = " ".join(self.move_list().all_text_contents())
        names = re.findall(r"Move \d+: \w, (square|column) (\d+)[,.]", texts)
        # Squares are counted from 0, columns from 1.
        return [int(number) - (place == "column") for place, number in names]

    def has_moves(self, number):
        """Wait until the game has so many moves."""
        expect(self.move_list()).to_have_count(number)

    def has_line(self, line):
        """Wait until the game has these moves, for instance those of a link."""
        served.wait_until(lambda: self.moves() == [*line])

    def status(self):
        """Return the status: whose turn it is, or how the game ended."""
        shown = STATUS.search(self.area().inner_text())
        assert shown, self.area().inner_text()
        return shown[0]

    def leave_first_screen(self):
        """Wait for the page, and open its settings where it shows the first screen."""
        self.wait_for_turn()
        if self.get_by_role("button", name="Watch one learn").is_visible():
            self.tab("Game")

    def wait_for_turn(self):
        """Wait until the person may move or the game is over."""
        self.says(STATUS)

    def is_over(self):
        return self.status() in RESULTS

    def says(self, text):
        """Wait until the part with the board shows a text."""
        expect(self.area()).to_contain_text(text)

    def says_no(self, text):
        """Wait until the part with the board does not show a text."""
        expect(self.area()).not_to_contain_text(text)

    def announced(self):
        """Return the texts that screen readers got since the page was opened."""
        return self.evaluate("window.announced")

    def hear(self, text):
        """Wait until screen readers get a text; then forget all their texts."""
        served.wait_until(lambda: any(text in one for one in self.announced()))
        self.evaluate("window.announced.length = 0")

    def play(self, move):
        """Click a square or column, and wait for the reply."""
        self.squares().nth(move).click()
        self.wait_for_turn()

    def play_to_the_end(self, choose=min):
        """Play moves that `choose` takes from the legal ones until the game is over."""
        self.wait_for_turn()
        while not self.is_over():
            self.play(choose(self.legal()))

    def new_game(self):
        self.button("New game").click()
        self.wait_for_turn()

    def reload(self):
        self.page.reload()
        self.leave_first_screen()

    # ---- controls

    def button(self, name):
        return self.get_by_role("button", name=name, exact=True)

    def tab(self, name):
        """Open a tab, or the part of a tab, and return the tab's panel."""
        tab, part = PARTS.get(name, (name, None))
        self.get_by_role("tab", name=tab).click()
        panel = self.get_by_role("tabpanel", name=tab)
        panel.wait_for()
        if part is not None:
            title = panel.locator("summary").get_by_text(part, exact=True)
            if not title.evaluate("(one) => one.closest('details').open"):
                title.click()
        return panel

    def radio(self, name):
        """Choose one of several options; `name` may be its beginning."""
        pattern = re.compile(f"^{re.escape(name)}")
        option = self.get_by_role("radio", name=pattern)
        option.click()
        expect(option).to_be_checked()

    def choose(self, name):
        """Choose a level or a side, before the first move."""
        self.tab("Game")
        self.radio(name)
        self.wait_for_turn()

    def choose_agent(self, title):
        self.tab("Game")
        self.get_by_label("Learned agent", exact=True).select_option(title)
        self.wait_for_turn()

    def add_agent(self, file, game):
        """Add an agent's file, and choose the agent in its game."""
        self.tab("Learning")
        self.upload("Add an agent's file", file)
        self.hear(f'Added as "{file.stem}"')
        links = self.get_by_role("navigation", name="Games")
        links.get_by_role("button", name=game, exact=True).click()
        self.choose_agent(f"Kept: {file.stem} (network)")

    def card(self, letter):
        """Return the part of the panel Proof about a side."""
        cards = self.get_by_role("tabpanel").get_by_role("article")
        return cards.filter(has_text=re.compile(f"As {letter}"))

    def look_ahead(self, text):
        self.tab("Game")
        self.get_by_label("The agent looks ahead").select_option(text)

    def game(self, env_id):
        """Open a game by its title."""
        links = self.get_by_role("navigation", name="Games")
        links.get_by_role("button", name=GAMES[env_id]).click()
        self.wait_for_turn()

    def show(self, *layers, is_shown=True):
        """Switch values on the board on or off."""
        for layer in layers:
            box = self.get_by_role("checkbox", name=layer)
            box.set_checked(is_shown)
            expect(box).to_be_checked(checked=is_shown)

    def agree(self, verb):
        """Agree to the question of a dialog."""
        self.get_by_role("dialog").get_by_role("button", name=verb).click()

    def counted(self):
        """Return the numbers of games in the statistics of the current game."""
        every = figures(self.tab("Statistics"))
        names = ("Games", "You won", "Draws", "You lost")
        return {name: int(every[name]) for name in names}

    def row(self, name):
        """Return the numbers in a row of the statistics."""
        pattern = re.compile(f"^{re.escape(name)}")
        row = self.tab("Statistics").get_by_role("row", name=pattern)
        return [int(text) for text in row.get_by_role("cell").all_inner_texts()]

    def upload(self, name, file):
        """Choose a file after a click on a button."""
        with self.expect_file_chooser() as chooser:
            self.get_by_role("button", name=name).click()
        chooser.value.set_files(file)

    def check_with_axe(self, state):
        """Check the page as it is; only minor findings pass."""
        expect(self.locator("#toast")).to_be_hidden()  # it goes by itself
        if not self.evaluate("'axe' in window"):
            self.evaluate(AXE.read_text("utf-8"))
        report = self.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        bad = [
            (one["id"], one["impact"], [x["html"][:120] for x in one["nodes"][:3]])
            for one in report["violations"]
            if one["impact"] != "minor"
        ]
        assert bad == [], (state, bad)
        assert report["testEngine"]["name"] == "axe-core"


def click_once(area, pattern, name):
    """Let the page click a button once it is there and an area's text has a pattern.

    On a loaded machine, a click from here may come after the end of what runs.
    """
    area.evaluate(CLICK_ONCE, [pattern, name])


def sees(control):
    """Return whether all of a control is in view."""
    box, height = control.bounding_box(), control.page.viewport_size["height"]
    return box["y"] >= 0 and box["y"] + box["height"] <= height


def figures(panel):
    """Return the figures of a panel by their names."""
    terms = panel.get_by_role("term").all_inner_texts()
    texts = panel.get_by_role("definition").all_inner_texts()
    return dict(zip(terms, texts, strict=True))


def link(url, env_id, line, side="x", level="full", **fields):
    """Return the address of a position of the page."""
    # Squares are counted from 0, columns from 1.
    first = 0 if env_id == "tic_tac_toe" else 1
    line = ".".join(str(move + first) for move in line)
    known = {"game": env_id, "moves": line, "side": side, "level": level}
    return f"{url.partition('#')[0]}#{urlencode(known | fields)}"


def download(control, path):
    """Click a control that offers a file; return the file's bytes."""
    with control.page.expect_download() as offered:
        control.click()
    offered.value.save_as(path)
    return path.read_bytes()


# ---- games in plain Python


def after(env_id, line):
    """Return the cells after moves: 1 for the first player, -1, or 0."""
    search = rule_cases.plain_search(env_id)
    return search.after(search.start, *line)


def text_after(line):
    """Return the squares of tic-tac-toe after moves, in the notation of `rules`."""
    return "".join("-XO"[cell] for cell in after("tic_tac_toe", line))


def result(env_id, line, side):
    """Return what the page says at the end of these moves to the player of a side."""
    if not rule_cases.plain_search(env_id).is_won(after(env_id, line)):
        return "A draw."
    winner = "x" if len(line) % 2 else "o"
    return "You won." if winner == side else "You lost."


def exact_actions(env_id, line):
    """Return the value of each move after a game, and the moves to the end."""
    return rule_cases.plain_search(env_id).actions(after(env_id, line))


def best_actions(env_id, line):
    """Return the quickest wins, the draws, or the latest losses."""
    return rule_cases.best_actions(exact_actions(env_id, line))


# ---- the server


@contextlib.contextmanager
def serving(folder):
    """Serve the page with its data in a folder, at a free port; yield its address."""
    with served.command("--port", "0", folder=folder) as (_, port):
        yield f"http://127.0.0.1:{port}"
