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
from typing import NamedTuple

import commands
import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest
import tiny
from jax.tree_util import Partial
from own_games import check_refused, variant
from pgx.go import Go
from pgx.tic_tac_toe import TicTacToe

import jax_ttt
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, SEATS, move_name
from jax_ttt.config.settings import Config
from jax_ttt.dqn import start_positions
from jax_ttt.games import position_keys, state_keys, user_games
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game
from jax_ttt.grading import search_grade
from jax_ttt.players import registry
from jax_ttt.players.player import Player
from jax_ttt.solver import policies, reached_positions
from jax_ttt.text import board_text

TRAIN = commands.module_of("train")


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
        gain = jnp.where(has_won, 1.0, 0.0)
        mover = state.current_player
        same = self.stone(count + 1) == stone
        return dataclasses.replace(
            state,
            current_player=jnp.where(same, mover, 1 - mover),
            rewards=jnp.where(jnp.arange(2) == mover, gain, -gain),
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
    rows = [[*range(row * size, (row + 1) * size)] for row in range(size)]
    last = size**2 - 1
    diagonals = [[*range(0, last + 1, size + 1)], [*range(size - 1, last, size - 1)]]
    return [*rows, *map(list, zip(*rows, strict=True)), *diagonals]


def python_play(cells, column, rules):
    """Return the cells after a move, and the winner: 0 for a draw, None for nobody."""
    stone = stone_after(sum(map(bool, cells)), rules)
    free = [cell for cell in range(column, len(cells), rules.size) if not cells[cell]]
    after = (*cells[: free[-1]], stone, *cells[free[-1] + 1 :])
    for line in full_lines(rules.size):
        if all(after[cell] == stone for cell in line):
            return after, stone
    return after, 0 if all(after) else None


class Walk(NamedTuple):
    """What a walk finds: won, drawn and lost in this order."""

    positions: list[int]  # of each level
    num_drawn: int
    moves: list[int]
    lines: list[int]
    chances: list[float]
    choices: set[tuple[int, ...]]  # positions with a choice on lines that lose


def python_walk(rules, choose, seat):
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


@functools.cache
def whole_walk():
    """Return the grade and the losing choices of the player that tests search again."""
    return searched(player_of("many_words", "four"), "first")


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
@pytest.mark.parametrize(
    ("env_id", "name"),
    [
        ("four", "many_words"),
        ("four", "network"),
        ("four_twice", "many_words"),
        ("four_twice", "network"),
    ],
)
def test_a_walk_finds_what_plain_python_finds(env_id, name, seat):
    assert not GAMES[env_id].enumerable
    rules, player = GAMES_HERE[env_id], player_of(name, env_id)
    result = searched(player, seat)
    choose = functools.partial(player.choose, jax.random.key(0))
    walk = python_walk(rules, python_chooser(choose, rules), seat)
    assert_walk_is(result, walk)
    assert len(walk.choices) > 10
    assert boards_of(env_id, result.choices) == walk.choices


def test_the_board_of_a_large_game_is_drawn():
    """An O is not an X because O is to move."""
    facts = GAMES["four"]
    assert (facts.shape, facts.stones, facts.moves_on) == ((4, 4), False, "columns")
    assert facts.symmetries == ()
    assert move_name("four", 0) == "1"
    game = Game.start("four", (1, 1))
    for column, bottom in ((2, ". X X ."), (3, ". X X O")):
        game = game.play(column)
        rows = [line.split() for line in board_text.board_text(game).splitlines()]
        assert bottom.split() in rows
        assert [".", "O", ".", "."] in rows


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
    commands.run(TRAIN, *words, "--prove", "--run-dir", str(folder))
    row = (folder / "metrics.jsonl").read_text().splitlines()[-1]
    assert '"complete": true' in row


def test_a_limit_ends_with_bounds_of_the_exact_rates():
    player, exact = player_of("many_words", "four"), whole_walk().grade
    cut = searched(player, "first", max_positions=1000).grade
    assert exact.complete
    assert not cut.complete
    assert cut.num_positions <= 5000
    assert cut.low == cut.rates
    for low, rate, high in zip(cut.low, exact.rates, cut.high, strict=True):
        assert low <= rate <= high


@pytest.mark.slow
def test_a_game_of_pgx_that_the_package_lacks_is_registered_and_graded():
    with jax.numpy_rank_promotion("allow"):  # for PGX
        jax_ttt.register_game("go_3x3", functools.partial(Go, size=3))
    assert not GAMES["go_3x3"].enumerable
    grade = jax_ttt.grade(first_free, env_id="go_3x3", max_positions=200, num_games=0)
    found = grade.seat("first")
    assert not found.complete
    assert 0 <= found.win_rate <= found.high[0] <= 1


def test_two_states_with_the_same_hash_are_two_positions(monkeypatch):
    """Then positions are sorted by all their bytes."""
    usual = whole_walk()
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
    """Without a tree as well as with one, and whatever its evidence is.

    A player made from the rules may look at positions that are never reached.
    """
    with pytest.raises(Refused, match="another move where player 1 began"):
        jax_ttt.prove(by_number, env_id=env_id)
    choose = Partial(lambda key, state: by_number(state))
    player = Player(
        env_id="four", name="by_number", choose=choose, evidence="construction"
    )
    with pytest.raises(Refused, match="another move where player 1 began"):
        searched(player, "first")


def test_lines_that_64_bits_do_not_hold_are_not_counted(monkeypatch):
    """What is proven does not follow from their number."""
    player, usual = player_of("many_words", "four"), whole_walk().grade
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


def test_a_late_rule_by_the_number_of_a_player_is_refused():
    """On a board that `first_free` reaches, and no random line of the registration."""
    late = jnp.array([[2, 2, 2, 0], [1, 1, 1, 1], [2, 2, 1, 2], [1, 1, 1, 2]])

    def after(new, *_):
        is_late = (new.board == late).all()
        return {"rewards": jnp.where(is_late, jnp.array([-1.0, 1.0]), new.rewards)}

    jax_ttt.register_game("numbered", variant(Columns, after=after))
    rule = "must not depend on whether player 0 or 1 begins.*; after 1[0-9] moves"
    for function in (jax_ttt.grade, jax_ttt.prove):
        with pytest.raises(jax_ttt.Refused, match=rule) as refusal:
            function(first_free, env_id="numbered")
        assert "\n" not in str(refusal.value)


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


def without_lowest_row(self, state, player_id):
    return Columns._observe(self, state, player_id).at[-1].set(False)


def reward_at_once(new, *_):
    gains = jnp.where(jnp.arange(2) == new.current_player, -1.0, 1.0)
    return {"rewards": gains.astype(jnp.float32)}


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (
            variant(Columns, _observe=without_lowest_row),
            "the observation must show all that matters",
        ),
        (
            variant(Columns, after=reward_at_once),
            "only the last move may give a reward",
        ),
        (Chance, "nothing is random"),
    ],
)
def test_wrong_rules_of_a_game_without_a_tree_are_refused(rules, reason):
    check_refused(rules, reason)


# The pool of positions in which games start.


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


@pytest.mark.slow
def test_trainings_whose_games_start_in_a_pool_are_reproducible():
    """Here of a game with two moves in a row."""
    options = tiny.FIELDS | {"start_share": 0.5, "env_id": "four_twice"}
    runs = [jax_ttt.train(**options) for _ in range(2)]
    leaves = [jax.tree.leaves(run.agent.params) for run in runs]
    assert all(map(np.array_equal, *leaves))
