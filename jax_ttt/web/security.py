"""Who may ask the server, and the headers of its replies. Imports no JAX.

A page of another site can send requests to this machine, and a name of another site can
be made to mean 127.0.0.1 (DNS rebinding): the latter is what Starlette's
`TrustedHostMiddleware` refuses. Source: MDN, Fetch metadata.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src {scripts}; worker-src {workers}; "
    "style-src {styles}; connect-src {connections}; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of the page."""

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
    """Refuses what pages of other sites ask, and adds `HEADERS` to all replies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self.app
        if scope["type"] == "http" and is_of_another_site(scope):
            reason = "requests of other sites are refused"
            app = JSONResponse({"error": reason}, status_code=403)
        await app(scope, receive, send_with_headers)


def is_of_another_site(scope: Scope) -> bool:
    """Return whether another site's page has sent a request.

    A link to the page itself may stand on any site. The browser's own statement counts,
    since a proxy may change the names; at an address without TLS that is not of this
    machine, a browser sends `Origin` alone.
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
