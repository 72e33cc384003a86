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
import shlex
import sys
from pathlib import Path
from typing import Any

import commands
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny
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
from jax_ttt.runtime import compiling
from jax_ttt.solver import policies
from jax_ttt.web import agent_files

FILE = Path(__file__).parents[1] / "docs" / "examples" / "nim.py"
NIM = ("nim", "nim_misere")
ARENA, EVALUATE, PLAY, RUNS, TRAIN = map(
    commands.module_of, ("arena", "evaluate", "play", "runs", "train")
)


@pytest.fixture(scope="module", autouse=True)
def same_games():
    """Forget games after the whole file: what is compiled of them is forgotten too.

    So each test has another name for its game.
    """
    before = set(GAMES)
    yield
    for name in GAMES.keys() - before:
        del GAMES[name]
    pgx_games.forget_games()


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


@pytest.mark.parametrize("env_id", NIM)
def test_environment_and_states_have_the_name_of_the_game(env_id):
    env = pgx_games.make_env(env_id)
    assert env.id == env.init(jax.random.key(0)).env_id == env_id


def heaps_of(tree):
    """Return the heaps of all positions."""
    return tree.env_state.heaps.tolist()


def mover_wins(heaps, env_id):
    """Return whether the player to move wins, by the theory of Nim."""
    if env_id == "nim_misere" and max(heaps) <= 1:
        return sum(heaps) % 2 == 0
    return functools.reduce(operator.xor, heaps) != 0


@pytest.mark.parametrize("env_id", NIM)
def test_every_position_has_the_value_of_the_theory(env_id):
    tree = trees.enumerated(env_id)
    values = policies.minimax_values(tree)
    for position in tree.decisions:
        heaps = heaps_of(tree)[position]
        to_mover = (
            values[position] if tree.first_to_move[position] else -values[position]
        )
        assert to_mover == (1 if mover_wins(heaps, env_id) else -1), heaps


def test_the_positions_are_all_heaps_after_all_numbers_of_moves():
    """Plain Python counts them: heaps, and the number of moves that led to them."""
    levels: list[set[tuple[int, ...]]] = [{(3, 4, 5)}]
    while levels[-1]:
        after = {
            (*heaps[:i], left, *heaps[i + 1 :])
            for heaps in levels[-1]
            for i in range(3)
            for left in range(heaps[i])
        }
        levels.append(after)
    assert trees.enumerated("nim").num_positions == sum(map(len, levels))


@pytest.mark.parametrize("env_id", NIM)
def test_each_position_is_found_by_its_state(env_id):
    check_positions_are_found(env_id)


def check_positions_are_found(env_id):
    tree = trees.enumerated(env_id)
    found = np.asarray(trees.position_index(env_id).of_states(tree.env_state))
    decisions = np.asarray(tree.decisions)
    np.testing.assert_array_equal(found[decisions], decisions)


def test_positions_with_equal_heaps_share_the_first_of_them():
    tree = trees.enumerated("nim")
    heaps = heaps_of(tree)
    first = [heaps.index(row) for row in heaps]
    found = trees.position_index("nim").of_boards(tree.obs)
    np.testing.assert_array_equal(found, first)


def first_legal(env_state):
    """Return the lowest legal move of each game: a player."""
    return env_state.legal_action_mask.argmax(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "settings"),
    [
        ("nim", {"preset": "default", "tremble": 0.2}),
        ("nim_misere", {"preset": "table"}),
    ],
)
def test_a_table_and_a_network_learn_these_games(env_id, settings):
    run = jax_ttt.train(env_id=env_id, seed=1, **settings)
    grade = jax_ttt.grade(run.agent)
    first, second = grade.seat("first"), grade.seat("second")
    assert first is not None
    assert second is not None
    assert first.proven == "win"
    assert second.unbeatable is False  # no player can win both seats of Nim


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


def test_the_games_of_a_function_are_exact():
    def last_legal(env_state):
        num_actions = env_state.legal_action_mask.shape[1]
        return num_actions - 1 - env_state.legal_action_mask[:, ::-1].argmax(axis=1)

    assert jax_ttt.grade(last_legal, env_id="nim").unbeatable is False


def test_a_game_is_shown_by_its_own_text_and_names(nim, agent_path):
    game = jax_ttt.new_game(str(agent_path)).play(nim["MOVES"].index("c5"))
    assert "a " in str(game)
    assert "ooooo" not in str(game)
    with pytest.raises(jax_ttt.Refused, match="not drawn as a picture"):
        jax_ttt.draw(game)


def test_a_notebook_shows_the_text_of_a_game_that_is_not_drawn(agent_path):
    game = jax_ttt.new_game("random", env_id="nim")
    assert "a ooo\n  b oooo\n  c ooooo</pre>" in game._repr_html_()
    proof = jax_ttt.prove(agent_path, seat="second")
    assert f": {proof}</pre>" in proof._repr_html_()
    assert "oooo" in str(proof)


# Misère tic-tac-toe: three in a row loses.


def variant(base: Any, *, start: Any = None, after: Any = None, **methods: Any) -> Any:
    """Return rules like those of a class, with other methods or properties.

    `start(state, key)` returns the fields that differ at the start of a game, and
    `after(new, state, action)` those that differ after a move in a state.
    """

    def init(self, key):
        state = base._init(self, key)
        return dataclasses.replace(state, **start(state, key))

    def step(self, state, action, key):
        new = base._step(self, state, action, key)
        return dataclasses.replace(new, **after(new, state, action))

    methods |= {"_init": init} if start else {}
    methods |= {"_step": step} if after else {}
    return type("Variant", (base,), methods)


Misere = variant(TicTacToe, after=lambda new, *_: {"rewards": -new.rewards})


@pytest.fixture(scope="module")
def misere(same_games):
    """Register the game; return its name."""
    jax_ttt.register_game("misere_a", Misere)
    return "misere_a"


@pytest.mark.slow
def test_a_game_of_stones_has_its_board_and_its_symmetries(misere):
    assert len(GAMES[misere].symmetries) == 8
    assert trees.enumerated(misere).num_positions == 5478
    best = jax_ttt.grade("minimax", env_id=misere)
    assert best.unbeatable  # it is a draw with best play
    grade = jax_ttt.grade("minimax", env_id="tic_tac_toe")
    assert best.rates["first"].win_rate != grade.rates["first"].win_rate
    game = jax_ttt.new_game("random", env_id=misere).play(4)
    assert "X" in str(game)


@pytest.mark.slow
def test_a_user_draws_the_board_of_a_game_of_stones():
    jax_ttt.register_game(
        "misere_f",
        Misere,
        board_text=lambda state: f"{9 - state._step_count} squares are free",
    )
    board = str(jax_ttt.new_game("random", env_id="misere_f").play(4))
    assert "7 squares are free" in board
    assert "X" not in board.partition("\n")[2]
    line = str(jax_ttt.prove(first_legal, env_id="misere_f", seat="first"))
    assert "8 squares are free" in line
    assert "---" not in line


SQUARES = ["u", *(f"{row}{column}" for row in "abc" for column in "123")][:9]
"""A name of a move is no command, also where the move is not legal."""


@pytest.mark.slow
def test_names_of_moves_replace_numbers_everywhere(capsys, monkeypatch):
    jax_ttt.register_game("misere_g", Misere, move_names=SQUARES)
    line = str(jax_ttt.prove(first_legal, env_id="misere_g", seat="second"))
    assert "squares 0 to 8" not in line
    lines = iter(["?", "zz", "b1", "u", "u", "review", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(lines))
    words = ["minimax", "--env-id", "misere_g", "--side", "x", "--seed", "1"]
    assert commands.run(PLAY, words) == 0
    out = capsys.readouterr().out
    assert "a move    play it" in out
    assert "'zz'? type a legal move" in out
    assert "'u'? type a legal move" in out
    assert "  1. X b1  you  draws" in out
    assert "legal moves" not in out  # the board names them


@pytest.mark.slow
def test_the_page_has_no_rules_of_it(misere, tmp_path):
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id=misere)
    listed = agent_files.ListedAgent(
        id="a", name="a", source="run", path=path, snapshots={}
    )
    with pytest.raises(jax_ttt.Refused, match=f"the page has no rules of {misere}"):
        agent_files.agent_entry(listed)


class FourFalling(LineGame):
    """Four in a row on 4 x 4 cells."""

    def __init__(self):
        super().__init__("connect_4x4", shape=(4, 4), in_a_row=4, falls=True)


def draw_of_a_rare_pattern(new, *_):
    """A full second column of one player's stones below O's wins for both: a draw."""
    column = new._x.board.reshape(4, 4)[:, 1]
    is_rare = (column == jnp.array([1, 0, 1, 0])).all()
    return {"rewards": jnp.where(is_rare, 0.0, new.rewards)}


@pytest.fixture(scope="module")
def larger(same_games):
    """Register a game with too many positions for a tree; return its name."""
    jax_ttt.register_game("rare", variant(FourFalling, after=draw_of_a_rare_pattern))
    return "rare"


def test_a_larger_game_of_stones_has_its_board_and_its_moves(larger):
    assert not GAMES[larger].enumerable
    game = jax_ttt.new_game("random", env_id=larger).play(0)
    assert "X" in str(game)
    assert move_name(larger, 0) == "1"


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


LESS_SYMMETRIC = {
    "last_square_wins": variant(TicTacToe, after=last_square_wins),
    "left_column_decides": variant(TicTacToe, after=left_column_decides),
    "not_in_the_last_square": variant(TicTacToe, after=not_in_the_last_square),
    "other_squares": variant(TicTacToe, _step=move_to_other_squares),
}


@pytest.mark.parametrize("env_id", LESS_SYMMETRIC)
def test_symmetries_that_do_not_hold_in_all_positions_are_not_used(env_id):
    """The board is drawn all the same, unless a stone may be on another cell."""
    jax_ttt.register_game(env_id, LESS_SYMMETRIC[env_id])
    assert GAMES[env_id].enumerable
    assert GAMES[env_id].symmetries == ()
    assert GAMES[env_id].stones == (env_id != "other_squares")
    check_positions_are_found(env_id)


def test_what_is_no_board_of_stones_is_not_drawn():
    def observe(self, state, player_id):
        return TicTacToe._observe(self, state, player_id).at[1, 1].set(True)

    jax_ttt.register_game("two_stones", variant(TicTacToe, _observe=observe))
    assert not GAMES["two_stones"].stones
    game = jax_ttt.new_game("random", env_id="two_stones").play(4)
    assert "two_stones is not drawn in text" in str(game)


def over(*_):
    return {"terminated": jnp.bool_(True)}


@pytest.mark.parametrize("board", ["XXX......", "X.OX.....", "XX.......", "O........"])
def test_a_board_that_no_play_leads_to_is_refused(board):
    if "one_move" not in GAMES:
        jax_ttt.register_game("one_move", variant(TicTacToe, after=over))
    agent = tiny.untrained(Config.of(env_id="one_move", network="table"))
    with pytest.raises(jax_ttt.Refused, match="no play leads to this board"):
        jax_ttt.q_values(agent, board)


def test_the_best_result_of_another_game_is_not_that_of_a_game_like_it(
    misere, tmp_path
):
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id=misere)
    rule = f"the result of {misere} with best play is not known here"
    with pytest.raises(jax_ttt.Refused, match=rule):
        jax_ttt.correct(jax_ttt.load(path), goal="win")


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "table"])
def test_a_misere_game_is_learned_with_a_tremble(misere, preset):
    """As docs/use/own_rules.md says of both presets, which are for tic-tac-toe."""
    usual = jax_ttt.train(env_id=misere, preset=preset, seed=1)
    trembling = jax_ttt.train(env_id=misere, preset=preset, seed=1, tremble=0.2)
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
    grade = jax_ttt.grade(minimax)
    played = jax_ttt.match(minimax, minimax, env_id="once", num_games=8)
    first = grade.seat("first")
    assert first is not None
    assert first.proven in ("win", None)
    assert round(played.first.win_rate) == (first.proven == "win")
    assert calls[0] == num_calls


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("wrapped", [jax.jit, lambda function: function])
def test_arrays_that_rules_use_are_copied(nim, shape, wrapped):
    """Within functions that they compile, too; each program then has the same rules."""
    sign = np.ones(shape, np.float32)

    def change(new, *_):
        return {"rewards": wrapped(lambda rewards: rewards * sign)(new.rewards)}

    jax_ttt.register_game("copied", variant(nim["Nim"], after=change))
    sign[...] = -1
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


def take_again(nim, *, passes):
    """Return a game of one heap of five: take one or two; who takes two moves again.

    The last object wins. With `passes`, the other player passes before, by action 10,
    as docs/use/own_rules.md says. The third heap says that it must.
    """

    def legal(self, heaps):
        takes = (heaps[2] == 0) & (jnp.arange(15) < jnp.minimum(heaps[0], 2))
        return takes | ((heaps[2] == 1) & (jnp.arange(15) == 10))

    def start(state, key):
        heaps = jnp.array([5, 0, 0], jnp.int32)
        return {"heaps": heaps, "legal_action_mask": legal(None, heaps)}

    def step(self, state, action, key):
        mover, again = state.current_player, action == 1
        left = state.heaps[0] - jnp.where(action == 10, 0, action + 1)
        heaps = jnp.stack([left, 0, jnp.int32(again & passes)])
        gain = jnp.where(left == 0, 1.0, 0.0)
        return dataclasses.replace(
            state,
            current_player=jnp.where(again & (not passes), mover, 1 - mover),
            rewards=jnp.where(jnp.arange(2) == mover, gain, -gain),
            terminated=left == 0,
            legal_action_mask=self.legal(heaps),
            heaps=heaps,
        )

    return variant(nim["Nim"], start=start, _step=step, legal=legal)


@pytest.mark.parametrize("passes", [False, True])
def test_who_may_move_again_does_so(nim, passes):
    """With five objects: take 2, 2 and 1. With passes, the others are actions too."""
    env_id = f"take_{passes}".lower()
    jax_ttt.register_game(env_id, take_again(nim, passes=passes))
    best = jax_ttt.grade("minimax", env_id=env_id)
    first, second = best.seat("first"), best.seat("second")
    assert first is not None
    assert second is not None
    assert (first.proven, second.unbeatable) == ("win", False)
    line = jax_ttt.prove("minimax", env_id=env_id, seat="second").losing_line
    assert line == ((1, 10, 1, 10, 0) if passes else (1, 1, 0))


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


@pytest.fixture
def check_refused():
    """Return a function that checks that an environment is refused in one line."""

    def check(make_env, reason):
        with pytest.raises(jax_ttt.Refused, match=f"^wrong: .*{reason}") as refusal:
            jax_ttt.register_game("wrong", make_env)
        assert "\n" not in str(refusal.value)
        assert "wrong" not in GAMES

    yield check
    GAMES.pop("wrong", None)


@pytest.mark.parametrize(("reason", "changes"), WRONG_NIM)
def test_wrong_rules_of_nim_are_refused(reason, changes, nim, check_refused):
    check_refused(variant(nim["Nim"], **changes), reason)


@pytest.mark.parametrize(("reason", "changes"), WRONG_TIC_TAC_TOE)
def test_wrong_rules_of_tic_tac_toe_are_refused(reason, changes, check_refused):
    check_refused(variant(TicTacToe, **changes), reason)


def test_what_makes_no_environment_is_refused(check_refused):
    check_refused(dict, "make_env must return an environment")
    check_refused(lambda: 1 / 0, "make_env")


def test_a_state_holds_no_key(nim, check_refused):
    """A key would be a hidden state; PGX's games keep theirs outside."""

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass(frozen=True)
    class State(nim["State"]):
        key: Any = None

    def init(self, key):
        state = nim["Nim"]._init(self, key)
        fields = {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}
        return State(**fields, key=jax.random.key(3))

    check_refused(variant(nim["Nim"], _init=init), "key must be numbers")


@pytest.mark.slow
def test_a_game_that_is_registered_again_has_the_new_rules():
    """As when a cell of a notebook runs again after a change of the rules."""
    rates = []
    for make_env in (TicTacToe, Misere):
        jax_ttt.register_game("again", make_env)
        grade = jax_ttt.grade(first_legal, env_id="again", seat="first")
        rates.append(grade.rates["first"])
    usual, misere = rates
    assert usual.rates == misere.rates[::-1]
    assert usual.win_rate != misere.win_rate
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


def test_names_of_moves_may_be_numbers(nim):
    jax_ttt.register_game("numbered", nim["Nim"], move_names=range(1, 16))
    assert move_name("numbered", 4) == "5"


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


class Rounded(TicTacToe):
    """Tic-tac-toe whose observation is of floats that are not exact."""

    def _init(self, key):
        return dataclasses.replace(
            super()._init(key), observation=jnp.zeros((3, 3), jnp.float32)
        )

    def _observe(self, state, player_id):
        stones = super()._observe(state, player_id)
        own, other = jnp.float32(stones[..., 0]), jnp.float32(stones[..., 1])
        board = 1.137 * own - 0.713 * other
        place = jnp.arange(9, dtype=jnp.float32).reshape(3, 3)
        return jnp.tanh(board * stones.sum() + 0.137 * place) * 0.77 + board


@pytest.mark.slow
def test_positions_with_rounded_observations_are_found_in_games(optimized):
    """What plays a game rounds as what enumerates it; else `minimax` would be lost."""
    jax_ttt.register_game("rounded", Rounded)
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


def test_a_command_runs_the_file_first(unregistered, agent_path, capsys):
    words = [str(agent_path), "--rules", str(FILE), "--seat", "first", "--games", "0"]
    assert commands.run(EVALUATE, words) == 0
    out = capsys.readouterr().out
    assert "beatable: a shortest line that beats it, playing as X" in out


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


@pytest.mark.slow
def test_the_commands_that_a_run_prints_name_the_file(unregistered, tmp_path, capsys):
    words = ["--rules", str(FILE), "--env-id", "nim", "--preset", "table"]
    words += ["--num-updates", "1", "--run-dir", str(tmp_path / "my run")]
    assert commands.run(TRAIN, words) == 0
    out = capsys.readouterr().out
    path = shlex.quote(str(tmp_path / "my run"))
    assert f"next: python -m jax_ttt.evaluate {path} --rules {FILE}" in out
    for env_id in NIM:
        del GAMES[env_id]
    assert commands.run(RUNS, [str(tmp_path), "--rules", str(FILE)]) == 0
    assert str(tmp_path / "my run") in capsys.readouterr().out


def test_a_person_types_the_names_of_moves(
    unregistered, agent_path, capsys, monkeypatch
):
    lines = iter(["zz", "a3", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(lines))
    words = [str(agent_path), "--rules", str(FILE), "--seed", "1"]
    assert commands.run(PLAY, words) == 0
    out = capsys.readouterr().out
    assert "legal moves: a1 a2 a3 b1" in out
    assert "type a legal move" in out
    assert "  a\n" in out


def test_all_commands_but_two_have_the_flag():
    """A correction needs the result of best play, and the page its own rules."""
    without = {
        command
        for command in COMMANDS
        for args in [commands.module_of(command).COMMAND.args_type()]
        if "rules" not in {flag.name for flag in flags.flags_of(args)}
    }
    assert without == {"correct", "web"}


def test_a_saved_agent_says_which_game_is_missing(unregistered, agent_path, capsys):
    reason = f"{agent_path}: made for 'nim', a game that is not registered; name the "
    reason += "file that registers it by --rules FILE in a command with this flag, or "
    reason += "import it in Python"
    with pytest.raises(jax_ttt.Refused, match=f"^{reason}$"):
        jax_ttt.load(agent_path)
    for name in ("evaluate", "play", "plot", "arena", "train", "correct"):
        words = {
            "arena": [str(agent_path), "random"],
            "train": ["--opponent", str(agent_path)],
            "plot": [str(agent_path.parent), "--game"],
        }.get(name, [str(agent_path)])
        assert commands.run(commands.module_of(name), words) == 2
        assert capsys.readouterr().err == f"error: {reason}\n"


def test_the_name_of_an_unknown_game_is_on_one_line_without_terminal_codes():
    with pytest.raises(jax_ttt.Refused, match="its file must run first") as refusal:
        jax_ttt.Config.of(env_id="a\n\x1b[31mred")
    for text in (str(refusal.value), refusal.value.args[0]):
        assert text.isprintable()


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
    tmp_path, monkeypatch, capsys, text, reason
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.py").write_text(text, "utf-8")
    assert commands.run(TRAIN, ["--rules", "rules.py", "--env-id", "nim_2"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: --rules rules.py")
    assert reason in error
    assert len(error.splitlines()) == 1


def test_a_file_that_is_missing_is_refused_before_anything_else(monkeypatch, capsys):
    def fail(*args):
        raise AssertionError("the folder of the programs may be made")

    monkeypatch.setattr(compiling, "use_program_cache", fail)
    assert commands.run(TRAIN, ["--rules", "none.py"]) == 2
    assert capsys.readouterr().err == "error: --rules none.py: no such file\n"


def test_a_file_hides_no_module_of_python(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / "random.py"
    for text in ("x = 1 / 0\n", "x = 1\n"):
        file.write_text(text, "utf-8")
        assert commands.run(TRAIN, ["--rules", str(file)]) == 2
    assert sys.modules["random"] is random
    assert [*sys.path].index(str(tmp_path)) > 0


ONE_GAME = """
import dataclasses
from pgx.tic_tac_toe import TicTacToe
import jax_ttt

class Misere(TicTacToe):
    def _step(self, state, action, key):
        after = super()._step(state, action, key)
        return dataclasses.replace(after, rewards=-after.rewards)

jax_ttt.register_game("misere_e", Misere)
"""


@pytest.mark.slow
def test_a_command_takes_the_only_game_of_the_file(tmp_path, capsys, monkeypatch):
    file = tmp_path / "rules.py"
    file.write_text(ONE_GAME, "utf-8")
    rules = ["--rules", str(file)]
    assert commands.parse(TRAIN, rules).config.env_id == "misere_e"
    own = tmp_path / "own.toml"
    for text, env_id in (("", "misere_e"), ("env_id = 'connect_4x4'", "connect_4x4")):
        own.write_text(f"tau = 0.2\n{text}\n")
        config = commands.parse(TRAIN, [*rules, "--config", str(own)]).config
        assert (config.env_id, config.tau) == (env_id, 0.2)
    assert commands.run(EVALUATE, ["minimax", *rules, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["grade"]["env_id"] == "misere_e"
    words = ["minimax", "random", *rules, "--json"]
    assert commands.run(ARENA, words) == 0
    assert json.loads(capsys.readouterr().out)["env_id"] == "misere_e"
    games = []
    monkeypatch.setattr(
        Dialogue, "play_games", lambda self: games.append(self.opponent.env_id)
    )
    assert commands.run(PLAY, ["minimax", *rules]) == 0
    assert games == ["misere_e"]
    # A saved agent names its game itself.
    assert commands.run(EVALUATE, ["shipped:table", *rules, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["grade"]["env_id"] == "tic_tac_toe"


def test_a_command_must_name_one_of_several_games(unregistered, capsys):
    minimax = ["minimax"]
    for command, words in (
        *((TRAIN, []), (EVALUATE, minimax)),
        *((PLAY, minimax), (ARENA, [])),
    ):
        assert commands.run(command, [*words, "--rules", str(FILE)]) == 2
        error = capsys.readouterr().err
        assert "--env-id must be one of " in error
        assert "nim, nim_misere" in error


def over_after_four_moves(new, *_):
    """Few enough positions to enumerate, on the board of a larger game."""
    return {"terminated": new.terminated | (new._step_count >= 4)}


@pytest.fixture(scope="module")
def short():
    """Return the name of a small game on the board of a larger one."""
    jax_ttt.register_game("short", variant(FourFalling, after=over_after_four_moves))
    return "short"


def test_a_small_game_on_the_board_of_a_larger_one_is_enumerable(short):
    # The stones of each column.
    levels: list[set[tuple[str, ...]]] = [{("", "", "", "")}]
    for stone in "XOXO":
        after = {
            (*columns[:i], columns[i] + stone, *columns[i + 1 :])
            for columns in levels[-1]
            for i in range(4)
        }
        levels.append(after)
    assert trees.enumerated(short).num_positions == sum(map(len, levels))
    check_positions_are_found(short)
    assert jax_ttt.grade(first_legal, env_id=short).unbeatable
    assert len(GAMES[short].symmetries) == 2


class FourFallingOn30Cells(LineGame):
    """The same on 6 x 5 cells, whose keys are longer than a word."""

    def __init__(self):
        super().__init__("connect_6x5", shape=(5, 6), in_a_row=4, falls=True)


def test_a_board_of_many_cells_has_its_symmetries_too():
    short = variant(FourFallingOn30Cells, after=over_after_four_moves)
    jax_ttt.register_game("short_6x5", short)
    assert len(GAMES["short_6x5"].symmetries) == 2
    check_positions_are_found("short_6x5")
    tree = trees.enumerated("short_6x5")
    assert tree.num_positions > len(np.unique(tree.representative))
    boards = tree.obs[tree.representative]
    is_same, is_mirrored = (
        (boards == seen).all(axis=(1, 2, 3))
        for seen in (tree.obs, tree.obs[:, :, ::-1])
    )
    assert (is_same | is_mirrored).all()


def test_what_only_boards_of_stones_have_is_refused(agent_path, tmp_path, capsys):
    for flag in ("--policy-csv", "--certificate"):
        words = [str(agent_path), flag, str(tmp_path / "file")]
        assert commands.run(EVALUATE, words) == 2
        assert "got 'nim'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_tests_of_the_example_pass(nim):
    tests = {name: test for name, test in nim.items() if name.startswith("test_")}
    assert len(tests) == 3
    for test in tests.values():
        test()


@pytest.mark.slow
def test_hex_has_the_rules_of_pgx():
    """Its file compares a thousand random games on 11 x 11, with the pie rule."""
    names = runpy.run_path(str(FILE.with_name("hex.py")))
    names["test_the_games_are_those_of_pgx"]()
    # Nobody has connected on 3 x 3 before five stones lie there.
    tree = trees.enumerated("hex_3x3")
    assert tree.terminal.argmax() >= tree.level_start[5]
    assert policies.minimax_values(tree)[0] == 1  # the first player wins


@pytest.mark.slow
def test_the_example_needs_no_package_of_the_tests(unregistered, monkeypatch):
    """Without the extra `test`, pytest is not installed."""
    monkeypatch.setitem(sys.modules, "pytest", None)  # importing it fails
    runpy.run_path(str(FILE))
