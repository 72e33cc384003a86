"""The file of finished games."""

import dataclasses
import os
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from jax_ttt.config.errors import UsageError
from jax_ttt.sessions import statistics
from jax_ttt.sessions.statistics import Finished, Statistics


def finished(number, **changes):
    game = Finished(
        id=f"game-{number:04}",
        finished=float(number),
        opponent="expert",
        side="x",
        result="drawn",
        moves="402613875",
    )
    return dataclasses.replace(game, **changes)


@pytest.fixture
def kept(tmp_path):
    found = Statistics(tmp_path)
    yield found
    found.close()


def test_games_are_counted_by_side_and_opponent(kept):
    assert kept.counts()["win_rate"] is None
    kept.add([finished(1, result="won"), finished(2, side="o", result="lost")])
    kept.add([finished(3, opponent="<b>", result="won"), finished(4)])
    counts = kept.counts()
    assert (counts["games"], counts["wins"], counts["losses"]) == (4, 2, 1)
    assert (counts["x"]["wins"], counts["o"]["losses"]) == (2, 1)
    assert counts["win_rate"] == pytest.approx(2 / 4), "a draw is no win"
    by_name = {row["opponent"]: row["games"] for row in counts["by_opponent"]}
    assert by_name == {"expert": 3, "<b>": 1}


def test_games_outlive_the_process_even_if_it_is_killed(tmp_path):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from jax_ttt.sessions.statistics import *\n"
        "kept = Statistics(Path(sys.argv[1]))\n"
        "kept.add([Finished(id='a' * 8, finished=1.0, opponent='x', side='x', "
        "result='won', moves='')])\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)])
    assert done.returncode == -9
    again = Statistics(tmp_path)
    assert again.counts()["wins"] == 1
    again.close()


def test_a_game_is_added_once(kept):
    assert kept.add([finished(1), finished(2)]) == 2
    assert kept.add([finished(2), finished(3)]) == 1
    assert [game.id for game in kept.games()] == ["game-0003", "game-0002", "game-0001"]
    assert kept.games(1) == [finished(3)]
    kept.clear()
    assert kept.counts()["games"] == 0


def test_nothing_is_added_if_one_game_can_not_be(kept):
    with pytest.raises(sqlite3.Error):
        kept.add([finished(1), finished(2, finished=float("nan"))])
    assert kept.counts()["games"] == 0


@pytest.mark.parametrize(
    "contents",
    [b"not a database" * 100, b"SQLite format 3\0" + b"\xff" * 5000],
    ids=["text", "noise"],
)
def test_a_damaged_file_is_kept_aside(tmp_path, capsys, contents):
    (tmp_path / statistics.FILE).write_bytes(contents)
    again = Statistics(tmp_path)
    assert again.add([finished(1)]) == 1
    again.close()
    (aside,) = tmp_path.glob("statistics.damaged-*")
    assert aside.read_bytes() == contents
    (line,) = capsys.readouterr().err.splitlines()
    assert aside.name in line


def test_a_file_cut_in_the_middle(tmp_path, capsys):
    kept = Statistics(tmp_path)
    kept.add([finished(n) for n in range(2000)])
    kept.close()
    path = tmp_path / statistics.FILE
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    again = Statistics(tmp_path)
    again.add([finished(1)])
    again.close()
    assert "damaged" in capsys.readouterr().err


def test_a_full_disk_is_no_damage(tmp_path, monkeypatch):
    def full(path):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    Statistics(tmp_path).close()
    monkeypatch.setattr(statistics, "_prepared", full)
    with pytest.raises(UsageError, match="disk is full"):
        Statistics(tmp_path)
    assert not [*tmp_path.glob("*.damaged*")]


def test_a_file_of_a_newer_version_is_refused_and_stays(tmp_path):
    Statistics(tmp_path).close()
    with sqlite3.connect(tmp_path / statistics.FILE) as file:
        file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(UsageError, match="version 99; this program reads 1"):
        Statistics(tmp_path)
    assert not [*tmp_path.glob("*.damaged*")]


def test_the_file_is_for_this_user_only(tmp_path):
    before = os.umask(0o022)
    kept = Statistics(tmp_path)
    kept.add([finished(1)])
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    kept.close()
    os.umask(before)


def test_two_servers_share_a_file(tmp_path):
    first, second = Statistics(tmp_path), Statistics(tmp_path)

    def add(kept, begin):
        for n in range(50):
            kept.add([finished(begin + n)])

    threads = [
        threading.Thread(target=add, args=(kept, begin))
        for kept, begin in ((first, 0), (first, 100), (second, 200), (second, 300))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first.counts()["games"] == second.counts()["games"] == 200
    first.close()
    second.close()


def test_without_a_folder_games_are_counted_in_memory(tmp_path, capsys):
    kept = Statistics(None)
    kept.add([finished(1)])
    assert kept.counts()["games"] == 1
    kept.close()
    (tmp_path / "file").touch()
    other = Statistics(tmp_path / "file")
    assert other.counts()["games"] == 0
    assert "not kept" in capsys.readouterr().err
    other.close()
