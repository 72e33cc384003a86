"""The dialogue of a person who plays games in a terminal: moves, commands, the score.

Each function takes a `Round` and returns the next one.
"""

import collections
import dataclasses
import textwrap
from collections.abc import Callable
from dataclasses import replace

import jax
from jaxtyping import Array, Key

from jax_ttt.config.game_facts import (
    GAMES,
    SEAT_OF_SIDE,
    SEATS,
    EnvId,
    Seat,
    letters_from,
    move_name,
    move_noun,
    seat_name,
)
from jax_ttt.games.played_game import Game, Result
from jax_ttt.players.analysis import agent_values, best_play_values
from jax_ttt.players.player import Player
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime import standard_streams
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text import board_text, commands, dialogue_advice
from jax_ttt.text.commands import CommandName, SideName, TypedCommand
from jax_ttt.text.screen import Screen
from jax_ttt.text.tables import terminal_width

_RESULTS: dict[Result, tuple[str, str]] = {
    "won": ("you win", "bold green"),
    "drawn": ("a draw", "bold"),
    "lost": ("you lose", "bold red"),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Session:
    """The game, the opponent and the screen: the same in all rounds."""

    env_id: EnvId
    opponent: Player
    key: Key[Array, ""]
    screen: Screen
    agent: Agent | None = None  # whose values are shown; None: no agent's


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
    """A game, and the results of the finished games."""

    game: Game
    seat: Seat  # the person's
    key: Key[Array, ""]  # for the opponent's next moves
    side: SideName  # the person's choice, which may be random
    number: int = 1
    results: tuple[Result, ...] = ()  # of finished games, to the person
    is_counted: bool = False  # whether `results` has this game, also after undo


def play_games(session: Session, side: SideName) -> None:
    """Play games until the person quits or the input ends.

    Raises:
        KeyboardInterrupt: Ctrl-C at a prompt, after the score is shown.
    """
    current: Round | None = _reply(session, _start_game(session, side))
    while current is not None:
        try:
            text = session.screen.ask(_prompt(current))
        except EOFError:
            session.screen.say("")
            text = "quit"
        except KeyboardInterrupt:
            session.screen.say("")
            _quit(session, current)
            raise
        current = _follow_input(session, current, text)


def _start_game(session: Session, side: SideName, last: Round | None = None) -> Round:
    """Return a new game after the `last` one, and show the person's letter."""
    number = 1 if last is None else last.number + 1
    key, side_key = jax.random.split(jax.random.fold_in(session.key, number))
    random_seat: Seat = SEATS[int(jax.random.bernoulli(side_key))]
    seat = random_seat if side == "random" else SEAT_OF_SIDE[side]
    title = f"game {number}"
    if last is None:
        title = f"{session.env_id} against {session.opponent.name}"
    session.screen.say(f"{title}: you are {seat_name(seat)}")
    return Round(
        game=Game.start(session.env_id),
        seat=seat,
        key=key,
        side=side,
        number=number,
        results=() if last is None else last.results,
    )


def _prompt(current: Round) -> str:
    if current.game.is_over:
        return f"new, review, undo or quit {commands.PROMPT}"
    return f"your move, {seat_name(current.seat)} {commands.PROMPT}"


def _reply(session: Session, current: Round) -> Round:
    """Return the game after the opponent's moves, and show its board."""
    game, key, name = current.game, current.key, session.opponent.name
    _, letter = letters_from(current.seat)
    while not game.is_over and game.to_move != current.seat:
        key, move_key = jax.random.split(key)
        with standard_streams.status_line(f"{name} is thinking"):
            game = game.play(session.opponent.move_in(game, move_key))
        reply = move_name(session.env_id, game.moves[-1])
        session.screen.say(f"{name} ({letter}) plays {reply}")
    current = replace(current, game=game, key=key)
    _show_board(session, game)
    result = game.result(current.seat)
    return current if result is None else _count_result(session, current, result)


def _show_board(session: Session, game: Game) -> None:
    """Show the board, and a list of the legal moves if the board does not show them."""
    legal = game.legal_moves
    session.screen.say(f"\n{board_text.board_text(game, session.screen)}\n")
    if legal and not board_text.shows_all_moves(game):
        names = [move_name(session.env_id, move) for move in legal]
        moves_text = f"legal moves: {' '.join(names)}"
        session.screen.say(textwrap.fill(moves_text, terminal_width()))


def _count_result(session: Session, current: Round, result: Result) -> Round:
    """Return the finished game with its result counted, and show result and score."""
    text, style = _RESULTS[result]
    after = f"after {count_phrase(len(current.game.moves), 'move')}"
    session.screen.say(f"{session.screen.paint(text, style)} {after}")
    if not current.is_counted:
        results = (*current.results, result)
        current = replace(current, results=results, is_counted=True)
    session.screen.say(_score_line(session, current))
    return current


def _score_line(session: Session, current: Round) -> str:
    counts = collections.Counter(current.results)
    return (
        f"score: you {counts['won']}, draws {counts['drawn']}, "
        f"{session.opponent.name} {counts['lost']}"
    )


def _follow_input(session: Session, current: Round, text: str) -> Round | None:
    """Return the game after a line of input; None if the person quits."""
    legal = {move_name(session.env_id, move): move for move in current.game.legal_moves}
    word = text.strip().lower()
    # A move's name is no command, also where the move is not legal.
    is_illegal = word in GAMES[session.env_id].move_names and word not in legal
    command = None if is_illegal else commands.read_command(text, legal)
    if command is None:
        advice_text = "the game is over: type new"
        if legal:
            noun = move_noun(session.env_id)
            kind = "legal" if noun == "move" else "free"
            advice_text = f"type a {kind} {noun}"
        session.screen.say(
            f"{text.strip()[:20]!r}? {advice_text}, or ? for the commands"
        )
        return current
    if isinstance(command, TypedCommand):
        current = replace(current, side=command.side or current.side)
        return _COMMANDS[command.name](session, current)
    return _reply(session, replace(current, game=current.game.play(command)))


def _undo(session: Session, current: Round) -> Round:
    game = current.game.before_move_of(current.seat)
    if game == current.game:
        session.screen.say("nothing to undo: you have not moved")
        return current
    session.screen.say("your last move is taken back")
    return _reply(session, replace(current, game=game))


def _hint(session: Session, current: Round) -> Round:
    game = current.game
    if game.is_over:
        session.screen.say("no hint: the game is over")
        return current
    hint = dialogue_advice.suggest_move(game, session.agent)
    session.screen.say(dialogue_advice.hint_line(game, hint, session.opponent.name))
    return current


def _values(session: Session, current: Round) -> Round:
    game = current.game
    if game.is_over:
        session.screen.say("no values: the game is over")
        return current
    text = dialogue_advice.values_text(
        game=game,
        exact=best_play_values(game) or {},
        learned={} if session.agent is None else agent_values(game, session.agent),
        opponent=session.opponent.name,
        screen=session.screen,
    )
    session.screen.say(f"\n{text}\n")
    return current


def _review(session: Session, current: Round) -> Round:
    text = dialogue_advice.review_text(
        current.game, current.seat, session.opponent.name, session.screen
    )
    session.screen.say(f"\n{text}\n")
    return current


def _new(session: Session, current: Round) -> Round:
    return _reply(session, _start_game(session, current.side, last=current))


def _help(session: Session, current: Round) -> Round:
    session.screen.say(commands.help_text(move_noun(session.env_id)))
    return current


def _quit(session: Session, current: Round) -> None:
    if not current.game.is_over:
        moves = count_phrase(len(current.game.moves), "move")
        session.screen.say(f"left after {moves}: nobody wins")
    if current.results:
        session.screen.say(_score_line(session, current))


_COMMANDS: dict[CommandName, Callable[[Session, Round], Round | None]] = {
    "undo": _undo,
    "hint": _hint,
    "values": _values,
    "review": _review,
    "new": _new,
    "quit": _quit,
    "help": _help,
}
