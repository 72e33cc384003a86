"""A reader that is slow gets the latest status and all rows."""

import queue
from typing import Any

import pytest

from jax_ttt.live.mailbox import Mailbox


def message(run, *updates, status="running") -> Any:
    rows = [{"update": update, "status": status} for update in updates]
    return {"run": run, "status": status, "rows": rows}


def test_the_latest_message_has_the_rows_of_those_before_it():
    box = Mailbox()
    box.put(message(1, 0, 10))
    box.put(message(1))
    box.put(message(1, 10, 20, status="finished"))
    found: Any = box.get(0.0)
    assert found["status"] == "finished"
    assert [(row["update"], row["status"]) for row in found["rows"]] == [
        *((0, "running"), (10, "finished")),
        (20, "finished"),
    ]
    with pytest.raises(queue.Empty):
        box.get(0.0)


def test_rows_of_another_run_are_dropped():
    box = Mailbox()
    box.put(message(1, 0, 10))
    box.put(message(2, 0))
    assert [row["update"] for row in box.get(0.0)["rows"]] == [0]
