"""The dialogue of a person who plays games in a terminal: moves, commands, the score.

Each game is a `GameAgainst`, as `jax_ttt.new_game` returns it.
"""

import collections
import dataclasses
import textwrap
from collections.abc import Callable
from dataclasses import field

import jax
from jaxtyping import Array, Key
from tqdm import tqdm

from jax_ttt.api import new_game
from jax_ttt.api.new_game import GameAgainst
from jax_ttt.config.game_facts import (
    GAMES,
    SEAT_OF_SIDE,
    SEATS,
    Seat,
    letters_from,
    move_name,
    move_noun,
    seat_name,
)
from jax_ttt.games.played_game import Result
from jax_ttt.grading.move_values import agent_values, best_play_values
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


@dataclasses.dataclass(eq=False)
class Dialogue:
    """A person's games against a player, one after another, and the score.

    Attributes:
        opponent: The player that the person plays against.
        key: The key of all games.
        screen: The terminal.
        side: The person's choice, which may be random.
        agent: The agent whose values are shown; None: no agent's.
        number: The number of the game, from 1.
        against: The game.
        score: The numbers of finished games by their result to the person.
        is_counted: Whether the score has this game, also after undo.
    """

    opponent: Player
    key: Key[Array, ""]
    screen: Screen
    side: SideName = "x"
    agent: Agent | None = None
    number: int = field(init=False, default=0)
    against: GameAgainst = field(init=False)
    score: collections.Counter[Result] = field(
        init=False, default_factory=collections.Counter
    )
    is_counted: bool = field(init=False, default=False)

    def play_games(self) -> None:
        """Play games until the person quits or the input ends.

        Raises:
            KeyboardInterrupt: Ctrl-C at a prompt, after the score is shown.
        """
        self._start_game()
        goes_on = True
        while goes_on:
            try:
                text = self.screen.ask(self._prompt())
            except EOFError:
                self.screen.say("")
                text = "quit"
            except KeyboardInterrupt:
                self.screen.say("")
                self._say_goodbye()
                raise
            goes_on = self._follow_input(text)

    def _start_game(self) -> None:
        """Start a game, and show the person's letter and what the opponent plays."""
        self.number += 1
        game_key, side_key = jax.random.split(jax.random.fold_in(self.key, self.number))
        random_seat: Seat = SEATS[int(jax.random.bernoulli(side_key))]
        seat = random_seat if self.side == "random" else SEAT_OF_SIDE[self.side]
        title = f"game {self.number}"
        if self.number == 1:
            title = f"{self.opponent.env_id} against {self.opponent.name}"
        self.screen.say(f"{title}: you are {seat_name(seat)}")
        with self._thinking():
            self.against = new_game.start_game(self.opponent, seat, game_key)
        self.is_counted = False
        self._show_game(num_known=0)

    def _thinking(self) -> tqdm:
        return standard_streams.status_line(f"{self.opponent.name} is thinking")

    def _prompt(self) -> str:
        if self.against.is_over:
            return f"new, review, undo or quit {commands.PROMPT}"
        return f"your move, {seat_name(self.against.seat)} {commands.PROMPT}"

    def _show_game(self, num_known: int) -> None:
        """Show the opponent's moves after the first `num_known`, board and result."""
        _, letter = letters_from(self.against.seat)
        for move in self.against.moves[num_known:]:
            reply = move_name(self.opponent.env_id, move)
            self.screen.say(f"{self.opponent.name} ({letter}) plays {reply}")
        self._show_board()
        if self.against.result is not None:
            self._show_result(self.against.result)

    def _show_board(self) -> None:
        """Show the board, and a list of the legal moves that it does not show."""
        game = self.against.game
        self.screen.say(f"\n{board_text.board_text(game, self.screen)}\n")
        if game.legal_moves and not board_text.shows_all_moves(game):
            names = [move_name(game.env_id, move) for move in game.legal_moves]
            moves_text = f"legal moves: {' '.join(names)}"
            self.screen.say(textwrap.fill(moves_text, terminal_width()))

    def _show_result(self, result: Result) -> None:
        """Show the result of the finished game, count it once, and show the score."""
        text, style = _RESULTS[result]
        after = f"after {count_phrase(len(self.against.moves), 'move')}"
        self.screen.say(f"{self.screen.paint(text, style)} {after}")
        if not self.is_counted:
            self.score[result] += 1
            self.is_counted = True
        self._show_score()

    def _show_score(self) -> None:
        self.screen.say(
            f"score: you {self.score['won']}, draws {self.score['drawn']}, "
            f"{self.opponent.name} {self.score['lost']}"
        )

    def _follow_input(self, text: str) -> bool:
        """Do what a line of input says; return False if the person quits."""
        env_id = self.opponent.env_id
        legal = {move_name(env_id, move): move for move in self.against.legal_moves}
        word = text.strip().lower()
        # A move's name is no command, also where the move is not legal.
        is_illegal = word in GAMES[env_id].move_names and word not in legal
        command = None if is_illegal else commands.read_command(text, legal)
        if command is None:
            self._refuse(text)
        elif isinstance(command, TypedCommand):
            self.side = command.side or self.side
            self._commands[command.name]()
            return command.name != "quit"
        else:
            num_known = len(self.against.moves) + 1
            with self._thinking():
                self.against = self.against.play(command)
            self._show_game(num_known)
        return True

    @property
    def _commands(self) -> dict[CommandName, Callable[[], None]]:
        return {
            "undo": self._undo,
            "hint": self._show_hint,
            "values": self._show_values,
            "review": self._show_review,
            "new": self._start_game,
            "quit": self._say_goodbye,
            "help": self._show_help,
        }

    def _refuse(self, text: str) -> None:
        """Say what may be typed instead of this text."""
        advice_text = "the game is over: type new"
        if not self.against.is_over:
            noun = move_noun(self.opponent.env_id)
            kind = "legal" if noun == "move" else "free"
            advice_text = f"type a {kind} {noun}"
        self.screen.say(f"{text.strip()[:20]!r}? {advice_text}, or ? for the commands")

    def _undo(self) -> None:
        earlier = self.against.undo()
        if earlier.moves == self.against.moves:
            self.screen.say("nothing to undo: you have not moved")
            return
        self.screen.say("your last move is taken back")
        self.against = earlier
        self._show_game(num_known=len(earlier.moves))

    def _show_hint(self) -> None:
        game = self.against.game
        if game.is_over:
            self.screen.say("no hint: the game is over")
            return
        hint = dialogue_advice.suggest_move(game, self.agent)
        self.screen.say(dialogue_advice.hint_line(game, hint, self.opponent.name))

    def _show_values(self) -> None:
        game = self.against.game
        if game.is_over:
            self.screen.say("no values: the game is over")
            return
        text = dialogue_advice.values_text(
            game=game,
            exact=best_play_values(game) or {},
            learned={} if self.agent is None else agent_values(game, self.agent),
            opponent=self.opponent.name,
            screen=self.screen,
        )
        self.screen.say(f"\n{text}\n")

    def _show_review(self) -> None:
        text = dialogue_advice.review_text(
            game=self.against.game,
            seat=self.against.seat,
            opponent=self.opponent.name,
            screen=self.screen,
        )
        self.screen.say(f"\n{text}\n")

    def _show_help(self) -> None:
        self.screen.say(commands.help_text(move_noun(self.opponent.env_id)))

    def _say_goodbye(self) -> None:
        """Say that a game is left, and show the score if there is one."""
        if not self.against.is_over:
            moves = count_phrase(len(self.against.moves), "move")
            self.screen.say(f"left after {moves}: nobody wins")
        if self.score:
            self._show_score()
