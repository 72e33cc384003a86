"""Misère tic-tac-toe: the board and the moves of tic-tac-toe, and another result.

python docs/examples/misere.py      proves the best play
python -m jax_ttt.train --rules docs/examples/misere.py --env-id misere --tremble 0.2
"""

import dataclasses

from pgx.tic_tac_toe import TicTacToe

import jax_ttt


class Misere(TicTacToe):
    """Three in a row loses."""

    def _step(self, state, action, key):
        state = super()._step(state, action, key)
        return dataclasses.replace(state, rewards=-state.rewards)


jax_ttt.register_game("misere", Misere)

if __name__ == "__main__":
    print(jax_ttt.prove("minimax", env_id="misere"))  # unbeatable: a draw
