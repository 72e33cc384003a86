"""The page of Connect Four in a browser: its rules, values and games."""

import re

import browsing
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from browsing import axe, expect, is_over, status, wait_for_turn

from jax_ttt.games import pgx_games
from jax_ttt.games.game import Game
from jax_ttt.networks import q_network
from jax_ttt.players import agents, lookahead
from jax_ttt.players.network import greedy_actions, greedy_player
from jax_ttt.players.shipped import CONNECT_FOUR
from jax_ttt.web import export

pytestmark = pytest.mark.slow
GAMES = 16
"""Random games of each agent's board."""
COMPUTED = """async ([id, games, depth]) => {
    const [{ LineGame }, { Network }, { greedy, searchValues }] = await Promise.all(
        ["line_game", "network", "lookahead"].map((name) => import(`page/${name}`)));
    const data = JSON.parse(document.getElementById("data").textContent);
    const agent = data.agents.find((one) => one.id === id);
    const [rules, network] = [new LineGame(agent), new Network(agent)];
    const about = (position) => ({
        legal: rules.legal(position),
        result: rules.result(position, "x"),
        values: network.values(position),
        move: greedy(searchValues(rules, network, position, 0), position),
        searched: searchValues(rules, network, position, depth, agent.gamma)
            .map((value) => (Number.isNaN(value) ? null : value)),
    });
    return games.map((moves) => {
        const positions = [rules.start];
        for (const move of moves) positions.push(rules.after(positions.at(-1), move));
        return positions.map(about);
    });
}"""
"""What the page's modules compute in each position of games, without the clicks."""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    browsing.chromium()
    return export.write_connect_four(tmp_path_factory.mktemp("four")).as_uri()


@pytest.fixture
def page(open_page, url):
    found = open_page(url, selector=".column")
    wait_for_turn(found)
    return found


def opponent(page, name):
    page.get_by_role("radio", name=re.compile(f"^{name}")).check(force=True)
    wait_for_turn(page)


def column(page, number):
    return page.locator(".column").nth(number)


def play(page, number):
    column(page, number).click()
    wait_for_turn(page)


def legal(page):
    """Return the columns that a person may choose."""
    buttons = page.locator(".column").evaluate_all(
        "all => all.map((one) => one.getAttribute('aria-disabled') === 'false')"
    )
    return np.flatnonzero(buttons).tolist()


def played(page):
    """Return the moves of the game, from 0."""
    text = page.locator("#moves").inner_text()
    return [int(number) - 1 for number in re.findall(r"\d", text)]


def play_to_the_end(page, choose=min):
    while not is_over(page):
        play(page, choose(legal(page)))


def agent_of(name):
    return agents.load_agent(CONNECT_FOUR[name])


@jax.jit
def q_values(network, params, env_state):
    return q_network.q_values(network, params, env_state.observation)


def random_games(env_id, seed):
    """Yield the states of random games (B), with the moves by which they go on."""
    env, rng = pgx_games.make_env(env_id), np.random.default_rng(seed)
    states = pgx_games.init(env, jax.random.key(seed), GAMES)
    for _ in range(pgx_games.max_moves(env_id)):
        mask = np.asarray(states.legal_action_mask)
        moves = (rng.random(mask.shape) * mask).argmax(axis=1)
        yield states, moves
        states = pgx_games.play_moves(env, states, moves)
    yield states, None


@pytest.mark.parametrize(("name", "depth"), [("connect-5x4", 3), ("connect-7x6", 1)])
def test_rules_and_values_are_those_of_python(page, name, depth):
    """Moves, results, action values and searched values of random games."""
    agent = agent_of(name)
    env_id, gamma = agent.config.env_id, agent.config.target.gamma
    env = pgx_games.make_env(env_id)
    # All states are searched by one program.
    boards, moves = zip(*random_games(env_id, 7), strict=True)
    over = np.array([pgx_games.finished(board) for board in boards])
    first = pgx_games.seated(boards[0], "first")
    gains = [np.asarray(pgx_games.reward_to(board, first)) for board in boards]
    lengths = (~over).sum(axis=0)
    gain = [int(gains[t][b]) for b, t in enumerate(lengths)]
    games = [[int(moves[t][b]) for t in range(lengths[b])] for b in range(GAMES)]
    found = page.evaluate(COMPUTED, [name, games, depth])

    def q_fn(env_state):
        return q_values(agent.network, agent.params, env_state)

    search = jax.jit(lambda state: lookahead.negamax(env, q_fn, state, depth, gamma))
    compared = 0
    for t, board in enumerate(boards):
        mask = np.asarray(board.legal_action_mask)
        values, searched = np.asarray(q_fn(board)), np.asarray(search(board))
        for b in range(GAMES):
            if t > lengths[b]:
                continue
            shown = found[b][t]
            np.testing.assert_allclose(shown["values"], values[b], atol=1e-5)
            if over[t][b]:
                word = {1: "won", 0: "drawn", -1: "lost"}[gain[b]]
                assert (shown["legal"], shown["result"]) == ([], word)
                continue
            assert shown["result"] is None
            assert shown["legal"] == np.flatnonzero(mask[b]).tolist()
            own = [np.nan if v is None else v for v in shown["searched"]]
            np.testing.assert_array_equal(np.isnan(own), ~mask[b])
            np.testing.assert_allclose(
                np.array(own)[mask[b]], searched[b][mask[b]], atol=1e-5
            )
            compared += 1
            top = np.sort(values[b][mask[b]])[-2:]
            if top[-1] - top[0] > 1e-5:
                move = np.where(mask[b], values[b], -np.inf).argmax()
                assert shown["move"] == move
    assert compared > 150
    ends = {-1, 0, 1} if name == "connect-5x4" else {-1, 1}
    assert ends <= set(gain), "games of both winners, and draws where they are frequent"


EQUAL = """async ([id, games]) => {
    const [{ LineGame }, { greedy }] = await Promise.all(
        ["line_game", "lookahead"].map((name) => import(`page/${name}`)));
    const data = JSON.parse(document.getElementById("data").textContent);
    const rules = new LineGame(data.agents.find((one) => one.id === id));
    return games.map((moves) => {
        let position = rules.start;
        for (const move of moves) position = rules.after(position, move);
        const legal = rules.legal(position);
        const values = Array.from({ length: rules.columns }, (_, column) =>
            legal.includes(column) ? 0 : NaN);
        return greedy(values, position);
    });
}"""
"""The columns that the page plays after games if all values are equal."""


def test_of_equal_values_the_page_plays_the_column_of_python(page):
    """On boards that are their own image, with full columns, and after random games."""
    agent = agent_of("connect-7x6")
    env_id, rng = agent.config.env_id, np.random.default_rng(3)
    games = [[3], [3, 3], [0] * 6, [6] * 6, [0] * 6 + [6] * 6, [0, 6, 3] * 2]
    games += [[0] * 6 + [5], [5] * 6 + [3]]
    while len(games) < 40:
        moves = rng.integers(0, 7, rng.integers(1, 9)).tolist()
        if max(map(moves.count, range(7))) < 4:  # too few stones for a row of four
            games.append(moves[:7])
    expected = []
    for moves in games:
        state = Game.start(env_id, moves).state
        flat = jnp.zeros((1, 7))
        expected.append(int(greedy_actions(agent.network, state, flat)[0]))
    assert page.evaluate(EQUAL, ["connect-7x6", games]) == expected
    assert len(set(expected)) > 3


@pytest.mark.parametrize("mirrored", [False, True])
def test_of_two_sure_wins_the_canonical_boards_first_is_played(page, mirrored):
    """Both have the value 1 as XLA rounds it, though the network's sums differ."""
    moves = [4, 6, 2, 6, 2, 5, 4, 3, 3, 4, 4, 2, 3, 0, 6, 4, 2, 4]
    wins = [1, 5]
    if mirrored:
        moves, wins = [6 - move for move in moves], [5, 1]
    name = "connect-7x6"
    agent = agent_of(name)
    state = Game.start(agent.config.env_id, moves).state
    values = np.asarray(q_values(agent.network, agent.params, state))[0]
    assert np.flatnonzero(values > 1 - 1e-6).tolist() == sorted(wins)
    shown = page.evaluate(COMPUTED, [name, [moves], 0])[0][-1]
    assert shown["values"][1] == shown["values"][5] == 1
    player = greedy_player(agent.network, agent.params)
    assert jax.jit(player)(jax.random.key(0), state).tolist() == [shown["move"]]
    assert shown["move"] == wins[0]


def test_a_game_by_mouse_ends_with_four_marked_and_the_result_said(page):
    play(page, 2)
    assert page.locator(".last").count() == 1
    play_to_the_end(page)
    assert status(page) == "You lost."
    assert page.locator(".stone-disc.won").count() == 4
    said = page.locator("#live-0").inner_text() + page.locator("#live-1").inner_text()
    assert re.fullmatch(r"The agent: column \d\. You lost\.", said)
    assert legal(page) == []
    before = played(page)
    column(page, 4).click(force=True)
    assert played(page) == before, "no move after the end"
    axe(page, "the end")
    page.get_by_role("button", name="New game").click()
    assert (played(page), legal(page)) == ([], [0, 1, 2, 3, 4])


def test_a_game_by_keyboard(page):
    opponent(page, "7")
    page.locator("#board [tabindex='0']").focus()
    for key in ("Home", "ArrowLeft", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    wait_for_turn(page)
    assert played(page)[0] == 2
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert re.match(r"Column 3, from below yours.*; [45] free", name)
    page.keyboard.press("7")
    wait_for_turn(page)
    assert played(page)[2] == 6
    page.locator("#values").focus()
    page.keyboard.press("1")
    assert len(played(page)) == 4, "a digit outside the game is no move"
    page.locator("#undo").focus()
    page.keyboard.down("1")
    page.keyboard.down("1")  # as a key that is held does
    wait_for_turn(page)
    page.keyboard.down("1")
    assert len(played(page)) == 6
    page.keyboard.up("1")
    while not is_over(page):
        page.keyboard.press(str(legal(page)[0] + 1))
        wait_for_turn(page)
    assert status(page) in ("You won.", "You lost.", "A draw.")


def test_a_reply_is_the_move_of_the_player_in_python(page):
    """The agent's own moves, and then those of `lookahead:2`."""
    agent = agent_of("connect-7x6")
    gamma = agent.config.target.gamma
    opponent(page, "7")
    for depth, numbers in ((0, (0, 6, 3)), (2, (3, 1))):
        page.locator("#depth").select_option(str(depth))
        for number in numbers:
            play(page, number)
    moves = played(page)
    states = Game.start(agent.config.env_id, moves).states
    for depth, places in ((0, (1, 3, 5)), (2, (7, 9))):
        player = lookahead.lookahead_player(agent.network, agent.params, gamma, depth)
        chosen = jax.jit(player)
        for place in places:
            assert int(chosen(jax.random.key(0), states[place])[0]) == moves[place]


def test_an_agent_that_looked_ahead_is_not_called_proven(page):
    """Its moves with look-ahead, and those without, lead to a loss together."""
    more = page.locator("#status-more")
    page.get_by_role("radio", name="The agent").check(force=True)
    wait_for_turn(page)
    expect(more).to_have_text("Agent for 5 \u00d7 4, proven unbeatable")
    page.locator("#depth").select_option("1")
    page.get_by_role("button", name="New game").click()
    wait_for_turn(page)
    for number in (4, 4, 5, 5, 1, 1):
        play(page, number - 1)
    page.locator("#depth").select_option("0")
    expect(more).to_have_text("Agent for 5 \u00d7 4")
    for number in (3, 1, 2):
        play(page, number - 1)
    assert status(page) == "You won."
    won = page.locator(".column[aria-label*='in the winning row']")
    assert 1 <= won.count() <= 4
    page.get_by_role("button", name="New game").click()
    expect(more).to_have_text("Agent for 5 \u00d7 4, proven unbeatable")


def test_the_values_on_the_board_are_the_agents(page):
    agent = agent_of("connect-5x4")
    page.locator("#values").check()
    play(page, 1)
    state = Game.start(agent.config.env_id, played(page)).state
    values = np.asarray(q_values(agent.network, agent.params, state))[0]
    shown = page.locator(".lane .value").all_inner_texts()
    numbers = [float(text.replace("\u2212", "-")) for text in shown]
    np.testing.assert_allclose(numbers, values, atol=0.00501)
    best = page.locator(".lane .value").nth(int(values.argmax()))
    assert "good" in (best.get_attribute("class") or "")
    label = column(page, int(values.argmax())).get_attribute("aria-label") or ""
    assert label.endswith("the agent's move")


def test_undo_takes_back_a_move_and_its_reply(page):
    play(page, 2)
    before = played(page)
    play(page, 0)
    page.get_by_role("button", name="Undo").click()
    assert played(page) == before
    page.evaluate(
        """() => {
            document.querySelector(".column").click();
            document.querySelector("#undo").click();
        }"""
    )
    page.wait_for_timeout(200)
    assert played(page) == before, "no late reply"
    page.get_by_role("button", name="Undo").click()
    assert played(page) == []
    assert page.get_by_role("button", name="Undo").is_disabled()


def test_the_agent_begins_if_asked_and_a_begun_game_is_kept(page):
    page.get_by_role("radio", name="The agent").check(force=True)
    wait_for_turn(page)
    assert status(page) == "Your turn: orange"
    assert len(played(page)) == 1
    play(page, 0)
    before = played(page)
    opponent(page, "7")
    assert played(page) == before
    expect(page.locator("#toast")).to_contain_text("next game")
    page.get_by_role("button", name="New game").click()
    wait_for_turn(page)
    assert page.locator(".column").count() == 7


def test_the_browser_proves_the_agent_again(page):
    page.locator("#check").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#check")).to_be_focused()
    result = page.locator("#check-result")
    expect(result).to_have_text(
        "10,222 and 15,576 positions, 0 lost. The same result.", timeout=60_000
    )
    opponent(page, "7")
    expect(page.locator("#proof")).to_be_hidden()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_the_page_fits_its_screen_and_holds_still(open_page, url, width, scheme):
    size = {"width": width, "height": 800}
    page = open_page(url, selector=".column", viewport=size, color_scheme=scheme)
    opponent(page, "7")
    measure = "() => document.getElementById('new-game').offsetTop"
    before = page.evaluate(measure)
    page.locator("#values").check()
    page.locator("#depth").select_option("1")
    play(page, 3)
    assert page.evaluate(measure) == before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    spilled = page.locator(".lane .value").evaluate_all(
        "all => all.filter((e) => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert spilled == 0
    axe(page, f"{width} {scheme}")


def test_nothing_falls_if_the_reader_asked_for_that(open_page, url):
    moving = "e => getComputedStyle(e).animationName"
    for choice, animation in (("reduce", "none"), ("no-preference", "fall")):
        page = open_page(url, selector=".column", reduced_motion=choice)
        play(page, 2)
        assert page.locator(".fresh svg").evaluate(moving) == animation
