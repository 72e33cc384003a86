"""Grade tic-tac-toe players that others wrote, and write docs/results/ladder.md.

python -m tools.ladder

`systems.toml` in `docs/examples/ladder` names the systems. One of a package registry is
installed into an environment of its own below `.ladder/`, and plays as a program: a
script beside that file speaks the protocol of docs/use/programs.md. A published system
without a package is trained again, by its preset. Each is graded exactly. An Elo rating
from sampled games stands beside the proofs.
"""

import dataclasses
import re
import shlex
import subprocess
import sys
import textwrap
import venv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, TypeAlias

import jax
import msgspec
import tyro
from msgspec import Meta

import jax_ttt
from docs.examples.exam import examine
from jax_ttt.api.cross_table import CrossTable
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import DEFAULT_GAME, SEATS, Seat, seat_name
from jax_ttt.config.grade import Grade
from jax_ttt.config.player_kinds import ProgramOptions
from jax_ttt.config.presets import PRESETS, Preset
from jax_ttt.files import json_records
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.games.played_game import Game
from jax_ttt.grading import certificates, grader, round_robin
from jax_ttt.grading.certificates import Certificate
from jax_ttt.pictures import picture as pictures
from jax_ttt.pictures.axes import new_figure
from jax_ttt.players import registry, user_players
from jax_ttt.players.player import Player
from jax_ttt.runtime import atomic_files
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text.board_text import game_boards
from jax_ttt.text.grade_text import verdict_word
from tools.markdown import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "ladder.md"
CERTIFICATES = ROOT / "docs" / "ladder"
ENVIRONMENTS = ROOT / ".ladder"
SCRIPTS = ROOT / "docs" / "examples" / "ladder"


@dataclasses.dataclass(frozen=True, kw_only=True)
class System:
    """A player of others: a package with a script, or a preset that reproduces it."""

    name: str
    source: str
    """A repository of GitHub, or where else it comes from."""
    how: str
    """How it plays, in a few words."""
    requirements: tuple[str, ...] = ()
    """What pip installs for the script."""
    script: str = ""
    """A file in `docs/examples/ladder`, with its arguments."""
    preset: Preset | None = None
    """The preset that trains it again, by its published rules, with seed 1."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Systems:
    """The systems of `systems.toml`."""

    installed: tuple[System, ...]
    """Players of tic-tac-toe of package registries."""
    reproduced: tuple[System, ...]
    """Our reproductions of published systems, by their presets."""
    examined: tuple[System, ...]
    """Players of the usual Connect Four, which take its exam."""
    missing: dict[str, str]
    """Why other systems are missing, by name."""


SYSTEMS = msgspec.toml.decode((SCRIPTS / "systems.toml").read_bytes(), type=Systems)
ExamRow: TypeAlias = tuple[System, dict[str, str]]
"""A system, and its shares in the exam as text, by kind."""
NUM_TOURNAMENTS = 5
"""Tournaments for the Elo ratings, each with other random numbers."""
THEMES: tuple[Theme, ...] = ("light", "dark")
POOL = ("random", "blend:0.3:minimax", "minimax", "minimax-first")
"""Our players that take part in the Elo rating too."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Args:
    """Grade third-party players exactly, and write docs/results/ladder.md."""

    only: tuple[str, ...] = ()
    """Systems to grade, by name; by default all."""
    num_updates: Annotated[int, Meta(ge=1, le=10**9)] | None = None
    """Updates of the systems that are trained again; by default the preset's."""
    games: Annotated[int, Meta(ge=1, le=10**6)] = 200
    """Games of each pair in each seat, for the Elo rating."""
    copies: Annotated[int, Meta(ge=1, le=1000)] = 2
    """Processes of a program, which answer at the same time."""
    exam: bool = True
    """Let the players of Connect Four take the exam."""
    page: Path = PAGE
    """File to write the page to."""
    certificates: Path = CERTIFICATES
    """Folder to write the certificates of unbeatable players, and the picture, to."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A graded system."""

    system: System
    player: Player
    grade: Grade
    certificate: str  # the file's name; empty if no seat is certified


def main(argv: Sequence[str] | None) -> int:
    """Grade the systems, and write the page and the certificates."""
    args = tyro.cli(Args, args=argv, prog="python -m tools.ladder")
    systems = chosen_systems(args.only)
    if args.only and args.page == PAGE:
        raise Refused("--only needs --page and --certificates: the page has all")
    args.certificates.mkdir(parents=True, exist_ok=True)
    for system in systems:  # it may be beatable now, or left out
        (args.certificates / certificate_name(system)).unlink(missing_ok=True)
    rows: list[Row] = []
    exam_rows: list[ExamRow] = []
    missing = dict(SYSTEMS.missing)
    for system in systems:
        print(f"{system.name}: {system.how}", flush=True)
        try:
            rows.append(graded_row(system, args))
        except (Refused, subprocess.CalledProcessError) as error:
            missing[system.name] = without_paths(error)
            print(f"  left out: {error}", flush=True)
    for system in SYSTEMS.examined if args.exam else ():
        print(f"{system.name}: exam of Connect Four", flush=True)
        try:
            exam_rows.append(exam_row(system, args.copies))
        except (Refused, subprocess.CalledProcessError) as error:
            missing[system.name] = without_paths(error)
            print(f"  left out: {error}", flush=True)
    both = [row.player for row in rows if row.player.seats == SEATS]
    ranking = sampled_ratings(both, args.games)
    text = page(rows, ranking, exam_rows, missing, args.games)
    atomic_files.write_output(args.page, text.encode())
    for theme in THEMES:
        path = args.certificates / f"ratings-{theme}.svg"
        ratings_chart(ranking, verdicts_of(rows), theme).save(path)
    return 0


def without_paths(error: Exception) -> str:
    """Return an error as text for a table of the page."""
    text = str(error).replace(f"{ROOT}/", "").replace(f"{sys.prefix}/", "")
    return text.replace("|", "\\|").replace("\n", " ")


def chosen_systems(names: Sequence[str]) -> list[System]:
    """Return the systems with these names, or all.

    Raises:
        Refused: there is no system with a name.
    """
    systems = (*SYSTEMS.installed, *SYSTEMS.reproduced)
    by_name = {system.name: system for system in systems}
    for name in names:
        if name not in by_name:
            raise Refused(f"{name}: no such system; there are {', '.join(by_name)}")
    return [by_name[name] for name in names] if names else [*systems]


def certificate_name(system: System) -> str:
    """Return the name of the file of a system's certificate."""
    return f"{system.name}.json"


def graded_row(system: System, args: Args) -> Row:
    """Return a system with its exact grade, and write its certificate.

    Raises:
        Refused: the program gives a wrong answer.
        CalledProcessError: the packages can't be installed.
    """
    player = make_player(system, args)
    key = jax.random.key(0)
    grade = grader.with_match(grader.follow_lines(player), player, key)
    name = ""
    certificate = certificate_of(player)
    if certificate is not None:
        name = certificate_name(system)
        text = json_records.to_json(certificate)
        atomic_files.write_output(args.certificates / name, f"{text}\n".encode())
    return Row(system, player, grade, name)


def make_player(system: System, args: Args) -> Player:
    """Return a system as a player: trained again, or its program.

    Raises:
        Refused: the program gives a wrong answer.
        CalledProcessError: the packages can't be installed.
    """
    if system.preset is not None:
        config = PRESETS[system.preset]
        if args.num_updates is not None:
            config = config.replace(num_updates=args.num_updates)
        run = jax_ttt.train(1, config)
        return dataclasses.replace(jax_ttt.player(run.agent), name=system.name)
    spec = registry.read_player_name(program_name(system))
    options = ProgramOptions(copies=args.copies, answer_seconds=120.0)
    player = registry.make_player(spec, DEFAULT_GAME, jax.random.key(0), options)
    player = user_players.with_all_moves(player)
    return dataclasses.replace(player, name=system.name)


def program_name(system: System) -> str:
    """Return the player's name of a system's program, whose packages are installed.

    Raises:
        CalledProcessError: the packages can't be installed.
    """
    script, *arguments = shlex.split(system.script)
    words = [str(install(system)), str(SCRIPTS / script), *arguments]
    return f"program:{shlex.join(words)}"


def install(system: System) -> Path:
    """Return the Python of the system's environment, which is made at the first call.

    Raises:
        CalledProcessError: pip can't install a package.
    """
    if not system.requirements:
        return Path(sys.executable)
    # Systems with the same packages share an environment.
    folder = ENVIRONMENTS / re.sub(r"[^\w.-]+", "-", " ".join(system.requirements))
    python = folder / "bin" / "python"
    done = folder / "installed"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *system.requirements], check=True)
        done.write_text(" ".join(system.requirements), "utf-8")
    return python


def certificate_of(player: Player) -> Certificate | None:
    """Return the certificate of the seats that are proven; None if there are none."""
    try:
        moves, _ = certificates.proven_moves(player)
    except Refused:
        return None
    return Certificate.of(player, player.name, moves)


def exam_row(system: System, copies: int) -> ExamRow:
    """Return how a player does in the exam of Connect Four.

    Raises:
        Refused: the program gives a wrong answer.
        CalledProcessError: the packages can't be installed.
    """
    env_id = "connect_7x6"
    spec = registry.read_player_name(program_name(system))
    options = ProgramOptions(copies=copies, answer_seconds=120.0)
    player = registry.make_player(spec, env_id, jax.random.key(0), options)
    try:
        return system, dict(examine(player))
    finally:
        player.close()


@dataclasses.dataclass(frozen=True)
class Rating:
    """A player's Elo ratings in several tournaments of sampled games."""

    player: str
    elo: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean rating."""
        return fmean(self.elo)


def sampled_ratings(players: Sequence[Player], num_games: int) -> list[Rating]:
    """Return Elo ratings from sampled games, also of some players of ours.

    All games are sampled, as in usual tournaments, although most results are known.
    """
    ours = [jax_ttt.player(name) for name in POOL]
    sampled = [dataclasses.replace(player, policy=None) for player in (*players, *ours)]
    elo: dict[str, list[float]] = {player.name: [] for player in sampled}
    for seed in range(NUM_TOURNAMENTS):
        pairs = round_robin.play_round_robin(
            players=sampled,
            env_id=DEFAULT_GAME,
            key=jax.random.key(seed),
            num_games=num_games,
        )
        table = CrossTable(env_id=DEFAULT_GAME, names=tuple(elo), pairs=pairs)
        for rank in table.ranking:
            elo[rank.player].append(rank.elo)
    ratings = [Rating(name, tuple(values)) for name, values in elo.items()]
    return sorted(ratings, key=lambda rating: -rating.mean)


PAGE_TEXT = """# A ladder of players

<!-- Made by `make ladder`: run that instead of editing. -->

Players of tic-tac-toe that others wrote, graded exactly: over all positions of the
game, by seat. Each plays with the settings of its documentation, as a
[program](../use/programs.md) whose script is in
[docs/examples/ladder](../examples/ladder). A player with random numbers begins each
position with the seed of the table, and its verdict holds for that seed. A grade says
how a player does, not how good the software around it is.

`make ladder` installs the packages, each into an environment of its own below
`.ladder/` (several GB), asks every player for its move in every position, and writes
this page and the [certificates](../learn/proof.md#certificates), which
`python docs/check_certificate.py FILE` checks without the player. Its flags:
`python -m tools.ladder --help`.

## Who can be beaten

Wins / draws / losses are exact, in %, against a player of random moves. A player that
never loses wins 99.479% as X and 91.640% as O at most.

{installed}

{counts}

## Published systems, trained again

These are our reproductions, each with its preset and seed 1, not the authors' programs:
the original code often plays worse. [published.md](published.md) names the changes, and
compares both over many seeds.

{reproduced}

## The games that beat them

A shortest game that each beatable player loses. The cells are 0 to 8, row by row.

<details markdown="1"><summary>The games</summary>

{lines}
</details>

## What a rating does not show

An Elo rating compares the mean scores of players. So it says little about whether a
player can be beaten. Here each pair among these players and four of ours has played
{games} sampled games in each seat, in {tournaments} tournaments with other random
numbers. Two players without random numbers repeat one game. The systems of one seat are
left out.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="../ladder/ratings-dark.svg">
  <img alt="Elo ratings, and who can be beaten" src="../ladder/ratings-light.svg">
</picture>

{ranking}

{inversions}

## Connect Four

Players of the usual board, 7 x 6, in
[the exam](../learn/connect_four.md#an-exam-of-connect-four): the share of its
positions in which their move keeps the result of best play, with a 95% interval.

{exam}

## Who is missing

{missing}
"""


def page(
    rows: Sequence[Row],
    ratings: Sequence[Rating],
    exam_rows: Sequence[ExamRow],
    missing: Mapping[str, str],
    num_games: int,
) -> str:
    """Return the text of the page."""
    installed = [row for row in rows if row.system.preset is None]
    proven = [row for row in installed if row.grade.unbeatable]
    counts = f"{len(proven)} of {len(installed)} are proven unbeatable"
    shares = [row.grade.asked_twice for row in proven]
    if asked_twice := [share for share in shares if share is not None]:
        counts += (
            " by the moves that they gave,\n"
            f"{min(asked_twice):.0%} of which were "
            "[asked for twice](../use/programs.md#one-move-in-each-position);\n"
            "another answer would be another player"
        )
    counts += "."
    return PAGE_TEXT.format(
        installed=results_table(installed),
        counts=counts,
        reproduced=results_table([row for row in rows if row.system.preset]),
        lines="\n".join(lost_game(row) for row in rows if row.grade.shortest_loss),
        games=num_games,
        tournaments=NUM_TOURNAMENTS,
        ranking=ratings_table(rows, ratings),
        inversions=inversions(rows, ratings),
        exam=exam_table(exam_rows),
        missing=table(("system", "why"), sorted(missing.items())),
    )


def results_table(rows: Sequence[Row]) -> str:
    """Return the exact results of all systems, the unbeatable ones first."""

    def cells(row: Row) -> list[str]:
        certificate = "-"
        if row.certificate:
            proven = [
                seat_name(seat)
                for seat, grade in row.grade.followed.items()
                if seat in row.grade.seats and grade.unbeatable
            ]
            file = f"[{row.certificate}](../ladder/{row.certificate})"
            certificate = f"{file} as {' and '.join(proven)}"
        seats = [seat_cells(row.grade, seat) for seat in SEATS]
        return [
            f"`{row.system.name}`",
            source_and_version(row.system),
            row.system.how,
            *seats,
            verdict_of(row.grade),
            certificate,
        ]

    head = (
        "player",
        "source",
        "how it plays",
        "as X",
        "as O",
        "verdict",
        "certificate",
    )
    ordered = sorted(rows, key=lambda row: (not row.grade.unbeatable, -mean_wins(row)))
    return table(head, [cells(row) for row in ordered])


def source_and_version(system: System) -> str:
    """Return where a system comes from, with the package's version, as Markdown."""
    source = system.source
    if "/" in source:
        source = f"[{source}](https://github.com/{source})"
    version = f" `{system.requirements[0]}`" if system.requirements else ""
    return source + version


def mean_wins(row: Row) -> float:
    """Return the mean win rate of the seats that a system plays."""
    rates = row.grade.mean_rates(row.grade.seats)
    return 0.0 if rates is None else rates[0]


def seat_cells(grade: Grade, seat: Seat) -> str:
    """Return wins, draws and losses in a seat, in %; `-` for a seat not learned."""
    if seat not in grade.seats or seat not in grade.rates:
        return "-"
    rates = grade.rates[seat]
    text = " / ".join(f"{100 * rate:.3f}" for rate in rates.rates)
    return text if rates.is_exact else f"{text} (sampled)"


def lost_game(row: Row) -> str:
    """Return the boards of a shortest game that a player loses."""
    loss = row.grade.shortest_loss
    if loss is None:
        return ""
    seat, line = loss
    boards = game_boards(Game.start(DEFAULT_GAME, line))
    name = seat_name(seat)
    return f"`{row.system.name}`, as {name}:\n\n```text\n{boards}\n```\n"


def ratings_table(rows: Sequence[Row], ratings: Sequence[Rating]) -> str:
    """Return the Elo ratings beside what is proven."""
    verdicts = verdicts_of(rows)
    return table(
        ("player", "Elo, mean", "lowest to highest", "proof"),
        [
            (
                f"`{rating.player}`",
                f"{rating.mean:+.0f}",
                f"{min(rating.elo):+.0f} to {max(rating.elo):+.0f}",
                verdicts[rating.player],
            )
            for rating in ratings
        ],
    )


def verdicts_of(rows: Sequence[Row]) -> dict[str, str]:
    """Return in a word what is proven of each player, also of ours."""
    ours = {name: verdict_of(jax_ttt.grade(name, num_games=0)) for name in POOL}
    return ours | {row.system.name: verdict_of(row.grade) for row in rows}


def verdict_of(grade: Grade) -> str:
    """Return the verdict without its condition, which the page says once."""
    return verdict_word(grade).partition(" by ")[0]


def inversions(rows: Sequence[Row], ratings: Sequence[Rating]) -> str:
    """Return which beatable players have a higher rating than an unbeatable one.

    Only those count whose lowest rating is above the other's highest.
    """
    verdicts = verdicts_of(rows)
    pairs = [
        (higher, lower)
        for higher in ratings
        for lower in ratings
        if verdicts[higher.player] == "beatable"
        and verdicts[lower.player] == "unbeatable"
        and min(higher.elo) > max(lower.elo)
    ]
    if not pairs:
        return "Here no beatable player has a higher rating than an unbeatable one."
    higher, lower = max(pairs, key=lambda pair: pair[0].mean - pair[1].mean)
    text = (
        f"In {count_phrase(len(pairs), 'pair')}, a beatable player has a higher rating "
        "than an unbeatable one in all tournaments. The widest: "
        f"`{higher.player}` can be beaten, and has {higher.mean - lower.mean:.0f} "
        f"points more than `{lower.player}`, which nobody can beat. A rating rewards "
        "wins against weak players; a single game that loses costs little if few "
        "opponents of the tournament find it."
    )
    return "\n".join(textwrap.wrap(text, 88))


def ratings_chart(
    ratings: Sequence[Rating], verdicts: Mapping[str, str], theme: Theme
) -> Picture:
    """Draw the ratings; players that can be beaten have an open circle."""
    colour, _, other_colour, *_ = pictures.colours(theme)
    with pictures.theme_style(theme):
        figure = new_figure(7, 1 + 0.25 * len(ratings))
        axes = figure.subplots()
        for verdict, marker_colour, face in (
            ("unbeatable", colour, colour),
            ("beatable", other_colour, "none"),
            ("not decided", other_colour, other_colour),
        ):
            places = [
                place
                for place, rating in enumerate(ratings)
                if verdicts[rating.player] == verdict
            ]
            if places:
                axes.scatter(
                    [ratings[place].mean for place in places],
                    places,
                    label=verdict,
                    edgecolors=marker_colour,
                    facecolors=face,
                )
        names = [rating.player for rating in ratings]
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlabel("Elo rating from sampled games, mean")
        axes.grid(axis="x", alpha=0.3)
        axes.legend()
        return pictures.figure_picture(figure, theme)


def exam_table(results: Iterable[ExamRow]) -> str:
    """Return the scores in the exam, as Markdown, the best first."""

    def cells(system: System, shares: Mapping[str, str]) -> list[str]:
        name = f"`{system.name}`"
        return [name, source_and_version(system), system.how, *shares.values()]

    head = (
        "player",
        "source",
        "how it plays",
        "all",
        "random positions",
        "tactical positions",
    )
    ordered = sorted(results, key=lambda row: -float(row[1]["all"].partition("%")[0]))
    return table(head, [cells(system, shares) for system, shares in ordered])


if __name__ == "__main__":
    try:
        sys.exit(main(None))
    except Refused as error:
        sys.exit(f"error: {error}")
