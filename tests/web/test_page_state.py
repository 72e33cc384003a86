"""What visits of the page lead to, computed in Node with the state of the whole page.

The browser's tests, which are slow, see the same on the screen.
"""

import itertools

import rules
from page_modules import run_node

from jax_ttt.config.grade import Grade, Rates, SeatGrade
from jax_ttt.config.player_kinds import SHIPPED
from jax_ttt.players import saved_agents

TABLE = SHIPPED["table"]
EMPTY = "-" * 9


def visit(name, *paths):
    return run_node("web/page_state.mjs", name, *paths)


def test_links_and_the_button_back_show_their_games():
    report = visit("links")
    first, link = ["connect_7x6", [3, 3, 0]], ["connect_7x6", [1]]
    # A link in place of the address, Back, another game, and Back.
    assert report["shown"] == [first, link, first, ["tic_tac_toe", [8]], first]
    assert "moves=2&" in report["typed"], "a move does not replace a new address"
    assert "game=tic_tac_toe&moves=8&" in report["hash"]
    assert report["entries"] == 2, "moves are not entries of the history"


def test_the_first_screen_shows_whole_games_of_the_agent_that_begin_at_random():
    report = visit("show", TABLE)
    first_moves = []
    for before, after in itertools.pairwise(report["boards"]):
        if rules.moves(before):
            assert after in [rules.after(before, cell) for cell in rules.moves(before)]
            assert rules.value(after) == 0, "each move keeps the draw"
        else:
            assert after == EMPTY
        if before == EMPTY:
            first_moves.append(after.index("X"))
    assert first_moves[:3] == [0, 4, 8]
    assert report["after"] == {"position": None, "values": None}, "in a tab"
    assert report["moves"] == [], "the person's game is not touched"


def test_a_mistake_is_said_once_when_it_is_judged():
    mistakes = [text for text in visit("mistake", TABLE) if "mistake" in text]
    assert mistakes == ["Your move was a mistake: from a draw to a loss."]


def test_a_check_of_all_lines_says_whether_a_file_tells_the_truth(tmp_path):
    agent, path = saved_agents.load_agent(TABLE), tmp_path / "agent.safetensors"
    first = SeatGrade(**vars(Rates.sampled([0, 0, 0])), beaten=True)
    grade = Grade(env_id="tic_tac_toe", first=first, second=agent.grade.second)
    saved_agents.save_agent(agent.with_grade(grade), path)
    same = "The same result: 101 lines as X and 637 lines as O, 0 lost"
    other = same.replace(
        "The same result", "Not the result that is shown, or that its file has"
    )
    report = visit("checks", TABLE, path)
    assert report["checks"] == [[same, False], [other, True]]
    assert report["stopped"] == "Not known", "whatever the file says"


def test_the_tab_learn_is_about_the_training_in_its_own_game_only():
    begun, elsewhere, moved = visit("learn", TABLE)
    training = {"choices": ["training"], "title": "The table you trained"}
    assert begun == {"subject": True, "board": True} | training
    assert moved == {"subject": True, "board": False} | training
    nothing = {"choices": [], "title": ""}
    assert elsewhere == {"subject": False, "board": False} | nothing
