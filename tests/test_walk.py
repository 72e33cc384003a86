"""The walk of all positions that a player reaches, in games of which nothing is known.

The games here are written as a user would. Plain Python walks them again, over tuples
of cells, by rules of its own.
"""

# A state of PGX has fields that its type lacks, and a grade may lack a seat.
# pyright: reportGeneralTypeIssues=false, reportIncompatibleMethodOverride=false
# pyright: reportIncompatibleVariableOverride=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false
# pyright: reportOptionalOperand=false

import collections
import dataclasses
import functools
import runpy
from pathlib import Path
from typing import NamedTuple

import commands
import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest
import tiny
from jax.tree_util import Partial
from pgx.go import Go
from pgx.tic_tac_toe import TicTacToe

import jax_ttt
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, SEATS
from jax_ttt.config.settings import Config
from jax_ttt.dqn import start_positions
from jax_ttt.games import pgx_games, position_keys, state_keys, user_games
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game
from jax_ttt.grading import search_grade
from jax_ttt.players import registry
from jax_ttt.players.player import Player
from jax_ttt.solver import policies, reached_positions
from jax_ttt.text import board_text

HEX = Path(__file__).parents[1] / "docs" / "examples" / "hex.py"
EVALUATE, PLAY, TRAIN = map(commands.module_of, ("evaluate", "play", "train"))


@pytest.fixture(scope="module", autouse=True)
def same_games():
    """Forget the games after the whole file."""
    before = set(GAMES)
    yield
    for name in GAMES.keys() - before:
        del GAMES[name]
    pgx_games.forget_games()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class State(pgx.State):
    board: jax.Array  # (size, size) int32: 0 free, 1 the first player's, 2 the other's

    @property
    def env_id(self):
        return "columns"


@dataclasses.dataclass(frozen=True)
class Columns(pgx.Env):
    """Stones fall into columns; a full row, column or diagonal of one player wins."""

    size: int = 4
    twice: bool = False  # after the first stone, each turn is two stones
    corner: bool = False  # with the left corner of both, X below, a full row is a draw
    rare: tuple[int, ...] = ()  # on this board, player 1 wins
    id = "columns"
    version = "v0"
    num_players = 2

    def _init(self, key):
        return State(
            current_player=jnp.int32(jax.random.bernoulli(key)),
            observation=jnp.zeros((self.size, self.size, 2), bool),
            rewards=jnp.zeros(2, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(self.size, bool),
            _step_count=jnp.int32(0),
            board=jnp.zeros((self.size, self.size), jnp.int32),
        )

    def stone(self, count):
        """Return whose stone the next one is, after so many."""
        return 1 + ((count + 1) // 2 if self.twice else count) % 2

    def _step(self, state, action, key):
        count = (state.board > 0).sum()
        row = (state.board[:, action] == 0).sum() - 1
        stone = self.stone(count)
        board = state.board.at[row, action].set(stone)
        own = board == stone
        has_won = own.all(0).any() | own.all(1).any()
        has_won |= jnp.diagonal(own).all() | jnp.diagonal(own[::-1]).all()
        is_worth = ~((board[-1, 0] == 1) & (board[-2, 0] == 2)) | (not self.corner)
        gain = jnp.where(has_won & is_worth, 1.0, 0.0)
        mover = state.current_player
        rewards = jnp.where(jnp.arange(2) == mover, gain, -gain)
        if self.rare:
            is_rare = (board == np.reshape(self.rare, board.shape)).all()
            by_number = jnp.array([-1.0, 1.0], jnp.float32)
            rewards = jnp.where(is_rare, by_number, rewards)
            has_won |= is_rare
        same = self.stone(count + 1) == stone
        return dataclasses.replace(
            state,
            current_player=jnp.where(same, mover, 1 - mover),
            rewards=rewards,
            terminated=has_won | (board > 0).all(),
            legal_action_mask=board[0] == 0,
            board=board,
        )

    def _observe(self, state, player_id):
        own = self.stone((state.board > 0).sum())
        own = jnp.where(player_id == state.current_player, own, 3 - own)
        return jnp.stack([state.board == own, state.board == 3 - own], axis=-1)


# The same rules in plain Python.


def stone_after(count, rules):
    return 1 + ((count + 1) // 2 if rules.twice else count) % 2


@functools.cache
def full_lines(size):
    """Return the cells of all full rows, columns and diagonals."""
    rows = [[(row, column) for column in range(size)] for row in range(size)]
    diagonal = [(n, n) for n in range(size)], [(n, size - 1 - n) for n in range(size)]
    lines = [*rows, *map(list, zip(*rows, strict=True)), *diagonal]
    return [[row * size + column for row, column in line] for line in lines]


def python_play(cells, column, rules):
    """Return the cells after a move, and the winner: 0 for a draw, None for nobody."""
    stone = stone_after(sum(map(bool, cells)), rules)
    free = [cell for cell in range(column, len(cells), rules.size) if not cells[cell]]
    after = (*cells[: free[-1]], stone, *cells[free[-1] + 1 :])
    if any(
        all(after[cell] == stone for cell in line) for line in full_lines(rules.size)
    ):
        below, above = after[-rules.size], after[-2 * rules.size]
        return after, 0 if rules.corner and (below, above) == (1, 2) else stone
    return after, 0 if all(after) else None


def mirrored(cells, size):
    rows = [cells[begin : begin + size] for begin in range(0, len(cells), size)]
    return tuple(cell for row in rows for cell in row[::-1])


class Walk(NamedTuple):
    """What a walk finds: won, drawn and lost in this order."""

    positions: list[int]  # of each level
    num_drawn: int
    moves: list[int]
    lines: list[int]
    chances: list[float]
    choices: set[tuple[int, ...]]  # positions with a choice on lines that lose


def python_walk(rules, choose, seat, merges=False):
    """Walk all positions that a player `choose(boards) -> columns` reaches."""
    own = 1 + SEATS.index(seat)
    level = {(0,) * rules.size**2: (1.0, 1)}
    found = Walk([], 0, [0] * 3, [0] * 3, [0.0] * 3, set())
    drawn, moves = set(), {}
    while level:
        found.positions.append(len(level))
        after = collections.defaultdict(lambda: (0.0, 0))
        stone = stone_after(len(found.positions) - 1, rules)
        boards = list(level)
        chosen = choose(boards) if stone == own else [None] * len(boards)
        for cells, column in zip(boards, chosen, strict=True):
            chance, lines = level[cells]
            legal = [c for c in range(rules.size) if not cells[c]]
            columns = legal if column is None else [column]
            moves[cells] = []
            for column in columns:
                new, winner = python_play(cells, column, rules)
                if merges:
                    new = min(new, mirrored(new, rules.size))
                moves[cells].append((new, winner))
                part = chance / len(columns)
                if winner is None:
                    after[new] = after[new][0] + part, after[new][1] + lines
                    continue
                end = 1 if not winner else 0 if winner == own else 2
                if end == 1:
                    drawn.add(new)
                found.moves[end] += 1
                found.lines[end] += lines
                found.chances[end] += part
        level = after
    loses = {}
    for cells in reversed(moves):
        loses[cells] = any(
            loses[new] if winner is None else winner == 3 - own
            for new, winner in moves[cells]
        )
        stone = stone_after(sum(map(bool, cells)), rules)
        if loses[cells] and stone == own and cells[: rules.size].count(0) > 1:
            found.choices.add(cells)
    return found._replace(num_drawn=len(drawn))


def first_free(state):
    return state.legal_action_mask.argmax(axis=1)


def many_words(state):
    """Play by sums of both players' stones: different in each part of the board."""
    weights = jnp.arange(1, 33).reshape(1, 4, 4, 2) ** 2 % 17
    size = state.observation.shape[1]
    sums = (state.observation * weights[:, :size, :size]).sum(axis=(1, 2, 3))
    scores = (sums[:, None] * jnp.arange(3, 3 + size)[None]) % 11
    return jnp.where(state.legal_action_mask, scores, -1).argmax(axis=1)


def either_side(state):
    """Play in the first free column of the board or, by its stones, from the right."""
    size = state.observation.shape[1]
    weights = 3 ** jnp.arange(size**2, dtype=jnp.int32).reshape(1, size, size)
    cells = state.observation[..., 0] * 2 + state.observation[..., 1]
    number = (cells * weights).sum(axis=(1, 2))
    other = (cells[:, :, ::-1] * weights).sum(axis=(1, 2))
    last = size - 1 - state.legal_action_mask[:, ::-1].argmax(axis=1)
    return jnp.where(number <= other, first_free(state), last)


def python_chooser(choose, rules):
    """Return a player as a function of Python's boards, which are many at once."""
    play = jax.jit(choose)

    def columns(boards):
        cells = np.zeros((-(-len(boards) // 512) * 512, rules.size, rules.size), int)
        cells[: len(boards)] = np.reshape(boards, (-1, rules.size, rules.size))
        own = stone_after(int((cells[0] > 0).sum()), rules)
        state = jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (len(cells), *leaf.shape)),
            Columns(rules.size)._init(jax.random.key(0)),
        )
        state = dataclasses.replace(
            state,
            observation=np.stack([cells == own, cells == 3 - own], axis=-1),
            legal_action_mask=cells[:, 0] == 0,
        )
        return np.asarray(play(state))[: len(boards)].tolist()

    return columns


GAMES_HERE = {
    "four": Columns(),
    "four_corner": Columns(corner=True),
    "four_twice": Columns(twice=True),
    "three_twice": Columns(size=3, twice=True),
}


@pytest.fixture(scope="module", autouse=True)
def registered(same_games):
    for env_id, rules in GAMES_HERE.items():
        jax_ttt.register_game(env_id, functools.partial(lambda x: x, rules))


@functools.cache
def agent_of(env_id, **settings):
    settings |= {"hidden_size": 8, "canonical": False}
    return tiny.untrained(Config.of(env_id=env_id, **settings))


def player_of(name, env_id):
    if name == "network":
        return registry.agent_player("network", agent_of(env_id))
    return jax_ttt.player(globals()[name], env_id=env_id)


def searched(player, seat, **options):
    """Return the grade and the losing choices of a player in a seat."""
    player = dataclasses.replace(player, seats=(seat,))
    return search_grade.search_by_seat(player, **options)[seat]


def assert_walk_is(result, walk):
    grade = result.grade
    assert grade.complete
    assert not grade.merged
    assert list(grade.positions) == walk.positions
    assert grade.num_positions == sum(walk.positions) + walk.num_drawn
    assert grade.losing_ends == walk.moves[2]
    assert list(dataclasses.astuple(grade.lines)) == walk.lines
    rates = [grade.win_rate, grade.draw_rate, grade.loss_rate]
    assert rates == pytest.approx(walk.chances, abs=1e-12)
    assert grade.losing_choices == len(walk.choices)


def boards_of(env_id, keys):
    words = jnp.asarray(position_keys.numbers_to_keys(keys))
    states = position_keys.states_of(env_id, words)
    return {tuple(map(int, row)) for row in np.asarray(states.board).reshape(-1, 16)}


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("name", ["first_free", "many_words", "network"])
def test_a_walk_finds_what_plain_python_and_the_search_of_the_package_find(name, seat):
    """The same network plays the package's game, whose boards look the same."""
    player = player_of(name, "four")
    result = searched(player, seat)
    choose = functools.partial(player.choose, jax.random.key(0))
    walk = python_walk(Columns(), python_chooser(choose, Columns()), seat)
    assert_walk_is(result, walk)
    assert len(walk.choices) > 10
    assert boards_of("four", result.choices) == walk.choices
    if name == "network":
        same = dataclasses.replace(
            agent_of("connect_4x4", two_planes=True), params=agent_of("four").params
        )
        packed = registry.agent_player("network", same)
    else:
        packed = player_of(name, "connect_4x4")
    assert_walk_is(searched(packed, seat), walk)


def test_the_board_of_a_large_game_is_drawn():
    """An O is not an X because O is to move."""
    facts = GAMES["four"]
    assert not facts.enumerable
    assert (facts.shape, facts.stones, facts.moves_on) == ((4, 4), False, "columns")
    assert facts.symmetries == ()
    game = Game.start("four", (1, 1))
    for column, bottom in ((2, ". X X ."), (3, ". X X O")):
        game = game.play(column)
        rows = [line.split() for line in board_text.board_text(game).splitlines()]
        assert bottom.split() in rows
        assert [".", "O", ".", "."] in rows


@pytest.mark.parametrize("seat", SEATS)
def test_an_image_is_another_position_where_the_rules_are_not_symmetric(seat):
    """The player moves alike on both, so that with symmetric rules it would not be."""
    rules = GAMES_HERE["four_corner"]
    walk = python_walk(rules, python_chooser(either_side, rules), seat)
    assert_walk_is(searched(player_of("either_side", "four_corner"), seat), walk)
    merged = python_walk(rules, python_chooser(either_side, rules), seat, merges=True)
    assert merged.chances != pytest.approx(walk.chances)
    usual = Columns()
    both = [
        python_walk(usual, python_chooser(either_side, usual), seat, merges).chances
        for merges in (False, True)
    ]
    assert both[0] == pytest.approx(both[1])


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("name", ["many_words", "network"])
def test_a_player_who_moves_twice_is_walked(name, seat):
    player = player_of(name, "four_twice")
    assert not GAMES["four_twice"].enumerable
    rules = GAMES_HERE["four_twice"]
    choose = functools.partial(player.choose, jax.random.key(0))
    walk = python_walk(rules, python_chooser(choose, rules), seat)
    result = searched(player, seat)
    assert_walk_is(result, walk)
    assert boards_of("four_twice", result.choices) == walk.choices


def python_value(cells, rules):
    """Return the value of a position to X with best play."""
    stone = stone_after(sum(map(bool, cells)), rules)
    values = []
    for column in range(rules.size):
        if not cells[column]:
            after, winner = python_play(cells, column, rules)
            ended = {None: None, 0: 0, 1: 1, 2: -1}[winner]
            values.append(python_value(after, rules) if ended is None else ended)
    return (max if stone == 1 else min)(values)


def test_who_moves_twice_in_a_tree_has_the_values_of_plain_python():
    rules, tree = GAMES_HERE["three_twice"], trees.enumerated("three_twice")
    values = policies.minimax_values(tree)
    for position in tree.decisions[::7]:
        cells = tuple(np.asarray(tree.env_state.board[position]).reshape(-1).tolist())
        assert values[position] == python_value(cells, rules)
        count = sum(map(bool, cells))
        seat = SEATS[stone_after(count, rules) - 1]
        assert tree.to_move(int(position)) == seat
    for seat in SEATS:
        grade = jax_ttt.grade(many_words, env_id="three_twice", seat=seat).seat(seat)
        walk = python_walk(rules, python_chooser(many_words, rules), seat)
        rates = [grade.win_rate, grade.draw_rate, grade.loss_rate]
        assert rates == pytest.approx(walk.chances, abs=1e-12)


@pytest.mark.parametrize("env_id", ["three_twice", "four_twice"])
def test_a_losing_line_of_who_moves_twice_is_a_lost_game(env_id):
    proof = jax_ttt.prove(first_free, env_id=env_id)
    assert proof.losing_line is not None
    assert Game.start(env_id, proof.losing_line).result(proof.losing_seat) == "lost"
    rules, cells, winner = GAMES_HERE[env_id], (0,) * GAMES_HERE[env_id].size ** 2, None
    for column in proof.losing_line:
        assert winner is None
        cells, winner = python_play(cells, column, rules)
    assert winner == 2 - SEATS.index(proof.losing_seat)


def test_a_game_with_two_moves_in_a_row_is_played_by_turns():
    """X, O, O, X, X, and so on: a person who is X moves again at once."""
    game = jax_ttt.new_game(first_free, env_id="four_twice", seat="second").play(3)
    assert game.moves == (0, 3)  # the person's other stone is next
    game = game.play(3)
    assert game.moves == (0, 3, 3, 0, 0)


def test_a_match_of_who_moves_twice_is_played_by_turns():
    """Sampled results are near those of the walk: half of its games have each seat."""
    grade = jax_ttt.grade(many_words, env_id="four_twice")
    result = jax_ttt.match(many_words, "random", env_id="four_twice", num_games=400)
    for seat, sampled in zip(SEATS, (result.first, result.second), strict=True):
        exact = grade.seat(seat)
        assert sampled.win_rate == pytest.approx(exact.win_rate, abs=0.12)
        assert sampled.loss_rate == pytest.approx(exact.loss_rate, abs=0.12)


def test_who_moves_twice_is_trained():
    run = jax_ttt.train(env_id="four_twice", **tiny.FIELDS)
    assert run.agent.description.num_updates == tiny.FIELDS["num_updates"]


def test_a_game_that_goes_on_too_long_is_refused_by_the_walk(monkeypatch):
    """Registration saw a few lines of it only."""
    monkeypatch.setattr(reached_positions, "MAX_MOVES", 7)
    rule = "^four: a game must end after at most 7 moves"
    with pytest.raises(Refused, match=rule):
        searched(player_of("first_free", "four"), "first")


@pytest.mark.slow
def test_a_training_is_proven_by_walks(monkeypatch, tmp_path):
    """As soon as an evaluation proves it, or at its end."""
    monkeypatch.setattr(user_games, "MAX_TREE_POSITIONS", 100)
    jax_ttt.register_game("walked", TicTacToe)
    assert not GAMES["walked"].enumerable
    settings = {"env_id": "walked", "num_updates": 3000, "eval_every": 200}
    settings |= {"start_share": 0.3, "tremble": 0.3, "gamma": 0.9, "eval_games": 0}
    run = jax_ttt.train(2, until_proven=True, **settings)
    assert run.is_proven
    assert run.agent.num_updates < 3000
    assert jax_ttt.prove(run.agent).unbeatable
    settings |= {"num_updates": run.agent.num_updates, "start_share": 0.0}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    folder = tmp_path / "run"
    assert commands.run(TRAIN, [*words, "--prove", "--run-dir", str(folder)]) == 0
    row = (folder / "metrics.jsonl").read_text().splitlines()[-1]
    assert '"complete": true' in row


def test_a_limit_ends_with_bounds_of_the_exact_rates():
    player = player_of("many_words", "four")
    exact, cut = (
        searched(player, "first", max_positions=most).grade for most in (None, 1000)
    )
    assert exact.complete
    assert not cut.complete
    assert cut.num_positions <= 5000
    assert cut.low == cut.rates
    for low, rate, high in zip(cut.low, exact.rates, cut.high, strict=True):
        assert low <= rate <= high


def test_two_states_with_the_same_hash_are_two_positions(monkeypatch):
    """Then positions are sorted by all their bytes."""
    usual = searched(player_of("many_words", "four"), "first")
    to_keys = state_keys.to_keys
    monkeypatch.setattr(
        state_keys, "to_keys", lambda pairs: to_keys(pairs).at[:, :8].set(7)
    )
    jax_ttt.register_game("same_hash", Columns)
    keys = searched(player_of("many_words", "same_hash"), "first")
    assert {key[:8] for key in map(bytes, keys.choices)} == {bytes([7] * 8)}
    rates = [grade.win_rate for grade in (keys.grade, usual.grade)]
    assert rates[0] == pytest.approx(rates[1], abs=1e-12)
    for name in ("positions", "num_positions", "lines", "losing_choices"):
        assert getattr(keys.grade, name) == getattr(usual.grade, name)
    assert boards_of("same_hash", keys.choices) == boards_of("four", usual.choices)


def by_number(state):
    """Play another move if player 1 is to move."""
    last = state.legal_action_mask.shape[1] - 1
    turned = last - state.legal_action_mask[:, ::-1].argmax(axis=1)
    return jnp.where(state.current_player == 1, turned, first_free(state))


@pytest.mark.parametrize("env_id", ["four", "three_twice"])
def test_a_player_that_reads_its_number_is_refused(env_id):
    """Without a tree as well as with one."""
    with pytest.raises(jax_ttt.Refused, match="another move where player 1 began"):
        jax_ttt.prove(by_number, env_id=env_id)


def test_evidence_does_not_replace_a_look_at_both_states():
    """A player made from the rules may look at positions that are never reached."""
    player = Player(
        env_id="four",
        name="by_number",
        choose=Partial(lambda key, state: by_number(state)),
        evidence="construction",
    )
    with pytest.raises(Refused, match="another move where player 1 began"):
        searched(player, "first")


def test_lines_that_64_bits_do_not_hold_are_not_counted(monkeypatch):
    """What is proven does not follow from their number."""
    player = player_of("many_words", "four")
    usual = searched(player, "first").grade
    monkeypatch.setattr(reached_positions, "_MOST_LINES", 3.0)
    grade = searched(player, "first").grade
    assert grade.lines is None
    assert usual.lines.lost > 0
    assert dataclasses.replace(usual, lines=None, wins_all=False) == (
        dataclasses.replace(grade, wins_all=False)
    )


@pytest.mark.slow
def test_a_game_that_is_called_enumerable_and_is_not_is_refused(monkeypatch):
    """Connect Four 4 x 4 has 161,029 positions."""
    facts = dataclasses.replace(GAMES["connect_4x4"], enumerable=True)
    monkeypatch.setitem(GAMES, "called_small", facts)
    with pytest.raises(Refused, match="called_small: more than 100,000 positions"):
        trees.host_tree("called_small")


@pytest.fixture(scope="module")
def numbered(registered):
    """Register a game in which player 1, by its number, wins on one late board.

    The board is among those that `first_free` reaches, where no random line ended.
    """
    rules = Columns()
    walk, choose = [], python_chooser(first_free, rules)

    def seen(boards):
        walk.extend(boards)
        return choose(boards)

    python_walk(rules, seen, "first")
    late = max(walk, key=lambda cells: (sum(map(bool, cells)), cells))
    (column,) = choose([late])
    rare, _ = python_play(late, column, rules)
    make_env = functools.partial(Columns, rare=rare)
    jax_ttt.register_game("numbered", make_env)
    return "numbered"


def test_a_late_rule_by_the_number_of_a_player_is_refused(numbered):
    rule = "must not depend on whether player 0 or 1 begins.*; after 1[0-9] moves"
    for function in (jax_ttt.grade, jax_ttt.prove):
        with pytest.raises(jax_ttt.Refused, match=rule) as refusal:
            function(first_free, env_id=numbered)
        assert "\n" not in str(refusal.value)


@dataclasses.dataclass(frozen=True)
class Hidden(Columns):
    """Nobody sees the lowest row of a board."""

    def _observe(self, state, player_id):
        return super()._observe(state, player_id).at[-1].set(False)


@dataclasses.dataclass(frozen=True)
class Early(Columns):
    """The first stone gives a reward at once."""

    def _step(self, state, action, key):
        after = super()._step(state, action, key)
        return dataclasses.replace(
            after,
            rewards=jnp.where(jnp.arange(2) == after.current_player, -1.0, 1.0).astype(
                jnp.float32
            ),
        )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class KeyState(State):
    key: jax.Array


@dataclasses.dataclass(frozen=True)
class Chance(Columns):
    """The column of a stone is drawn, by a key that the state holds as numbers."""

    def _init(self, key):
        state = super()._init(key)
        fields = {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}
        return KeyState(**fields, key=jax.random.PRNGKey(0))

    def _step(self, state, action, key):
        new, drawn = jax.random.split(state.key)
        shift = jax.random.bits(drawn) % 2 * state.legal_action_mask.all()
        after = super()._step(state, (action + shift.astype(int)) % self.size, None)
        return dataclasses.replace(after, key=new)


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize(
    ("make_env", "rule"),
    [
        (Hidden, "the observation must show all that matters"),
        (Early, "only the last move may give a reward"),
        (Chance, "nothing is random"),
    ],
)
def test_what_is_no_such_game_is_refused_in_one_line(make_env, rule, size):
    """Before there is a tree, or without one."""
    with pytest.raises(jax_ttt.Refused, match=f"^wrong: .*{rule}") as refusal:
        jax_ttt.register_game("wrong", functools.partial(make_env, size))
    assert "\n" not in str(refusal.value)
    assert "wrong" not in GAMES


# The pool of positions in which games start, and commands.


def test_a_pool_holds_positions_as_bytes():
    keys = searched(player_of("first_free", "four"), "second").choices
    pool = start_positions.empty_pool("four")
    assert pool.keys.shape[0] <= start_positions.CAPACITY
    assert pool.keys.nbytes <= 2**25
    for part in (keys[:20], keys[10:30]):
        pool = start_positions.add_positions(pool, part, np.random.default_rng(0))
    assert pool.size == 30
    held = position_keys.keys_to_numbers(pool.keys[:30])
    assert boards_of("four", held) == boards_of("four", keys[:30])


@pytest.fixture(scope="module")
def hex_games(registered):
    runpy.run_path(str(HEX))
    return HEX


@pytest.mark.slow
def test_games_of_hex_start_in_a_pool(hex_games):
    """Such runs are reproducible."""
    options = tiny.FIELDS | {"start_share": 0.5, "env_id": "hex_4x4", "num_updates": 4}
    runs = [jax_ttt.train(**options) for _ in range(2)]
    leaves = [jax.tree.leaves(run.agent.params) for run in runs]
    assert all(map(np.array_equal, *leaves))


@pytest.mark.slow
def test_evaluate_shows_the_line_that_beats_an_agent_of_hex(
    hex_games, tmp_path, capsys, monkeypatch
):
    path = tiny.save_untrained(tmp_path / "agent.safetensors", env_id="hex_4x4")
    words = [str(path), "--rules", str(HEX), "--games", "0", "--seat", "first"]
    assert commands.run(EVALUATE, words) == 0
    out = capsys.readouterr().out
    assert "a shortest line that beats it, playing as X" in out
    assert "\n  . . . X" in out or "X . . ." in out
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    assert commands.run(PLAY, [str(path), "--rules", str(HEX), "--side", "o"]) == 0
    out = capsys.readouterr().out
    assert "X" in out


@pytest.mark.slow
def test_othello_is_graded_up_to_a_limit():
    grade = jax_ttt.grade(first_free, env_id="othello", max_positions=200, num_games=0)
    for seat in SEATS:
        found = grade.seat(seat)
        assert not found.complete
        assert found.num_positions < 2000
        for low, high in zip(found.low, found.high, strict=True):
            assert 0 <= low <= high <= 1


@pytest.mark.slow
def test_a_game_of_pgx_that_the_package_lacks_is_registered_and_graded():
    with jax.numpy_rank_promotion("allow"):  # for PGX
        jax_ttt.register_game("go_3x3", functools.partial(Go, size=3))
    assert not GAMES["go_3x3"].enumerable
    grade = jax_ttt.grade(first_free, env_id="go_3x3", max_positions=200, num_games=0)
    found = grade.seat("first")
    assert not found.complete
    assert 0 <= found.win_rate <= found.high[0] <= 1
