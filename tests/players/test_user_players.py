"""Players written by users: what is checked, and how sure their moves are.

`tests/api/test_player.py` has policies as arrays, and `tests/test_evidence.py` what is
said of all kinds of players.
"""

import functools
import inspect
import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from marks import mark_slow

import jax_ttt
from jax_ttt.config.errors import Refused
from jax_ttt.games import pgx_games
from jax_ttt.games.played_game import choose_moves, replay
from jax_ttt.players import user_players
from jax_ttt.players.user_players import AskedPlayer

KEY = jax.random.key(7)
GAMES = ["tic_tac_toe", "connect_4x4", "hex"]


def make(function, env_id="tic_tac_toe"):
    return user_players.with_all_moves(
        user_players.from_function("mine", function, env_id)
    )


def first_free(env_state):
    return env_state.legal_action_mask.argmax(axis=-1)


def last_free(env_state):
    mask = env_state.legal_action_mask
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=-1)


def either(is_last, env_state):
    """Return the last free cell where `is_last`, else the first one."""
    return jnp.where(is_last, last_free(env_state), first_free(env_state))


def moves_of(player, env_id, lines):
    states = replay(env_id, lines)
    return choose_moves(player.choose, KEY, states).tolist()


class Chooser:
    """A player in an object of Python."""

    def __call__(self, env_state):
        return first_free(env_state)

    def by_state(self, env_state):
        return first_free(env_state)

    def by_key(self, key, env_state):
        return first_free(env_state)


def with_options(env_state, temperature=0.0, *, other=None):
    return first_free(env_state)


def keyed(key, env_state):
    return first_free(env_state)


@pytest.mark.parametrize(
    ("function", "evidence"),
    [
        (first_free, "signature"),
        (lambda state: first_free(state), "signature"),
        (jax.jit(first_free), "signature"),
        (with_options, "signature"),
        (Chooser(), "signature"),
        (Chooser().by_state, "signature"),
        (functools.partial(keyed, KEY), "signature"),
        (keyed, "none"),
        (jax.jit(keyed), "none"),
        (Chooser().by_key, "none"),
        (lambda key, state: first_free(state), "none"),
    ],
)
def test_a_function_with_a_key_is_sampled_and_one_of_the_state_is_exact(
    function, evidence, row_by_row
):
    """Whatever the function does with its key."""
    player = make(function)
    assert player.evidence == evidence
    assert player.is_exact == (evidence == "signature")
    if player.is_exact:
        np.testing.assert_array_equal(player.policy, row_by_row.policy)
    searched = make(function, "connect_4x4")
    assert (searched.policy, searched.evidence) == (None, evidence)


@pytest.mark.parametrize(
    "function",
    [lambda: 0, lambda a, b, c: a, lambda state, *, other: state],
    ids=lambda function: str(inspect.signature(function)),
)
def test_other_arguments_are_refused(function):
    with pytest.raises(Refused, match=r"f\(state\), or f\(key, state\)"):
        make(function)


def one_draw(key, env_state):
    """Play at random in one of ten calls, as people write epsilon."""
    return either(jax.random.uniform(key) > 0.9, env_state)


def draw_of_a_fixed_key(env_state):
    return either(jax.random.uniform(KEY) > 0.5, env_state)


def draw_of_python(env_state):
    return (last_free if random.random() < 0.5 else first_free)(env_state)


def by_batch_size(env_state):
    return (last_free if len(env_state.terminated) == 1 else first_free)(env_state)


def by_place(env_state):
    return either(jnp.arange(len(env_state.terminated)) % 2 == 1, env_state)


def by_mean(env_state):
    num_free = env_state.legal_action_mask.sum(axis=-1)
    return either(num_free > num_free.mean(), env_state)


def by_player_id(env_state):
    """Play the last free cell as PGX's player 1, whose seat is random."""
    return either(env_state.current_player == 1, env_state)


@jax.custom_batching.custom_vmap
def size_of_the_batch(board):
    return jnp.zeros((), int)


@size_of_the_batch.def_vmap
def _(axis_size, in_batched, board):
    return jnp.full(axis_size, axis_size), True


def by_its_own_batching(env_state):
    size = jax.vmap(size_of_the_batch)(env_state.observation)
    return either(size > 1, env_state)


ONE_PLAYER = [
    draw_of_a_fixed_key,
    draw_of_python,
    by_batch_size,
    by_place,
    by_mean,
    by_player_id,
    by_its_own_batching,
]


@pytest.mark.parametrize("function", ONE_PLAYER)
@pytest.mark.parametrize("env_id", ["tic_tac_toe", "connect_4x4"])
def test_a_function_of_the_state_is_one_player_in_every_batch(function, env_id):
    """It plays what was traced: one move for a board, whatever the other games are.

    PGX draws which player has which number, so each key of a game is another draw.
    """
    player = make(function, env_id)
    assert player.evidence in ("signature", "asked")
    lines = [(), (0,), (0, 1), (1, 0, 2)]
    alone = [moves_of(player, env_id, [line])[0] for line in lines]
    assert moves_of(player, env_id, lines) == alone
    assert moves_of(player, env_id, lines[::-1] * 50) == alone[::-1] * 50
    starts = pgx_games.init(pgx_games.make_env(env_id), jax.random.key(1), 32)
    assert {*choose_moves(player.choose, KEY, starts).tolist()} == {alone[0]}


def test_what_a_function_closes_over_is_copied():
    scores = np.arange(4.0, dtype=np.float32)

    def function(env_state):
        return jnp.where(env_state.legal_action_mask, scores, -1).argmax(axis=-1)

    player = make(function, "connect_4x4")
    assert moves_of(player, "connect_4x4", [()]) == [3]
    scores[:] = scores[::-1].copy()
    assert moves_of(player, "connect_4x4", [(), (1,)]) == [3, 3]


def test_the_number_of_boards_does_not_change_how_a_function_rounds():
    """In one batch, XLA rounds many of these sums differently."""
    weights = jax.random.normal(KEY, (2, 32, 64))

    def by_last_bits(env_state):
        """Play the legal move that the bits of a sum number."""
        boards = env_state.observation.reshape(len(env_state.terminated), -1)
        sums = (jnp.tanh(boards @ weights[0]) * (boards @ weights[1])).sum(axis=-1)
        bits = jax.lax.bitcast_convert_type(sums, jnp.uint32)
        legal = env_state.legal_action_mask
        number = bits % legal.sum(axis=1, dtype=jnp.uint32) + 1
        return (legal & (legal.cumsum(axis=1) == number[:, None])).argmax(axis=1)

    lines = [tuple((i // 5 + j * j) % 4 for j in range(i % 5)) for i in range(65)]
    lines.sort(key=len, reverse=True)  # all sums are 0 on the empty board
    states = replay("connect_4x4", lines)
    choose = make(by_last_bits, "connect_4x4").choose
    together = choose_moves(choose, KEY, states)
    for size in (1, 2, 3):
        some = jax.tree.map(lambda x, size=size: x[:size], states)
        assert (choose_moves(choose, KEY, some) == together[:size]).all()


def test_settings_of_jax_after_the_trace_do_not_change_a_function():
    def function(env_state):
        boards = env_state.observation.reshape(-1, 32).astype(jnp.float32)
        scores = boards @ jax.random.normal(jax.random.key(0), (32, 4))
        return jnp.where(env_state.legal_action_mask, scores, -jnp.inf).argmax(axis=-1)

    choose, compiled = make(function, "connect_4x4").choose, jax.jit(function)
    states = replay("connect_4x4", [(0,), (0, 1), (1, 0, 2), (3, 3, 3), (0, 1, 2, 3)])
    moves = choose(KEY, states).tolist()
    assert compiled(states).tolist() == moves
    with jax.enable_x64(True):
        assert compiled(states).tolist() != moves
        assert choose(KEY, states).tolist() == moves


def by_numpy(env_state):
    """Play the first free cell, in NumPy."""
    return np.asarray(env_state.legal_action_mask).argmax(axis=-1)


def callback(choose):
    """Return a function that calls back to Python, which `choose` plays in NumPy."""

    def function(env_state):
        mask = env_state.legal_action_mask
        shape = jax.ShapeDtypeStruct(mask.shape[:1], np.int32)
        return jax.pure_callback(
            lambda mask: choose(np.asarray(mask)).astype(np.int32), shape, mask
        )

    return function


def nested_callback(env_state):
    """Call back to Python in a branch, in a loop, in a compiled function."""
    inner = jax.jit(callback(lambda mask: mask.argmax(axis=-1)))

    def round_of_loop(_, actions):
        return jax.lax.cond(
            actions.sum() >= 0, lambda: inner(env_state), lambda: actions
        )

    start = jnp.zeros(len(env_state.terminated), jnp.int32)
    return jax.lax.fori_loop(0, 2, round_of_loop, start)


def with_a_print(env_state):
    jax.debug.callback(lambda: None)
    return first_free(env_state)


@pytest.mark.parametrize("env_id", mark_slow(GAMES[:2], "tic_tac_toe"))
@pytest.mark.parametrize(
    "function",
    [by_numpy, nested_callback, with_a_print],
)
def test_a_function_that_jax_cannot_show_is_asked_for_all_its_moves(function, env_id):
    player = make(function, env_id)
    assert isinstance(player, AskedPlayer)
    assert player.evidence == "asked"
    grade: Any = jax_ttt.grade(player)
    assert 0.1 < grade.asked_twice <= 1
    shown = make(first_free, env_id)
    if player.policy is not None:
        np.testing.assert_array_equal(player.policy, shown.policy)
    expected = jax_ttt.grade(shown)
    for seat in ("first", "second"):
        one, other = grade.seat(seat), expected.seat(seat)
        assert one is not None
        assert other is not None
        assert (one.win_rate, one.loss_rate) == (other.win_rate, other.loss_rate)


def random_cell(mask):
    scores = np.where(mask, np.random.default_rng().random(mask.shape), -1)
    return scores.argmax(axis=-1)


def by_chance(env_state):
    return random_cell(np.asarray(env_state.legal_action_mask))


def by_neighbour(env_state):
    """Play the last free cell where it is free in the game before, too."""
    mask = np.asarray(env_state.legal_action_mask)
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=-1)
    is_free_before = np.roll(mask, 1, axis=0)[np.arange(len(mask)), last]
    return np.where(is_free_before, last, mask.argmax(axis=-1))


CHANGING = [by_chance, by_neighbour, callback(random_cell)]
IN_LARGER = [*(("connect_4x4", function) for function in CHANGING), ("hex", by_chance)]


@pytest.mark.parametrize(
    ("env_id", "function"),
    [(GAMES[0], function) for function in CHANGING]
    + [pytest.param(*case, marks=pytest.mark.slow) for case in IN_LARGER],
)
def test_a_function_that_changes_its_mind_is_sampled(function, env_id):
    player = make(function, env_id)
    assert isinstance(player, AskedPlayer)
    assert player.policy is None
    limit = None if env_id == "tic_tac_toe" else 1000
    grade: Any = jax_ttt.grade(player, num_games=4, max_positions=limit)
    assert (grade.evidence, grade.unbeatable) == ("none", None)
    assert "one move in each position" in grade.note
    match = jax_ttt.match(player, "random", num_games=4)
    assert (match.is_exact, match.first.num_games) == (False, 4)


def test_an_asked_function_sees_no_player_numbers():
    """Of a position it sees the same state in the search and in games."""
    began = set()

    def function(env_state):
        stones = np.asarray(env_state.observation).sum(axis=(1, 2, 3))
        began.update(((env_state.current_player + stones) % 2).tolist())
        return by_numpy(env_state)

    player = make(function, "connect_4x4")
    began.clear()  # it was tried with any board
    jax_ttt.grade(player, max_positions=200, num_games=8)
    assert began == {0}


def test_an_asked_function_may_round_by_the_number_of_boards():
    weights = np.random.default_rng(0).normal(size=(32, 4))

    def function(env_state):
        scores = np.asarray(env_state.observation).reshape(-1, 32) @ weights
        return np.where(env_state.legal_action_mask, scores, -np.inf).argmax(axis=1)

    grade: Any = jax_ttt.grade(make(function, "connect_4x4"))
    assert (grade.evidence, grade.first.complete) == ("asked", True)


def test_an_asked_function_is_not_asked_again():
    """So it can't play another player after the proof."""
    asked = []

    def function(env_state):
        asked.extend(board.tobytes() for board in np.asarray(env_state.observation))
        return np.asarray(env_state.legal_action_mask).argmax(axis=-1)

    player = make(function)
    number = len(asked)
    assert len({*asked}) == 4520
    jax_ttt.grade(player)
    jax_ttt.match(player, "random")
    jax_ttt.new_game(player).play(4)
    assert len(asked) == number


def test_a_function_can_not_write_the_boards_it_gets():
    def function(env_state):
        np.asarray(env_state.legal_action_mask)[:] = True
        return [0]

    with pytest.raises(Refused, match="read-only"):
        make(function)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda state: state.nothing, "AttributeError: 'State' object has no"),
        (
            lambda state: np.asarray(state.observation) @ np.ones(7),
            r"games, whose observation is \(B, 3, 3, 2\); .* ValueError: matmul",
        ),
        (
            lambda key, state: np.asarray(state.legal_action_mask).argmax(axis=-1),
            "TracerArrayConversionError",
        ),
        (
            lambda state: state.legal_action_mask.argmax(),
            r"gets a batch of games, .* got int32 of shape \(\) for 1 game",
        ),
        (lambda state: first_free(state).astype(float), "got float32"),
        (lambda state: None, "got NoneType"),
        (lambda state: first_free(state) * 0, "plays 0, but the"),
        (lambda state: first_free(state) - 99, "plays -99, but"),
        (lambda key, state: first_free(state) * 0, "plays 0, but the"),
        (
            lambda state: by_numpy(state) * 0,
            r"answered 0 after the moves [\d ]+; legal",
        ),
        (lambda state: by_numpy(state) * 0 - 1, "answered -1 before the first move"),
        (lambda state: "no" if bool(state.terminated[0]) else "yes", "got .* of shape"),
    ],
)
def test_other_functions_are_refused_in_one_line(function, message):
    with pytest.raises(Refused, match=message) as error:
        make(function)
    assert str(error.value).startswith("mine")
    assert "\n" not in str(error.value)
