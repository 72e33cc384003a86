"""The proof, compared with an independent implementation of the rules.

Seats are named by their stones, as in `rules`: X moves first.
"""

import dataclasses
import functools
import itertools
from fractions import Fraction

import jax
import numpy as np
import pytest
import rules

import jax_ttt
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import SEATS, Seat
from jax_ttt.config.settings import Config
from jax_ttt.grading import training_evaluation, tree_grade
from jax_ttt.grading.training_evaluation import Evaluation
from jax_ttt.solver import outcomes, policies, proof
from jax_ttt.text import grade_text

ENV = "tic_tac_toe"
CONFIGS: dict[tuple[Seat, ...], Config] = {
    SEATS: Config(),
    ("first",): Config.of(opponent="random", seat="first"),
    ("second",): Config.of(opponent="random", seat="second"),
}
OTHER = {"X": "O", "O": "X"}
SEAT: dict[str, Seat] = {"X": "first", "O": "second"}


@pytest.fixture(scope="module")
def perfect(host_tree):
    """Return the policy that plays the first best move."""
    return policies.minimax_policy(host_tree, first_best=True)


def with_move(probs, position, action):
    """Return the policy with another move in one position."""
    other = probs.copy()
    other[position] = np.eye(9)[action]
    return other


# It runs many times, so compiling it with optimizations saves time.
seat_results = functools.partial(
    jax.jit,
    compiler_options={
        "xla_backend_optimization_level": 3,
        "xla_llvm_disable_expensive_passes": False,
    },
)(outcomes.seat_results)


def training_grade(tree, probs, seats=SEATS):
    """Return the grade of a policy as an evaluation in training computes it."""
    results = jax.device_get(seat_results(tree, probs.astype(np.float32)))
    return training_evaluation.grade_evaluation(
        CONFIGS[seats], Evaluation(exact=results, sampled=None)
    )


def beaten(tree, host_tree, probs):
    """Return by stone whether a policy can be beaten, as both proofs say."""
    _, _, worst_result = seat_results(tree, probs.astype(np.float32))
    compiled = (worst_result == -1).tolist()
    assert proof.can_be_beaten(host_tree, probs).tolist() == compiled
    return dict(zip("XO", compiled, strict=True))


@pytest.mark.parametrize("is_safe", [*itertools.product([True, False], repeat=2)])
def test_unbeatable_means_in_every_learned_seat(is_safe, tree, host_tree, perfect):
    """The player is perfect in the safe seats and plays at random in the others."""
    safe = dict(zip(SEATS, is_safe, strict=True))
    is_safe_here = np.where(host_tree.first_to_move, *is_safe)[:, None]
    probs = np.where(is_safe_here, perfect, policies.uniform_policy(host_tree))
    for seats in CONFIGS:
        unbeatable = all(safe[seat] for seat in seats)
        whole = tree_grade.grade_policy(ENV, host_tree, probs, "construction", seats)
        for grade in (training_grade(tree, probs, seats), whole):
            assert grade.unbeatable is unbeatable
            for seat in SEATS:
                assert grade.followed[seat].unbeatable is safe[seat]
                assert (grade.followed[seat].worst_loss_rate == 0) is safe[seat]
        word = "unbeatable" if unbeatable else "beatable"
        assert grade_text.verdict(whole).startswith(f"{word}: ")


@pytest.mark.parametrize(("draws_to", "proven"), [(0, "not-lose"), (1, "win")])
def test_training_proves_the_same_goal_as_all_lines(
    draws_to, proven, tree, host_tree, perfect
):
    """Where X wins a draw, its perfect player wins every game."""
    changed = [
        dataclasses.replace(t, outcome=np.where(t.outcome == 0, draws_to, t.outcome))
        for t in (tree, host_tree)
    ]
    trained = training_grade(changed[0], perfect)
    whole = tree_grade.grade_policy(ENV, changed[1], perfect, "construction")
    for grade in (trained, whole):
        assert grade.followed["first"].proven == proven
        goal_of_second = None if draws_to else "not-lose"
        assert grade.followed["second"].proven == goal_of_second


@pytest.fixture(scope="module", params=["X", "O"])
def other_moves(request, position, perfect):
    """Return the perfect player's seat, and each different move, and if it loses."""
    stone = request.param
    cells = {board: int(perfect[p].argmax()) for board, p in position.items()}
    lost = -1 if stone == "X" else 1
    boards = rules.reached(lambda board: [cells[board]], stone)
    return stone, [
        (board, cell, rules.value(rules.after(board, cell)) == lost)
        for board in boards
        for cell in set(rules.moves(board)) - {cells[board]}
    ]


def test_one_different_move_is_beatable_if_and_only_if_it_loses(
    other_moves, tree, host_tree, perfect, position
):
    stone, moves = other_moves
    num_losing = sum(loses for *_, loses in moves)
    assert (len(moves), num_losing) == {"X": (302, 123), "O": (1113, 731)}[stone]
    for board, cell, loses in moves[::25]:
        probs = with_move(perfect, position[board], cell)
        assert beaten(tree, host_tree, probs) == {stone: loses, OTHER[stone]: False}
        line = proof.losing_line(host_tree, probs, SEAT[stone])
        lost = outcomes.count_lines(host_tree, probs, SEAT[stone]).lost
        assert (line is not None) == (lost > 0) == loses
        if line is not None:
            games = replayed(line, stone, probs, position)
            assert rules.winner(games[-1]) == OTHER[stone]
            assert (board, cell) in zip(games, line, strict=False)


def replayed(line, stone, probs, position):
    """Check each move of a line by the rules and the policy; return all its boards."""
    boards = ["-" * 9]
    for cell in line:
        board = boards[-1]
        assert cell in rules.moves(board)
        assert rules.mover(board) != stone or probs[position[board], cell] > 0
        boards.append(rules.after(board, cell))
    return boards


def test_the_losing_line_is_the_shortest(host_tree):
    """Against the first free cell, O wins with its third move and X with its third."""
    first = policies.share_equally(policies.first_marked(host_tree.legal_action_mask))
    for stone, length in (("X", 6), ("O", 5)):
        line = proof.losing_line(host_tree, first, SEAT[stone])
        assert line is not None
        assert len(line) == length


@pytest.mark.parametrize("stone", ["X", "O"])
def test_every_lost_position_counts(stone, tree, host_tree, boards, position):
    """In a game where it is the only loss, a player that can reach it is beatable.

    The player follows the moves to it, and elsewhere takes the first free cell.
    """
    before, cell = np.nonzero(host_tree.legal_action_mask)
    moves_to = dict(
        zip(
            host_tree.successor[before, cell].tolist(),
            zip(before.tolist(), cell.tolist(), strict=True),
            strict=True,
        )
    )
    lost = [p for board, p in position.items() if rules.winner(board) == OTHER[stone]]
    assert len(lost) == {"X": 316, "O": 626}[stone]
    for end in lost[::3]:
        moves, place = host_tree.legal_action_mask.argmax(axis=1), end
        while place:
            place, cell = moves_to[place]
            moves[place] = cell
        outcome = np.zeros_like(host_tree.outcome)
        outcome[end] = host_tree.outcome[end]
        probs = np.eye(9)[moves]
        games = (dataclasses.replace(t, outcome=outcome) for t in (tree, host_tree))
        device_game, game = games
        # The other seat has won that position.
        expected = {stone: True, OTHER[stone]: False}
        assert beaten(device_game, game, probs) == expected
        line = proof.losing_line(game, probs, SEAT[stone])
        assert line is not None
        assert replayed(line, stone, probs, position)[-1] == boards[end]


@pytest.mark.parametrize(
    ("chance", "is_played"),
    [(1e-6, True), (1e-42, True), (float("nan"), True), (-0.0, False)],
)
def test_a_rare_move_is_followed(
    chance, is_played, other_moves, tree, host_tree, perfect, position
):
    """Also if its probability is subnormal in float32 or NaN, but not if it is -0."""
    stone, moves = other_moves
    losing = [(board, cell) for board, cell, loses in moves if loses]
    for board, cell in (losing[0], losing[-1]):
        probs = perfect.copy()
        probs[position[board], cell] = chance
        expected = {stone: is_played, OTHER[stone]: False}
        assert beaten(tree, host_tree, probs) == expected
        line = proof.losing_line(host_tree, probs, SEAT[stone])
        assert (line is not None) == is_played


@pytest.mark.parametrize("stone", ["X", "O"])
def test_a_player_that_loses_one_line_is_beatable(
    stone, tree, host_tree, perfect, position
):
    """A random opponent wins less than 1 game in 100."""
    cells = {board: int(perfect[p].argmax()) for board, p in position.items()}
    boards = rules.reached(lambda board: [cells[board]], stone)
    probs = next(
        probs
        for board in boards
        for cell in set(rules.moves(board)) - {cells[board]}
        for probs in [with_move(perfect, position[board], cell)]
        if outcomes.count_lines(host_tree, probs, SEAT[stone]).lost == 1
    )
    moves_of = {b: [int(probs[p].argmax())] for b, p in position.items()}
    players = {stone: moves_of.get, OTHER[stone]: rules.moves}
    won, _, lost = rules.outcome(players["X"], players["O"])
    rate = lost if stone == "X" else won
    assert 0 < rate < Fraction(1, 100)
    trained = training_grade(tree, probs)
    for grade in (
        trained,
        tree_grade.grade_policy(ENV, host_tree, probs, "construction"),
    ):
        assert grade.unbeatable is False
        losing, safe = (grade.followed[SEAT[x]] for x in (stone, OTHER[stone]))
        assert losing.loss_rate == pytest.approx(float(rate), rel=1e-5)
        assert losing.worst_loss_rate == 1
        assert safe.loss_rate == safe.worst_loss_rate == 0
    assert grade_text.summary_line(9, trained).endswith("; beatable")


def a_win_or_any(board):
    """Return the moves that win immediately, or else all moves."""
    won = [c for c in rules.moves(board) if rules.winner(rules.after(board, c))]
    return won or rules.moves(board)


@pytest.mark.parametrize(
    ("moves_of", "stone", "lost", "gained"),
    [
        (rules.moves, "X", "887/945", "874/945"),
        (rules.moves, "O", "191/192", "191/192"),
        (a_win_or_any, "X", "58/63", "866/945"),
    ],
)
def test_the_worst_case_opponent_wins_as_often_as_possible(
    moves_of, stone, lost, gained, tree, host_tree, position
):
    """The best response, in contrast, maximizes wins minus losses: `gained`."""
    worth = {OTHER[stone]: 1, None: 0, stone: -1}
    assert rules.worst_case(moves_of, stone) == Fraction(lost)
    assert rules.most(moves_of, stone, worth.__getitem__) == Fraction(gained)
    probs = np.zeros(host_tree.legal_action_mask.shape)
    for board, p in position.items():
        if cells := moves_of(board):
            probs[p, cells] = 1 / len(cells)
    grade, seat = (
        tree_grade.grade_policy(ENV, host_tree, probs, "construction"),
        SEAT[stone],
    )
    worst = pytest.approx(float(Fraction(lost)), abs=1e-12)
    assert grade.followed[seat].worst_loss_rate == worst
    assert grade.details is not None
    cautious = grade.details.opponents["best response"].seat(seat)
    gain = cautious.loss_rate - cautious.win_rate
    assert gain == pytest.approx(float(Fraction(gained)), abs=1e-12)
    trained = training_grade(tree, probs).followed[seat]
    assert trained.worst_loss_rate == pytest.approx(float(Fraction(lost)), abs=1e-6)


@pytest.mark.parametrize("row", ["zeros", "nan", "illegal too", "illegal only"])
@pytest.mark.parametrize("seat", SEATS)
def test_a_board_without_a_legal_move_is_a_fault_where_it_is_reached(
    seat, row, host_tree, perfect
):
    """No line would lose from there, and it would count as proven."""
    reached = np.flatnonzero(proof.own_decisions(host_tree, perfect, seat))
    position = reached[-1]
    legal = host_tree.legal_action_mask[position]
    probs = perfect.copy()
    probs[position] = {
        "zeros": np.zeros(9),
        "nan": np.full(9, np.nan),
        "illegal too": perfect[position] + ~legal,
        "illegal only": ~legal / max((~legal).sum(), 1),
    }[row]
    fault = f"no legal move .* in position {position}$"
    with pytest.raises(Refused, match=fault):
        proof.can_be_beaten(host_tree, probs)
    for function in (proof.losing_line, proof.reachable, outcomes.count_lines):
        with pytest.raises(Refused, match=fault):
            function(host_tree, probs, seat)
    player = dataclasses.replace(jax_ttt.player(perfect), policy=probs)
    for grade in (jax_ttt.prove, jax_ttt.grade):
        with pytest.raises(jax_ttt.Refused, match=fault) as refused:
            grade(player)
        assert "\n" not in str(refused.value)
    never = perfect.copy()
    is_reached = proof.reachable(host_tree, perfect, "first")
    is_reached |= proof.reachable(host_tree, perfect, "second")
    never[~is_reached] = 0
    assert not proof.can_be_beaten(host_tree, never).any()
