"""The page fits its screen, holds still, and can be used by everyone."""

import browsing
import pytest
from browsing import axe, play, play_to_the_end, tab, wait_for_turn

pytestmark = pytest.mark.slow
TABS = ("Game", "Review", "Learning", "Proof", "Statistics")
WIDTHS = (360, 390, 768, 1280, 1920)


def open_at(open_page, url, width, **options):
    height = 800 if width > 500 else 844
    size = {"width": width, "height": height}
    page = open_page(url, viewport=size, **options)
    wait_for_turn(page)
    return page


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_screen(open_page, exported_url, width):
    page = open_at(open_page, exported_url, width)
    for name in ("network", "table", "exact"):
        page.locator(f"input[name={name}]").check()
    play(page, 1)
    for name in TABS:
        tab(page, name)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        wide = page.locator("main *:not(.unseen):visible").evaluate_all(
            """found => found.filter((e) => {
                const box = e.getBoundingClientRect();
                return box.right > innerWidth + 0.5 || box.left < -0.5;
            }).map((e) => e.outerHTML.slice(0, 80))"""
        )
        assert wide == [], name
        card = page.locator(".panels").bounding_box()
        tabs = page.locator("#tabs [role=tab]").last.bounding_box()
        assert tabs["x"] + tabs["width"] <= card["x"] + card["width"]
        heads = page.locator("thead th:visible").evaluate_all(
            """heads => heads.filter((e) => e.scrollWidth > e.clientWidth)
                .map((e) => e.textContent)"""
        )
        assert heads == [], "names of columns stay apart"
    spilled = page.locator(".chip").evaluate_all(
        "chips => chips.filter((e) => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert spilled == 0, "values stay in their squares"


@pytest.mark.parametrize("width", [360, 1280])
def test_the_board_does_not_move_during_a_game(open_page, exported_url, width):
    page = open_at(open_page, exported_url, width)
    measure = """() => ["board", "strip", "new-game", "tabs"].map((id) => {
        const { x, y, width, height } = document.getElementById(id)
            .getBoundingClientRect();
        return [x, y + scrollY, width, height];
    })"""
    before = page.evaluate(measure)
    play(page, 1)
    assert page.evaluate(measure) == before
    play_to_the_end(page)
    assert page.evaluate(measure) == before
    for name in ("network", "table", "exact"):
        page.locator(f"input[name={name}]").check()
    assert page.evaluate(measure) == before


@pytest.mark.parametrize("width", [360, 1280])
def test_the_tabs_stay_where_they_are(open_page, exported_url, width):
    page = open_at(open_page, exported_url, width)
    places = "tabs => tabs.map((tab) => tab.getBoundingClientRect().x)"
    before = page.locator("#tabs [role=tab]").evaluate_all(places)
    for name in TABS:
        tab(page, name)
        assert page.locator("#tabs [role=tab]").evaluate_all(places) == before


def test_on_a_phone_what_is_shown_on_the_board_is_seen(open_page, exported_url):
    page = open_at(open_page, exported_url, 360)

    def seen():
        status, board = (
            page.locator(name).bounding_box() for name in ("#status", "#board")
        )
        return status["y"] >= 0 and board["y"] + board["height"] <= 844

    browsing.agent(page, "run/weak")
    tab(page, "Proof")
    page.get_by_role("button", name="Show me how to beat it").last.click()
    assert seen()
    title = page.locator("#status-main")
    assert title.evaluate("title => title.scrollWidth <= title.clientWidth")
    tab(page, "Review")
    page.locator("#review li button").last.click()
    assert seen()
    tab(page, "Learning")
    page.get_by_role("button", name="Play against it").click()
    assert seen()


def background(page):
    """Return the colour behind everything, as it is shown."""
    return page.evaluate("() => getComputedStyle(document.body).backgroundColor")


def test_the_theme_follows_the_system_until_it_is_chosen(open_page, exported_url):
    light = open_at(open_page, exported_url, 1280, color_scheme="light")
    dark = open_at(open_page, exported_url, 1280, color_scheme="dark")
    pages = background(light), background(dark)
    assert pages[0] != pages[1]
    button = light.get_by_role("button", name="Theme")
    button.click()
    button.click()
    assert button.inner_text() == "Theme: Dark"
    assert background(light) == pages[1]
    light.reload()
    wait_for_turn(light)
    assert background(light) == pages[1], "kept"


def test_nothing_moves_if_the_reader_asked_for_that(open_page, exported_url):
    moving = """() => {
        const found = document.querySelector(".fresh");
        const style = getComputedStyle(found ?? document.querySelector(".square"));
        return [style.animationName, style.transitionDuration];
    }"""
    page = open_at(open_page, exported_url, 1280, reduced_motion="reduce")
    play(page, 4)
    assert page.evaluate(moving) == ["none", "0s"]
    other = open_at(open_page, exported_url, 1280, reduced_motion="no-preference")
    play(other, 4)
    assert other.evaluate(moving)[0] == "appear"


def test_every_control_is_reached_by_the_keyboard_and_its_focus_is_seen(
    open_page, exported_url
):
    page = open_at(open_page, exported_url, 1280)
    play(page, 4)
    page.reload()  # the tab key then begins at the top
    wait_for_turn(page)
    wanted = page.locator(
        "button:visible:enabled, input:visible:enabled, select:visible"
    ).count()
    focused = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        seen = page.evaluate("""() => {
            const e = document.activeElement;
            const near = e.matches(".choices input") ? e.nextElementSibling : e;
            const style = getComputedStyle(near);
            const outline = style.outlineStyle !== "none" && style.outlineWidth > "0px";
            return [e.outerHTML.slice(0, 120), e.tagName, outline];
        }""")
        if seen[1] == "BODY":
            break
        assert seen[2], f"no visible focus: {seen[0]}"
        focused.add(seen[0])
    # Radios, squares and tabs have one stop for each group.
    groups = (9 - 1) + (3 - 1) + (3 - 1) + (len(TABS) - 1)
    assert len(focused) >= wanted - groups


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_serious(open_page, exported_url, scheme, width):
    page = open_at(open_page, exported_url, width, color_scheme=scheme)
    for name in ("network", "table", "exact"):
        page.locator(f"input[name={name}]").check()
    play(page, 1)
    axe(page, "playing")
    play_to_the_end(page)
    for name in TABS:
        tab(page, name)
        axe(page, name)
    browsing.agent(page, "run/weak")
    tab(page, "Proof")
    page.get_by_role("button", name="Show me how to beat it").first.click()
    axe(page, "losing line")
