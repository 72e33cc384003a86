"""How the results that other folders define are printed, drawn and shown in notebooks.

`Shown` says when: in `jax_ttt/config/shown.py`.
"""

from jax_ttt.api import html
from jax_ttt.config import shown
from jax_ttt.config.errors import Refused
from jax_ttt.config.game_facts import GAMES, LETTERS, SEATS, games_with_all_boards
from jax_ttt.config.grade import Grade, Match
from jax_ttt.files import picture_file
from jax_ttt.files.json_records import JsonObject
from jax_ttt.files.picture_file import Picture, Theme
from jax_ttt.grading.correcting import CorrectionResult
from jax_ttt.grading.round_robin import CrossTable
from jax_ttt.pictures import board_svg, group_charts
from jax_ttt.players.saved_agents import Agent
from jax_ttt.runtime.words import count_phrase
from jax_ttt.text import correction_text, grade_text, summary_tables
from jax_ttt.text.tables import aligned_lines

_MATCH_HEAD = ["", "wins", "draws", "losses"]


@shown.text.register
def _(agent: Agent) -> str:
    summary = _agent_summary(agent)
    parts = [
        summary["network"],
        f"seed {agent.seed}",
        count_phrase(agent.num_updates, "update"),
    ]
    if "weights" in summary:
        parts.append(summary["weights"])
    if agent.corrections is not None:
        parts.append(count_phrase(len(agent.corrections), "correction"))
    return f"<agent of {summary['game']}: {', '.join(map(str, parts))}>"


@shown.html.register
def _(agent: Agent) -> str:
    text = html.html_table("Agent", list(_agent_summary(agent).items()))
    text += html.preformatted(grade_text.rates_table(agent.grade))
    if agent.config.env_id not in games_with_all_boards():
        return text
    return html.with_picture(text, agent.picture)


@picture_file.picture_of.register
def _(agent: Agent, theme: Theme) -> Picture:
    env_id = agent.config.env_id
    if not GAMES[env_id].enumerable:
        raise Refused(f"{env_id} is too large to draw an agent; draw a game")
    return board_svg.animation(agent.game_against_itself().states, theme)


def _agent_summary(agent: Agent) -> JsonObject:
    summary: JsonObject = {
        "game": agent.config.env_id,
        "network": agent.config.network,
        "seed": agent.seed,
        "updates": f"{agent.num_updates:,}",
        "opponent": agent.config.opponent,
    }
    if agent.precision != "float32":
        summary["weights"] = agent.precision
    if agent.corrections is not None:
        summary["corrections"] = f"{len(agent.corrections):,}"
    return summary


@shown.text.register
def _(grade: Grade) -> str:
    return f"{grade_text.report_title(grade)}\n\n{grade_text.full_report(grade)}"


@shown.html.register
def _(grade: Grade) -> str:
    return html.preformatted(repr(grade))


@shown.verdict_of.register
def _(grade: Grade) -> str:
    return grade_text.verdict(grade)


@shown.text.register
def _(match: Match) -> str:
    rows = [_MATCH_HEAD, *_match_rows(match)]
    return "\n".join([_match_title(match), *aligned_lines(rows)])


@shown.html.register
def _(match: Match) -> str:
    return html.html_table(_match_title(match), _match_rows(match), _MATCH_HEAD)


def _match_title(match: Match) -> str:
    games = count_phrase(match.first.num_games, "game")
    sampled = f"{games} in each seat, with 95% intervals"
    method = "exact" if match.is_exact else sampled
    if match.first.evidence == "asked":
        method += " by the moves that a player gave"
    if match.player is None:  # the name is beside it, in a grade
        return method
    return f"{match.player} against {match.opponent}: {method}"


def _match_rows(match: Match) -> list[list[str]]:
    rows = []
    for seat in SEATS:
        cells = []
        for rate, low, high in match.seat(seat).rates:
            interval = f" ({100 * low:.1f} to {100 * high:.1f})"
            cells.append(f"{rate:.2%}{'' if match.is_exact else interval}")
        rows.append([grade_text.seat_phrase(seat), *cells])
    return rows


@shown.text.register
def _(result: CorrectionResult) -> str:
    return correction_text.report(result)


@shown.html.register
def _(result: CorrectionResult) -> str:
    return html.preformatted(repr(result))


@shown.text.register
def _(table: CrossTable) -> str:
    return summary_tables.cross_table_text(table)


@shown.html.register
def _(table: CrossTable) -> str:
    first, second = LETTERS
    rows = [
        [f"{name} as {first}", *map(grade_text.pair_text, pairs)]
        for name, pairs in zip(table.names, table.rows, strict=True)
    ]
    title = f"{first} wins / draws / {second} wins, in %; ~ sampled, others exact"
    results = html.html_table(
        title, rows, ["", *(f"{n} as {second}" for n in table.names)]
    )
    ranks = [(r.player, f"{r.elo:+.0f}", f"{r.score:.2%}") for r in table.ranking]
    head = ["player", "Elo", "score against the others"]
    return f"<div>{results}\n{html.html_table('Order', ranks, head)}</div>"


@picture_file.picture_of.register
def _(table: CrossTable, theme: Theme) -> Picture:
    return group_charts.cross_table_chart(table, theme)
