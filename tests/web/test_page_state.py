"""What visits of the page lead to, computed in Node with the state of the whole page.

The browser's tests, which are slow, see most of it on the screen.
"""

import dataclasses
import itertools

import rules
from page_modules import run_node

from jax_ttt.config.grade import Lines, Rates, SeatGrade
from jax_ttt.config.player_kinds import SHIPPED
from jax_ttt.players import saved_agents

TABLE = SHIPPED["table"]
EMPTY = "-" * 9


def visit(name, *paths):
    return run_node("web/page_state.mjs", name, *paths)


def test_kept_values_that_are_wrong_inside_are_not_used():
    default = {"level": "casual", "side": "x", "agent": None, "depth": 0}
    assert visit("kept", TABLE) == {
        "envId": "tic_tac_toe",
        "moves": [],
        "layers": ["exact"],
        "choices": [default] * 3,
        "counted": [],
    }


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
    assert report["isPaused"]
    assert report["after"] == {"position": None, "values": None}, "in a tab"
    assert report["moves"] == [], "the person's game is not touched"


def test_a_mistake_is_said_once_when_it_is_judged_and_not_in_an_analysis():
    report = visit("mistake", TABLE)
    mistakes = [text for text in report["said"] if text.startswith("Your move")]
    assert mistakes == ["Your move was a mistake: from a draw to a loss."]
    assert report["panel"] == "settings", "a link leads past the first screen"


def test_a_check_of_all_lines_says_whether_a_file_tells_the_truth(tmp_path):
    agent = saved_agents.load_agent(TABLE)
    unknown, first = Rates.sampled([0, 0, 0]), agent.grade.first
    assert first is not None
    claims = [
        SeatGrade(**vars(unknown), beaten=True),
        dataclasses.replace(first, lines=Lines(won=100, drawn=0, lost=0)),
    ]
    paths = [tmp_path / f"{number}.safetensors" for number in range(len(claims))]
    for claim, path in zip(claims, paths, strict=True):
        grade = dataclasses.replace(agent.grade, first=claim)
        saved_agents.save_agent(agent.with_grade(grade), path)
    same = "The same result: 101 lines as X and 637 lines as O, 0 lost"
    other = same.replace(
        "The same result", "Not the result that is shown, or that its file has"
    )
    report = visit("checks", TABLE, *paths)
    assert report["checks"] == [[same, False], [other, True], [other, True]]
    assert report["stopped"] == "Not known", "whatever the file says"


def test_the_tab_learn_is_about_the_training_in_its_own_game_only():
    report = visit("learn", TABLE)
    before, begun, elsewhere, moved = report["seen"]
    training = {"choices": ["training"], "title": "The table you trained"}
    assert begun == {"subject": True, "board": True} | training
    assert moved == {"subject": True, "board": False} | training
    assert report["games"] == 1, "the person's game is learned"
    other = {"subject": False, "board": False}
    assert before == other | {"choices": ["agent"], "title": "Run 0 (table)"}
    assert elsewhere == other | {"choices": [], "title": ""}
