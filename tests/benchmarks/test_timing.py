"""Runs are timed in turn, and printed with their spread."""

from jax_ttt.benchmarks import (
    timing,
)


def test_runs_are_timed_in_turn_after_each_has_run_once():
    calls = []
    runs = [lambda: calls.append("a"), lambda: calls.append("b")]
    times = timing.in_turn(runs, 2)
    assert "".join(calls) == "ab" + "abab"
    assert [(len(t.wall), len(t.cpu)) for t in times] == [(2, 2), (2, 2)]


def test_a_line_has_median_unit_spread_and_cpu_beside_wall_seconds(capsys):
    timed = timing.Timed(9.0, [2.0, 1.0, 4.0], [0.5, 0.7, 0.3])
    row = timing.show_rate("it", 4000, timed, "moves/s")
    assert row == {
        "unit": "moves/s",
        "min": 1000,
        "median": 2000,
        "max": 4000,
        "wall_seconds": 2.0,
        "cpu_seconds": 0.5,
    }
    words = " ".join(capsys.readouterr().out.split())
    assert words == "it 2,000 moves/s (1,000 to 4,000) 0.5 CPU s in 2 s"
    assert timing.show_ms("it", timed, count=10)["median"] == 200


def test_the_median_of_an_even_number_is_between_the_middle_ones():
    assert timing.spread([3.0, 1.0, 2.0, 10.0]) == {
        "min": 1,
        "median": 2.5,
        "max": 10,
    }
