"""`muntin ui`: the page of pipelines, for one person on this machine.

The door of a page for one person on one machine: a token in a link, then a cookie; and only by the
machine's own name.
"""

from __future__ import annotations

import socket
import sys
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import say
from muntin.cli.place import names_in
from muntin.definition.extras import need
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from muntin.extensions.page.installation import Place
    from muntin.files.paths import AnyPath

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="The Python files that define pipelines.", show_default=False),
]
Port = Annotated[
    int,
    typer.Option(
        "--port", min=0, max=65535, metavar="PORT", help="Where to listen on 127.0.0.1; 0: a free port."
    ),
]


def ui(file: Files, root: opt.Root = None, port: Port = 0) -> None:
    """Show pipelines as a web page.

    The same page as in Airflow, on 127.0.0.1, for whoever opens the printed link. It changes nothing, except
    by a form that publishes what a suite holds. Ctrl-C ends it.

    Example:
      muntin ui dags/flights.py --root state
    """
    need("fastapi")
    need("uvicorn")
    need("matplotlib")
    import secrets

    import uvicorn

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
            listening.listen()
        except OSError as wrong:
            raise DefinitionError(
                f"--port {port}: {wrong.strerror or wrong}; take another, or 0 for a free one"
            ) from wrong
        at, token = listening.getsockname()[1], secrets.token_urlsafe(24)
        app = local_page(file, root, token, at)
        say(f"http://127.0.0.1:{at}/?token={token}")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        server.run(sockets=[listening])


def publish(pipeline_place: Place, verdict: str, reason: str) -> None:
    """Publish what a verdict holds, in the name of the user of this machine."""
    from getpass import getuser

    from muntin.jobs.reported_run import publish_and_tell

    if pipeline_place.pipeline is None:
        raise DefinitionError(f"{pipeline_place.name}: its file cannot be run; see muntin check")
    publish_and_tell(
        pipeline_place.pipeline, root=pipeline_place.root, verdict=verdict, by=getuser(), reason=reason
    )


def local_page(files: list[Path], root: AnyPath | None, token: str, port: int) -> ASGIApp:
    """The page behind its token."""
    from muntin.extensions.page.app import page_app
    from muntin.extensions.page.installation import Installation
    from muntin.jobs.records.reports_table import now_us

    names: dict[str, Path] = {}
    for name, place in ((name, file.absolute()) for file in files for name in names_in(file)):
        if names.setdefault(name, place) != place:
            raise DefinitionError(
                f"{names[name]} and {place} each define a pipeline of the name {name!r}; show them one at a"
                " time"
            )
    installation = Installation(lambda: names, root.absolute() if root else None, Path.cwd())
    app = page_app(
        installation,
        enter=lambda: None,
        may_see=lambda *_: True,
        clock=now_us,
        publish=publish,
    )
    return ByToken(app, token, port)


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
        from starlette.requests import Request
        from starlette.responses import PlainTextResponse, RedirectResponse

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
