"""Agents and games as a file; `test_game_routes` has more refusals."""

import dataclasses
import random

import pytest
import rules
import served

from jax_ttt.players.shipped import SHIPPED
from jax_ttt.serving.replies import Refusal
from jax_ttt.sessions import backup
from jax_ttt.sessions.statistics import Finished


def played(seed):
    """Return a random finished game, by the rules."""
    rng, board, moves = random.Random(seed), "-" * 9, []
    while rules.moves(board):
        moves.append(rng.choice(rules.moves(board)))
        board = rules.after(board, moves[-1])
    won = rules.winner(board)
    return Finished(
        id=f"game-{seed:06}",
        finished=1.5e9 + seed,
        opponent="medium",
        side="x",
        result="drawn" if won is None else "won" if won == "X" else "lost",
        moves="".join(map(str, moves)),
    )


GAMES = [played(seed) for seed in range(30)]
AGENTS = [(name, path.read_bytes()) for name, path in SHIPPED.items()]


def test_a_file_holds_what_was_written():
    contents = backup.backup_file(GAMES, AGENTS)
    found = backup.read_backup(contents)
    assert found == (GAMES, AGENTS)


def test_a_file_is_never_too_large_to_be_read_again(monkeypatch):
    monkeypatch.setattr(backup, "MOST_BYTES", len(AGENTS[0][1]) * 2)
    contents = backup.backup_file(GAMES, AGENTS * 3)
    assert len(contents) <= backup.MOST_BYTES
    assert backup.read_backup(contents).agents == AGENTS[:1]
    monkeypatch.setattr(backup, "MOST_BYTES", 2000)
    contents = backup.backup_file(GAMES, AGENTS)
    assert len(contents) <= backup.MOST_BYTES
    kept = backup.read_backup(contents).games
    assert kept == GAMES[: len(kept)] != []


def test_any_damage_is_refused_or_harmless():
    """A file with a changed byte is refused, or is a backup of possible games."""
    contents, rng = backup.backup_file(GAMES[:5], []), random.Random(0)
    refused = 0
    for _ in range(300):
        changed = bytearray(contents)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            found = backup.read_backup(bytes(changed))
        except Refusal:
            refused += 1
            continue
        for game in found.games:
            board = served.board_after(map(int, game.moves))
            assert not rules.moves(board)
    assert refused > 100


def test_a_damaged_agent_is_refused_with_its_number():
    name, file = AGENTS[1]
    damaged = bytearray(file)
    damaged[-100] ^= 1
    contents = backup.backup_file([], [AGENTS[0], (name, bytes(damaged))])
    with pytest.raises(Refusal, match="agent 2: its contents were changed"):
        backup.read_backup(contents)


@pytest.mark.parametrize(
    ("moves", "result", "why"),
    [
        ("00" + "03142", "won", "its moves are not possible"),
        ("03142" + "5", "won", "its moves are not possible"),
        ("0314", "won", "no finished game"),
        ("03142", "lost", "its result is not that of its moves"),
        ("03142", "drawn", "its result is not that of its moves"),
    ],
)
def test_a_game_that_was_not_played_is_refused(moves, result, why):
    game = dataclasses.replace(GAMES[0], moves=moves, result=result)
    with pytest.raises(Refusal, match=why):
        backup.read_backup(backup.backup_file([GAMES[1], game], []))
