"""The person's finished games, in a SQLite file of the user's data folder.

Each game has an id of its own, so importing a file twice counts its games once.
"""

import contextlib
import dataclasses
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from jax_ttt.config.errors import UsageError
from jax_ttt.files.records import JsonObject
from jax_ttt.runtime import streams

VERSION = 1
FILE = "statistics.sqlite"
_TABLE = """CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY, finished REAL NOT NULL, opponent TEXT NOT NULL,
    side TEXT NOT NULL, result TEXT NOT NULL, moves TEXT NOT NULL) WITHOUT ROWID"""
_ADD = "INSERT INTO games VALUES (?,?,?,?,?,?) ON CONFLICT(id) DO NOTHING"
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Errors of the contents, by SQLite's primary codes; a full disk is another kind."""
_WORDS = {"won": "wins", "drawn": "draws", "lost": "losses"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finished:
    """A finished game of the person."""

    id: str  # unlike any other's
    finished: float  # seconds since 1970
    opponent: str  # a level, or an agent's id
    side: str  # the person's: x or o
    result: str  # won, drawn or lost
    moves: str  # the squares, a digit each


class Statistics:
    """Counts of the person's games.

    It may be used in several threads, and by several servers at once.
    """

    def __init__(self, folder: Path | None) -> None:
        """Open the file in a folder; without one, nothing outlives the process.

        A file that is damaged is renamed and kept, and a line on stderr says so.

        Raises:
            UsageError: a newer version has written it.
        """
        self._lock = threading.Lock()
        self._file = _opened(folder)

    def add(self, games: Iterable[Finished]) -> int:
        """Add games; return how many of them were new.

        Raises:
            sqlite3.Error: they can't be written; none is added.
        """
        rows = [dataclasses.astuple(game) for game in games]
        with self._writing() as file:
            before = file.total_changes
            file.executemany(_ADD, rows)
            return file.total_changes - before

    def clear(self) -> None:
        """Forget all games."""
        with self._writing() as file:
            file.execute("DELETE FROM games")

    def games(self, most: int = -1) -> list[Finished]:
        """Return the games, the newest first, at most `most` of them if not -1."""
        names = ", ".join(field.name for field in dataclasses.fields(Finished))
        query = f"SELECT {names} FROM games ORDER BY finished DESC LIMIT ?"
        with self._lock:
            rows = self._file.execute(query, (most,)).fetchall()
        return [
            Finished(**dict(zip(names.split(", "), row, strict=True))) for row in rows
        ]

    def counts(self) -> JsonObject:
        """Return the counts of all games, by side and by opponent."""
        query = (
            "SELECT opponent, side, result, COUNT(*) FROM games "
            "GROUP BY opponent, side, result ORDER BY opponent"
        )
        with self._lock:
            rows = self._file.execute(query).fetchall()
        opponents = dict.fromkeys(row[0] for row in rows)
        by_opponent = [
            {"opponent": name} | _counted([r for r in rows if r[0] == name])
            for name in opponents
        ]
        sides = {side: _counted([r for r in rows if r[1] == side]) for side in "xo"}
        return {**_counted(rows), **sides, "by_opponent": by_opponent}

    def close(self) -> None:
        """Write everything to the file and close it."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._file.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the file for one transaction."""
        with self._lock, self._file:
            yield self._file


def _counted(rows: Sequence[tuple[str, str, str, int]]) -> JsonObject:
    counts = {
        plural: sum(row[3] for row in rows if row[2] == word)
        for word, plural in _WORDS.items()
    }
    games = sum(counts.values())
    rate = counts["wins"] / games if games else None
    return {"games": games, **counts, "win_rate": rate}


def _opened(folder: Path | None) -> sqlite3.Connection:
    if folder is None:
        return _prepared(":memory:")
    path = folder / FILE
    try:
        # For this user only, like the folder; SQLite would ask the umask.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return _prepared(str(path))
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF not in _DAMAGED:
            raise UsageError(f"{path}: {error}") from None
        aside = _set_aside(path)
        streams.tell(
            f"warning: {path} is damaged ({error}): it is kept as {aside.name}, "
            "and the statistics begin again"
        )
        return _prepared(str(path))
    except OSError as error:
        streams.tell(f"warning: statistics are not kept: {path}: {error.strerror}")
        return _prepared(":memory:")


def _prepared(path: str) -> sqlite3.Connection:
    """Open a file of this version, or make one."""
    file = sqlite3.connect(path, timeout=5, check_same_thread=False)
    try:
        (version,) = file.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise UsageError(
                f"{path}: format version {version}; this program reads {VERSION}"
            )
        if file.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("its contents are inconsistent")
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=NORMAL")
        with file:
            file.execute(_TABLE)
            file.execute(f"PRAGMA user_version={VERSION}")
        # A table of another program has other columns.
        file.execute("SELECT id, finished, opponent, side, result, moves FROM games")
    except BaseException:
        file.close()
        raise
    return file


def _set_aside(path: Path) -> Path:
    """Rename a damaged file, and the files beside it that SQLite made."""
    aside = path.with_name(f"{path.stem}.damaged-{time.time_ns()}{path.suffix}")
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{ending}", f"{aside}{ending}")
    return aside
