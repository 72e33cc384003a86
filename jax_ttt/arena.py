"""Play a round robin: exact where possible, else by sampling.

python -m jax_ttt.arena random minimax runs/RUN
"""

import dataclasses
import sys
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config.errors import require_package
from jax_ttt.config.game_facts import GAMES, EnvId
from jax_ttt.config.grade import Pair
from jax_ttt.config.player_kinds import BUILT_IN, PLAYERS_HELP, ProgramOptions
from jax_ttt.config.ranges import NumGames, Seed
from jax_ttt.config.shared_flags import MachineFlags, UserGameFlags
from jax_ttt.files import json_records, picture_file
from jax_ttt.runtime import atomic_files, interrupts, standard_streams
from jax_ttt.runtime.words import count_phrase

if TYPE_CHECKING:
    from jax_ttt.api.cross_table import CrossTable


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Play a round robin: each player against every other player, in both seats.

    Results are exact where the game is enumerable and both players' policies are
    known; otherwise games are sampled.

    Exit codes: 0 done, 1 failed, 2 bad flags or file.
    """

    players: tyro.conf.Positional[tuple[str, ...]] = ()
    """The players, by the names above; by default all that need no file."""
    env_id: EnvId | None = None
    """The game; by default the game of the saved agents, else the
    only one of the file of --rules, else tic_tac_toe."""
    games: NumGames = 200
    """Games in each seat: of each pair of a first and a second player whose result is
    not exact."""
    seed: Seed = 0
    """Seed of all random numbers."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the tables."""
    csv: Path | None = None
    """File to write a row for each pair to."""
    svg: Path | None = None
    """File to draw the table to as a heat map, as SVG, PNG or PDF by its ending; needs
    the extra `plots`."""
    user_game: UserGameFlags = field(default_factory=UserGameFlags)
    programs: ProgramOptions = field(default_factory=ProgramOptions)
    machine: MachineFlags = field(default_factory=MachineFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    for flag, path in (("--csv", args.csv), ("--svg", args.svg)):
        atomic_files.check_output_path(flag, path)
    picture_file.check_picture_file("--svg", args.svg)
    if args.svg:
        require_package("matplotlib", "plots", "--svg")
    device = cli.set_up_device(args.machine).name

    from jax_ttt.api.cross_table import tournament
    from jax_ttt.players import registry
    from jax_ttt.text import grade_text

    names = args.players
    specs = [registry.read_player_name(name) for name in names]
    env_id = registry.game_of_players(specs, args.env_id)
    if not names:
        names = BUILT_IN if GAMES[env_id].enumerable else ("random",)
    with (
        interrupts.stop_request(exits=True),
        standard_streams.status_line("preparing the players") as status,
    ):
        table = tournament(
            names,
            env_id=env_id,
            num_games=args.games,
            seed=args.seed,
            programs=args.programs,
            say=status.set_description_str,
        )
    if args.json:
        print(json_records.to_json(table))
    else:
        print(f"{env_id} on {device}\n")
        print(table)
        for name, seats in table.learned_seats.items():
            if name in table.notes:
                print(f"{name}: {table.notes[name]}")
            if learned := grade_text.learned_seat(seats):
                print(f"{name} {learned}")
    write_files(args, table)
    return 0


def write_files(args: Args, table: "CrossTable") -> None:
    """Write the files that the flags name, and report each of them."""
    if args.csv:
        rows = [_pair_cells(pair) for pair in table.pairs]
        atomic_files.write_csv(args.csv, rows)
        standard_streams.print_written(
            args.csv, count_phrase(len(rows), "row"), args.json
        )
    if args.svg:
        table.picture().save(args.svg)
        standard_streams.print_written(args.svg, as_json=args.json)


def _pair_cells(pair: Pair) -> dict[str, object]:
    """Return the rates of a pair as cells by column."""
    cells: dict[str, object] = {"first": pair.first, "second": pair.second}
    cells["num_games"] = pair.num_games
    for place, name in enumerate(("win_rate", "draw_rate", "loss_rate")):
        bounds = {f"{name}_low": pair.low[place], f"{name}_high": pair.high[place]}
        cells |= {name: pair.rates[place], **bounds}
    return cells | {"evidence": pair.evidence}


COMMAND = cli.Command(
    module="jax_ttt.arena",
    args_type=Args,
    main=main,
    notes=PLAYERS_HELP,
    examples={
        "": "Compare the players that need no file.",
        "random minimax runs/RUN --csv pairs.csv": "Compare three, and keep the pairs.",
    },
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
