"""The proof, compared with an independent implementation of the rules.

Seats are named by their stones, as in `rules`: X moves first.
"""

import dataclasses
import functools
import itertools
from fractions import Fraction

import jax
import jax.numpy as jnp
import made
import numpy as np
import pytest
import rules

from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.settings import Config
from jax_ttt.grading import evaluation
from jax_ttt.grading import exact as grades
from jax_ttt.grading.evaluation import Evaluation, Exact
from jax_ttt.solver import minimax, outcomes, policies, proof
from jax_ttt.text import grade_text

ENV = "tic_tac_toe"
CONFIGS: dict[tuple[Seat, ...], Config] = {
    SEATS: Config(),
    ("first",): Config.of(opponent="random", seat="first"),
    ("second",): Config.of(opponent="random", seat="second"),
}
OTHER = {"X": "O", "O": "X"}
SEAT: dict[str, Seat] = {"X": "first", "O": "second"}
PLACE = {"X": 0, "O": 1}


@pytest.fixture(scope="module")
def perfect(host_tree):
    """Return the policy that plays the first best move."""
    return minimax.policy(host_tree, first_best=True)


def changed(probs, position, action):
    """Return the policy with another move in one position."""
    other = probs.copy()
    other[position] = np.eye(9)[action]
    return other


# It runs hundreds of times, so compiling it with optimizations saves time.
reported = functools.partial(
    jax.jit,
    compiler_options={
        "xla_backend_optimization_level": 3,
        "xla_llvm_disable_expensive_passes": False,
    },
)(outcomes.seat_report)


def graded(tree, probs, seats=SEATS):
    """Return the grade of a policy as an evaluation in training computes it."""
    report = reported(tree, jnp.asarray(probs, jnp.float32))
    exact = Exact(report=report, moves=jnp.zeros(0, jnp.int32))
    found = evaluation.grade_of(CONFIGS[seats], Evaluation(exact=exact, sampled=None))
    assert found.seats == seats
    return found


def seat_of(grade, stone):
    """Return what a grade holds of the seat of this stone."""
    found = grade.seat(SEAT[stone])
    assert found is not None
    return found


def beaten(tree, outcome, moves):
    """Return by stone whether the compiled proof finds the player of `moves` beatable.

    `outcome` holds the outcome of each position.
    """
    game = dataclasses.replace(tree, outcome=outcome)
    found = jax.device_get(reported(game, np.eye(9, dtype=np.float32)[moves]))
    for seat in found:
        assert seat.worst_loss_rate == seat.beaten  # of a deterministic policy
    return {own: bool(seat.beaten) for own, seat in zip("XO", found, strict=True)}


# The seats of the proof.


@pytest.mark.parametrize("safe", [*itertools.product([True, False], repeat=2)])
def test_unbeatable_means_in_every_given_seat(safe, tree, host_tree, perfect):
    """The player is perfect in the safe seats and plays at random in the others."""
    safe = dict(zip(SEATS, safe, strict=True))
    own = [safe["second"], safe["first"]]
    is_safe = np.array(own)[host_tree.first_to_move.astype(int)]
    probs = np.where(is_safe[:, None], perfect, policies.uniform(host_tree))
    losing = [not safe[seat] for seat in SEATS]
    assert proof.beaten(host_tree, probs).tolist() == losing
    for seats in CONFIGS:
        expected = all(safe[seat] for seat in seats)
        trained = graded(tree, probs, seats)
        whole = grades.grade_policy(ENV, host_tree, probs, seats)
        for grade in (trained, whole):
            assert grade.unbeatable is expected
            for seat in SEATS:
                found = grade.seat(seat)
                assert found is not None
                assert found.unbeatable is safe[seat]
                assert (found.worst_loss_rate == 0) is safe[seat]
        word = "unbeatable" if expected else "beatable"
        assert f"  | {word}" in grade_text.step_line(0, trained)
        text = grade_text.verdict(whole)
        assert text.startswith(f"{word}: ")
        called = {"first": "as X", "second": "as O"}
        if expected:
            claimed = {name for name in called.values() if name in text}
            assert claimed == {called[seat] for seat in seats}
        else:
            names = [called[seat] for seat in seats if not safe[seat]]
            assert any(f"playing {name} (" in text for name in names)


# One different move of a perfect player.


@pytest.fixture(scope="module", params=["X", "O"])
def blunders(request, boards, position, perfect):
    """Return each different move of the perfect player, and whether it loses."""
    own = request.param
    cells = {b: int(perfect[p].argmax()) for b, p in position.items()}
    decided = rules.reached(lambda board: [cells[board]], own)
    win, loss = (1, -1) if own == "X" else (-1, 1)
    found = [
        (board, cell, rules.value(rules.after(board, cell)) == loss)
        for board in decided
        for cell in rules.moves(board)
        if cell != cells[board]
    ]
    lost = {board: cell for board, cell, loses in reversed(found) if loses}
    won = [board for board in lost if rules.value(board) == win]
    counts = len(decided), len(found), sum(loses for *_, loses in found)
    return own, found, lost, (*counts, len(lost), len(lost) - len(won))


def test_the_number_of_blunders_of_a_perfect_player(blunders):
    """Numbers of its decisions, different moves, losing moves, decisions with a losing
    move, and of these the ones where the position is a draw.
    """
    own, _, _, counts = blunders
    expected = {"X": (99, 302, 123, 59, 2), "O": (447, 1113, 731, 314, 156)}
    assert counts == expected[own]


def test_one_different_move_is_beatable_if_and_only_if_it_loses(
    blunders, host_tree, perfect, position
):
    own, found, _, _ = blunders
    for board, cell, loses in found[::3]:
        probs = changed(perfect, position[board], cell)
        assert proof.beaten(host_tree, probs)[PLACE[own]] == loses


@pytest.mark.parametrize("step", [12, pytest.param(3, marks=pytest.mark.slow)])
def test_the_compiled_proof_finds_the_same(
    step, blunders, tree, host_tree, perfect, position
):
    """One losing and one safe move of the decision of every `step`-th move."""
    own, found, _, _ = blunders
    tried = {board for board, _, _ in found[::step]}
    one_of_each = {(board, loses): cell for board, cell, loses in found}
    for (board, loses), cell in one_of_each.items():
        if board not in tried:
            continue
        moves = perfect.argmax(axis=1)
        moves[position[board]] = cell
        # The other seat has not changed.
        expected = {own: loses, OTHER[own]: False}
        assert beaten(tree, host_tree.outcome, moves) == expected


def replayed(line, own, cells):
    """Check each move of a line by the rules and the policy; return all its boards."""
    seen = ["-" * 9]
    for cell in line:
        board = seen[-1]
        assert cell in rules.moves(board)
        assert rules.mover(board) != own or cell == cells(board)
        seen.append(rules.after(board, cell))
    return seen


def test_every_blunder_has_a_losing_line(blunders, host_tree, perfect, position):
    own, _, lost, _ = blunders
    for board, cell in [*lost.items()][::4]:
        probs = changed(perfect, position[board], cell)
        line = proof.losing_line(host_tree, probs, SEAT[own])
        assert line is not None
        played = replayed(line, own, lambda at, p=probs: p[position[at]].argmax())
        assert rules.winner(played[-1]) == OTHER[own]
        assert (board, cell) in zip(played, line, strict=False)
        assert proof.count_lines(host_tree, probs, SEAT[own]).lost > 0


@pytest.mark.parametrize("seed", [0, 2, 5, 8, 11])
def test_the_worst_case_equals_that_of_the_rules(
    seed, tree, host_tree, perfect, position
):
    """The player is perfect except for moves in a few random positions."""
    rng = np.random.default_rng(seed)
    legal = host_tree.legal_action_mask
    other = np.eye(9)[(rng.random(legal.shape) * legal).argmax(axis=1)] * legal
    odd = rng.random((len(legal), 1)) < 0.002 * 2**seed
    probs = np.where(odd, (perfect + other) / 2, perfect)

    moves_of = {b: np.flatnonzero(probs[p]).tolist() for b, p in position.items()}.get
    whole = grades.grade_policy(ENV, host_tree, probs)
    trained = graded(tree, probs)
    for own in ("X", "O"):
        worst = float(rules.worst_case(moves_of, own))
        found = seat_of(whole, own)
        assert found.worst_loss_rate == pytest.approx(worst, abs=1e-9)
        assert found.unbeatable == (worst == 0)
        assert (found.losing_line is None) == (worst == 0)
        online = seat_of(trained, own).worst_loss_rate
        assert online == pytest.approx(worst, rel=1e-5)


# Every lost position.


def way_to(end, parent):
    """Return the moves that lead to a position, as pairs (position, action)."""
    way = []
    while end:
        way.append(parent[end])
        end = way[-1][0]
    return way[::-1]


@pytest.fixture(scope="module", params=["X", "O"])
def ends(request, host_tree, position):
    """Return each position that a seat has lost, with moves that lead there."""
    own = request.param
    lost = [p for b, p in position.items() if rules.winner(b) == OTHER[own]]
    at, action = np.nonzero(host_tree.legal_action_mask)
    pairs = zip(at.tolist(), action.tolist(), strict=True)
    after = host_tree.successor[at, action].tolist()
    parent = dict(zip(after, pairs, strict=True))
    ways = {end: way_to(end, parent) for end in lost}
    return own, ways


@pytest.mark.parametrize("step", [15, pytest.param(3, marks=pytest.mark.slow)])
def test_every_lost_position_counts(step, ends, tree, host_tree, boards, position):
    """In a game where it is the only loss, a player that can reach it is beatable.

    The player follows the moves to it, and elsewhere takes the first free cell.
    """
    own, ways = ends
    assert len(ways) == {"X": 316, "O": 626}[own]
    for end, way in [*ways.items()][::step]:
        moves = host_tree.legal_action_mask.argmax(axis=1)
        for before, cell in way:
            moves[before] = cell
        outcome = np.zeros_like(host_tree.outcome)
        outcome[end] = host_tree.outcome[end]
        # The other seat has won that position.
        assert beaten(tree, outcome, moves) == {own: True, OTHER[own]: False}
        game = dataclasses.replace(host_tree, outcome=outcome)
        line = proof.losing_line(game, np.eye(9)[moves], SEAT[own])
        assert line is not None
        played = replayed(line, own, lambda at, m=moves: m[position[at]])
        assert played[-1] == boards[end]


# Moves of small probability.


@pytest.mark.parametrize("chance", [1e-6, 1e-42, float("nan")])
def test_a_rare_move_is_followed(chance, blunders, tree, host_tree, perfect, position):
    """Also if its probability is subnormal in float32 or NaN."""
    own, _, lost, _ = blunders
    for board, cell in (next(iter(lost.items())), list(lost.items())[-1]):
        probs = perfect.copy()
        probs[position[board], cell] = chance
        expected = [stone == own for stone in "XO"]
        assert proof.beaten(host_tree, probs).tolist() == expected
        assert proof.losing_line(host_tree, probs, SEAT[own]) is not None
        assert proof.count_lines(host_tree, probs, SEAT[own]).lost > 0
        compiled = reported(tree, jnp.asarray(probs, jnp.float32))
        assert [bool(seat.beaten) for seat in compiled] == expected


def test_a_move_of_probability_minus_zero_is_not_played(
    blunders, tree, host_tree, perfect, position
):
    _, _, lost, _ = blunders
    board, cell = next(iter(lost.items()))
    probs = perfect.copy()
    probs[position[board], cell] = -0.0
    assert not proof.beaten(host_tree, probs).any()
    compiled = reported(tree, jnp.asarray(probs, jnp.float32))
    assert not any(seat.beaten for seat in compiled)


# A player that rarely loses is beatable.


@pytest.fixture(scope="module")
def one_losing_line(blunders, host_tree, perfect, position):
    """Return a perfect player except for one move, which loses one line of play."""
    own, _, lost, _ = blunders
    for board, cell in lost.items():
        probs = changed(perfect, position[board], cell)
        if proof.count_lines(host_tree, probs, SEAT[own]).lost == 1:
            return own, probs
    raise AssertionError("there is none")


def test_one_losing_line_is_beatable(one_losing_line, tree, host_tree, position):
    """A random opponent wins 1 game in 384 (as O) or 1 in 945 (as X)."""
    own, probs = one_losing_line
    rate = {"X": Fraction(1, 384), "O": Fraction(1, 945)}[own]
    players = {own: {b: [probs[p].argmax()] for b, p in position.items()}.get}
    ends = rules.outcome(*(players.get(one, rules.moves) for one in "XO"))
    assert ends[2 if own == "X" else 0] == rate
    trained = graded(tree, probs)
    whole = grades.grade_policy(ENV, host_tree, probs)
    for grade in (trained, whole):
        assert grade.unbeatable is False
        losing, safe = (seat_of(grade, stone) for stone in (own, OTHER[own]))
        assert losing.loss_rate == pytest.approx(float(rate), rel=1e-5)
        assert losing.worst_loss_rate == 1
        assert safe.loss_rate == safe.worst_loss_rate == 0
    assert grade_text.step_line(9, trained).endswith("  | beatable")
    for line in grade_text.rates_table(trained).splitlines()[1:3]:
        worst = "loses 100%" if line.startswith(f"as {own}") else "never loses"
        assert line.endswith(worst)
    text = grade_text.verdict(whole)
    assert text.startswith(f"beatable: a shortest line that beats it, playing as {own}")


# The worst case.


def first_three(board):
    """Return the first three empty cells."""
    return rules.moves(board)[:3]


def a_win_or_any(board):
    """Return the moves that win immediately, or else all moves."""
    won = [c for c in rules.moves(board) if rules.winner(rules.after(board, c))]
    return won or rules.moves(board)


def not_every_fifth(board):
    """Return the empty cells except about one in five, which depend on their number."""
    empty = board.count("-")
    return [c for c in rules.moves(board) if (c + empty) % 5] or rules.moves(board)


@pytest.mark.parametrize(
    ("moves_of", "own", "lost", "gained"),
    [
        (rules.moves, "X", "887/945", "874/945"),
        (rules.moves, "O", "191/192", "191/192"),
        (first_three, "X", "80/81", "79/81"),
        (a_win_or_any, "X", "58/63", "866/945"),
        (not_every_fifth, "X", "349/360", "7261/7560"),
    ],
)
def test_the_worst_case_opponent_wins_as_often_as_possible(
    moves_of, own, lost, gained, tree, host_tree, position
):
    """The best response, in contrast, maximizes wins minus losses: `gained`."""
    worst = rules.worst_case(moves_of, own)
    worth = {OTHER[own]: 1, None: 0, own: -1}
    assert worst == Fraction(lost)
    assert rules.most(moves_of, own, worth.__getitem__) == Fraction(gained)
    probs = np.zeros(host_tree.legal_action_mask.shape)
    for board, p in position.items():
        if cells := moves_of(board):
            probs[p, cells] = 1 / len(cells)
    found = grades.grade_policy(ENV, host_tree, probs)
    lost_most = seat_of(found, own).worst_loss_rate
    assert lost_most == pytest.approx(float(worst), abs=1e-12)
    assert found.details is not None
    cautious = found.details.opponents["best response"].seat(SEAT[own])
    gain = cautious.loss_rate - cautious.win_rate
    assert gain == pytest.approx(float(Fraction(gained)), abs=1e-12)
    trained = graded(tree, probs)
    online = seat_of(trained, own).worst_loss_rate
    assert online == pytest.approx(float(worst), abs=1e-6)
    assert "never loses" not in grade_text.rates_table(trained)


def test_a_rate_that_rounds_to_zero_is_not_shown_as_never(tree, perfect):
    grade = graded(tree, perfect)
    assert grade_text.rates_table(grade).count("never loses") == 2
    grade = made.with_seat(grade, "second", worst_loss_rate=1e-6)
    assert grade_text.rates_table(grade).count("never loses") == 1
