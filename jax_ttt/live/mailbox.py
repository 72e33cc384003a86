"""A place for the latest status of a training, for one reader that may be slow."""

import queue
import threading

from jax_ttt.live.job import Message


class Mailbox:
    """Holds at most one message: a new one replaces one that was not read.

    The `rows` of replaced messages are kept, so a slow reader misses none. Of rows with
    the same update, the newest is kept. Rows of another `run` are dropped.
    """

    def __init__(self) -> None:
        """Make an empty mailbox."""
        self._message: Message | None = None
        self._arrived = threading.Condition()

    def put(self, message: Message) -> None:
        """Leave a message, a status with its new `rows`; it never blocks."""
        with self._arrived:
            old = self._message
            rows = {row["update"]: row for row in message["rows"]}
            if old is not None and old["run"] == message["run"]:
                rows = {row["update"]: row for row in old["rows"]} | rows
            self._message = {**message, "rows": list(rows.values())}
            self._arrived.notify()

    def get(self, timeout: float) -> Message:
        """Return the message and empty the mailbox; wait for one up to `timeout` s.

        Raises:
            queue.Empty: no message has arrived in time.
        """
        with self._arrived:
            if not self._arrived.wait_for(lambda: self._message is not None, timeout):
                raise queue.Empty
            message, self._message = self._message, None
        if message is None:
            raise queue.Empty
        return message

    def empty(self) -> bool:
        """Return whether there is no message."""
        with self._arrived:
            return self._message is None
