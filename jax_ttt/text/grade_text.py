"""A grade as text: one line, the verdict, tables, the whole report."""

import dataclasses
import time
from collections.abc import Callable, Sequence

from jax_ttt.config.game_facts import (
    SEATS,
    Seat,
    move_names_phrase,
    move_with_letter,
    seat_name,
)
from jax_ttt.config.grade import (
    Details,
    Grade,
    Match,
    Rates,
    ResultRates,
    SeatGrade,
    by_file_note,
)
from jax_ttt.games import tree as trees
from jax_ttt.games.played_game import Game
from jax_ttt.runtime.words import count_phrase
from jax_ttt.solver.find_corrections import LevelCounts
from jax_ttt.solver.reached_positions import OnBatch, Reach
from jax_ttt.text import html
from jax_ttt.text.board_text import game_boards
from jax_ttt.text.tables import aligned_lines, hanging_lines, table_lines

_WINNING_REPLIES = "winning replies"
"""What a report calls the `losing_ends` of a grade."""
_BY_ANSWERS = "by the moves that it gave"
"""The condition of a proof about a player that was asked for its moves."""
_RATE_NAMES = ("win_rate", "draw_rate", "loss_rate")
_MATCH_HEAD = ["", "wins", "draws", "losses"]


def learned_seat(seats: Sequence[Seat]) -> str:
    """Return the only seat that a player learned, in words; empty for both."""
    if len(seats) != 1:
        return ""
    (seat,) = seats
    return f"learned to move {seat} only, as {seat_name(seat)}"


def seat_phrase(seat: Seat) -> str:
    """Return a seat's name in words, for instance `as X`."""
    return f"as {seat_name(seat)}"


def rates_text(rates: Rates, between: str = "/") -> str:
    """Return wins, draws and losses in percent, for instance `97.1/2.4/0.5`."""
    return between.join(f"{100 * rate:.1f}" for rate in rates.rates)


def pair_text(pair: Rates, between: str = "/") -> str:
    """Return wins, draws and losses in percent, with a mark if they are sampled."""
    return ("" if pair.is_exact else "~") + rates_text(pair, between)


def summary_line(update: int, grade: Grade) -> str:
    """Return an evaluation in one line.

    For instance `update 200: 92.20% wins, 4.60% draws, 3.20% losses against random; as
    X 97.1/2.4/0.5, as O 87.3/6.8/5.9; beatable`. A seat's results are exact if
    available, else sampled and marked as sampled. If the positions that the agent
    reaches were searched, the number of moves with which an opponent wins is added.
    """
    parts = []
    if (mean := grade.mean_rates()) is not None:
        wins, draws, losses = (f"{rate:.2%}" for rate in mean)
        parts.append(f"{wins} wins, {draws} draws, {losses} losses against random")
        parts.append(
            ", ".join(
                f"{seat_phrase(seat)} {rates_text(rates)}"
                for seat, rates in grade.rates.items()
            )
        )
    sampled: list[Seat] = [
        seat for seat, rates in grade.rates.items() if not rates.is_exact
    ]
    if mean is not None and sampled:
        games = sum(grade.rates[seat].num_games for seat in sampled)
        seat_text = _only_seat(sampled)
        parts.append(f"{count_phrase(games, 'game')} sampled{seat_text}")
    if grade.searched:
        ends = ", ".join(
            f"{searched.losing_ends:,} {seat_phrase(seat)}"
            for seat, searched in grade.searched.items()
        )
        parts.append(f"{_WINNING_REPLIES}: {ends}")
    if grade.followed:
        parts.append(verdict_word(grade) + _only_seat(grade.seats))
    return f"update {update:,}: {'; '.join(parts) or 'not evaluated'}"


def _only_seat(seats: Sequence[Seat]) -> str:
    """Return for instance ` as X` if there is one seat, else an empty string."""
    return f" {seat_phrase(seats[0])}" if len(seats) == 1 else ""


def verdict_word(grade: Grade) -> str:
    """Return in a few words whether the player can be beaten."""
    words = {True: "unbeatable", False: "beatable", None: "not decided"}
    word = words[grade.unbeatable]
    if grade.unbeatable and grade.evidence == "asked":
        word += f" {_BY_ANSWERS}"
    return word + by_file_note([grade])


def verdict(grade: Grade) -> str:
    """Return the claim that a player is unbeatable, or a shortest line that beats it.

    If neither is known, the verdict says how far the proof or the sample goes. A grade
    that a file says has only a few words.
    """
    if grade.by_file:
        return verdict_word(grade)
    if grade.unbeatable:
        return _proof_sentence(grade, grade.seats)
    proven: list[Seat] = [
        seat for seat in grade.seats if _is_strong_proof(grade.seat(seat))
    ]
    if proven:
        others = dataclasses.replace(
            grade, seats=tuple(seat for seat in grade.seats if seat not in proven)
        )
        rest = f"{seat_phrase(others.seats[0])}: {verdict(others)}"
        return f"{_proof_sentence(grade, proven)}\n{rest}"
    if grade.unbeatable is False:
        return _beatable_verdict(grade)
    if grade.searched:
        return _undecided_verdict(grade)
    if grade.sampled is not None:
        both = grade.sampled.both
        low, high = both.low[2], both.high[2]
        first, second = grade.sampled.first.num_games, grade.sampled.second.num_games
        each = f" ({first:,} in each seat)" if first == second else ""
        return (
            f"nothing is proven: it lost {round(both.loss_rate * both.num_games):,} of "
            f"{count_phrase(both.num_games, 'sampled game')}{each} against random, "
            f"a loss rate of {low:.2%} to {high:.2%} (95% interval)"
        )
    return "not evaluated: nothing is proven"


def _undecided_verdict(grade: Grade) -> str:
    """Return why a search decides nothing: rounding decides, or it ended early."""
    undecided: list[Seat] = [
        seat for seat in grade.seats if grade.unbeatable_in(seat) is None
    ]
    for seat in undecided:
        followed = grade.seat(seat)
        if followed is not None and followed.complete:
            reason = "the lines with such moves are too many"
            if followed.near_loss is not None:
                game = Game.start(grade.env_id, followed.near_loss)
                moves = " ".join(
                    move_with_letter(game.env_id, game.back_to(place).to_move, move)
                    for place, move in enumerate(game.moves)
                )
                reason = f"with such a move it loses the game {moves}"
            return (
                f"not decided {seat_phrase(seat)}: its own moves lose no game, but "
                "moves whose values differ by rounding only count as played, and "
                f"{reason}"
            )
    depths = " and ".join(
        f"up to move {_search_depth(grade.seat(seat))} {seat_phrase(seat)}"
        for seat in undecided
    )
    return f"not decided: searched {depths}; no losing line so far"


def _is_strong_proof(followed: SeatGrade | None) -> bool:
    """Return whether a seat's proof is more than that the agent itself never loses."""
    if followed is None:
        return False
    return followed.proven == "win" or (
        followed.proven is not None and followed.num_corrections is not None
    )


def _proof_sentence(grade: Grade, seats: Sequence[Seat]) -> str:
    """Return what is proven of a player in these seats, and how."""
    followed = [grade.seat(seat) for seat in seats]
    corrections = [part.num_corrections for part in followed if part is not None]
    numbers = [number for number in corrections if number is not None]
    with_corrections = ""
    if numbers:
        with_corrections = f" with {count_phrase(sum(numbers), 'correction')}"
    claim, detail = "unbeatable", "no line of play by any opponent wins against it"
    if all(part is not None and part.proven == "win" for part in followed):
        claim, detail = "wins every game", "every line of play against it is won"
    condition = ""
    if any(part is not None and part.evidence == "asked" for part in followed):
        claim += f" {_BY_ANSWERS}"
        condition = "; another answer would be another player"
        if grade.asked_twice is not None:
            condition = f"; it was asked for {grade.asked_twice:.0%} twice{condition}"
    return (
        f"{claim}{with_corrections}: {detail}, "
        f"{' or '.join(seat_phrase(seat) for seat in seats)} "
        f"({_num_positions(grade, seats)} positions{condition})"
    )


def _search_depth(followed: SeatGrade | None) -> int:
    """Return the number of moves up to which all lines of a seat were followed."""
    return 0 if followed is None else followed.num_moves or 0


def _num_positions(grade: Grade, seats: Sequence[Seat]) -> str:
    """Return the number of positions in a proof: of each seat, or of the whole tree."""
    if grade.searched:
        sizes = [grade.searched[seat].num_positions for seat in seats]
        return " and ".join(f"{size:,}" for size in sizes)
    return f"{trees.enumerated(grade.env_id).num_positions:,}"


def _beatable_verdict(grade: Grade) -> str:
    if grade.shortest_loss is None:
        return "beatable: a line of play by an opponent wins against it"
    seat, line = grade.shortest_loss
    notes = [count_phrase(len(line), "move"), move_names_phrase(grade.env_id)]
    return (
        "beatable: a shortest line that beats it, playing "
        f"{seat_phrase(seat)} ({'; '.join(filter(None, notes))})\n"
        f"{game_boards(Game.start(grade.env_id, line))}"
    )


def report_title(grade: Grade, *facts: str) -> str:
    """Return the title of a report: the player, its game, facts and the graded seats.

    `facts` of an agent have `learned_seat` of the seats that it learned; the graded
    seats are named where they are others.
    """
    title = grade.env_id if grade.player is None else f"{grade.player}: {grade.env_id}"
    seats = ""
    if (learned := learned_seat(grade.seats)) not in facts and (facts or learned):
        seats = f"graded {' and '.join(map(seat_phrase, grade.seats))}"
        seats += " only" if learned else ""
    return ", ".join(filter(None, [title, *facts, seats]))


def titled_report(grade: Grade) -> str:
    """Return the full report of a player below its title."""
    return f"{report_title(grade)}\n\n{full_report(grade)}"


def full_report(grade: Grade) -> str:
    """Return the full report of a player."""
    parts = [f"note: {grade.note}" if grade.note else ""]
    if grade.followed:
        if grade.details is None:
            parts.append(rates_table(grade))
        else:
            parts.append(opponents_table(grade.details))
    parts += [measures_table(grade), *_correction_tables(grade), verdict(grade)]
    if grade.likeliest_game:
        boards = game_boards(Game.start(grade.env_id, grade.likeliest_game))
        parts.append(f"its likeliest moves against itself\n{boards}")
    if grade.sampled is not None:
        parts.append(match_table(grade, grade.sampled))
    return "\n\n".join(part for part in parts if part)


def rates_table(grade: Grade) -> str:
    """Return the results against random by seat, as percentages.

    A seat's rates are exact if all lines of play were followed, else sampled. If some
    games are open, since a search ended early, the rates are lower bounds, and sampled
    rates are left out. The last column has the rate of open games, the number
    of sampled games, or the worst case against any opponent.
    """
    rows: dict[Seat, Rates] = {}
    is_open = any(followed.open_rate for followed in grade.followed.values())
    for seat in SEATS:
        rates = grade.seat(seat)
        if rates is None and not is_open:
            rates = grade.rates.get(seat)
        if rates is not None:
            rows[seat] = rates
    if not rows:
        return "not evaluated"
    digits = 4 if grade.searched else 3
    sampled = [rates for rates in rows.values() if rates.num_games]
    source = ""
    if not sampled:
        source = ", exact"
    elif len(sampled) == len(rows):
        source = ", sampled"
    source += by_file_note([grade])
    name, last = _last_column([*rows.values()], digits)
    lines = [[f"vs. random{source}", "wins", "draws", "losses", name]]
    for (seat, rates), cell in zip(rows.items(), last, strict=True):
        lines.append([seat_phrase(seat), *_percentages(rates.rates, digits), cell])
    mean = grade.mean_rates()
    if len(sampled) == len(rows) and grade.sampled is not None:
        both = grade.sampled.both
        lines.append(["all", *_percentages(both.rates, digits), f"{both.num_games:,}"])
    elif mean is not None and name != "open" and len(rows) == len(grade.seats) > 1:
        lines.append(["mean", *_percentages(mean, digits), ""])
    return "\n".join(table_lines(lines))


def _last_column(rows: Sequence[Rates], digits: int) -> tuple[str, list[str]]:
    """Return the head and the cells of the last column; see `rates_table`."""
    seats = [rates if isinstance(rates, SeatGrade) else None for rates in rows]
    open_rates = [0 if seat is None else seat.open_rate or 0 for seat in seats]
    if any(open_rates):
        return "open", [f"{rate:.{digits}%}" for rate in open_rates]
    games = [rates.num_games for rates in rows]
    if any(games):
        return "games", [f"{number:,}" if number else "exact" for number in games]
    loss_rates = [None if seat is None else seat.worst_loss_rate for seat in seats]
    return "worst case", [
        "not decided"
        if rate is None
        else "never loses"
        if rate == 0
        else f"loses {rate:.0%}"
        for rate in loss_rates
    ]


def _percentages(rates: ResultRates, digits: int) -> list[str]:
    return [f"{rate:.{digits}%}" for rate in rates]


def opponents_table(details: Details) -> str:
    """Return the exact results against each opponent as a table of percentages."""
    head = ["exact"]
    for seat in SEATS:
        head += [f"{seat_phrase(seat)}: wins", "draws", "losses"]
    lines = [
        [
            f"vs. {opponent}",
            *(f"{100 * rate:.3f}" for seat in SEATS for rate in match.seat(seat).rates),
        ]
        for opponent, match in details.opponents.items()
    ]
    return "\n".join(table_lines([head, *lines]))


def measures_table(grade: Grade) -> str:
    """Return the measures of a player that are not rates, a line each; may be empty."""
    rows: list[tuple[str, str]] = []
    for seat, followed in grade.followed.items():
        rows += _seat_measures(seat_phrase(seat), followed)
    if (details := grade.details) is not None:
        tree = trees.enumerated(grade.env_id)
        rows.append(
            (
                "optimal_move_rate",
                f"{details.optimal_move_rate:.3%} of {len(tree.decisions):,} "
                f"positions, {details.reachable_optimal_move_rate:.3%} of the "
                f"{details.num_reachable:,} reached",
            )
        )
        text = f"{details.exploitability:.6f} (0: optimal, 1: always beaten)"
        rows.append(("exploitability", text))
        if (error := details.mean_abs_q_error) is not None:
            moves = int(tree.legal_action_mask.sum())
            text = f"{error:.4f} on average over {moves:,} legal moves"
            rows.append(("|Q - minimax|", text))
    return "\n".join(hanging_lines(rows))


def _seat_measures(name: str, followed: SeatGrade) -> list[tuple[str, str]]:
    rows = []
    if (num_positions := followed.num_positions) is not None:
        images = ", mirror images counted once" if followed.merged else ""
        rows.append((f"{name}: positions", f"{num_positions:,}{images}"))
    if (lines := followed.lines) is not None:
        text = f"{lines.won:,} won, {lines.drawn:,} drawn, {lines.lost:,} lost"
        rows.append((f"{name}: lines of play", text))
    if (corrections := followed.num_corrections) is not None:
        rows.append((f"{name}: corrections", f"{corrections:,}"))
    if (losing_ends := followed.losing_ends) is not None:
        rows.append((f"{name}: {_WINNING_REPLIES}", f"{losing_ends:,}"))
    if choices := followed.losing_choices:
        rows.append((f"{name}: had a choice", f"{choices:,} positions on losing lines"))
    if followed.open_rate:
        low, high = followed.low[0], followed.high[0]
        text = (
            f"games that last more than {followed.num_moves} moves; so the win rate is "
            f"{low:.4%} to {high:.4%}"
        )
        rows.append((f"{name}: open", text))
    return rows


def _correction_tables(grade: Grade) -> list[str]:
    """Return the levels in which a player is to move, of each seat with corrections."""
    return level_tables(
        [
            LevelCounts(
                seat=seat,
                num_stones=num_stones,
                num_positions=num_positions,
                num_corrections=num_corrections,
            )
            for seat, followed in grade.followed.items()
            if followed.num_corrections and followed.positions is not None
            for num_stones, (num_positions, num_corrections) in enumerate(
                zip(followed.positions, followed.corrections or (), strict=True)
            )
            if num_stones % 2 == SEATS.index(seat)
        ]
    )


def level_tables(levels: Sequence[LevelCounts]) -> list[str]:
    """Return a table for each seat: stones, own positions and corrections, their sums.

    Own positions are those in which the player is to move.
    """
    tables = []
    for seat in SEATS:
        counts = [
            (level.num_stones, level.num_positions, level.num_corrections)
            for level in levels
            if level.seat == seat
        ]
        if not counts:
            continue
        rows = [["stones", "own positions", "corrections"]]
        rows += [[f"{number:,}" for number in level] for level in counts]
        sums = [sum(level[column] for level in counts) for column in (1, 2)]
        rows.append(["all", *(f"{number:,}" for number in sums)])
        tables.append("\n".join([seat_phrase(seat), *table_lines(rows)]))
    return tables


def match_table(grade: Grade, match: Match) -> str:
    """Return a sampled match with its intervals, and whether exact rates are inside."""
    seats = {seat_phrase(seat): match.seat(seat) for seat in SEATS}
    rows = [["", "wins", "draws", "losses", "games"]]
    for name, rates in (seats | {"all": match.both}).items():
        cells = [
            f"{100 * rate:.2f} ({100 * low:.2f} to {100 * high:.2f})"
            for rate, low, high in zip(rates.rates, rates.low, rates.high, strict=True)
        ]
        rows.append([name, *cells, f"{rates.num_games:,}"])
    caption = "vs. random, sampled, in % (in brackets: 95% intervals)"
    lines = [caption, *table_lines(rows)]
    exact: dict[Seat, Rates] = {
        seat: rates for seat, rates in grade.rates.items() if rates.is_exact
    }
    if exact:
        differences = [
            f"{seat_phrase(seat)}, the exact {name} of {rate:.3%} "
            "is outside the interval of the sample"
            for seat, rates in exact.items()
            for name, rate, low, high in zip(
                _RATE_NAMES,
                rates.rates,
                match.seat(seat).low,
                match.seat(seat).high,
                strict=True,
            )
            if not low <= rate <= high
        ]
        lines += differences or ["the sample agrees with the exact values"]
        if differences:
            lines.append(
                "1 in 20 intervals misses the exact value by chance; check with "
                "another --seed or more --games"
            )
    return "\n".join(lines)


def match_text(match: Match) -> str:
    """Return the results of a match: a row for each seat."""
    rows = [_MATCH_HEAD, *_match_rows(match)]
    return "\n".join([_match_title(match), *aligned_lines(rows)])


def match_html(match: Match) -> str:
    """Return what a notebook shows of a match."""
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
        rates = match.seat(seat)
        cells = [
            f"{rate:.2%}"
            + (f" ({100 * low:.1f} to {100 * high:.1f})" if high > low else "")
            for rate, low, high in zip(rates.rates, rates.low, rates.high, strict=True)
        ]
        rows.append([seat_phrase(seat), *cells])
    return rows


def search_progress(name: str, say: Callable[[str], None]) -> OnBatch:
    """Return a function that shows the progress of a search, a few times a second.

    The search calls it with the level and the number of positions that are done there.
    """
    last_time = 0.0

    def on_batch(reach: Reach, level: int, num_done: int) -> None:
        nonlocal last_time
        if (now := time.monotonic()) - last_time < 0.2:
            return
        last_time = now
        bar = "#" * round(20 * num_done / len(reach.keys[level]))
        doing = "grading" if level == reach.num_expanded else "losing lines of"
        say(
            f"{doing} {name} {seat_phrase(reach.player.seat)}: "
            f"move {level + 1} |{bar:<20}| {reach.num_positions:,} positions"
        )

    return on_batch
