"""Grade a saved agent or any player: exactly where its positions can be enumerated.

python -m jax_ttt.evaluate RUN_OR_FILE
"""

import dataclasses
import sys
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config import game_facts
from jax_ttt.config.errors import Refused, SettingError, flag_name
from jax_ttt.config.game_facts import CERTIFIED, EnvId, SeatSetting
from jax_ttt.config.player_kinds import PLAYERS_HELP, ProgramOptions
from jax_ttt.config.ranges import (
    MaxPositions,
    NumGamesOrNone,
    Seed,
)
from jax_ttt.config.settings import SEATS_OF_SETTING
from jax_ttt.config.shared_flags import DeviceFlags, MachineFlags, UserGameFlags
from jax_ttt.files import json_records, run_folder
from jax_ttt.runtime import atomic_files, interrupts, standard_streams

if TYPE_CHECKING:
    from jax_ttt.players.registry import PlayerSpec


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Grade a saved agent or any other player.

    In an enumerable game, the grades are exact and say whether the player is proven
    unbeatable. In all others, the grades are exact too if the player plays one move in
    each position: all positions that it reaches are enumerated. Ctrl-C stops the search
    and reports what was found so far.

    Exit codes: 0 done, 1 failed, 2 bad flags or file, or no certificate is possible.
    """

    agent: tyro.conf.Positional[str | None] = None
    """A run's folder, an agent's file, or one of the players above, such as minimax; by
    default the newest run below runs/."""
    env_id: EnvId | None = None
    """The game; by default the saved agent's, else the
    only one of the file of --rules, else tic_tac_toe."""
    seat: SeatSetting | None = None
    """The seat to grade; by default those that the player learned."""
    games: NumGamesOrNone | None = None
    """Games in each seat of a sampled match against random; by default 0 where the
    rates of the graded seats are exact, else 512."""
    seed: Seed = 0
    """Seed of all random numbers."""
    max_positions: MaxPositions | None = None
    """Maximum number of positions to enumerate in each seat where the tree is too
    large; by default as many as memory holds, and 50,000 of a program or a function
    that is asked."""
    policy_csv: Path | None = None
    """File to write the policy to: a row for each position in which the agent decides,
    with its board, to_move, q0 to q8 and move."""
    policy_json: Path | None = None
    """File to write the policy to as JSON."""
    certificate: Path | None = None
    """File to write a certificate to: the player's move in every position that it can
    reach, as JSON, which docs/check_certificate.py checks without this program; in
    tic_tac_toe and the games of four in a row on at most 5 x 5 cells. A player that can
    be beaten in every seat that it learned is refused."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print one JSON object instead of the report."""
    user_game: UserGameFlags = field(default_factory=UserGameFlags)
    programs: ProgramOptions = field(default_factory=ProgramOptions)
    parallel: DeviceFlags = field(default_factory=DeviceFlags)
    machine: MachineFlags = field(default_factory=MachineFlags)


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    name = run_folder.player_or_newest_run(args.agent, quiet=args.json)
    hardware = cli.set_up_device(args.machine, args.parallel)

    from jax_ttt.api import grade as grades
    from jax_ttt.api.player import player as make_player
    from jax_ttt.games import tree as trees
    from jax_ttt.players import registry
    from jax_ttt.players.registry import AgentPlayer
    from jax_ttt.runtime import mesh as meshes
    from jax_ttt.text import grade_text, policy_files, progress_table

    spec = registry.read_player_name(name)
    env_id = registry.game_of_players([spec], args.env_id)
    check_outputs(args, spec, env_id)
    with (
        interrupts.stop_request(exits=True),
        standard_streams.status_line(f"grading {name}") as status,
    ):
        stamp = registry.file_stamp(spec) if args.certificate else ()
        programs = dataclasses.replace(args.programs, say=status.set_description_str)
        player = make_player(name, env_id=env_id, seed=args.seed, programs=programs)
        if args.seat is not None:
            player = dataclasses.replace(player, seats=SEATS_OF_SETTING[args.seat])
        tree = trees.host_tree(env_id)
        certificate, reason = None, ""
        if args.certificate:
            certificate, reason = policy_files.make_certificate(spec, player)
            # The certificate names the checksum of the file, so it must be the same.
            if registry.file_stamp(spec) != stamp:
                raise Refused(f"{name}: its file was replaced meanwhile; try again")
        status.set_description_str(f"grading {name}")
        mesh = hardware.mesh
        grade = grades.grade(
            player,
            num_games=args.games,
            seed=args.seed,
            max_positions=args.max_positions,
            sharding=mesh and meshes.split_sharding(mesh),
            say=status.set_description_str,
        )
    agent = player.agent if isinstance(player, AgentPlayer) else None
    if args.json:
        result = {"verdict": grade.verdict, "grade": grade}
        if agent is not None:
            result |= {"seed": agent.seed, "num_updates": agent.num_updates}
            result["config"] = agent.config
        print(json_records.to_json(result))
    else:
        facts = []
        if agent is not None:
            learned = grade_text.learned_seat(agent.config.seats)
            facts = [f"seed {agent.seed}", f"{agent.num_updates:,} updates", learned]
        title = grade_text.report_title(grade, *facts)
        report = f"{title}, on {hardware.name}\n\n{grade_text.full_report(grade)}"
        print(progress_table.report_for_stdout(report))
    if tree is not None:
        policy_files.write_policy(
            player=player,
            tree=tree,
            as_csv=args.policy_csv,
            as_json=args.policy_json,
            quiet=args.json,
        )
    if args.certificate and certificate is not None:
        policy_files.write_certificate(
            path=args.certificate,
            certificate=certificate,
            reason=reason,
            as_json=args.json,
        )
    return 0


def check_outputs(args: Args, spec: "PlayerSpec", env_id: EnvId) -> None:
    """Refuse files that can't be written, or that this player or game does not have."""
    paths = {
        "policy_csv": args.policy_csv,
        "policy_json": args.policy_json,
        "certificate": args.certificate,
    }
    for setting, path in paths.items():
        if path is None:
            continue
        is_certificate = setting == "certificate"
        games = CERTIFIED if is_certificate else game_facts.games_with_all_boards()
        if env_id not in games:
            raise SettingError(setting, f"used with {', '.join(games)}", env_id)
        if spec.kind != "agent" and not is_certificate:
            raise SettingError(setting, "used with a saved agent", spec.name)
        atomic_files.check_output_path(flag_name(setting), path)
        if is_certificate and path.exists() and not path.is_file():
            raise Refused(f"{flag_name(setting)} {path}: not a regular file")
        saved = spec.saved
        if saved and path.exists() and path.samefile(saved.path):
            raise Refused(f"{flag_name(setting)} {path}: the agent's own file")


COMMAND = cli.Command(
    module="jax_ttt.evaluate",
    args_type=Args,
    main=main,
    notes=PLAYERS_HELP,
    examples={
        "runs/RUN": "Grade a saved agent, and prove whether it can be beaten.",
        "minimax --json": "Grade a player, as JSON.",
        "runs/RUN --policy-csv policy.csv": "Write its move in every position.",
        "runs/RUN --certificate proof.json": "Write a proof that others can check.",
    },
)

if __name__ == "__main__":
    sys.exit(run_command(COMMAND))
