"""Hints, values on the board, and reviews: exact, or the agents'."""

import re

import browsing
import pytest
import rules
from browsing import best_actions, expect, link, text_after

pytestmark = pytest.mark.slow
CASES = [
    (env_id, [int(place) for place in places])
    for env_id, places in (
        ("tic_tac_toe", "41"),
        ("tic_tac_toe", "0412"),
        ("tic_tac_toe", "1470"),
        ("tic_tac_toe", "4082"),
        ("connect_5x4", "222211311330"),
        ("connect_7x6", "100243505410366344555533341240"),
    )
]
"""Games with the first player to move: a win, draws and a loss of tic-tac-toe, and
games of Connect Four near their end."""


def hint(page):
    """Press the button, and return the one move that is marked."""
    page.button("Hint").click()
    expect(page.area()).to_contain_text("Hint: ", timeout=browsing.LONG)
    (move,) = page.marked("hint")
    return move


def exact_values(page):
    """Return the result and the moves to the end that each place's name says."""
    values = {}
    for move, name in enumerate(page.names()):
        if shown := re.search(r"exact (?:(win|loss) in (\d+)|draw)", name):
            sign = {"win": 1, "loss": -1, None: 0}[shown[1]]
            values[move] = (sign, int(shown[2] or 0))
    return values


THREATS = [0, 6, 0, 6, 0, 6]
"""A game of 7 x 6 in which both players have three stones one above the other."""


def test_hints_and_exact_values_are_those_of_best_play(page, served_url):
    page.show("Mark mistakes", is_shown=False)  # else all moves of a line are searched
    words = {1: "win", 0: "draw", -1: "loss"}
    reasons = {1: "wins in", 0: "draws", -1: "holds out longest"}
    results = set()
    box = page.get_by_role("checkbox", name="Exact values")
    for env_id, line in CASES:
        page.search_for(60)
        page.goto(link(served_url, env_id, line))
        page.has_line(line)
        page.wait_for_turn()
        move = hint(page)
        assert move in best_actions(env_id, line)
        text = f"Hint: column {move + 1} "
        if env_id == "tic_tac_toe":
            result = rules.value(text_after(line))
            results.add(result)
            text = f"Hint: square {move} {reasons[result]}"
        page.says(text)
        page.hear(text)
        page.show("Exact values")
        # Values show before the search is over, and may change until then.
        expect(box).to_have_accessible_name("Exact values", timeout=browsing.LONG)
        expected = browsing.exact_actions(env_id, line)
        assert exact_values(page) == expected
        for value, _ in expected.values():
            assert words[value] in page.area().inner_text()
        page.search_for(0.01)  # after a won game, the empty board is searched
        page.play(move)
        assert page.marked("hint") == [], "for one position"
    assert results == {1, 0, -1}
    # Moves that win or lose at once are exact where the rest is not known in time.
    page.search_for(0.01)
    page.goto(link(served_url, "connect_7x6", THREATS))
    page.has_line(THREATS)
    expect(box).to_have_accessible_name("Exact values (partly known)")
    page.says("Only the moves that win or lose at once are exact here")
    wins, losses = {0: (1, 1)}, dict.fromkeys(range(1, 6), (-1, 2))
    assert exact_values(page) == wins | losses
    page.place_says(6, "exact result not known")


REFUSE_EXACT = """() => {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) {
    if (message.task?.name !== "exact") return post.call(this, message, ...more);
    this.onerror(new ErrorEvent("error", { message: "refused", cancelable: true }));
  };
}"""
"""Let the worker fail that computes exact results, as if the server had ended."""


def test_where_no_exact_value_is_known_a_proof_or_the_agents_search_answers(page):
    """Looking 4 moves ahead, it also wins or blocks what stands three in a row."""
    page.search_for(0.1)
    page.game("connect_7x6")
    page.area().evaluate(browsing.NOTE_TEXTS)
    page.show("Exact values")
    box = page.get_by_role("checkbox", name="Exact values")
    # The agent's first move begins its proof; another one ends it.
    page.says("X wins, proven by the agent's file: each move of X in this game was")
    expect(box).to_have_accessible_name("Exact values (proven)")
    assert any("searching" in text for text in page.evaluate("window.shown"))
    page.play(0)
    page.says("The exact result is not known yet")
    expect(box).to_have_accessible_name("Exact values (not known)")
    assert exact_values(page) == {}
    move = hint(page)
    page.says(f"Hint: column {move + 1}: ")
    page.says("the agent's search 6 moves ahead")
    page.play(0)
    panel = page.tab("Review")
    expect(panel).to_contain_text("the agent's own search, which can be wrong")
    # The agent's move on the board is the move that it makes.
    page.new_game()
    page.show("Exact values", is_shown=False)
    page.show("Network's values")
    page.play(3)
    reply = page.moves()[1]
    page.button("One move back").click()
    page.place_says(reply, "the agent's")
    assert page.marked("the agent's move") == [reply]
    page.look_ahead("4 moves")
    page.new_game()
    for column in (0, 0, 1):
        page.play(column)
    assert len(page.moves()) == 6
    page.place_says(3, "network (plus|minus|0)")
    page.play_to_the_end()
    assert page.status() == "You lost."
    # The page plays, too, if the part that computes exact values has failed.
    page.evaluate(REFUSE_EXACT)
    page.game("tic_tac_toe")
    page.show("Exact values")
    expect(box).to_have_accessible_name("Exact values (not known)")
    page.play(4)
    page.has_moves(2)


# ---- the legend

LEGEND = {
    "Exact values": ("win 5", "exact: a win after 5 more moves"),
    "Network's values": ("\u22121 +1", "the network expects: \u22121 a loss, +1 a win"),
    "Table's values": ("\u22121 +1", "the table expects: \u22121 a loss, +1 a win"),
    "Next moves": ("1 \u2192 2", "the agent's next moves, for both sides"),
    "Mark mistakes": ("??", "blunder: a win became a loss"),
}
"""What is switched on, its sample in the legend, and its meaning."""


HIDDEN = """(dots) => dots.filter((dot) => {
  const { left, right, top, bottom } = dot.getBoundingClientRect();
  return [...document.querySelectorAll("#board .chip")].some((chip) => {
    const box = chip.getBoundingClientRect();
    const isBeside = box.right <= left || box.left >= right;
    return !isBeside && box.bottom > top && box.top < bottom;
  });
}).length"""
"""How many dots of the next moves lie under a value."""


def check_dots(page):
    """Check that no value hides a dot of the next moves."""
    dots = page.locator("#board .arrows circle")
    expect(dots).to_have_count(4)
    assert dots.evaluate_all(HIDDEN) == 0


LOOKS = """(chips) => chips.map((one) => {
  const { backgroundColor, boxShadow } = getComputedStyle(one);
  return [backgroundColor, boxShadow !== "none"];
})"""
"""The colour of each value on the board, and whether it has a frame."""


def test_values_have_a_legend_a_sign_a_name_and_a_look_of_their_own(page):
    """Those of one kind have one colour; framed: the agent's own move."""
    page.search_for(60)
    page.play(4)
    page.show("Mark mistakes", is_shown=False)
    # The legend explains what is switched on.
    legend = page.get_by_role("list", name="What the board shows")
    samples = legend.get_by_role("listitem")
    expect(samples).to_have_count(0)
    for layer, (sample, meaning) in LEGEND.items():
        page.show(layer)
        entry = samples.filter(has_text=re.compile(rf"^\s*{re.escape(sample)}\s"))
        expect(entry).to_be_visible()
        page.says(meaning)
        page.show(layer, is_shown=False)
        expect(samples).to_have_count(0)
        page.says_no(meaning)
    page.show(*LEGEND, "Numbers")
    page.place_says(page.legal()[0], "exact .*network .*table ")
    page.says("its own move")
    page.check_with_axe("the legend")
    check_dots(page)
    # In a square the exact result comes first.
    values = page.get_by_role("gridcell").nth(page.legal()[0]).locator(".value")
    assert re.fullmatch(r"(win|loss) \d|draw", values.first.inner_text())
    grid = page.get_by_role("grid").bounding_box()
    for sample in (samples.first, samples.last, page.move_list().first):
        box = sample.bounding_box()
        assert box["x"] > grid["x"] + grid["width"], "beside the board"
        assert box["y"] + box["height"] < 800, "without scrolling"
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(browsing.PHONE["viewport"])
    page.check_with_axe("the legend on a phone, dark")
    check_dots(page)
    # Learned values have a sign, and a screen reader says it.
    page.show("Next moves", "Mark mistakes", is_shown=False)
    page.new_game()
    pattern = r"exact .*network (plus|minus|0).*table (plus|minus|0)"
    page.place_says(0, pattern)
    assert all(re.search(pattern, name) for name in page.names())
    page.says("Our network, Our table")
    page.says("in a draw: hopes for your mistake")
    text = page.area().inner_text()
    assert re.search(r"[+\u2212]0\.\d\d", text)
    assert not re.search(r"[+\u2212]0\.00", text)
    page.reload()
    page.search_for(60)
    page.place_says(0, pattern)
    page.show("Table's values", is_shown=False)
    for env_id in ("tic_tac_toe", "connect_5x4"):
        page.game(env_id)
        page.place_says(0, "exact .*network")
        own = page.marked("the agent's move")
        assert len(own) == 1
        looks = page.locator(".chip.network").evaluate_all(LOOKS)
        assert len({colour for colour, _ in looks}) == 1
        assert [i for i, (_, is_framed) in enumerate(looks) if is_framed] == own
        exact = page.locator(".chip.exact").evaluate_all(LOOKS)
        results = {value for value, _ in exact_values(page).values()}
        assert len({colour for colour, _ in exact}) == len(results)
        assert not any(is_framed for _, is_framed in exact)


def test_squares_are_coloured_by_value_and_the_network_at_work_shows_the_values(page):
    page.play(4)
    page.show("Mark mistakes", is_shown=False)
    page.show("Network's values")
    places = page.legal()
    page.place_says(places[0], "network ")
    assert page.get_by_text(re.compile(r"^[+\u2212]0\.\d\d$")).count() == 0
    colours = page.squares().evaluate_all(
        "all => all.map((one) => getComputedStyle(one).backgroundColor)"
    )
    values = [re.search(r"network (\w+ )?([\d.]+)", name) for name in page.names()]
    by_value = {value[0]: colours[i] for i, value in enumerate(values) if value}
    assert len({*by_value.values()}) > 1
    assert len({colours[i] for i in range(9) if i not in places}) == 1
    # Numbers are for those who ask.
    page.show("Numbers")
    picture = page.get_by_role("img", name="The network at work")
    expect(picture).to_have_count(0)
    panel = page.tab("The network at work")
    expect(picture).to_have_accessible_name(re.compile("the 12 strongest units of 2"))
    on_board = page.locator("#board .chip.network .value").all_text_contents()
    shown = [text for text in picture.locator(".value").all_text_contents() if text]
    assert shown == on_board
    assert len(shown) == len(places)
    assert all(re.fullmatch(r"[+\u2212]?[01]\.\d\d", text) for text in on_board)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.check_with_axe(f"the network at work, {scheme}")
    page.play_to_the_end()
    expect(panel).to_contain_text("The game is over here")
    page.choose_agent("Our table")
    expect(page.tab("The network at work")).to_contain_text("Select one in Settings")


# ---- mistakes and review


def loss_of(line, count):
    """Return how much a move of a game of tic-tac-toe gave away: 0, 1 or 2."""
    now = text_after(line[:count])
    sign = 1 if rules.mover(now) == "X" else -1
    return sign * (rules.value(now) - rules.value(rules.after(now, line[count])))


def test_mistakes_are_marked_as_you_play_and_reviewed_at_the_end(page, served_url):
    page.search_for(60)
    for cell in (1, 7):  # by exact play, the latter is a loss
        page.play(cell)
    mistake = "mistake: from a draw to a loss"
    page.place_says(7, mistake)
    page.hear(mistake)
    page.show("Mark mistakes", is_shown=False)
    assert page.marked("mistake") == []
    page.play_to_the_end()
    line = page.moves()
    page.button("Review this game").click()
    panel = page.get_by_role("tabpanel", name="Game")
    expect(panel).not_to_contain_text("\u2026")
    rows = panel.get_by_role("listitem").all_inner_texts()
    assert len(rows) == len(line)
    for count, text in enumerate(rows):
        loss = loss_of(line, count)
        assert ("mistake" in text) == (loss == 1), text
        assert ("blunder" in text) == (loss == 2), text
        if loss:
            best = rules.best_moves(text_after(line[:count]))
            assert f"better: square {best[0]}" in text
    own = range(0, len(line), 2)
    good = [count for count in own if rules.value(text_after(line[:count])) >= 0]
    best = sum(loss_of(line, count) == 0 for count in good)
    lost = len(own) - len(good)
    assert lost > 0
    summary = f"Best moves: {best} of {len(good)}, and {lost} more in a lost position."
    expect(panel).to_contain_text(summary)
    page.says(summary)
    entry = panel.get_by_role("listitem").get_by_role("button").nth(1)
    entry.click()
    page.says(f"Move 2 of {len(line)}")
    assert entry.get_attribute("aria-current") == "step"
    assert panel.locator("[aria-current=step]").count() == 1
    # The review of 5 x 4 waits for the end, and is exact.
    page.game("connect_5x4")
    page.play(0)
    expect(page.tab("Review")).to_contain_text("begins at the end of the game")
    page.play_to_the_end()
    panel = page.tab("Review")
    expect(panel).to_contain_text("Compared with exact play.")
    expect(panel).not_to_contain_text("\u2026", timeout=browsing.LONG)
    line, rows = page.moves(), panel.get_by_role("listitem").all_inner_texts()
    for count in range(8, len(line)):  # before, a plain search takes long
        actions = browsing.exact_actions("connect_5x4", line[:count])
        highest = max(value for value, _ in actions.values())
        gives_away = actions[line[count]][0] < highest
        assert bool(re.search("mistake|blunder", rows[count])) == gives_away
        assert "(exact)" in rows[count]
    # Only one's own mistakes are marked before the end: O begins at an edge, a loss,
    # and X's reply gives the win away.
    page.visit(link(served_url, "tic_tac_toe", [4, 1], level="casual"))
    page.show("Mark mistakes")
    page.play(7)
    line = page.moves()
    assert not page.is_over()
    assert [line[i] for i in range(0, len(line), 2) if loss_of(line, i)] == [7]
    assert loss_of(line, 1)
    page.place_says(7, "mistake")
    assert page.marked("mistake") == [7]
    panel = page.tab("Review")
    expect(panel.get_by_role("listitem").nth(1)).to_contain_text("mistake")
    page.play_to_the_end()
    page.place_says(1, "mistake")
