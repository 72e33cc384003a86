"""What the page says of a game, its moves and its opponent, computed in Node."""

from page_modules import compute, compute_all

from jax_ttt.config import player_kinds

NETWORK, SEVEN = (player_kinds.ALL[name] for name in ("network", "connect-7x6"))
BEST = {"isKnown": True, "isExact": True, "before": 0, "after": 0, "loss": 0}
MISTAKE = BEST | {"after": -1, "loss": 1}
LOST = BEST | {"before": -1, "after": -1}
QUIET = {"isKnown": True, "isExact": False, "before": 0.2, "after": 0.1, "loss": 0.1}
MARKED = QUIET | {"after": -0.3, "loss": 0.5}
SUMMARIES = (
    ([BEST, MISTAKE, BEST], "Best moves: 2 of 3."),
    (
        [BEST, MISTAKE, LOST, LOST],
        "Best moves: 1 of 2, and 2 more in a lost position.",
    ),
    ([LOST, LOST], "In a lost position: 2 moves of yours."),
    ([QUIET, QUIET], "The result of your 2 moves is not known."),
    (
        [QUIET, MARKED, BEST, LOST],
        "Best moves: 1 of 1, and 1 more in a lost position; "
        "the result of 2 more is not known.",
    ),
    ([{"isKnown": False}], "The result of your 1 move is not known."),
)
"""Moves of X, between which O moved, and what is said of them."""


def test_only_moves_with_an_exact_result_are_counted_as_best():
    tasks = []
    for moves, _ in SUMMARIES:
        judgements = [one for move in moves for one in (move, BEST)]
        sides = ["x", "o"] * len(moves)
        task = {"judgements": judgements, "sides": sides, "side": "x"}
        tasks.append(("summary", task))
    assert compute_all(tasks) == [text for _, text in SUMMARIES]


def lost_to(path, **options):
    """Return what the page says of a game that a person lost to an agent."""
    said = compute("finishedGame", path=str(path), **options)
    assert said["main"] == "You lost."
    return said


SENTENCE = "As everybody does: all {lines} lines of play lead here{source}."
NO_CHANCE = (
    " This game was one of them: the agent had won from the empty board on, and "
    "nothing could have helped."
)


def test_a_loss_to_an_agent_that_wins_every_game_says_what_happened():
    said = lost_to(SEVEN)
    sentence = SENTENCE.format(lines="2,993,838,886", source=", by its file")
    assert said["more"] == sentence
    assert said["heading"] == sentence + NO_CHANCE
    # No move of it is called a mistake.
    results = {"wins": "proven by the agent's file"}
    results["loses, as every move"] = results["wins"]
    assert dict(said["review"]) == results
    assert said["opponent"] == "Wins every game (proven, by its file): One"
    assert said["title"] == "Connect Four 7 \u00d7 6: you lost \u2013 jax_ttt"
    # The same where this browser followed the lines itself.
    lines = {"won": 1234, "drawn": 0, "lost": 0}
    seat = {"unbeatable": True, "proven": "win", "lines": lines}
    said = lost_to(SEVEN, computed={"first": seat})
    assert said["more"] == SENTENCE.format(lines="1,234", source="")
    assert said["opponent"] == "Wins every game (proven): One"


OTHER_LOSSES = (
    ({"level": "strong"}, "Strong level of one"),
    ({"depth": 1}, "Learned agent at its best"),
    ({"agentSide": "o"}, "Learned agent at its best"),
    ({"isOwn": False}, "Wins every game"),
    ({"begun": [3, 3], "areAllOwn": True}, "Wins every game"),
)
"""Games against a level, a search or another seat, after another move of the agent, and
from another start; and the opponent that they name."""


def test_no_other_loss_is_called_one_that_everybody_has():
    for options, opponent in OTHER_LOSSES:
        said = lost_to(SEVEN, **options)
        assert "everybody" not in said["more"]
        assert "Best moves" not in said["more"]
        assert said["opponent"].startswith(opponent)
    # An agent that only never loses is called unbeatable.
    seat = {"unbeatable": True, "proven": "not-lose"}
    seats = {"first": seat, "second": seat}
    said = compute("finishedGame", path=str(NETWORK), computed=seats)
    assert said["opponent"] == "Unbeatable (learned agent): One"
    assert "everybody" not in said["more"]


def test_the_title_of_the_document_says_the_game_and_its_result():
    titles = compute("titles", path=str(NETWORK), moves=[0, 3, 1, 4, 2], side="x")
    turns = ["your turn", "the agent's turn"]
    expected = [f"Tic-tac-toe: {turns[count % 2]} \u2013 jax_ttt" for count in range(5)]
    assert titles == [*expected, "Tic-tac-toe: you won \u2013 jax_ttt"]


def test_a_training_that_gives_the_person_another_opponent_says_so():
    options = {"path": str(NETWORK), "isBusy": True}
    opponent = "Casual level of one"
    more, spoken = compute("statusInTraining", moves=[], **options)
    assert more == f"New opponent: {opponent}"
    assert spoken == f"Your turn: X. New opponent: {opponent}."
    assert compute("statusInTraining", moves=[4, 0], **options)[0] == opponent
    options["isBusy"] = False
    assert compute("statusInTraining", moves=[], **options)[0] == opponent
