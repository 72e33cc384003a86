"""Which file of an agent the page shows, computed in Node."""

from page_modules import compute


def test_each_file_of_an_agent_that_learns_is_shown_however_quickly_it_learns():
    ended = compute("shownFiles", learned=[2, 3, 1])
    assert ended == {"shown": [0, 1, 2], "underWay": 1}


def test_an_agent_that_learned_meanwhile_is_read_once_more():
    ended = compute("shownFiles", learned=[3, 0, 0])
    assert ended == {"shown": [0, 1, 1], "underWay": 0}
