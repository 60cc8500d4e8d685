"""The door of a page for one person on one machine: a token in a link, then a cookie; and only by the
machine's own name.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_NAMES = ("127.0.0.1", "localhost")
PARAMETER = "token"


class ByToken:
    """Lets a request through that has the cookie. A link with the token sets it. Any other request gets 401.

    A request for another host name gets 400: a page of another name, made to lead to this machine, would have
    the cookie of no name.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {name if port == 80 else f"{name}:{port}" for name in _NAMES}  # noqa: PLR2004 - the port that addresses leave out
        self.cookie = f"muntin_{port}"  # cookies do not tell ports apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        request = Request(scope)
        if request.headers.get("host", "") not in self.hosts:
            return await PlainTextResponse("ask for 127.0.0.1, as the printed link does", 400)(
                scope, receive, send
            )
        given = request.query_params.get(PARAMETER)
        if given is not None and self._is_right(given):
            answer = RedirectResponse(request.url.path, 303)
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
            return await answer(scope, receive, send)
        if not self._is_right(request.cookies.get(self.cookie, "")):
            return await PlainTextResponse("open the link that `muntin ui` has printed", 401)(
                scope, receive, send
            )
        return await self.app(scope, receive, send)

    def _is_right(self, given: str) -> bool:
        return compare_digest(given.encode(), self.token.encode())
