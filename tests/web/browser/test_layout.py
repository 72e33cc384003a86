"""The page fits its screen, holds still, and can be used by everyone."""

import re

import browsing
import pytest
from browsing import GAMES, TABS, expect

pytestmark = pytest.mark.slow
SIZES = {"phone": [(320, 640), (390, 844)], "wide": [(640, 400), (1280, 800)]}
"""Widths and heights in pixels; 640 x 400 is what 200% leaves of 1280 x 800."""
AXED = {"phone": "tic_tac_toe", "wide": "connect_5x4"}
"""The game whose tabs Axe checks: each run takes half a second."""
WIDER = """() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const wide = [...document.querySelectorAll("main *, header *")].filter((one) => {
    const box = one.getBoundingClientRect();
    const isUnseen = box.width <= 1 || box.height <= 1;
    return !isUnseen && (box.right > clientWidth + 1 || box.left < -1);
  });
  const over = Math.max(scrollWidth - clientWidth, 0);
  return [over, wide.map((one) => one.outerHTML.slice(0, 100))];
}"""
"""By how much the page is wider than the screen, and what lies outside it."""


def wait_for_frames(page):
    """Let what follows a change of the screen's size or of the board be shown."""
    page.evaluate(
        "new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end)))"
    )


def show_values(page, are_shown=True):
    """Switch all values on the board on or off."""
    for box in page.get_by_role("checkbox", name=re.compile("values")).all():
        box.set_checked(are_shown)


def check_stillness(page, screen):
    """Check that nothing moves during a game, whatever is shown."""
    places = [
        page.get_by_role("grid"),
        page.button("New game"),
        page.get_by_role("checkbox", name="Mark mistakes"),
    ]
    if screen == "wide":  # on a phone the tabs stand at the edge of the screen
        places.append(page.get_by_role("tablist"))

    def measure(places):
        scroll = page.evaluate("scrollY")
        boxes = [place.bounding_box() for place in places]
        return [{**box, "y": box["y"] + scroll} for box in boxes]

    for env_id in ("tic_tac_toe", "connect_5x4"):
        page.game(env_id)
        expect(page.get_by_role("checkbox", name="Network's values")).to_be_visible()
        before = measure(places)
        page.play(1)
        page.button("Hint").click()
        page.says("Hint: ")
        assert measure(places) == before, "a move and a hint"
        page.play_to_the_end()
        assert measure(places) == before, "the end"
        page.new_game()
        show_values(page)
        assert measure(places[:3]) == before[:3], "values"
        show_values(page, are_shown=False)


@pytest.mark.parametrize("screen", SIZES)
def test_nothing_moves_and_every_state_fits_the_screen_and_is_accessible(
    open_page, served_url, screen
):
    """Axe finds nothing serious, with dark colours on the phone."""
    page = open_page(served_url, **browsing.SCREENS[screen])
    check_stillness(page, screen)

    def check(*state, with_axe=True):
        for width, height in SIZES[screen]:
            page.set_viewport_size({"width": width, "height": height})
            wait_for_frames(page)
            assert page.evaluate(WIDER) == [0, []], (*state, width)
        if with_axe:
            page.check_with_axe(state)

    page.search_for(0.1)  # what the values are does not matter
    show_values(page)
    for env_id in GAMES:
        page.game(env_id)
        page.play(1)
        check(env_id, "in the middle", with_axe=env_id == AXED[screen])
        page.play_to_the_end()
        for name in TABS:
            page.tab(name)
            check(env_id, name, with_axe=env_id == AXED[screen])
    page.tab("Game")
    page.radio("Analyse")
    page.button("Set up a position").click()
    check("setting up")
    page.tab("Statistics")
    page.button("Clear the statistics").click()
    check("a question")


SMALL = ((390, 844), (320, 640), (640, 400))


def test_on_a_phone_the_board_is_in_view_and_the_tabs_stand_at_the_bottom(
    open_page, served_url
):
    page = open_page(served_url, **browsing.PHONE)
    for width, height in SMALL:
        page.set_viewport_size({"width": width, "height": height})
        check_tabs(page, width, height)
    page.set_viewport_size(browsing.PHONE["viewport"])
    # The board and what belongs to it are on the screen.
    for env_id in (*GAMES, "tic_tac_toe"):
        page.game(env_id)
        page.evaluate("scrollTo(0, 0)")
        for control in (
            page.button("Hint"),
            page.get_by_role("checkbox", name="Exact values"),
        ):
            assert browsing.sees(control)
    # What is then shown on the board brings it into view.
    grid = page.get_by_role("grid")
    page.choose_agent("Run weak (network)")
    page.tab("Proof")
    line = page.get_by_role("button", name="Show me how to beat it").last
    line.scroll_into_view_if_needed()
    line.click()
    page.says("try it yourself")
    assert browsing.sees(grid)
    page.tab("Review").get_by_role("listitem").last.get_by_role("button").click()
    assert browsing.sees(grid)
    page.tab("Learning")
    page.get_by_role("button", name="Play against it").click()
    assert browsing.sees(grid)


def check_tabs(page, width, height):
    """Check that the tabs stay at the bottom, and that nothing lies under them."""
    page.tab("Game")
    tabs = page.get_by_role("tablist")
    bar = tabs.bounding_box()

    def is_in_sight(control):
        box = control.bounding_box()
        return box["y"] >= 0 and box["y"] + min(box["height"], 40) <= bar["y"]

    assert bar["y"] > height - 80
    for name in TABS:
        box = page.get_by_role("tab", name=name).bounding_box()
        assert box["height"] >= 44
        assert bar["y"] <= box["y"] < height
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        panel = page.tab(name)
        assert tabs.bounding_box() == bar, "it stays where it is"
        assert is_in_sight(panel)
        page.button("Board").click()
        assert is_in_sight(page.squares().first)
        expect(page.get_by_role("grid").locator(":focus")).to_have_count(1)
    # Nothing lies under it at the end of the page, nor what the tab key reaches.
    page.evaluate("scrollTo(0, 1e6)")
    end = page.get_by_role("contentinfo").bounding_box()
    assert end["y"] + end["height"] <= bar["y"]
    page.tab("Game")
    for _ in range(4):  # the mode, the level, the agent and the side
        page.keyboard.press("Tab")
        box = page.locator(":focus").bounding_box()
        assert box["y"] + min(box["height"], 20) <= bar["y"] or box["y"] >= bar["y"]


# ---- the keyboard

NAME = "(document.activeElement.getAttribute('aria-label') ?? "
NAME += "document.activeElement.innerText)"


def tab_to(page, pattern, key="Tab"):
    """Press a key until something of this name has the focus."""
    for _ in range(60):
        if re.search(pattern, page.evaluate(NAME) or ""):
            return
        page.keyboard.press(key)
    raise AssertionError(f"the keyboard does not reach {pattern}")


PLACE = "all => all.indexOf(document.activeElement)"


def walk_to(page, place):
    """Move the focus on the board to a square or column by the arrow keys."""
    width = 3 if len(page.names()) == 9 else len(page.names())
    for _ in range(20):
        now = page.squares().evaluate_all(PLACE)
        if now == place:
            return
        row, column = divmod(place, width)
        key = "ArrowRight" if column > now % width else "ArrowLeft"
        if row != now // width:
            key = "ArrowDown" if row > now // width else "ArrowUp"
        page.keyboard.press(key)
    raise AssertionError("the arrow keys do not reach the place")


def play_by_keyboard(page, env_id):
    """Play a whole game, and begin another one, by keyboard alone."""
    page.game(env_id)
    page.reload()  # the tab key then begins at the top
    page.keyboard.press("Tab")  # to the link that skips to the board
    page.keyboard.press("Enter")
    assert re.match("Square 0|Column", page.evaluate(NAME))
    while not page.is_over():
        walk_to(page, page.legal()[0])
        page.keyboard.press("Enter")
        page.wait_for_turn()
    line = page.moves()
    result = browsing.result(env_id, line, "x")
    assert page.status() == result
    assert any(text.endswith(result) for text in page.announced())
    tab_to(page, "^New game")
    page.keyboard.press("Space")
    page.wait_for_turn()
    assert page.moves() == []
    tab_to(page, r"^Square|^Column", "Shift+Tab")
    walk_to(page, line[0])
    page.keyboard.press("Space")
    page.wait_for_turn()
    assert page.moves()[0] == line[0]


FOCUS = """() => {
  const one = document.activeElement;
  const [label] = one.labels ?? [];
  const look = () => [one, ...(label?.children ?? [])].map((each) => {
    const { outline, boxShadow, borderColor } = getComputedStyle(each);
    return [outline, boxShadow, borderColor].join();
  }).join();
  const focused = look();
  one.blur();
  const isSeen = look() !== focused;
  one.focus();
  return [one.getAttribute("aria-label") ?? label?.innerText ?? one.innerText, isSeen];
}"""
"""The name of what has the focus, and whether that is seen."""
REACHED = (
    "Skip to the board",
    "Tic-tac-toe",
    "New game",
    "Hint",
    "Copy link",
    "Mark mistakes",
    "Game",
    "Learned agent",
)


def test_the_keyboard_alone_suffices_and_its_focus_is_seen_at_every_control(page):
    for env_id in ("connect_5x4", "tic_tac_toe"):
        play_by_keyboard(page, env_id)
    page.get_by_role("tab", name="Game").focus()
    for key, number in (("ArrowRight", 1), ("End", -1), ("Home", 0)):
        page.keyboard.press(key)
        expect(page.get_by_role("tab", selected=True)).to_have_text(TABS[number])
        expect(page.get_by_role("tabpanel")).to_have_count(1)
    page.reload()
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name, is_seen = page.evaluate(FOCUS)
        is_body = page.evaluate("document.activeElement.tagName") == "BODY"
        if name in reached[-5:] or is_body:
            break
        assert is_seen, f"no focus is seen at {name}"
        reached.append(name)
    assert {*REACHED} <= {*reached}


# ---- colours and motion


HIGHLIGHTED = """all => {
    const colours = (element) => {
        const { color, backgroundColor } = getComputedStyle(element);
        return `${color} ${backgroundColor}`;
    };
    const sample = document.createElement("span");
    sample.style.forcedColorAdjust = "none";
    sample.style.color = "HighlightText";
    sample.style.background = "Highlight";
    document.body.append(sample);
    return all.map((element) => colours(element) === colours(sample));
}"""
"""Whether elements have the system's colours of what is selected."""


NOTE_MOTION = """() => {
  window.moving = 0;
  const note = ({ target, pseudoElement, type }) => {
    const style = getComputedStyle(target, pseudoElement || null);
    const isStart = type === "animationstart";
    const text = isStart ? style.animationDuration : style.transitionDuration;
    const isSeen = text.split(",").some((seconds) => parseFloat(seconds) > 0.001);
    if (isSeen) window.moving += 1;
  };
  for (const type of ["animationstart", "transitionrun"]) {
    document.addEventListener(type, note, true);
  }
}"""
"""Count the parts of the page that begin to move."""


def test_colours_and_motion_are_those_that_the_reader_asked_for(open_page, served_url):
    page = open_page(served_url, color_scheme="light")

    def background():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    # The theme follows the system until it is chosen.
    light = background()
    page.emulate_media(color_scheme="dark")
    dark = background()
    assert light != dark
    page.emulate_media(color_scheme="light")
    theme = page.get_by_role("button", name="Theme")
    theme.click()
    theme.click()
    assert theme.inner_text() == "Theme: Dark"
    assert background() == dark
    page.reload()
    assert background() == dark, "it is remembered"
    # In forced colours, what is selected is highlighted.
    page.emulate_media(forced_colors="active")
    page.mouse.move(0, 0)
    links = page.get_by_role("navigation", name="Games").get_by_role("button")
    sides = page.locator("label:has(input[name=side]) span")
    for choices in (page.get_by_role("tab"), sides, links):
        first, *others = choices.evaluate_all(HIGHLIGHTED)
        assert first
        assert not any(others)
    page.emulate_media(forced_colors="none")
    # Nothing is animated if the reader asked for that.
    page.evaluate(NOTE_MOTION)
    for env_id in ("tic_tac_toe", "connect_5x4"):
        for choice in ("no-preference", "reduce"):
            page.emulate_media(reduced_motion=choice)
            page.game(env_id)
            page.new_game()
            wait_for_frames(page)
            page.evaluate("window.moving = 0")
            for move in (1, 2):
                page.play(move)
            if choice == "no-preference":
                page.wait_for_function("window.moving > 0")
            else:
                wait_for_frames(page)
                assert page.evaluate("window.moving") == 0, env_id
