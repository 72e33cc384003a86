"""Advice to a person as text: the values of the moves, a hint, the review of a game."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jax_ttt.config.game_facts import GAMES, EnvId, Seat, move_name, move_with_letter
from jax_ttt.games.played_game import Game
from jax_ttt.grading.move_values import (
    ReviewedMove,
    agent_values,
    best_play_values,
    review_moves,
)
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime.words import count_phrase, list_phrase
from jax_ttt.text import board_text
from jax_ttt.text.board_text import Cells
from jax_ttt.text.screen import Screen
from jax_ttt.text.tables import aligned_lines

_RESULT_VERBS = ("loses", "draws", "wins")
_RESULT_STYLES = ("red", "", "green")
_GAP = "    "  # between two boards
_MAX_ROWS = 12  # of the table of values


def _result_verb(value: float) -> str:
    """Return what a move of this value does for its mover under best play."""
    return _RESULT_VERBS[int(value) + 1]


def values_text(
    game: Game,
    exact: Mapping[int, float],
    learned: Mapping[int, float],
    opponent: str,
    screen: Screen,
) -> str:
    """Return the values of the legal moves, on small boards or as a table.

    `exact` has the values under best play by move, `learned` those of an agent; each is
    empty if there are none. `opponent` is the name of the other player.
    """
    if not (exact or learned):
        return f"{opponent} has no values to show"
    cells = board_text.numbered_cells(game)
    moves_are_cells = GAMES[game.env_id].moves_on == "cells"
    if cells is not None and moves_are_cells and board_text.is_boxed(cells):
        return value_boards(cells, exact, learned, screen)
    return values_table(game.env_id, exact, learned)


def value_boards(
    cells: Cells,
    exact: Mapping[int, float],
    learned: Mapping[int, float],
    screen: Screen,
) -> str:
    """Return two boards side by side: results under best play, and an agent's values.

    `exact` and `learned` have the values by move; a board without values is left out.
    """
    blocks = []
    if exact:
        verbs = {move: _result_verb(value) for move, value in exact.items()}
        styles = {move: _RESULT_STYLES[int(value) + 1] for move, value in exact.items()}
        blocks.append(_titled_board("best play", cells, verbs, styles, screen))
    if learned:
        highest = max(learned.values())
        numbers = {move: f"{value:+.3f}" for move, value in learned.items()}
        styles = {move: "bold" * (value == highest) for move, value in learned.items()}
        blocks.append(_titled_board("the agent", cells, numbers, styles, screen))
    return board_text.side_by_side(blocks, _GAP)


def _titled_board(
    title: str,
    cells: Cells,
    texts: Mapping[int, str],
    styles: Mapping[int, str],
    screen: Screen,
) -> list[str]:
    """Return the lines of a board with `texts` on its cells, below its title."""
    with_texts = cells.copy()
    for move, text in texts.items():
        with_texts.flat[move] = text
    lines = board_text.board_lines(with_texts, styles, screen.paint, screen.lines)
    width = len(lines[1])  # of a line between cells, which has no codes of colours
    return [f"  {title:<{width - 2}}", *lines]


def values_table(
    env_id: EnvId, exact: Mapping[int, float], learned: Mapping[int, float]
) -> str:
    """Return a table of the values of the moves, the best first.

    The order is by the agent's values if there are any, else by the minimax values.
    """
    values = learned or exact
    moves = sorted(values, key=values.__getitem__, reverse=True)[:_MAX_ROWS]
    columns = [["move", *(move_name(env_id, move) for move in moves)]]
    if exact:
        columns.append(["best play", *(_result_verb(exact[move]) for move in moves)])
    if learned:
        columns.append(["the agent", *(f"{learned[move]:+.3f}" for move in moves)])
    return "\n".join(aligned_lines([*zip(*columns, strict=True)], left=()))


class Hint(NamedTuple):
    """A good move, for the player to move."""

    move: int
    as_good: tuple[int, ...]  # the other moves of the same exact value, ascending
    exact_value: float | None
    learned_value: float | None


def suggest_move(game: Game, agent: Agent | None) -> Hint | None:
    """Return a hint for the player to move; None if no move has a value.

    In an enumerable game, the move keeps the value under best play; of such moves, it
    is one that wins soonest or loses latest, then the one with the agent's highest
    value. In other games, the agent's values decide; of equal ones, the lowest move.
    """
    exact = best_play_values(game)
    learned = {} if agent is None else agent_values(game, agent)
    if exact:
        highest = max(exact.values())
        best_moves = [move for move, value in exact.items() if value == highest]
        quick = best_play_values(game, quick=True) or exact
        move = max(best_moves, key=lambda move: (quick[move], learned.get(move, 0.0)))
        as_good = tuple(other for other in best_moves if other != move)
        return Hint(move, as_good, highest, learned.get(move))
    if not learned:
        return None
    move = max(learned, key=learned.__getitem__)
    return Hint(move, (), None, learned[move])


def hint_line(game: Game, hint: Hint | None, opponent: str) -> str:
    """Return a hint for the player to move in one line."""
    if hint is None:
        return f"no hint: {opponent} has no values, and this game has no exact ones"
    move, num_legal = move_name(game.env_id, hint.move), len(game.legal_moves)
    if hint.exact_value is None:
        return (
            f"hint: {move}, which the agent values most ({hint.learned_value:+.3f}); "
            "this game has no exact values"
        )
    verb = _result_verb(hint.exact_value)
    num_worse = num_legal - 1 - len(hint.as_good)
    if num_legal == 1:
        return f"hint: {move}, the only move; it {verb}"
    if not num_worse:
        return f"hint: {move}; with best play, each move {verb}"
    if not hint.as_good:
        return f"hint: {move} {verb}; no other move does"
    do = "does" if len(hint.as_good) == 1 else "do"
    as_good = [move_name(game.env_id, move) for move in hint.as_good]
    return f"hint: {move} {verb}, as {list_phrase(as_good)} {do}"


def review_text(game: Game, seat: Seat, opponent: str, screen: Screen) -> str:
    """Return a game's boards, its moves compared with best play, and the mistakes.

    `seat` is the person's, `opponent` the name of the other player.
    """
    if not game.moves:
        return "nothing to review: no move is made"
    rows = review_moves(game)
    if rows is None:
        return f"no review: {game.env_id} is too large for exact values"
    lines = [
        screen.paint(line, "red" if row.is_mistake else "")
        for row, line in zip(
            rows, _reviewed_lines(game.env_id, rows, seat), strict=True
        )
    ]
    persons_rows = [row for row in rows if row.mover == seat]
    opponents_rows = [row for row in rows if row.mover != seat]
    return "\n".join(
        [
            board_text.game_boards(game),
            "",
            "with best play after each move, its player",
            *lines,
            "",
            f"you: {_count_mistakes(persons_rows)}",
            f"{opponent}: {_count_mistakes(opponents_rows)}",
        ]
    )


def _reviewed_lines(
    env_id: EnvId, rows: Sequence[ReviewedMove], person: Seat
) -> list[str]:
    moves = [move_with_letter(env_id, row.mover, row.move) for row in rows]
    width = max(map(len, moves)) + 2
    lines = []
    for number, (move, row) in enumerate(zip(moves, rows, strict=True), start=1):
        who = "you" if row.mover == person else ""
        line = f"{number:>3}. {move:<{width}}{who:<5}{_result_verb(row.value_after)}"
        if row.is_mistake:
            best_moves = [move_name(env_id, move) for move in row.best_moves]
            better_moves = list_phrase(best_moves, "or")
            line += f": a mistake; {better_moves} {_result_verb(row.value_before)}"
        lines.append(line)
    return lines


def _count_mistakes(rows: Sequence[ReviewedMove]) -> str:
    num_mistakes = sum(row.is_mistake for row in rows)
    return (
        f"{count_phrase(num_mistakes, 'mistake')} in {count_phrase(len(rows), 'move')}"
    )
