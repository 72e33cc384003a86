"""Refusal of other sites' requests, and the headers of all replies.

A page of another site can send requests to this machine: they are refused here. A name
of another site can also resolve to 127.0.0.1 (DNS rebinding): Starlette's
`TrustedHostMiddleware` refuses it. Source: MDN, Fetch metadata.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jax_ttt.web.export import POLICY

_SELF = "'self'"
HEADERS = {
    "content-security-policy": POLICY.format(
        scripts=_SELF, workers=_SELF, styles=_SELF, connections=_SELF
    )
    + "; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",  # a browser asks whether its copy is still right
}
"""The headers of every reply."""


class SecurityMiddleware:
    """Refuses requests from pages of other sites, and adds `HEADERS` to all replies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or refuse it."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self.app
        if scope["type"] == "http" and is_cross_site(scope):
            reason = "requests of other sites are refused"
            app = JSONResponse({"error": reason}, status_code=403)
        await app(scope, receive, send_with_headers)


def is_cross_site(scope: Scope) -> bool:
    """Return whether another site's page has sent a request.

    A link to the page itself may stand on any site. Browsers send `Sec-Fetch-Site`,
    which holds even where a proxy changes the names of hosts. Without TLS they send it
    to this machine only; elsewhere, `Origin` is compared with `Host`.
    """
    headers = Headers(scope=scope)
    site = headers.get("sec-fetch-site")
    if site is None:
        origin = headers.get("origin")
        return origin is not None and origin.partition("://")[2] != headers.get("host")
    if site in ("same-origin", "none"):
        return False
    is_link = headers.get("sec-fetch-dest") == "document" and scope["method"] == "GET"
    return not (is_link and scope["path"] == "/")
