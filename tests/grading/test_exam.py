"""The exam of Connect Four, files of the same form, and a player's scores."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quick
import tiny
from jax.tree_util import Partial

from jax_ttt.config.errors import Refused
from jax_ttt.config.settings import Config
from jax_ttt.games.played_game import Game
from jax_ttt.grading import exam as exams
from jax_ttt.players import network_player
from jax_ttt.players.player import Player

ENV = "connect_four"
HEAD = "moves,score,s1,s2,s3,s4,s5,s6,s7,kind,can_win_now\n"
ROW = "4444,2,-1,0,0,3,2,0,-4,random,0\n"


@pytest.fixture(scope="module")
def exam():
    """Return the exam that comes with the package."""
    return exams.read_exam(ENV, None)


@pytest.fixture(scope="module")
def states(exam):
    """Return the positions of the exam."""
    return jax.device_get(exams.question_states(ENV, exam))


@pytest.fixture
def read(tmp_path):
    """Return a function from the text of a file to its questions."""

    def read_text(text, env_id=ENV):
        path = tmp_path / "exam.csv"
        path.write_text(text)
        return exams.read_exam(env_id, path)

    return read_text


def test_the_exam_has_44_questions_after_each_number_of_moves(exam, states):
    plies, counts = np.unique(exam.plies, return_counts=True)
    assert plies.tolist() == list(range(8, 31))
    assert set(counts.tolist()) == {44}
    assert [exam.kinds.count(kind) for kind in ("random", "tactical")] == [506, 506]
    assert exam.keeps.shape == (1012, 7)
    assert exam.keeps.any(axis=1).all()
    tactical = np.array(exam.kinds) == "tactical"
    legal = states.legal_action_mask
    assert (exam.keeps <= legal).all()
    # A tactical question has a mistake, a legal move that does not keep the value.
    assert (legal & ~exam.keeps)[tactical].any(axis=1).all()
    for place in (0, 511, 1011):
        one = Game.start(ENV, exam.moves[place]).state
        np.testing.assert_array_equal(states.observation[[place]], one.observation)


def test_a_row_of_a_file(read):
    """After 4444 the scores -1, 0, 0, 3, 2, 0, -4: columns 4 and 5 win."""
    questions = read(HEAD + ROW + ROW.replace(",3,", ",,").replace(",2,0", ",-1,0"))
    assert questions.moves == ((3, 3, 3, 3),) * 2
    keeps = [np.flatnonzero(row).tolist() for row in questions.keeps]
    assert keeps == [[3, 4], [1, 2, 5]]
    assert questions.kinds == ("random", "random")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD, "no questions"),
        ("a,b\n1,2\n", "not an exam of connect_four (KeyError: 'moves')"),
        (HEAD + ROW.replace("4444", "44x4"), "not an exam of connect_four (ValueError"),
        (HEAD + ROW.replace("-4", "z"), "not an exam of connect_four (ValueError"),
        (HEAD + "4,1,,,,,,,,random,0\n", "no legal move after 4"),
    ],
)
def test_other_files_are_refused(text, reason, read):
    with pytest.raises(Refused) as error:
        read(text)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ("4444444", "question 2: move 7 is not legal"),
        ("40", "question 2: move 2 is not legal"),
        ("12121212", "question 2: move 8 is not legal"),
        ("1212121", "a game is over before the question"),
    ],
)
def test_moves_that_can_not_be_played_are_refused(moves, reason, read):
    questions = read(HEAD + ROW + ROW.replace("4444", moves))
    with pytest.raises(Refused) as error:
        exams.question_states(ENV, questions)
    assert reason in str(error.value)


def test_a_game_or_a_file_without_an_exam_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"hex has none; games that do: connect"):
        exams.read_exam("hex", None)
    with pytest.raises(Refused, match="FileNotFoundError"):
        exams.read_exam(ENV, tmp_path / "absent.csv")


def test_a_file_may_have_questions_of_another_game(read):
    head = "moves," + ",".join(f"s{n}" for n in range(1, 10)) + ",kind\n"
    questions = read(head + "79,0,0,0,0,0,0,,0,,random\n", "tic_tac_toe")
    states = exams.question_states("tic_tac_toe", questions)
    first, second = np.asarray(states.observation).reshape(9, 2).T
    assert np.flatnonzero(first).tolist() == [6]
    assert np.flatnonzero(second).tolist() == [8]


def take(exam, choose):
    player = Player(env_id=ENV, name="player", choose=Partial(choose))
    return exams.take_exam(ENV, player, exam, jax.random.key(0))


def test_who_knows_the_values_has_the_full_score(exam):
    best = exam.keeps.argmax(axis=1).astype(np.int32)
    scores = take(exam, lambda key, state: jnp.asarray(best))
    assert (scores.all.num_positions, scores.all.share) == (1012, 1)
    assert list(scores.by_kind) == ["random", "tactical"]
    assert list(scores.by_ply) == [str(n) for n in range(8, 31)]
    assert all(
        x.share == 1 for x in (*scores.by_kind.values(), *scores.by_ply.values())
    )
    assert sum(score.num_positions for score in scores.by_ply.values()) == 1012


def test_the_first_legal_column_has_the_share_that_is_counted_here(exam, states):
    action = np.asarray(states.legal_action_mask).argmax(axis=1)
    keeps = exam.keeps[np.arange(1012), action]
    tactical = np.array(exam.kinds) == "tactical"
    scores = take(exam, lambda key, state: state.legal_action_mask.argmax(1))
    assert scores.all.share == keeps.mean()
    assert scores.by_kind["tactical"].share == keeps[tactical].mean()
    assert scores.by_kind["random"].share == keeps[~tactical].mean()
    assert scores.by_ply["9"].share == keeps[exam.plies == 9].mean()
    assert 0.2 < keeps.mean() < 0.6


def test_two_agents_of_one_architecture_are_compiled_once(read):
    """The weights are data, not constants of a program."""
    questions = read(HEAD + ROW)
    config = Config.of(env_id=ENV, hidden_size=8)
    agent = tiny.untrained(config)
    others = jax.tree.map(np.negative, jax.device_get(agent.params))
    key = jax.random.key(0)
    for params, is_compiled in ((agent.params, True), (others, False)):
        player = Player(
            env_id=ENV,
            name="agent",
            choose=network_player.steady_player(agent.network, params),
        )
        with quick.compiled() as steps:
            exams.take_exam(ENV, player, questions, key)
        assert bool(steps) == is_compiled
