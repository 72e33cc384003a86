"""The page fits its screen, holds still, and can be used by everyone."""

import re

import browsing
import pytest
from browsing import (
    GAMES,
    TABS,
    announced,
    area,
    axe,
    button,
    expect,
    is_over,
    legal,
    moves,
    names,
    play,
    play_to_the_end,
    says,
    show,
    squares,
    status,
    tab,
    wait_for_turn,
)

pytestmark = pytest.mark.slow
SIZES = {
    "390": {"viewport": {"width": 390, "height": 844}},
    "320": {"viewport": {"width": 320, "height": 640}},
    # What 200 % leaves of a window of 1280 x 800.
    "200 %": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
}
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


def show_all(page):
    show(page, "Exact values", "Network's values")
    if page.get_by_role("checkbox", name="Table's values").count():
        show(page, "Table's values")


def in_game(page, env_id):
    browsing.game(page, env_id)
    return page


@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_wider_than_the_screen(open_page, served_url, size):
    page = open_page(served_url, **SIZES[size])
    show_all(page)
    for env_id in GAMES:
        in_game(page, env_id)
        play(page, 1)
        for name in TABS:
            tab(page, name)
            assert page.evaluate(WIDER) == [0, []], (env_id, name)
        play_to_the_end(page)
        tab(page, "Review")
        assert page.evaluate(WIDER) == [0, []], (env_id, "the end")
    tab(page, "Game")
    browsing.radio(page, "Analyse")
    assert page.evaluate(WIDER) == [0, []], "analysis"
    button(page, "Set up a position").click()
    assert page.evaluate(WIDER) == [0, []], "setting up"


@pytest.mark.parametrize("screen", browsing.SCREENS)
@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_nothing_moves_during_a_game(open_page, served_url, env_id, screen):
    page = in_game(open_page(served_url, **browsing.SCREENS[screen]), env_id)
    places = [
        page.get_by_role("grid"),
        button(page, "New game"),
        page.get_by_role("checkbox", name="Mark mistakes"),
        page.get_by_role("tablist"),
    ]

    def measure():
        scroll = page.evaluate("scrollY")
        boxes = [place.bounding_box() for place in places]
        return [
            {**box, "y": box["y"] + scroll} if i < count else None
            for i, box in enumerate(boxes)
        ]

    # In a game of columns the list of moves grows, and what is below it moves.
    count = 4 if env_id == "tic_tac_toe" or screen == "wide" else 3
    before = measure()
    play(page, 1)
    assert measure() == before
    button(page, "Hint").click()
    says(page, "Hint: ")
    assert measure() == before, "a hint"
    play_to_the_end(page)
    assert measure() == before, "the end"
    button(page, "New game").click()
    wait_for_turn(page)
    show_all(page)
    assert measure()[:3] == before[:3], "values"


@pytest.mark.parametrize("env_id", GAMES)
def test_values_and_hint_stand_beside_the_board_on_a_phone(
    open_page, served_url, env_id
):
    """They are on the screen together, without scrolling."""
    page = in_game(open_page(served_url, **browsing.PHONE), env_id)
    page.evaluate("scrollTo(0, 0)")
    for control in (
        button(page, "Hint"),
        page.get_by_role("checkbox", name="Exact values"),
    ):
        box = control.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 844


def test_what_is_shown_on_the_board_comes_into_view(open_page, served_url):
    page = open_page(served_url, **browsing.PHONE)

    def sees_board():
        box = page.get_by_role("grid").bounding_box()
        return box["y"] >= 0 and box["y"] + box["height"] <= 844

    browsing.agent(page, "Run weak (network)")
    tab(page, "Proof")
    shown = page.get_by_role("button", name="Show me how to beat it").last
    shown.scroll_into_view_if_needed()
    shown.click()
    says(page, "try it yourself")
    assert sees_board()
    tab(page, "Review").get_by_role("button").last.click()
    assert sees_board()
    tab(page, "Learning")
    page.get_by_role("button", name="Play against it").click()
    assert sees_board()


@pytest.mark.parametrize("screen", browsing.SCREENS)
def test_axe_finds_nothing_serious(open_page, served_url, screen):
    page = open_page(served_url, **browsing.SCREENS[screen])
    show_all(page)
    for env_id in GAMES:
        in_game(page, env_id)
        play(page, 1)
        axe(page, (env_id, "in the middle"))
        if env_id == "connect_7x6":
            continue
        play_to_the_end(page)
        for name in TABS:
            tab(page, name)
            axe(page, (env_id, name))
    tab(page, "Game")
    browsing.radio(page, "Analyse")
    button(page, "Set up a position").click()
    axe(page, "setting up")
    tab(page, "Statistics")
    button(page, "Clear the statistics").click()
    axe(page, "a question")


def test_every_control_has_a_name(open_page, served_url):
    page = open_page(served_url)
    for env_id in GAMES:
        in_game(page, env_id)
        play(page, 1)
        for name in TABS:
            tab(page, name)
            tree = page.locator("body").aria_snapshot()
            roles = "button|radio|checkbox|combobox|slider|textbox|tab|link|img"
            unnamed = re.findall(rf"^\s*- (?:{roles})(?: \[[^\n]*)?:?$", tree, re.M)
            assert unnamed == [], (env_id, name)
            assert re.search(r"button \"New game\"", tree)


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_a_whole_game_by_keyboard_alone(open_page, served_url, env_id):
    page = in_game(open_page(served_url), env_id)
    page.reload()  # the tab key then begins at the top
    wait_for_turn(page)
    tab_to(page, r"^Row|^Column")
    while not is_over(page):
        walk_to(page, legal(page)[0])
        page.keyboard.press("Enter")
        wait_for_turn(page)
    line = moves(page)
    result = browsing.result(env_id, line, "x")
    assert status(page) == result
    assert announced(page)[-1].endswith(result)
    tab_to(page, "^New game")
    page.keyboard.press("Space")
    wait_for_turn(page)
    assert moves(page) == []
    tab_to(page, r"^Row|^Column", "Shift+Tab")
    walk_to(page, line[0])
    page.keyboard.press("Space")
    wait_for_turn(page)
    assert moves(page)[0] == line[0]


NAME = "(document.activeElement.getAttribute('aria-label') ?? "
NAME += "document.activeElement.innerText)"


def tab_to(page, pattern, key="Tab"):
    """Press a key until something of this name has the focus."""
    for _ in range(60):
        if re.search(pattern, page.evaluate(NAME) or ""):
            return
        page.keyboard.press(key)
    raise AssertionError(f"the keyboard does not reach {pattern}")


def walk_to(page, place):
    """Move the focus on the board to a square or column by the arrow keys."""
    width = 3 if len(names(page)) == 9 else len(names(page))
    for _ in range(20):
        now = names(page).index(page.evaluate(NAME))
        if now == place:
            return
        row, column = divmod(place, width)
        key = "ArrowRight" if column > now % width else "ArrowLeft"
        if row != now // width:
            key = "ArrowDown" if row > now // width else "ArrowUp"
        page.keyboard.press(key)
    raise AssertionError("the arrow keys do not reach the place")


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


def test_the_focus_is_seen_at_every_control(open_page, served_url):
    page = open_page(served_url)
    play(page, 4)
    page.reload()
    wait_for_turn(page)
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name, is_seen = page.evaluate(FOCUS)
        if (
            name in reached[-5:]
            or page.evaluate("document.activeElement.tagName") == "BODY"
        ):
            break
        assert is_seen, f"no focus is seen at {name}"
        reached.append(name)
    for name in ("Skip to the board", "Tic-tac-toe", "New game", "Hint", "Copy link"):
        assert name in reached
    for name in ("Mark mistakes", "Game", "Learned agent"):
        assert name in reached


def test_the_skip_link_leads_to_the_board(open_page, served_url):
    page = open_page(served_url)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert re.match("Row 1", page.evaluate(NAME))


def test_tabs_are_changed_by_the_arrow_keys(open_page, served_url):
    page = open_page(served_url)
    page.get_by_role("tab", name="Game").focus()
    for key, name in (
        ("ArrowRight", "Review"),
        ("End", "Statistics"),
        ("Home", "Game"),
    ):
        page.keyboard.press(key)
        chosen = page.get_by_role("tab", selected=True)
        expect(chosen).to_have_count(1)
        expect(chosen).to_have_text(name)
        expect(page.get_by_role("tabpanel")).to_have_count(1)


def test_the_selected_tab_is_seen_in_forced_colours(open_page, served_url):
    page = open_page(served_url, forced_colors="active")
    look = """all => all.map((one) => {
        const style = getComputedStyle(one);
        const after = getComputedStyle(one, "::after");
        return JSON.stringify([style.borderBottomStyle, style.borderBottomWidth,
            style.borderBottomColor, style.color, style.backgroundColor,
            style.outlineStyle, style.fontWeight, style.textDecorationLine,
            after.content, after.backgroundColor, after.borderBottomColor]);
    })"""
    page.mouse.move(0, 0)
    tab(page, "Review")
    page.evaluate("document.activeElement.blur()")
    states = page.get_by_role("tab").evaluate_all(look)
    assert len({one for i, one in enumerate(states) if i != 1}) == 1
    assert states[1] != states[0]


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_the_reply_and_the_result_are_said(open_page, served_url, env_id):
    page = in_game(open_page(served_url), env_id)
    play(page, 1)
    letter = "O" if env_id == "tic_tac_toe" else "Orange"
    place = moves(page)[1]
    where = f"column {place + 1}"
    if env_id == "tic_tac_toe":
        where = f"row {place // 3 + 1}, column {place % 3 + 1}"
    assert any(
        text.startswith(f"{letter} (the agent): {where}.") for text in announced(page)
    )
    assert announced(page)[-1].endswith(status(page))
    play_to_the_end(page)
    assert announced(page)[-1].endswith(status(page))


MOVING = """() => document.getAnimations().filter((one) => {
    const { duration, iterations } = one.effect.getComputedTiming();
    return duration > 1 && iterations > 0;
}).length"""
"""How many parts of the page are moving."""


@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_5x4"])
def test_nothing_is_animated_if_the_reader_asked_for_that(
    open_page, served_url, env_id
):
    for choice in ("no-preference", "reduce"):
        page = in_game(open_page(served_url, reduced_motion=choice), env_id)
        moving = 0
        for move in (1, 2):
            squares(page).nth(move).click()
            for _ in range(10):
                moving += page.evaluate(MOVING)
                page.wait_for_timeout(10)
            wait_for_turn(page)
        assert (moving > 0) == (choice == "no-preference")


def background(page):
    """Return the colour behind everything."""
    return page.evaluate("() => getComputedStyle(document.body).backgroundColor")


def test_the_theme_follows_the_system_until_it_is_chosen(open_page, served_url):
    light = open_page(served_url, color_scheme="light")
    dark = open_page(served_url, color_scheme="dark")
    pages = background(light), background(dark)
    assert pages[0] != pages[1]
    theme = light.get_by_role("button", name="Theme")
    theme.click()
    theme.click()
    assert theme.inner_text() == "Theme: Dark"
    assert background(light) == pages[1]
    light.reload()
    wait_for_turn(light)
    assert background(light) == pages[1], "it is remembered"


def test_the_words_of_the_page_are_explained_where_they_appear(open_page, served_url):
    page = open_page(served_url)
    panel = tab(page, "Learning")
    for word in ("update", "proof", "table", "network"):
        assert re.search(rf"\b{word}", panel.inner_text(), re.I)
    expect(tab(page, "Proof")).to_contain_text("A proof follows every line of play")
    panel = tab(page, "Game")
    expect(panel).to_contain_text("A neural network")
    expect(panel.get_by_role("heading", name="Keys")).to_be_visible()
    assert "Opponent" not in area(page).inner_text()
