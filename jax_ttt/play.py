"""Play against a saved agent, a level or any player, in a terminal.

python -m jax_ttt.play --side o
"""

import dataclasses
import secrets
import sys
from dataclasses import field
from typing import Literal

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config import player_kinds
from jax_ttt.config.game_facts import DEFAULT_GAME, SIDES, EnvId
from jax_ttt.config.player_kinds import PLAYERS_HELP, PlayLevel, ProgramOptions
from jax_ttt.config.ranges import Seed
from jax_ttt.config.shared_flags import MachineFlags, UserGameFlags
from jax_ttt.files import run_folder
from jax_ttt.runtime import interrupts, standard_streams
from jax_ttt.text.commands import SideName

DEFAULT_OPPONENT = "shipped:network"
"""The opponent if there is no run."""
_SIDES: dict[str, SideName] = {**SIDES, "x": "x", "o": "o", "random": "random"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Play against a saved agent, a level or any other player, in a terminal.

    Type the number of a square, or a command: undo, hint, values, review, new, quit,
    help. Exit codes: 0 done, 1 failed, 2 bad flags or file, 130 Ctrl-C.
    """

    player: tyro.conf.Positional[str | None] = None
    """A run's folder, an agent's file, or one of the players above, such as minimax; by
    default the newest run below runs/, or shipped:network if there is none."""
    level: PlayLevel = "full"
    """How the opponent plays: beginner (70% random moves, else the player's), casual
    (35%), strong (10%), full (the player itself) or expert (best play; the player's
    values are shown)."""
    side: Literal["x", "o", "random", "first", "second"] = "x"
    """Your side; x, or first, makes the first move. random: drawn for each game."""
    env_id: EnvId | None = None
    """The game; by default the saved agent's, else the
    only one of the file of --rules, else tic_tac_toe."""
    seed: Seed | None = None
    """Seed of the player's random numbers; without this flag, another one each time."""
    user_game: UserGameFlags = field(default_factory=UserGameFlags)
    programs: ProgramOptions = field(default_factory=ProgramOptions)
    machine: MachineFlags = field(default_factory=MachineFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    seed = secrets.randbelow(2**32) if args.seed is None else args.seed
    is_default = args.env_id in (None, DEFAULT_GAME) and args.user_game.rules is None
    default_opponent = DEFAULT_OPPONENT if is_default else ""
    name = run_folder.player_or_newest_run(args.player, otherwise=default_opponent)
    opponent_name = player_kinds.level_player_name(args.level, name)
    cli.set_up_device(args.machine)

    import jax

    from jax_ttt.api.player import opponent_in_a_game
    from jax_ttt.dialogue import Dialogue
    from jax_ttt.players import registry
    from jax_ttt.players.registry import AgentPlayer
    from jax_ttt.text import grade_text, screen

    specs = [registry.read_player_name(each) for each in (name, opponent_name)]
    env_id = registry.game_of_players(specs, args.env_id)
    with interrupts.stop_request(exits=True):
        with standard_streams.status_line(f"preparing {name}") as status:
            programs = dataclasses.replace(
                args.programs, say=status.set_description_str
            )
            player = opponent_in_a_game(name, env_id, seed, programs)
            opponent = player
            if opponent_name != name:
                opponent = opponent_in_a_game(opponent_name, env_id, seed, programs)
        if args.level != "full":
            level = player_kinds.LEVELS[args.level]
            print(f"{level.name}: {player_kinds.level_text(args.level)} ({name})")
            opponent = dataclasses.replace(opponent, name=args.level)
        if learned := grade_text.learned_seat(opponent.seats):
            print(f"({opponent.name} {learned})")
        game_key, _ = jax.random.split(jax.random.key(seed))  # the other: the player's
        games = Dialogue(
            opponent=opponent,
            key=game_key,
            screen=screen.standard_screen(),
            side=_SIDES[args.side],
            agent=player.agent if isinstance(player, AgentPlayer) else None,
        )
        try:
            games.play_games()
        except KeyboardInterrupt:  # the score is already shown
            return 130
        return 0


COMMAND = cli.Command(
    module="jax_ttt.play",
    args_type=Args,
    main=main,
    notes=PLAYERS_HELP,
    examples={
        "--side o": "Play second, against the agent that was saved last.",
        "minimax": "Play against best play.",
    },
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
