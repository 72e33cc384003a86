"""A DQN with n-step targets: one method is replaced.

python -m jax_ttt.train --learner docs/examples/n_step.py --steps 3
"""

import dataclasses
from typing import Annotated

import jax
from msgspec import Meta

import jax_ttt


class NStep(jax_ttt.DQN):
    """A DQN that learns from the value after several moves, not after one.

    Each move is followed by greedy moves on a copy of the games, so that its target is
    that of `steps` moves by the policy that is learned. With `random_opening`, moves of
    the opening stay random.
    """

    @dataclasses.dataclass(frozen=True)
    class Settings:
        """The settings of this learner."""

        steps: Annotated[int, Meta(ge=1, le=16)] = 2
        """Moves from a board to the board whose value its target has."""

    def play(self, params, before, turn, epsilon):
        """Play a move in every game; the transition goes on for the other moves."""
        after, played = super().play(params, before, turn, epsilon)
        first, board = played.transition, after
        for step in range(1, self.settings.steps):
            key = jax.random.fold_in(turn.reply_key, step)
            board, ahead = super().play(
                params, board, turn._replace(reply_key=key), epsilon=0.0
            )
            move = ahead.transition
            # A discount is 0 after the last move, and negative where the other player
            # moves next: so rewards change their sign from move to move.
            first = first._replace(
                reward=first.reward + first.discount * move.reward,
                discount=first.discount * move.discount,
                next_obs=move.next_obs,
                next_legal_action_mask=move.next_legal_action_mask,
            )
        return after, played._replace(transition=first)
