"""Games of a person against a player, one after another: moves, commands, the score."""

import collections
import dataclasses
import textwrap
from collections.abc import Callable
from dataclasses import replace

import jax
from jaxtyping import Array, Key

from jax_ttt.config.game_facts import GAMES, LETTERS, SEAT_OF_SIDE, SEATS, EnvId, Seat
from jax_ttt.games.game import Game, Result
from jax_ttt.players.analysis import move_values
from jax_ttt.players.player import Player
from jax_ttt.players.saved_agents import SavedAgent
from jax_ttt.runtime import streams
from jax_ttt.runtime.words import counted
from jax_ttt.text import advice, board_text
from jax_ttt.text import commands as words
from jax_ttt.text.commands import Name, SideName, TypedCommand
from jax_ttt.text.screen import Screen

_WIDTH = 79  # of a list of moves
_RESULTS: dict[Result, tuple[str, str]] = {
    "won": ("you win", "bold green"),
    "drawn": ("a draw", "bold"),
    "lost": ("you lose", "bold red"),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Session:
    """Who plays what on which screen: the same in all games."""

    env_id: EnvId
    opponent: Player
    key: Key[Array, ""]
    screen: Screen
    agent: SavedAgent | None = None  # whose values are shown; None: nobody's

    @property
    def place(self) -> str:
        """What the number of a move names."""
        names = {"cells": "square", "columns": "column", None: "move"}
        return names[GAMES[self.env_id].moves_on]


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
    """A game, and the results of those before it."""

    game: Game
    seat: Seat  # the person's
    key: Key[Array, ""]  # for the opponent's next moves
    side: SideName  # as asked for, which may be random
    number: int = 1
    results: tuple[Result, ...] = ()  # of finished games, to the person
    is_counted: bool = False  # whether `results` has this game: once, whatever follows


def play_games(match: Session, side: SideName) -> None:
    """Play games until the person quits or the input ends.

    Raises:
        KeyboardInterrupt: Ctrl-C at a prompt, after the score is shown.
    """
    current: Round | None = _answered(match, _started(match, side))
    while current is not None:
        try:
            text = match.screen.ask(_prompt(current))
        except EOFError:
            match.screen.say("")
            text = "quit"
        except KeyboardInterrupt:
            match.screen.say("")
            _quit(match, current)
            raise
        current = _obeyed(match, current, text)


def _started(match: Session, side: SideName, last: Round | None = None) -> Round:
    """Return a new game; who you are is shown if it is the first, or another one."""
    number = 1 if last is None else last.number + 1
    key, side_key = jax.random.split(jax.random.fold_in(match.key, number))
    drawn: Seat = SEATS[int(jax.random.bernoulli(side_key))]
    seat = drawn if side == "random" else SEAT_OF_SIDE[side]
    title = f"{match.env_id} against {match.opponent.name}"
    title = title if last is None else f"game {number}"
    match.screen.say(f"{title}: you are {_letters(match.env_id, seat)[0]}")
    return Round(
        game=Game.start(match.env_id),
        seat=seat,
        key=key,
        side=side,
        number=number,
        results=() if last is None else last.results,
    )


def _letters(env_id: EnvId, seat: Seat) -> tuple[str, str]:
    """Return the letters of the person's stones and of the opponent's."""
    first, second = LETTERS
    return (first, second) if seat == SEATS[0] else (second, first)


def _prompt(current: Round) -> str:
    if current.game.is_over:
        return f"new, review, undo or quit {words.PROMPT}"
    letter, _ = _letters(current.game.env_id, current.seat)
    return f"your move, {letter} {words.PROMPT}"


def _answered(match: Session, current: Round) -> Round:
    """Return the game after the opponent's replies, and show it."""
    game, key, name = current.game, current.key, match.opponent.name
    _, letter = _letters(match.env_id, current.seat)
    while not game.is_over and game.to_move != current.seat:
        key, move_key = jax.random.split(key)
        with streams.status_line(f"{name} is thinking"):
            game = game.play(game.move_of(match.opponent.choose, move_key))
        match.screen.say(f"{name} ({letter}) plays {game.moves[-1]}")
    current = replace(current, game=game, key=key)
    _show_board(match, game)
    result = game.result(current.seat)
    return current if result is None else _ended(match, current, result)


def _show_board(match: Session, game: Game) -> None:
    """Show the board, and the legal moves if its numbers are not just these."""
    legal = game.legal_moves
    match.screen.say(f"\n{board_text.board_text(game, match.screen)}\n")
    if legal and not board_text.shows_all_moves(game):
        listed = f"legal moves: {' '.join(map(str, legal))}"
        match.screen.say(textwrap.fill(listed, _WIDTH))


def _ended(match: Session, current: Round, result: Result) -> Round:
    """Return the game with its result counted, and show result and score."""
    text, style = _RESULTS[result]
    after = f"after {counted(len(current.game.moves), 'move')}"
    match.screen.say(f"{match.screen.paint(text, style)} {after}")
    if not current.is_counted:
        results = (*current.results, result)
        current = replace(current, results=results, is_counted=True)
    match.screen.say(_score(match, current))
    return current


def _score(match: Session, current: Round) -> str:
    counts = collections.Counter(current.results)
    return (
        f"score: you {counts['won']}, draws {counts['drawn']}, "
        f"{match.opponent.name} {counts['lost']}"
    )


def _obeyed(match: Session, current: Round, text: str) -> Round | None:
    """Return what follows a line of input; None if the person quits."""
    legal = current.game.legal_moves
    meant = words.read_command(text, legal)
    if meant is None:
        wanted = f"type a free {match.place}" if legal else "the game is over: type new"
        match.screen.say(f"{text.strip()[:20]!r}? {wanted}, or ? for the commands")
        return current
    if isinstance(meant, TypedCommand):
        current = replace(current, side=meant.side or current.side)
        return _COMMANDS[meant.name](match, current)
    return _answered(match, replace(current, game=current.game.play(meant)))


def _undo(match: Session, current: Round) -> Round:
    game = current.game.before_move_of(current.seat)
    if game == current.game:
        match.screen.say("nothing to undo: you have not moved")
        return current
    match.screen.say("your last move is taken back")
    return _answered(match, replace(current, game=game))


def _hint(match: Session, current: Round) -> Round:
    game = current.game
    if game.is_over:
        match.screen.say("no hint: the game is over")
        return current
    hint = advice.suggest_move(game, match.agent)
    num_legal = len(game.legal_moves)
    match.screen.say(advice.hint_line(hint, num_legal, match.opponent.name))
    return current


def _values(match: Session, current: Round) -> Round:
    game = current.game
    if game.is_over:
        match.screen.say("no values: the game is over")
        return current
    worth = move_values(game, match.agent)
    text = advice.values_text(game, worth, match.opponent.name, match.screen)
    match.screen.say(f"\n{text}\n")
    return current


def _review(match: Session, current: Round) -> Round:
    text = advice.review_text(
        current.game, current.seat, match.opponent.name, match.screen
    )
    match.screen.say(f"\n{text}\n")
    return current


def _new(match: Session, current: Round) -> Round:
    return _answered(match, _started(match, current.side, current))


def _help(match: Session, current: Round) -> Round:
    match.screen.say(words.help_text(match.place))
    return current


def _quit(match: Session, current: Round) -> None:
    if not current.game.is_over:
        moves = counted(len(current.game.moves), "move")
        match.screen.say(f"left after {moves}: nobody wins")
    if current.results:
        match.screen.say(_score(match, current))


_COMMANDS: dict[Name, Callable[[Session, Round], Round | None]] = {
    "undo": _undo,
    "hint": _hint,
    "values": _values,
    "review": _review,
    "new": _new,
    "quit": _quit,
    "help": _help,
}
