"""Games of users: `register_game`, the flag `--rules`, and Nim of docs/examples/nim.py.

The theory of Nim is an independent oracle: C. Bouton 1901, "Nim, a game with a complete
mathematical theory".
"""

import dataclasses
import functools
import json
import operator
import random
import runpy
import sys
from pathlib import Path

import commands
import four_in_a_row
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny
from commands import refusal
from own_games import check_refused, variant
from pgx.tic_tac_toe import TicTacToe

import jax_ttt
from jax_ttt import flags, sweep
from jax_ttt.__main__ import COMMANDS
from jax_ttt.config.game_facts import GAMES, move_name
from jax_ttt.config.settings import Config
from jax_ttt.dialogue import Dialogue
from jax_ttt.games import pgx_games
from jax_ttt.games import tree as trees
from jax_ttt.games.line_games import LineGame
from jax_ttt.networks import q_network
from jax_ttt.players.saved_agents import network_from
from jax_ttt.solver import policies
from jax_ttt.web import agent_files

FILE = Path(__file__).parents[1] / "docs" / "examples" / "nim.py"
MISERE = FILE.with_name("misere.py")
NIM = ("nim", "nim_misere")
ARENA, EVALUATE, PLAY, TRAIN = map(
    commands.module_of, ("arena", "evaluate", "play", "train")
)


@pytest.fixture(scope="module", autouse=True)
def nim(same_games):
    """Return the names of the example, whose games are registered."""
    return runpy.run_path(str(FILE))


@pytest.fixture
def unregistered(monkeypatch):
    """Forget the games, as in a new process."""
    for env_id in NIM:
        monkeypatch.delitem(GAMES, env_id)


@pytest.fixture(scope="module")
def agent_path(nim, tmp_path_factory):
    """Return the path of an agent of Nim that has not learned."""
    path = tmp_path_factory.mktemp("nim") / "agent.safetensors"
    return tiny.save_untrained(path, env_id="nim")


def count_positions(start, after):
    """Return the number of positions, each with its number of moves."""
    number, level = 0, {start}
    while level:
        number += len(level)
        level = {new for position in level for new in after(position)}
    return number


def heaps_of(tree):
    """Return the heaps of all positions."""
    return tree.env_state.heaps.tolist()


def fewer_objects(heaps):
    """Return the heaps after each move."""
    return [
        (*heaps[:heap], left, *heaps[heap + 1 :])
        for heap, number in enumerate(heaps)
        for left in range(number)
    ]


def mover_wins(heaps, env_id):
    """Return whether the player to move wins, by the theory of Nim."""
    if env_id == "nim_misere" and max(heaps) <= 1:
        return sum(heaps) % 2 == 0
    return functools.reduce(operator.xor, heaps) != 0


@pytest.mark.parametrize("env_id", NIM)
def test_every_position_has_the_value_of_the_theory(env_id):
    """The positions are the heaps after all numbers of moves, which Python counts."""
    env, tree = pgx_games.make_env(env_id), trees.enumerated(env_id)
    assert env.id == env.init(jax.random.key(0)).env_id == env_id
    check_positions_are_found(env_id)
    assert tree.num_positions == count_positions((3, 4, 5), fewer_objects)
    assert GAMES[env_id].max_moves == 3 + 4 + 5
    values, all_heaps = policies.minimax_values(tree), heaps_of(tree)
    for position in tree.decisions:
        heaps = all_heaps[position]
        to_mover = values[position] * (1 if tree.first_to_move[position] else -1)
        assert to_mover == (1 if mover_wins(heaps, env_id) else -1), heaps


def check_positions_are_found(env_id):
    tree = trees.enumerated(env_id)
    found = np.asarray(trees.position_index(env_id).of_states(tree.env_state))
    decisions = np.asarray(tree.decisions)
    np.testing.assert_array_equal(found[decisions], decisions)


def test_positions_with_equal_heaps_share_the_first_of_them():
    tree = trees.enumerated("nim")
    heaps = heaps_of(tree)
    found = trees.position_index("nim").of_boards(tree.obs)
    np.testing.assert_array_equal(found, [heaps.index(row) for row in heaps])


def first_legal(env_state):
    """Return the lowest legal move of each game: a player."""
    return env_state.legal_action_mask.argmax(axis=1)


@pytest.mark.parametrize("seat", ["first", "second"])
def test_a_losing_line_is_a_lost_game_by_the_rules(nim, agent_path, seat):
    proof = jax_ttt.prove(agent_path, seat=seat)
    line = proof.losing_line
    assert line is not None
    heaps = [*nim["HEAPS"]]
    for action in line:
        heap, number = divmod(action, 5)
        assert 1 <= number + 1 <= heaps[heap]
        heaps[heap] -= number + 1
    assert heaps == [0, 0, 0]
    last_mover = "first" if len(line) % 2 else "second"
    assert last_mover != seat  # who takes the last object wins
    assert f"1. X {nim['MOVES'][line[0]]}" in str(proof)


@pytest.mark.parametrize(
    ("name", "most_losses"),
    [
        ("minimax-quick", 0.001),
        ("mcts:100", 0.05),
        pytest.param("mcts-online:5", 0.3, marks=pytest.mark.slow),
    ],
)
def test_other_players_beat_a_random_one(name, most_losses):
    """A random player would lose half of the games; only the last is sampled."""
    result = jax_ttt.match(name, "random", env_id="nim", num_games=64)
    assert result.both.loss_rate < most_losses


def test_a_game_is_shown_by_its_own_text_and_names(nim, agent_path):
    game = jax_ttt.new_game(str(agent_path))
    assert "a ooo\n  b oooo\n  c ooooo</pre>" in game._repr_html_()
    game = game.play(nim["MOVES"].index("c5"))
    assert "a " in str(game)
    assert "ooooo" not in str(game)
    with pytest.raises(jax_ttt.Refused, match="not drawn as a picture"):
        jax_ttt.draw(game)
    proof = jax_ttt.prove(agent_path, seat="second")
    assert f": {proof}</pre>" in proof._repr_html_()
    assert "oooo" in str(proof)
    jax_ttt.register_game("numbered", nim["Nim"], move_names=range(1, 16))
    assert move_name("numbered", 4) == "5"


@pytest.fixture(scope="module")
def misere(same_games):
    """Return tic-tac-toe in which three in a row loses; it is registered as misere."""
    return runpy.run_path(str(MISERE))["Misere"]


SQUARES = ["u", *(f"{row}{column}" for row in "abc" for column in "123")][:9]
"""A name of a move is no command, also where the move is not legal."""


@pytest.mark.slow
def test_a_game_of_stones_has_a_users_names_of_moves_and_board(misere, monkeypatch):
    jax_ttt.register_game("misere_g", misere, move_names=SQUARES)
    line = str(jax_ttt.prove(first_legal, env_id="misere_g", seat="second"))
    assert "squares 0 to 8" not in line
    lines = iter(["?", "zz", "b1", "u", "u", "review", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(lines))
    words = ["minimax", "--env-id", "misere_g", "--side", "x", "--seed", "1"]
    out = commands.run(PLAY, *words).out
    assert "a move    play it" in out
    assert "'zz'? type a legal move" in out
    assert "'u'? type a legal move" in out
    assert "  1. X b1  you  draws" in out
    assert "legal moves" not in out  # the board names them

    def free_squares(state):
        return f"{9 - state._step_count} squares are free"

    jax_ttt.register_game("misere_f", misere, board_text=free_squares)
    board = str(jax_ttt.new_game("random", env_id="misere_f").play(4))
    assert "7 squares are free" in board
    assert "X" not in board.partition("\n")[2]
    line = str(jax_ttt.prove(first_legal, env_id="misere_f", seat="first"))
    assert "8 squares are free" in line
    assert "---" not in line


def test_what_a_game_like_another_has_and_lacks(misere, tmp_path):
    """It has the board and its symmetries; neither its best result nor its page."""
    assert len(GAMES["misere"].symmetries) == 8
    assert "X" in str(jax_ttt.new_game("random", env_id="misere").play(4))
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id="misere")
    listed = agent_files.ListedAgent(
        id="a", name="a", source="run", path=path, snapshots={}
    )
    with pytest.raises(jax_ttt.Refused, match="the page has no rules of misere"):
        agent_files.agent_entry(listed)
    rule = "the result of misere with best play is not known here"
    with pytest.raises(jax_ttt.Refused, match=rule):
        jax_ttt.correct(jax_ttt.load(path), goal="win")


def gain_of_mover(state):
    """Return the rewards of a game that the player to move in a state wins."""
    gain = jnp.where(jnp.arange(2) == state.current_player, 1.0, -1.0)
    return gain.astype(jnp.float32)


def last_square_wins(new, state, action):
    """Whoever ends the game in the last square wins."""
    is_won = new.terminated & (action == 8)
    return {"rewards": jnp.where(is_won, gain_of_mover(state), new.rewards)}


def left_column_decides(new, *_):
    """A full left column turns the result."""
    is_full = (new._x.board[::3] >= 0).all()
    return {"rewards": jnp.where(is_full, -new.rewards, new.rewards)}


def without_moves(new, is_closed):
    """Return the fields of a state in which some moves are not legal."""
    legal = new.legal_action_mask & ~is_closed
    return {"legal_action_mask": legal, "terminated": new.terminated | ~legal.any()}


def not_in_the_last_square(new, *_):
    return without_moves(new, jnp.arange(9) == 8)


def first_move_decides(new, state, action):
    """Whoever began in the first square wins a draw: `winner` keeps it until then."""
    began = jnp.where(state._step_count == 1, action == 0, state._x.winner == 2)
    winner = jnp.where(began & ~new.terminated, 2, new._x.winner)
    is_draw = new.terminated & (new._x.winner < 0) & began
    rewards = jnp.where(is_draw, gain_of_mover(state), new.rewards)
    return {"rewards": rewards, "_x": new._x._replace(winner=winner)}


def move_to_other_squares(self, state, action, key):
    """After X0, O1 takes square 2, and O2 square 1: all boards are in the game."""
    is_other = (state._step_count == 2) & (state._x.board[0] == 0) & (action > 0)
    target = jnp.where(is_other & (action < 3), 3 - action, action)
    return TicTacToe._step(self, state, target, key)


def two_stones(self, state, player_id):
    """Show a stone of both players in the centre."""
    return TicTacToe._observe(self, state, player_id).at[1, 1].set(True)


LESS_SYMMETRIC = {
    "last_square_wins": variant(TicTacToe, after=last_square_wins),
    "left_column_decides": variant(TicTacToe, after=left_column_decides),
    "not_in_the_last_square": variant(TicTacToe, after=not_in_the_last_square),
    "other_squares": variant(TicTacToe, _step=move_to_other_squares),
    "two_stones": variant(TicTacToe, _observe=two_stones),
}


@pytest.mark.parametrize("env_id", LESS_SYMMETRIC)
def test_symmetries_that_do_not_hold_in_all_positions_are_not_used(env_id):
    """The board is drawn all the same, unless it is not one of a move's own stone."""
    jax_ttt.register_game(env_id, LESS_SYMMETRIC[env_id])
    assert GAMES[env_id].enumerable
    assert GAMES[env_id].symmetries == ()
    check_positions_are_found(env_id)
    is_drawn = env_id not in ("other_squares", "two_stones")
    assert GAMES[env_id].stones == is_drawn
    game = jax_ttt.new_game("random", env_id=env_id).play(4)
    assert (f"{env_id} is not drawn in text" in str(game)) == (not is_drawn)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "table"])
def test_a_misere_game_is_learned_with_a_tremble(misere, preset):
    """As docs/use/own_rules.md says of both presets, which are for tic-tac-toe."""
    usual = jax_ttt.train(env_id="misere", preset=preset, seed=1)
    trembling = jax_ttt.train(env_id="misere", preset=preset, seed=1, tremble=0.2)
    assert (usual.is_proven, trembling.is_proven) == (False, True)


# A game must end, and soon.


def test_a_wide_level_is_left_as_soon_as_it_has_too_many_positions(monkeypatch):
    monkeypatch.setattr(trees, "_BATCH", 16)
    num_steps, step = [0], trees._step

    def counted(*args):
        num_steps[0] += 1
        return step(*args)

    monkeypatch.setattr(trees, "_step", counted)
    assert not trees.enumerate_positions(TicTacToe(), 200).is_whole
    # 1 + 9 + 72 positions, and 252 after 504 moves.
    assert num_steps[0] < 1 + 5 + 504 / 16


# Nothing is random.


def test_all_games_begin_as_when_the_game_was_registered(nim):
    """A start that is so rare that no key found it is in no game."""
    env = nim["Nim"]()
    starts = pgx_games.init(pgx_games.make_env("nim"), jax.random.key(1), 100)
    usual = jax.vmap(env.init)(jax.random.split(jax.random.key(1), 100))
    jax.tree.map(np.testing.assert_array_equal, starts, usual)


def test_rules_are_read_once(nim):
    """Python's chance, or a number that changes, gives one game and not several."""
    calls = [0]

    def after(new, *_):
        calls[0] += 1
        return {"rewards": new.rewards * (-1) ** calls[0]}

    jax_ttt.register_game("once", variant(nim["Nim"], after=after))
    num_calls = calls[0]
    minimax = jax_ttt.player("minimax", env_id="once")
    first = jax_ttt.grade(minimax).followed["first"]
    played = jax_ttt.match(minimax, minimax, env_id="once", num_games=8)
    assert first.proven in ("win", None)
    assert round(played.first.win_rate) == (first.proven == "win")
    assert calls[0] == num_calls


def test_arrays_that_rules_use_are_copied(nim):
    """Within functions that they compile, too; each program then has the same rules."""
    factors = [np.ones(shape, np.float32) for shape in [(), (2,)] * 2]
    scalar, vector, scalar_inside, vector_inside = factors

    def change(new, *_):
        in_function = jax.jit(lambda rewards: rewards * scalar_inside * vector_inside)
        return {"rewards": in_function(new.rewards * scalar * vector)}

    jax_ttt.register_game("copied", variant(nim["Nim"], after=change))
    for factor, array in zip((-1, 3, 5, 7), factors, strict=True):
        array[...] = factor  # no product of some of them is 1
    tree = trees.enumerated("copied")
    decided = tree.decisions
    states = jax.tree.map(lambda leaf: leaf[decided], tree.env_state)
    actions = tree.legal_action_mask[decided].argmax(axis=1)
    env = pgx_games.make_env("copied")
    new_program = jax.jit(lambda *arguments: jax.vmap(env.step)(*arguments))
    after = new_program(states, actions)
    expected = tree.env_state.rewards[tree.successor[decided, actions]]
    assert np.array_equal(after.rewards, expected)


def test_rules_may_have_loops(nim):
    """Some versions of JAX compile a loop only where nothing is evaluated at once."""

    def start(state, key):
        heaps = jax.lax.fori_loop(0, 3, lambda i, x: x.at[i].add(1), state.heaps - 1)
        return {"heaps": heaps}

    def step(self, state, action, no_key):  # PGX passes them without names
        return nim["Nim"]._step(self, state, action, no_key)

    loops = variant(nim["Nim"], start=start, _step=step)
    jax_ttt.register_game("loops", loops)
    num_positions = trees.enumerated("nim").num_positions
    assert trees.enumerated("loops").num_positions == num_positions


# A player may move again.


def test_who_may_move_again_does_so(nim):
    """With one heap of five objects, of which two give another move: take 2, 2, 1."""

    def legal(self, heaps):
        return jnp.arange(15) < jnp.minimum(heaps[0], 2)

    def start(state, key):
        heaps = jnp.array([5, 0, 0], jnp.int32)
        return {"heaps": heaps, "legal_action_mask": legal(None, heaps)}

    def after(new, state, action):
        mover = state.current_player
        return {"current_player": jnp.where(action == 1, mover, 1 - mover)}

    rules = variant(nim["Nim"], start=start, after=after, legal=legal)
    jax_ttt.register_game("take_again", rules)
    best = jax_ttt.grade("minimax", env_id="take_again").followed
    assert (best["first"].proven, best["second"].unbeatable) == ("win", False)
    line = jax_ttt.prove("minimax", env_id="take_again", seat="second").losing_line
    assert line == (1, 1, 0)


# Wrong registrations.


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("tic_tac_toe", {}, "there is a game tic_tac_toe already"),
        *(
            (name, {}, "small letters, digits and _")
            for name in ("", "Nim", "my game", "3x3", "a.b")
        ),
        *(
            ("wrong", {"move_names": names}, "15 different words")
            for names in (["a"], ["a"] * 15, [f"a {n}" for n in range(15)])
        ),
    ],
)
def test_wrong_names_are_refused(name, options, reason, nim):
    with pytest.raises(jax_ttt.Refused, match=reason):
        jax_ttt.register_game(name, nim["Nim"], **options)


def draw_of_player(player):
    """Return the change with which a player, by its number, wins a draw."""

    def after(new, *_):
        rewards = jnp.where(jnp.arange(2) == player, 1.0, -1.0)
        is_draw = new.terminated & (new._x.winner < 0)
        return {"rewards": jnp.where(is_draw, rewards, new.rewards)}

    return after


def no_centre_for_player_1(new, *_):
    is_closed = (new.current_player == 1) & (new._x.board[4] < 0)
    return without_moves(new, is_closed & (jnp.arange(9) == 4))


def no_corner_for_player_1(state, key):
    """Player 1 may not begin in the first square."""
    return {"legal_action_mask": (jnp.arange(9) > 0) | (state.current_player == 0)}


def over_for_player_1(new, *_):
    """A game in which player 1 is to move after five moves is over."""
    is_over = (new._step_count == 5) & (new.current_player == 1)
    return {"terminated": new.terminated | is_over}


def start_drawn_for(player):
    """Return heaps that are drawn where this player begins."""

    def start(state, key):
        heaps = jax.random.permutation(jax.random.fold_in(key, 1), state.heaps)
        return {"heaps": jnp.where(state.current_player == player, heaps, state.heaps)}

    return start


def start_drawn_rarely(state, key):
    """Once in thousands of games."""
    is_rare = jax.random.uniform(jax.random.fold_in(key, 1)) < 2e-4
    return {"heaps": jnp.where(is_rare, state.heaps[::-1], state.heaps)}


def signs_from_python(new, state, action):
    sign = jax.pure_callback(lambda _: random.choice((-1, 1)), action, action)
    return {"rewards": new.rewards * sign}


def no_moves_for_few_objects(new, *_):
    return {"legal_action_mask": new.legal_action_mask & (new.heaps.sum() > 5)}


def pass_the_turn(self, state, action, key):
    return dataclasses.replace(state, current_player=1 - state.current_player)


def tiny_rewards(new, *_):
    """Programs may take such numbers for 0."""
    won, lost = np.array([1e-40, -1e-40], np.float32)
    rewards = jnp.where(new.rewards < 0, lost, new.rewards)
    return {"rewards": jnp.where(rewards > 0, won, rewards)}


def by_number(difference):
    """Return what is said of rules that ask for the number of a player."""
    advice = "use state.current_player, not the number 0 or 1"
    return f"(?=.*{advice}){difference}"


MOVES = r"after [0-9]+ moves? it does"
DRAWN = "all games must begin in one position; .* is drawn"
HIDDEN = "the observation must show"
KEY = jax.random.key(3)
WRONG_NIM = [
    # The arrays.
    ("2 players", {"num_players": 3}),
    ("can't be compiled", {"_step": lambda self, *_: 1 / 0}),
    ("its rules can't be compiled", {"after": lambda *_: {"game": "another"}}),
    ("1 to 3 axes", {"_observe": lambda self, state, _: state.rewards[0]}),
    (
        "keep the shape and dtype of rewards",
        {"after": lambda new, *_: {"rewards": new.rewards.astype(jnp.int32)}},
    ),
    (
        "keep the shape and dtype of heaps",
        {"after": lambda new, *_: {"heaps": new.heaps[:2]}},
    ),
    ("legal_action_mask must be bool", {"legal": lambda self, heaps: heaps + 0}),
    (
        "truncated must be bool of shape",
        {"start": lambda *_: {"truncated": jnp.zeros(2, bool)}},
    ),
    # Nothing is random, and players see everything.
    ("truncated must be numbers", {"start": lambda *_: {"truncated": KEY}}),
    (
        "_init must draw who begins",
        {"start": lambda *_: {"current_player": jnp.int32(0)}},
    ),
    (DRAWN, {"start": start_drawn_for(0)}),
    (DRAWN, {"start": start_drawn_for(1)}),
    (DRAWN, {"start": start_drawn_rarely}),
    ("nothing is random: its rules may not call", {"after": signs_from_python}),
    (HIDDEN, {"_observe": lambda self, state, _: state.heaps[:2]}),
    # A game goes on by legal moves, and ends.
    (
        "there must be a legal move; after 0 moves",
        {"legal": lambda self, heaps: jnp.zeros(15, bool)},
    ),
    (f"a legal move.*; {MOVES}", {"after": no_moves_for_few_objects}),
    (
        f"a move must not change _step_count.*; {MOVES}",
        {"after": lambda new, *_: {"_step_count": new._step_count + 1}},
    ),
    ("a game must end after at most 1,000 moves", {"_step": pass_the_turn}),
    # The rewards.
    (
        f"add up to 0.*; {MOVES}",
        {"after": lambda new, *_: {"rewards": jnp.abs(new.rewards)}},
    ),
    (
        f"from -1 to 1.*; {MOVES}",
        {"after": lambda new, *_: {"rewards": 5 * new.rewards}},
    ),
    (
        f"only the last move.*; {MOVES}",
        {"after": lambda new, *_: {"rewards": -gain_of_mover(new)}},
    ),
    ("must be 0 or a normal number", {"after": tiny_rewards}),
]
WRONG_TIC_TAC_TOE = [
    (HIDDEN, {"after": first_move_decides}),
    # A game is the same whichever player begins, 0 or 1.
    (
        by_number("the rewards must .*; after 9 moves .*: actions( [0-8]){9}"),
        {"after": draw_of_player(0)},
    ),
    (
        by_number("the rewards must .*; after 9 moves .*: actions( [0-8]){9}"),
        {"after": draw_of_player(1)},
    ),
    (
        by_number("the legal moves must .*; after 0 moves it does not hold"),
        {"start": no_corner_for_player_1},
    ),
    (
        by_number("the legal moves must .*; after 1 move .*: actions"),
        {"after": no_centre_for_player_1},
    ),
    (
        by_number("the end of a game must .*; after 5 moves .*: actions"),
        {"after": over_for_player_1},
    ),
    (
        by_number("the observation must .*; after 1 move .*: actions"),
        {"_observe": lambda self, state, _: TicTacToe._observe(self, state, 0)},
    ),
]
"""Words of the refusal, and what differs from the rules of Nim or tic-tac-toe."""


@pytest.mark.parametrize(("reason", "changes"), WRONG_NIM)
def test_wrong_rules_of_nim_are_refused(reason, changes, nim):
    check_refused(variant(nim["Nim"], **changes), reason)


@pytest.mark.parametrize(("reason", "changes"), WRONG_TIC_TAC_TOE)
def test_wrong_rules_of_tic_tac_toe_are_refused(reason, changes):
    check_refused(variant(TicTacToe, **changes), reason)


def both_win_on_a_full_board(new, *_):
    """A fault in the last move, long after the positions that are enumerated."""
    return {"rewards": jnp.where(new._step_count == 16, 1.0, new.rewards)}


def test_random_lines_show_a_fault_far_from_the_start_of_a_large_game():
    faulty = variant(LineGame, after=both_win_on_a_full_board)
    check_refused(
        lambda: faulty("connect_4x4", shape=(4, 4), in_a_row=4, falls=True),
        "must add up to 0; after 16 moves",
    )


def test_what_makes_no_environment_is_refused():
    check_refused(dict, "make_env must return an environment")
    check_refused(lambda: 1 / 0, "make_env")


def test_a_game_that_is_registered_again_has_the_new_rules(misere):
    """As when a cell of a notebook runs again after a change of the rules."""
    rates = []
    for make_env in (TicTacToe, misere):
        jax_ttt.register_game("again", make_env)
        grade = jax_ttt.grade(first_legal, env_id="again", seat="first")
        rates.append(grade.rates["first"].rates)
    assert rates[0] == rates[1][::-1] != rates[1]
    # Wrong rules leave it as it was.
    before = GAMES["again"]
    with pytest.raises(jax_ttt.Refused, match="the rewards must not depend on"):
        jax_ttt.register_game("again", variant(TicTacToe, after=draw_of_player(0)))
    assert GAMES["again"] is before


@pytest.mark.slow
def test_filters_fit_the_observations_of_a_game_that_is_registered_again(nim):
    for shape in ((3, 5, 1), (3, 6, 1)):

        def observe(self, state, player_id, shape=shape):
            return state.heaps[:, None, None] > np.arange(shape[1])[None, :, None]

        jax_ttt.register_game("sized", variant(nim["Nim"], _observe=observe))
        config = Config.of(env_id="sized", filters=2, hidden_size=4, hidden_layers=0)
        network = network_from(config.architecture)
        params = jax.eval_shape(q_network.init_params, network, jax.random.key(0))
        obs = np.zeros((1, *shape), bool)
        values = jax.eval_shape(q_network.action_values, network, params, obs)
        assert values.shape == (1, 15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("axes", "see", "settings"),
    [
        (1, lambda heaps: heaps.astype(jnp.float16) / 8, {"preset": "default"}),
        (3, lambda heaps: heaps.astype(jnp.int8)[:, None, None], {"preset": "table"}),
    ],
)
def test_observations_may_have_one_axis_or_three(nim, axes, see, settings):
    """Those of the example have two."""
    env_id = f"axes_{axes}"
    rules = variant(nim["Nim"], _observe=lambda self, state, _: see(state.heaps))
    jax_ttt.register_game(env_id, rules)
    run = jax_ttt.train(
        env_id=env_id, num_envs=8, num_updates=4, eval_every=4, **settings
    )
    assert run.is_proven is False
    check_positions_are_found(env_id)


def test_boards_of_floats_are_found_on_the_host_and_in_programs():
    """Also with the negative zero, which is equal to 0.0."""

    def observe(self, state, player_id):
        return jnp.float32(TicTacToe._observe(self, state, player_id))

    planes = variant(
        TicTacToe,
        start=lambda state, key: {"observation": jnp.float32(state.observation)},
        _observe=observe,
    )
    jax_ttt.register_game("float_planes", planes)
    tree, index = trees.enumerated("float_planes"), trees.position_index("float_planes")
    assert tree.num_positions == 5478
    compiled = jax.jit(lambda index, obs: index.of_boards(obs))
    for zero in (0.0, -0.0):
        boards = np.where(tree.obs == 0, np.float32(zero), tree.obs)
        for found in (index.of_boards(boards), compiled(index, boards)):
            np.testing.assert_array_equal(found, np.arange(5478))


def rounded(self, state, player_id):
    """Return an observation of floats that are not exact."""
    stones = TicTacToe._observe(self, state, player_id)
    own, other = jnp.float32(stones[..., 0]), jnp.float32(stones[..., 1])
    board = 1.137 * own - 0.713 * other
    place = jnp.arange(9, dtype=jnp.float32).reshape(3, 3)
    return jnp.tanh(board * stones.sum() + 0.137 * place) * 0.77 + board


@pytest.mark.slow
def test_positions_with_rounded_observations_are_found_in_games(optimized):
    """What plays a game rounds as what enumerates it; else `minimax` would be lost."""

    def start(state, key):
        return {"observation": jnp.zeros((3, 3), jnp.float32)}

    rules = variant(TicTacToe, start=start, _observe=rounded)
    jax_ttt.register_game("rounded", rules)
    index = trees.position_index("rounded")
    tree, env = trees.enumerated("rounded"), pgx_games.make_env("rounded")
    choose = jax_ttt.player("random", env_id="rounded").choose
    for num_games in (1, 100):
        state = pgx_games.init(env, jax.random.key(1), num_games)
        for number in range(9):
            live = ~np.asarray(state.terminated)
            found = np.asarray(index.of_states(state))
            expected = jax.tree.map(lambda x, at=found: x[at], tree.env_state)
            for name in ("legal_action_mask", "_step_count"):
                played, there = (getattr(s, name) for s in (state, expected))
                np.testing.assert_array_equal(np.asarray(played)[live], there[live])
            action = choose(jax.random.key(number), state)
            state = pgx_games.play_moves(env, state, action)


# Commands.


def test_a_sweep_continues_by_the_command_that_it_prints(
    unregistered, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = ["--rules", str(FILE), "--env-id", "nim", "--preset", "table"]
    args = commands.parse(sweep, [*words, "--num-seeds", "2"])
    file = sweep.open_file(args)
    file.close()
    again = sweep.resume_command(file).removeprefix("python -m jax_ttt.sweep ")
    assert again == f"--resume {file.path} --rules {FILE}"
    resumed = commands.parse(sweep, again.split())
    for name in ("config", "preset", "grid", "first_seed", "num_seeds"):
        assert getattr(resumed, name) == getattr(args, name)


def test_commands_run_the_file_first(unregistered, agent_path, monkeypatch):
    """It has the names of moves that a person types."""
    words = [agent_path, "--rules", FILE]
    out = commands.run(EVALUATE, *words, "--seat", "first", "--games", 0).out
    assert "beatable: a shortest line that beats it, playing as X" in out
    lines = iter(["zz", "a3", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(lines))
    out = commands.run(PLAY, *words, "--seed", 1).out
    assert "legal moves: a1 a2 a3 b1" in out
    assert "type a legal move" in out
    assert "  a\n" in out
    for flag in ("--policy-csv", "--certificate"):  # only of boards of stones
        assert "got 'nim'" in refusal(EVALUATE, agent_path, flag, "file")


def test_all_commands_but_two_have_the_flag():
    """A correction needs the result of best play, and the page its own rules."""
    without = {
        command
        for command in COMMANDS
        for args in [commands.module_of(command).COMMAND.args_type()]
        if "rules" not in {flag.name for flag in flags.flags_of(args)}
    }
    assert without == {"correct", "web"}


def test_a_saved_agent_says_which_game_is_missing(unregistered, agent_path):
    reason = f"{agent_path}: made for 'nim', a game that is not registered; name the "
    reason += "file that registers it by --rules FILE in a command with this flag, or "
    reason += "import it in Python"
    with pytest.raises(jax_ttt.Refused, match=f"^{reason}$"):
        jax_ttt.load(agent_path)
    for name, *words in (
        ("evaluate", agent_path),
        ("play", agent_path),
        ("correct", agent_path),
        ("arena", agent_path, "random"),
        ("train", "--opponent", agent_path),
        ("plot", agent_path.parent, "--game"),
    ):
        assert refusal(commands.module_of(name), *words) == reason
    with pytest.raises(jax_ttt.Refused, match="its file must run first") as error:
        jax_ttt.Config.of(env_id="a\n\x1b[31mred")
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\n", "calls no jax_ttt.register_game"),
        ("x = 1\nx / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("x = (\n", "line 1: SyntaxError"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError"),
        ("import sys\nsys.exit('no data')\n", "line 2: SystemExit: no data"),
        (
            "import jax_ttt\njax_ttt.register_game('nim_2', dict)\n",
            "nim_2: make_env must return an environment",
        ),
    ],
)
def test_a_file_that_does_not_register_a_game_is_refused(
    tmp_path, monkeypatch, text, reason
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.py").write_text(text, "utf-8")
    line = refusal(TRAIN, "--rules", "rules.py", "--env-id", "nim_2")
    assert line.startswith("--rules rules.py")
    assert reason in line


def test_a_file_hides_no_module_of_python(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / "random.py"
    for text in ("x = 1 / 0\n", "x = 1\n"):
        file.write_text(text, "utf-8")
        commands.run(TRAIN, "--rules", str(file), code=2)
    assert sys.modules["random"] is random
    assert [*sys.path].index(str(tmp_path)) > 0


@pytest.mark.slow
def test_a_command_takes_the_only_game_of_the_file(misere, tmp_path, monkeypatch):
    monkeypatch.delitem(GAMES, "misere")
    rules = ["--rules", str(MISERE)]
    assert commands.parse(TRAIN, rules).config.env_id == "misere"
    own = tmp_path / "own.toml"
    for text, env_id in (("", "misere"), ("env_id = 'connect_4x4'", "connect_4x4")):
        own.write_text(f"tau = 0.2\n{text}\n")
        config = commands.parse(TRAIN, [*rules, "--config", str(own)]).config
        assert (config.env_id, config.tau) == (env_id, 0.2)
    for player, env_id in (
        ("minimax", "misere"),
        ("shipped:table", "tic_tac_toe"),  # a saved agent names its game itself
    ):
        result = json.loads(commands.run(EVALUATE, player, *rules, "--json").out)
        assert result["grade"]["env_id"] == env_id
    result = json.loads(commands.run(ARENA, "minimax", "random", *rules, "--json").out)
    assert result["env_id"] == "misere"
    games = []
    monkeypatch.setattr(
        Dialogue, "play_games", lambda self: games.append(self.opponent.env_id)
    )
    commands.run(PLAY, "minimax", *rules)
    assert games == ["misere"]


def test_a_command_must_name_one_of_several_games(unregistered):
    for command, *words in (
        (TRAIN,),
        (EVALUATE, "minimax"),
        (PLAY, "minimax"),
        (ARENA,),
    ):
        line = refusal(command, *words, "--rules", FILE)
        assert "--env-id must be one of " in line
        assert "nim, nim_misere" in line


def over_after_four_moves(new, *_):
    """Few enough positions to enumerate, on the board of a larger game."""
    return {"terminated": new.terminated | (new._step_count >= 4)}


Short = variant(LineGame, after=over_after_four_moves)


@pytest.mark.parametrize(("num_columns", "num_rows"), [(4, 4), (6, 5)])
def test_a_small_game_on_the_board_of_a_larger_one_is_enumerable(num_columns, num_rows):
    """And has its symmetries; with six columns a key is longer than a word."""
    env_id, like = (f"{x}_{num_columns}x{num_rows}" for x in ("short", "connect"))
    shape = (num_rows, num_columns)
    make_env = functools.partial(Short, like, shape=shape, in_a_row=4, falls=True)
    jax_ttt.register_game(env_id, make_env)

    def boards_after(board):
        """Return the boards after each move; a column has room for four stones."""
        columns = range(num_columns) if sum(map(len, board)) < 4 else ()
        return [four_in_a_row.after_move(board, column) for column in columns]

    tree = trees.enumerated(env_id)
    assert tree.num_positions == count_positions(("",) * num_columns, boards_after)
    check_positions_are_found(env_id)
    assert len(GAMES[env_id].symmetries) == 2
    assert tree.num_positions > len(np.unique(tree.representative))
    boards = tree.obs[tree.representative]
    is_same, is_mirrored = (
        (boards == seen).all(axis=(1, 2, 3))
        for seen in (tree.obs, tree.obs[:, :, ::-1])
    )
    assert (is_same | is_mirrored).all()


@pytest.mark.slow
def test_the_test_of_hex_passes_and_the_first_player_wins():
    """It compares a thousand games on 11 x 11 with PGX, with the pie rule."""
    runpy.run_path(str(FILE.with_name("hex.py")))["test_the_games_are_those_of_pgx"]()
    # Nobody has connected on 3 x 3 before five stones lie there.
    tree = trees.enumerated("hex_3x3")
    assert tree.terminal.argmax() >= tree.level_start[5]
    assert policies.minimax_values(tree)[0] == 1  # the first player wins


@pytest.mark.slow
def test_the_example_needs_no_package_of_the_tests(unregistered, monkeypatch):
    """Without the extra `test`, pytest is not installed."""
    monkeypatch.setitem(sys.modules, "pytest", None)  # importing it fails
    runpy.run_path(str(FILE))
