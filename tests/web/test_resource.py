"""What the page shows of something that is loaded later, computed in Node."""

from page_modules import compute


def test_each_file_of_an_agent_that_learns_is_shown_however_quickly_it_learns():
    ended = compute("shownValues", learned=[2, 3, 1])
    assert ended == {"shown": [0, 1, 2], "underWay": 1}


def test_an_agent_that_learned_meanwhile_is_read_once_more():
    ended = compute("shownValues", learned=[3, 0, 0])
    assert ended == {"shown": [0, 1, 1], "underWay": 0}


def test_a_replaced_load_is_made_again_and_a_failed_one_is_told_and_not_repeated():
    nothing, failed = [None, None], [None, "It failed."]
    ended = compute("failedLoads")
    assert ended["told"] == [nothing, nothing, failed, failed, ["found", None]]
    assert (ended["count"], ended["loaded"]) == (3, "found"), "one who asks for it"


def test_what_was_asked_for_last_is_kept():
    assert compute("loadedKeys", keys=[*"abacab"]) == ["a", "b", "c", "b"]


def test_a_failed_load_is_repeated_after_ten_seconds():
    assert compute("retries", seconds=[0, 9, 11, 12, 22]) == [1, 1, 2, 2, 3]


def test_an_older_version_that_arrives_late_is_not_shown():
    assert compute("overtaken") == "new"
