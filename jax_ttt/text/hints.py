"""Hints: a move for the person, and why it is a good one."""

from typing import NamedTuple

import jax

from jax_ttt.games import canonical
from jax_ttt.players import session
from jax_ttt.players.agents import Agent
from jax_ttt.players.session import MoveValue, Session
from jax_ttt.runtime.words import joined
from jax_ttt.text.board_text import WORDS


class Hint(NamedTuple):
    """A move that a player to move may choose."""

    best: MoveValue
    as_good: tuple[int, ...]  # other moves of the same exact value, ascending


def suggest_move(game: Session, agent: Agent | None = None) -> Hint | None:
    """Return a hint for the player to move; None if no move has a value.

    In an enumerable game it keeps the exact value; of such moves, it is one that wins
    soonest or loses latest, then the one that the agent values most. Elsewhere the
    agent's values decide. Of equal moves it is the first on the canonical board. The
    agent is by default the opponent's.
    """
    places = _action_places(game.env_id, game.state.observation)[0].tolist()
    rows = session.move_values(game, agent)
    rows = sorted(rows, key=lambda row: places[row.move])
    exact = [row.minimax_value for row in rows if row.minimax_value is not None]
    if not exact:
        valued = [row for row in rows if row.q_value is not None]
        best = max(valued, key=lambda row: row.q_value or 0.0, default=None)
        return None if best is None else Hint(best, ())
    equal = [row for row in rows if row.minimax_value == max(exact)]
    quick = session.minimax_values(game.env_id, game.state, quick=True)
    best = max(
        equal,
        key=lambda row: (0.0 if quick is None else quick[row.move], row.q_value or 0.0),
    )
    return Hint(best, tuple(sorted(row.move for row in equal if row is not best)))


_action_places = jax.jit(canonical.action_places, static_argnums=0)


def hint_line(hint: Hint | None, num_legal: int, opponent: str) -> str:
    """Return a hint in one line; `num_legal` is the number of legal moves."""
    if hint is None:
        return f"no hint: {opponent} has no values, and this game has no exact ones"
    best = hint.best
    if best.minimax_value is None:
        return (
            f"hint: {best.move}, which the agent values most ({best.q_value:+.3f}); "
            "this game has no exact values"
        )
    word = WORDS[int(best.minimax_value) + 1]
    others = num_legal - 1 - len(hint.as_good)
    if num_legal == 1:
        return f"hint: {best.move}, the only move; it {word}"
    if not others:
        return f"hint: {best.move}; with best play, each move {word}"
    if not hint.as_good:
        return f"hint: {best.move} {word}; no other move does"
    verb = "does" if len(hint.as_good) == 1 else "do"
    return f"hint: {best.move} {word}, as {joined(hint.as_good)} {verb}"
