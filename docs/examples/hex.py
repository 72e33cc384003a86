"""A game of your own: Hex, on a board of any size, with or without the pie rule.

Two players take turns to place stones. The first connects the top row with the bottom
row, the second the left column with the right one: whoever has connected them has won.
With the pie rule, the second player may take over the first stone instead of its first
move. Each player sees the board so that it connects top to bottom: the second one sees
rows as columns.

python docs/examples/hex.py         trains a table on 3 x 3, and proves it
python docs/examples/hex.py hex_4x4     the same on another board
pytest docs/examples/hex.py         compares random games with those of PGX
python -m jax_ttt.train --rules docs/examples/hex.py --env-id hex_4x4
"""

import dataclasses
import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from pgx.hex import Hex as PgxHex

import jax_ttt


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class State(pgx.State):
    """A position: the fields of every state of PGX, the stones, and the pie rule."""

    # (rows, rows) int8 as the mover sees them: 1 its own, -1 the other's
    stones: jax.Array
    may_swap: jax.Array  # () bool
    game: str = dataclasses.field(metadata={"static": True})

    @property
    def env_id(self):
        return self.game


def connects(stones):
    """Return whether stones `(rows, rows)` connect the top row with the bottom row.

    A row of stones is a number, with a bit for each.
    """
    weights = 1 << np.arange(len(stones), dtype=np.uint32)
    own = jnp.where(stones, weights, 0).sum(axis=1, dtype=jnp.uint32)
    no_row = jnp.zeros(1, jnp.uint32)

    def spread(reached):
        above = jnp.concatenate([no_row, reached[:-1]])
        below = jnp.concatenate([reached[1:], no_row])
        beside = reached << 1 | reached >> 1
        return own & (reached | beside | above | above >> 1 | below | below << 1)

    top = jnp.where(np.arange(len(stones)) == 0, own, 0)
    _, reached = jax.lax.while_loop(
        lambda pair: (pair[0] != pair[1]).any(),
        lambda pair: (pair[1], spread(pair[1])),
        (jnp.zeros_like(top), top),
    )
    return reached[-1] != 0


@dataclasses.dataclass(frozen=True)
class Hex(pgx.Env):
    """The rules, with the methods of every environment of PGX."""

    rows: int = 11
    pie: bool = False
    version = "v0"
    num_players = 2

    @property
    def id(self):
        return f"hex_{self.rows}x{self.rows}" + ("_pie" if self.pie else "")

    def _init(self, key):
        stones = jnp.zeros((self.rows, self.rows), jnp.int8)
        planes = (self.rows, self.rows, 2 + self.pie)
        return State(
            current_player=jnp.int32(jax.random.bernoulli(key)),  # who begins
            observation=jnp.zeros(planes, bool),  # PGX fills it
            rewards=jnp.zeros(2, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=self.legal(stones, jnp.bool_(False)),
            _step_count=jnp.int32(0),
            stones=stones,
            may_swap=jnp.bool_(False),
            game=self.id,
        )

    def _step(self, state, action, key):
        placed = state.stones.reshape(-1).at[action].set(1, mode="drop")
        placed = placed.reshape(self.rows, self.rows)
        if self.pie:
            is_swap = action == self.rows**2
            placed = jnp.where(is_swap, -state.stones.T, placed)
        has_won = connects(placed > 0)
        mover = state.current_player
        gain = jnp.where(has_won, 1.0, 0.0)
        stones = -placed.T  # as the other player sees them
        may_swap = jnp.bool_(self.pie) & (abs(state.stones).sum() == 0)
        return dataclasses.replace(
            state,
            current_player=1 - mover,
            rewards=jnp.where(jnp.arange(2) == mover, gain, -gain),
            terminated=has_won,
            legal_action_mask=self.legal(stones, may_swap),
            stones=stones,
            may_swap=may_swap,
        )

    def _observe(self, state, player_id):
        """Return planes: own stones, the other's; with the pie rule, may it swap."""
        is_mover = player_id == state.current_player
        stones = jnp.where(is_mover, state.stones, -state.stones.T)
        planes = [stones > 0, stones < 0]
        if self.pie:
            planes.append(jnp.full_like(planes[0], state.may_swap & is_mover))
        return jnp.stack(planes, axis=-1)

    def legal(self, stones, may_swap):
        cells = (stones == 0).reshape(-1)
        return jnp.append(cells, may_swap) if self.pie else cells


def hex_text(state):
    """Return the board as its mover sees it; a row begins half a cell further right."""
    letters = ".XO" if state._step_count % 2 == 0 else ".OX"
    lines = []
    for number, row in enumerate(np.asarray(state.stones)):
        lines.append(" " * number + " ".join(letters[stone] for stone in row))
    return "\n".join(lines)


for rows, pie in ((3, False), (4, False), (5, False), (4, True)):
    game = Hex(rows, pie)
    jax_ttt.register_game(
        game.id, functools.partial(Hex, rows, pie), board_text=hex_text
    )


def test_the_games_are_those_of_pgx():
    """A thousand random games on 11 x 11, with the pie rule, move by move."""
    env, pgx_env = Hex(pie=True), PgxHex()
    places = np.arange(121).reshape(11, 11)
    turned = np.append(places.T, 121)  # places as the other player sees them

    @jax.jit
    def play(key, state, pgx_state):
        is_second = pgx_state._x.color == 1
        legal = jnp.where(
            is_second[:, None],
            pgx_state.legal_action_mask[:, turned],
            pgx_state.legal_action_mask,
        )
        same = (legal == state.legal_action_mask).all(axis=1)
        same &= state.current_player == pgx_state.current_player
        action = jax.random.categorical(key, jnp.where(legal, 0.0, -jnp.inf))
        pgx_action = jnp.where(is_second, jnp.asarray(turned)[action], action)
        after = jax.vmap(env.step)(state, action)
        pgx_after = jax.vmap(pgx_env.step)(pgx_state, pgx_action)
        same |= state.terminated
        same &= after.terminated == pgx_after.terminated
        same &= (after.rewards == pgx_after.rewards).all(axis=1)
        return after, pgx_after, same.all()

    keys = jax.random.split(jax.random.key(0), 1000)
    state, pgx_state = jax.vmap(env.init)(keys), jax.vmap(pgx_env.init)(keys)
    num_moves = 0
    while not state.terminated.all():
        key = jax.random.key(num_moves)
        state, pgx_state, same = play(key, state, pgx_state)
        assert same
        num_moves += 1
    assert 100 < num_moves <= 122


_NETWORK = {"hidden_size": 256, "learning_rate": 1e-3, "gamma": 0.95}
SETTINGS = {
    "hex_3x3": {"preset": "table"},
    "hex_4x4": {
        "preset": "plain",
        **_NETWORK,
        "tremble": 0.3,
        "random_opening": 8,
        "num_updates": 20_000,
        "eval_every": 10_000,
    },
    "hex_4x4_pie": {
        "preset": "plain",
        **_NETWORK,
        "tremble": 0.1,
        "epsilon_end": 0.2,
        "num_updates": 20_000,
        "eval_every": 10_000,
    },
    "hex_5x5": {
        "preset": "plain",
        **_NETWORK,
        "num_envs": 256,
        "tremble": 0.1,
        "epsilon_end": 0.1,
        "num_updates": 60_000,
        "eval_every": 10_000,
    },
}

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "hex_3x3"
    agent = jax_ttt.train(1, env_id=name, **SETTINGS[name]).agent
    print(jax_ttt.prove(agent, seat="second" if name.endswith("pie") else "first"))
