"""Refusals as JSON, and the headers of every reply."""

import base64
import hashlib
import http
import json

POLICY = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy; `{scripts}` are the hashes of inline scripts."""


def hash_source(text: str) -> str:
    """Return what a policy calls an inline script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


HEADERS = {
    "content-security-policy": POLICY.format(scripts=""),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
    # One request a connection: nothing waits in a queue, and no request can hide
    # behind another one.
    "connection": "close",
}
"""The headers of every reply that does not set them itself."""


class Refusal(Exception):  # noqa: N818  what it says to a client
    """A request that is not answered as asked: a status, and the reason in one line."""

    def __init__(self, status: int, reason: str) -> None:
        self.status, self.reason = status, reason
        super().__init__(reason)


def json_bytes(value: object) -> bytes:
    """Return a value as JSON.

    Raises:
        ValueError: a number in it is not finite.
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def refusal(status: int, reason: str) -> bytes:
    """Return a whole HTTP reply, headers included, that refuses a request."""
    body = json_bytes({"error": reason})
    phrase = http.HTTPStatus(status).phrase
    about = HEADERS | {
        "content-type": "application/json",
        "content-length": str(len(body)),
    }
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{k}: {v}" for k, v in about.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
