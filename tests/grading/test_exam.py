"""The exam of Connect Four, files of the same form, and a player's marks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.tree_util import Partial

from jax_ttt.config.errors import UsageError
from jax_ttt.games.game import Game
from jax_ttt.grading import exam as exams
from jax_ttt.players import basic

ENV = "connect_four"
HEAD = "moves,score,s1,s2,s3,s4,s5,s6,s7,kind,can_win_now\n"
ROW = "4444,2,-1,0,0,3,2,0,-4,random,0\n"


@pytest.fixture(scope="module")
def exam():
    """Return the exam that comes with the package."""
    return exams.read_exam(ENV, None)


def read(tmp_path, text, env_id=ENV):
    """Return the questions of a file with this text."""
    path = tmp_path / "exam.csv"
    path.write_text(text)
    return exams.read_exam(env_id, path)


def test_the_exam_has_44_questions_after_each_number_of_moves(exam):
    plies, counts = np.unique(exam.plies, return_counts=True)
    assert plies.tolist() == list(range(8, 31))
    assert set(counts.tolist()) == {44}
    assert {kind: exam.kinds.count(kind) for kind in set(exam.kinds)} == {
        "random": 506,
        "tactical": 506,
    }
    assert exam.keeps.shape == (1012, 7)
    assert exam.keeps.any(axis=1).all()
    tactical = np.array(exam.kinds) == "tactical"
    states = exams.question_states(ENV, exam)
    legal = np.asarray(states.legal_action_mask)
    assert (exam.keeps <= legal).all()
    # A tactical question has a mistake, a legal move that does not keep the value.
    assert (legal & ~exam.keeps)[tactical].any(axis=1).all()


def test_positions_are_those_after_the_moves(exam):
    states = exams.question_states(ENV, exam)
    for place in (0, 511, 1011):
        alone = Game.start(ENV, exam.moves[place]).state
        np.testing.assert_array_equal(
            states.observation[place], alone.observation[0], err_msg=str(place)
        )
        assert int(states._step_count[place]) == len(exam.moves[place])


def test_a_row_of_a_file(tmp_path):
    """After 4444 the scores -1, 0, 0, 3, 2, 0, -4: columns 4 and 5 win."""
    found = read(
        tmp_path, HEAD + ROW + ROW.replace(",3,", ",,").replace(",2,0", ",-1,0")
    )
    assert found.moves == ((3, 3, 3, 3),) * 2
    keeps = [np.flatnonzero(row).tolist() for row in found.keeps]
    assert keeps == [[3, 4], [1, 2, 5]]
    assert found.kinds == ("random", "random")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "no questions"),
        ("a,b\n1,2\n", "no exam of connect_four (KeyError: 'moves')"),
        (HEAD + ROW.replace("4444", "44x4"), "no exam of connect_four (ValueError"),
        (HEAD + ROW.replace("-4", "z"), "no exam of connect_four (ValueError"),
        (HEAD + "4,1,,,,,,,,random,0\n", "no legal move after 4"),
    ],
)
def test_other_files_are_refused(text, said, tmp_path):
    with pytest.raises(UsageError) as found:
        read(tmp_path, text)
    assert said in str(found.value)


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        ("4444444", "question 2: move 7 is not legal"),
        ("40", "question 2: move 2 is not legal"),
        ("12121212", "question 2: move 8 is not legal"),
        ("1212121", "a game is over before the question"),
    ],
)
def test_moves_that_can_not_be_played_are_refused(moves, said, tmp_path):
    found = read(tmp_path, HEAD + ROW + ROW.replace("4444", moves))
    with pytest.raises(UsageError) as error:
        exams.question_states(ENV, found)
    assert said in str(error.value)


def test_a_game_without_an_exam_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"hex has none; games that do: connect"):
        exams.read_exam("hex", None)
    with pytest.raises(UsageError, match="FileNotFoundError"):
        exams.read_exam(ENV, tmp_path / "absent.csv")


def test_the_moves_of_other_games_are_checked_too(tmp_path):
    four = "moves,s1,s2,s3,s4,kind\n1,0,0,0,0,random\n5,0,0,0,0,random\n"
    found = read(tmp_path, four, "connect_4x4")
    with pytest.raises(UsageError, match="question 2: move 1 is not legal"):
        exams.question_states("connect_4x4", found)
    nine = "moves," + ",".join(f"s{n}" for n in range(1, 10)) + ",kind\n"
    found = read(tmp_path, nine + "79,0,0,0,0,0,0,,0,,random\n", "tic_tac_toe")
    states = exams.question_states("tic_tac_toe", found)
    first, second = np.asarray(states.observation[0]).reshape(9, 2).T
    assert np.flatnonzero(first).tolist() == [6]
    assert np.flatnonzero(second).tolist() == [8]


def marked(exam, player):
    """Return the marks of a player."""
    return exams.take_exam(ENV, player, exam, jax.random.key(0))


def test_who_knows_the_values_has_full_marks(exam):
    best = jnp.asarray(exam.keeps.argmax(axis=1))
    found = marked(exam, lambda key, state: best)
    assert (found.all.num_positions, found.all.share) == (1012, 1)
    assert list(found.by_kind) == ["random", "tactical"]
    assert list(found.by_ply) == [str(n) for n in range(8, 31)]
    every = (*found.by_kind.values(), *found.by_ply.values())
    assert all(part.share == 1 for part in every)
    assert sum(part.num_positions for part in found.by_ply.values()) == 1012


def test_the_first_legal_column_has_the_share_that_is_counted_here(exam):
    first = Partial(lambda key, state: state.legal_action_mask.argmax(axis=1))
    states = exams.question_states(ENV, exam)
    action = np.asarray(states.legal_action_mask).argmax(axis=1)
    kept = exam.keeps[np.arange(1012), action]
    tactical = np.array(exam.kinds) == "tactical"
    found = marked(exam, first)
    assert found.all.share == kept.mean()
    assert found.by_kind["tactical"].share == kept[tactical].mean()
    assert found.by_kind["random"].share == kept[~tactical].mean()
    assert found.by_ply["9"].share == kept[exam.plies == 9].mean()
    assert 0.2 < kept.mean() < 0.6


def test_a_random_player_keeps_the_mean_share_of_the_legal_moves(exam):
    states = exams.question_states(ENV, exam)
    legal = np.asarray(states.legal_action_mask).sum(axis=1)
    expected = (exam.keeps.sum(axis=1) / legal).mean()
    found = marked(exam, basic.random_player).all
    assert found.interval[0] - 0.02 < expected < found.interval[1] + 0.02
