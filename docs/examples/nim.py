"""A game of your own: Nim, which PGX lacks and which is not on a board.

Two players take turns. A move takes one or more objects from one heap. In `nim`, the
player who takes the last object wins; in `nim_misere`, that player loses.

python docs/examples/nim.py         trains an agent, and prints what is proven
pytest docs/examples/nim.py         tests the rules
python -m jax_ttt.train --rules docs/examples/nim.py --env-id nim
"""

import dataclasses
import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pgx

import jax_ttt

HEAPS = (3, 4, 5)  # objects in each heap at the start
LARGEST = max(HEAPS)  # action `heap * LARGEST + number - 1` takes a number from a heap
NUMBERS = np.arange(1, LARGEST + 1)[None]
MOVES = [f"{heap}{number}" for heap in "abc" for number in range(1, LARGEST + 1)]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class State(pgx.State):
    """A position: the fields of every state of PGX, and the heaps."""

    heaps: jax.Array  # (3,) int32
    game: str = dataclasses.field(metadata={"static": True})

    @property
    def env_id(self):
        return self.game


@dataclasses.dataclass(frozen=True)
class Nim(pgx.Env):
    """The rules, with the methods of every environment of PGX."""

    misere: bool = False
    version = "v0"
    num_players = 2

    @property
    def id(self):
        return "nim_misere" if self.misere else "nim"

    def _init(self, key):
        heaps = jnp.array(HEAPS, jnp.int32)
        return State(
            current_player=jnp.int32(jax.random.bernoulli(key)),  # who begins
            observation=jnp.zeros((len(HEAPS), LARGEST), bool),  # PGX fills it
            rewards=jnp.zeros(2, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=self.legal(heaps),
            _step_count=jnp.int32(0),
            heaps=heaps,
            game=self.id,
        )

    def _step(self, state, action, key):
        heap, number = action // LARGEST, action % LARGEST + 1
        heaps = state.heaps.at[heap].add(-number)
        mover, is_over = state.current_player, heaps.sum() == 0
        gain = jnp.where(is_over, -1.0 if self.misere else 1.0, 0.0)
        return dataclasses.replace(
            state,
            current_player=1 - mover,
            rewards=jnp.where(jnp.arange(2) == mover, gain, -gain),
            terminated=is_over,
            legal_action_mask=self.legal(heaps),
            heaps=heaps,
        )

    def _observe(self, state, player_id):
        """Return one row for each heap, which has the number 3 as 1 1 1 0 0."""
        return state.heaps[:, None] >= NUMBERS

    def legal(self, heaps):
        return (heaps[:, None] >= NUMBERS).reshape(-1)


def heaps_text(state):
    """Return the heaps as text: a line for each."""
    return "\n".join(f"{h} {'o' * n}" for h, n in zip("abc", state.heaps, strict=True))


for misere in (False, True):
    jax_ttt.register_game(
        Nim(misere).id,
        functools.partial(Nim, misere),
        move_names=MOVES,
        board_text=heaps_text,
    )


def test_the_last_object_decides():
    """a3, b4, c5: the first player takes the last one."""
    for misere, reward in ((False, 1), (True, -1)):
        env = Nim(misere)
        state = env.init(jax.random.key(0))
        first = state.current_player
        for move in ("a3", "b4", "c5"):
            state = env.step(state, MOVES.index(move))
        assert state.terminated
        assert state.rewards[first] == reward


def test_a_move_takes_what_a_heap_has():
    env = Nim()
    state = env.step(env.init(jax.random.key(0)), MOVES.index("c4"))
    legal = [MOVES[action] for action in np.flatnonzero(state.legal_action_mask)]
    assert legal == ["a1", "a2", "a3", "b1", "b2", "b3", "b4", "c1"]


def test_best_play_wins_where_the_theory_says():
    """C. Bouton 1901: with heaps above 1, the mover wins if their xor is not 0."""
    first_wins = functools.reduce(operator.xor, HEAPS) != 0
    for env_id in ("nim", "nim_misere"):
        best = jax_ttt.player("minimax", env_id=env_id)
        assert jax_ttt.grade(best, seat="first").unbeatable == first_wins
        assert jax_ttt.grade(best, seat="second").unbeatable != first_wins


if __name__ == "__main__":
    agent = jax_ttt.train(env_id="nim", preset="table", seed=1).agent
    print(jax_ttt.prove(agent, seat="first"))
    print(jax_ttt.prove(agent, seat="second"))
    game = jax_ttt.new_game(agent, seat="second")  # a game against it
    while not game.is_over:
        game = game.play(game.legal_moves[0])  # or MOVES.index(input("your move: "))
    print(game)
    jax_ttt.save(agent, "nim.safetensors")
