"""What a request must say of itself: host, origin, type of its body.

A page of another site can send requests to this machine, and its name can be made to
mean 127.0.0.1 (DNS rebinding). So every method is checked. Source: MDN, Fetch metadata.
"""

import ipaddress
import re
import sys
import traceback
from collections.abc import Callable
from typing import TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jax_ttt.files import records
from jax_ttt.files.records import JsonObject
from jax_ttt.serving import replies
from jax_ttt.serving.replies import Refusal

Value = TypeVar("Value")
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
_WITH_BODY = ("POST", "PATCH")
_JSON = re.compile(r'application/json(\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)


class Checked:
    """An application whose requests are checked, and whose replies have all headers.

    Args:
        app: The application.
        port: The port that it is served at.
        names: Its host names, besides those of this machine's own addresses.
        any_address: Whether every IP address is a name of it, as with host 0.0.0.0.
    """

    def __init__(
        self,
        app: ASGIApp,
        port: int,
        names: tuple[str, ...] = (),
        any_address: bool = False,
    ) -> None:
        self.app, self.port = app, port
        self.names = {*LOCAL_NAMES, *(name.lower() for name in names)}
        self.any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        begun = False

        async def send_all(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in replies.HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self.check(scope["method"], scope["path"], Headers(scope=scope))
            await self.app(scope, receive, send_all)
            return
        except Refusal as refusal:
            reply = refused(refusal.status, refusal.reason)
        except Exception:  # a fault of ours: the server goes on
            traceback.print_exc(file=sys.stderr)
            reply = refused(500, "internal error: the server's terminal shows it")
        if not begun:
            await reply(scope, receive, send_all)

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Raise `Refusal` if a request's headers are not allowed."""
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            raise Refusal(400, "one Host header is needed")
        if not self._is_ours(hosts[0]):
            raise Refusal(403, f"this server is not named so: open {self.address}")
        self._check_origin(method, path, headers)
        length = headers.get("content-length")
        if method in _WITH_BODY and length is None:
            raise Refusal(411, "Content-Length is needed")
        size = int(length or 0)
        if size and method in ("GET", "HEAD"):
            raise Refusal(400, f"{method} takes no body")
        if (size or method in _WITH_BODY) and not _JSON.fullmatch(
            headers.get("content-type", "").strip()
        ):
            raise Refusal(415, "Content-Type must be application/json")

    @property
    def address(self) -> str:
        """The address for a browser on this machine."""
        return f"http://127.0.0.1:{self.port}/"

    def _check_origin(self, method: str, path: str, headers: Headers) -> None:
        origins = headers.getlist("origin")
        for origin in origins:
            scheme, _, host = origin.partition("://")
            if scheme != "http" or not self._is_ours(host):
                raise Refusal(403, "requests of other sites are refused")
        site = headers.get("sec-fetch-site", "none")
        if site in ("same-origin", "none"):
            return
        # A link to a page may stand on any site.
        is_page = path == "/" or (path.count("/") == 1 and path.endswith(".html"))
        opened = method == "GET" and is_page and not origins
        if not (opened and headers.get("sec-fetch-dest") == "document"):
            raise Refusal(403, "requests of other sites are refused")

    def _is_ours(self, host: str) -> bool:
        name, colon, port = host.lower().rpartition(":")
        if not colon or port.endswith("]"):
            name, port = host.lower(), "80"
        if port != str(self.port):
            return False
        return name in self.names or (self.any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def sent(value: object, status: int = 200) -> Response:
    """Return a reply with a value as JSON."""
    return Response(replies.json_bytes(value), status, media_type="application/json")


def refused(status: int, reason: str) -> Response:
    """Return the reply to a request that is refused."""
    return sent({"error": reason}, status)


def read_json(body: bytes) -> object:
    """Return the value of a JSON text.

    Raises:
        Refusal: it is not JSON.
    """
    try:
        return records.from_json(object, body)
    except ValueError as error:
        raise Refusal(400, f"the body is not JSON: {str(error)[:200]}") from None


def json_object(value: object, *names: str) -> JsonObject:
    """Return a value that must be a JSON object with no other fields than these.

    Raises:
        Refusal: it is not an object, or has a field of another name.
    """
    if not isinstance(value, dict):
        raise Refusal(400, "a JSON object is needed")
    if unknown := sorted(value.keys() - set(names)):
        raise Refusal(400, f"unknown field {unknown[0][:40]!r}")
    return value


def field(
    fields: JsonObject,
    name: str,
    kind: type[Value],
    is_allowed: Callable[[Value], bool] = lambda value: True,
) -> Value:
    """Return a field, whose type must be exactly `kind`.

    Raises:
        Refusal: it is missing, of another type, or not allowed.
    """
    if name not in fields:
        raise Refusal(400, f"{name} is missing")
    value = fields[name]
    # `type` exactly: True is no number here, and 4.0 no square.
    if not isinstance(value, kind) or type(value) is not kind or not is_allowed(value):
        raise Refusal(400, f"{name} has a value that is not allowed")
    return value


def optional_field(
    fields: JsonObject,
    name: str,
    kind: type[Value],
    is_allowed: Callable[[Value], bool] = lambda value: True,
) -> Value | None:
    """Return a field as `field` does; None if it is missing."""
    if name not in fields:
        return None
    return field(fields, name, kind, is_allowed)
