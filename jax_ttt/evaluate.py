"""Grade a saved agent or any player: exactly where its positions can be enumerated.

python -m jax_ttt.evaluate RUN_OR_FILE
"""

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.constructors import PrimitiveConstructorSpec

from jax_ttt import cli
from jax_ttt.__main__ import run_command
from jax_ttt.config import game_facts
from jax_ttt.config.device_flags import DeviceFlags
from jax_ttt.config.errors import Refused, SettingError, flag_name
from jax_ttt.config.game_facts import CERTIFIED, GAMES, EnvId, SeatSetting
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import PLAYERS_HELP, ProgramOptions
from jax_ttt.config.ranges import (
    MaxPositions,
    NumGamesOrNone,
    Seed,
)
from jax_ttt.config.settings import SEATS_OF_SETTING, Config
from jax_ttt.files import json_records
from jax_ttt.runtime import interrupts, standard_streams

if TYPE_CHECKING:
    import jax
    from jax.sharding import Mesh

    from jax_ttt.players.player import Player
    from jax_ttt.players.registry import PlayerSpec
    from jax_ttt.players.saved_agents import Agent

_FILE_OR_BARE = PrimitiveConstructorSpec(
    nargs=(0, 1),
    metavar="[FILE]",
    instance_from_str=lambda words: Path(*words),
    is_instance=lambda value: value is None or isinstance(value, Path),
    str_from_instance=lambda value: [] if value is None else [str(value)],
)
"""A flag with or without a value; without one, the value is `Path()`."""


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
    large; by default as many as fit into memory."""
    exam: Annotated[Path | None, _FILE_OR_BARE] = None
    """Ask the player for its move in positions whose moves have known values: without a
    file, the program's own exam in Connect Four; write the flag after the agent.
    Then other grades are those that --games and --max-positions ask for."""
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
    user_game: cli.UserGameFlags = field(default_factory=cli.UserGameFlags)
    programs: ProgramOptions = field(default_factory=ProgramOptions)
    spread: DeviceFlags = field(default_factory=DeviceFlags)
    machine: cli.MachineFlags = field(default_factory=cli.MachineFlags)


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluateResult:
    """The output of `evaluate --json`."""

    agent: str
    """The player, as named on the command line."""
    env_id: str
    """The game."""
    seed: int | None = None
    """Seed of a saved agent's random numbers."""
    update: int | None = None
    """Updates that a saved agent learned from."""
    config: Config | None = None
    """A saved agent's settings."""
    note: str | None = None
    """Why a program's results are not exact."""
    verdict: str
    """The proof, or a line that beats the player."""
    grade: Grade
    """Its grade, with `details` in enumerable games, and with `exam` if it is asked
    for."""


def main(args: Args) -> int:
    """Run the command and return its exit code."""
    if args.env_id is not None:
        check_output_games(args, args.env_id)
    name = cli.player_or_newest_run(args.agent, quiet=args.json)
    hardware = cli.set_up_device(args.machine, args.spread)

    import jax

    from jax_ttt.games import tree as trees
    from jax_ttt.players import asked_players, registry
    from jax_ttt.solver import proof
    from jax_ttt.text import grade_text, policy_files, progress_table

    spec = registry.read_player_name(name)
    check_output_paths(args, spec)
    env_id = registry.game_of_players([spec], args.env_id)
    check_output_games(args, env_id)
    player_key, match_key = jax.random.split(jax.random.key(args.seed))
    with (
        interrupts.exit_on_signals(is_needed=spec.is_program),
        standard_streams.status_line(f"grading {name}") as status,
    ):
        stamp = registry.file_stamp(spec) if args.certificate else ()
        options = dataclasses.replace(
            args.programs,
            in_advance=not is_exam_only(args, env_id),
            say=status.set_description_str,
        )
        player = examinee = registry.make_player(spec, env_id, player_key, options)
        is_asked_in_advance = spec.is_program and options.in_advance
        has_exam = args.exam is not None
        if has_exam and is_asked_in_advance and not GAMES[env_id].enumerable:
            # An exam asks for other positions than those that the program reaches.
            live = dataclasses.replace(options, in_advance=False)
            examinee = registry.make_player(spec, env_id, player_key, live)
        status.set_description_str(f"grading {name}")
        if args.seat is not None:
            player = dataclasses.replace(player, seats=SEATS_OF_SETTING[args.seat])
        tree = trees.host_tree(env_id)
        certificate, reason = None, ""
        if args.certificate:
            certificate, reason = policy_files.make_certificate(spec, player, tree)
            # The certificate names the checksum of the file, so it must be the same.
            if registry.file_stamp(spec) != stamp:
                raise Refused(f"{name}: its file was replaced meanwhile; try again")
        grade = grade_player(
            args=args,
            env_id=env_id,
            player=player,
            examinee=examinee,
            key=match_key,
            say=status.set_description_str,
            mesh=hardware.mesh,
        )
        examinee.close()
        verdict = grade_text.verdict(grade)
    if args.json:
        print(grade_json(name, player, grade, verdict))
    else:
        likeliest_game = ()
        if tree is not None and player.policy is not None:
            likeliest_game = proof.self_play_line(tree, player.policy)
        title = f"{report_title(name, env_id, player)}, on {hardware.name}\n\n"
        note = asked_players.reason_not_exact(player)
        note = f"note: {note}\n\n" if note else ""
        report = grade_text.full_report(grade, verdict, likeliest_game)
        print(progress_table.report_for_stdout(title + note + report))
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


def is_exam_only(args: Args, env_id: EnvId) -> bool:
    """Return whether the exam takes the place of the grade against every opponent."""
    if args.exam is None or GAMES[env_id].enumerable:
        return False
    return args.max_positions is None


def grade_player(
    args: Args,
    env_id: EnvId,
    player: "Player",
    examinee: "Player",
    key: "jax.Array",
    say: Callable[[str], None],
    mesh: "Mesh | None",
) -> Grade:
    """Return the grade that the flags ask for; `say` shows the progress.

    `examinee` is the same player, which can play in the positions of an exam.
    """
    import jax

    from jax_ttt.grading import exam, grader, search_grade
    from jax_ttt.players import asked_players
    from jax_ttt.runtime import mesh as meshes
    from jax_ttt.text import grade_text

    match_key, exam_key = jax.random.split(key)
    grade = Grade(env_id=env_id, seats=player.seats)
    exam_only = is_exam_only(args, env_id)
    if not exam_only:
        reason = search_grade.reason_not_searchable(
            player, has_limit=args.max_positions is not None
        )
        is_enumerable = GAMES[env_id].enumerable
        has_own_note = asked_players.reason_not_exact(player)
        if reason and not is_enumerable and not has_own_note:
            standard_streams.print_stderr(
                f"note: not graded against every opponent: {reason}"
            )
        grade = grader.follow_lines(
            player=player,
            max_positions=args.max_positions,
            sharding=mesh and meshes.split_sharding(mesh),
            on_batch=grade_text.search_progress(player.name, say),
        )
    if args.exam is not None:
        file = None if args.exam == Path() else args.exam
        questions = exam.read_exam(env_id, file)
        result = exam.take_exam(env_id, examinee, questions, exam_key)
        grade = dataclasses.replace(grade, exam=result)
    if exam_only and args.games is None:
        return grade
    return grader.with_match(grade, player, match_key, args.games)


def output_files(args: Args) -> dict[str, Path]:
    """Return the files to write, by the settings that name them."""
    paths = {
        "policy_csv": args.policy_csv,
        "policy_json": args.policy_json,
        "certificate": args.certificate,
    }
    return {setting: path for setting, path in paths.items() if path}


def check_output_paths(args: Args, spec: "PlayerSpec") -> None:
    """Refuse files that can't be written, or that this player does not have."""
    for setting, path in output_files(args).items():
        if spec.kind != "agent" and setting != "certificate":
            raise SettingError(setting, "used with a saved agent", spec.name)
        cli.check_output_path(flag_name(setting), path)
        if setting == "certificate" and path.exists() and not path.is_file():
            raise Refused(f"{flag_name(setting)} {path}: not a regular file")
        saved = spec.saved
        if saved and path.exists() and path.samefile(saved.path):
            raise Refused(f"{flag_name(setting)} {path}: the agent's own file")


def check_output_games(args: Args, env_id: EnvId) -> None:
    """Refuse files with a policy or a certificate in a game that has none."""
    for setting in output_files(args):
        is_certificate = setting == "certificate"
        games = CERTIFIED if is_certificate else game_facts.games_with_all_boards()
        if env_id not in games:
            raise SettingError(setting, f"used with {', '.join(games)}", env_id)


def report_title(name: str, env_id: EnvId, player: "Player") -> str:
    """Return the report's title: the player, its game, seed and seat."""
    from jax_ttt.text import grade_text

    title = f"{name}: {env_id}"
    if (agent := agent_of_player(player)) is not None:
        title += f", seed {agent.seed}, {agent.num_updates:,} updates"
    if agent is not None and player.seats != agent.config.seats:
        seats = [grade_text.seat_phrase(seat) for seat in player.seats]
        return f"{title}, graded {' and '.join(seats)}"
    learned = grade_text.learned_seat(player.seats)
    return f"{title}, {learned}" if learned else title


def agent_of_player(player: "Player") -> "Agent | None":
    """Return the saved agent of a player; None if it is another kind of player."""
    from jax_ttt.players.registry import AgentPlayer

    return player.agent if isinstance(player, AgentPlayer) else None


def grade_json(name: str, player: "Player", grade: Grade, verdict: str) -> str:
    """Return the grade as one JSON object, with a saved agent's history."""
    from jax_ttt.players import asked_players

    agent = agent_of_player(player)
    result = EvaluateResult(
        agent=name,
        env_id=grade.env_id,
        seed=agent and agent.seed,
        update=agent and agent.num_updates,
        config=agent and agent.config,
        note=asked_players.reason_not_exact(player) or None,
        verdict=verdict,
        grade=grade,
    )
    return json_records.to_json(result)


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
