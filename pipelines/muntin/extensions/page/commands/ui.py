"""`muntin ui`: the page of pipelines, for one person on this machine."""

import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import say
from muntin.cli.place import names_in
from muntin.definition.extras import need
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

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
        _bind(listening, port)
        at, token = listening.getsockname()[1], secrets.token_urlsafe(24)
        app = local_page(file, root, token, at)
        say(f"http://127.0.0.1:{at}/?token={token}")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        server.run(sockets=[listening])


def _bind(listening: socket.socket, port: int) -> None:
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()
    except OSError as wrong:
        raise DefinitionError(
            f"--port {port}: {wrong.strerror or wrong}; take another, or 0 for a free one"
        ) from wrong


def publish(pipeline_place: "Place", verdict: str, reason: str) -> None:
    """Publish what a verdict holds, in the name of the user of this machine."""
    from getpass import getuser

    from muntin.jobs.reported_run import publish_and_tell

    if pipeline_place.pipeline is None:
        raise DefinitionError(f"{pipeline_place.name}: its file cannot be run; see muntin check")
    publish_and_tell(
        pipeline_place.pipeline, root=pipeline_place.root, verdict=verdict, by=getuser(), reason=reason
    )


def local_page(files: list[Path], root: "AnyPath | None", token: str, port: int) -> "ASGIApp":
    """The page behind its token."""
    from muntin.definition.instants import instant_us
    from muntin.extensions.page.app import page_app
    from muntin.extensions.page.installation import Installation
    from muntin.extensions.page.token import ByToken
    from muntin.jobs.records.reports_table import utc_now

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
        clock=lambda: instant_us(utc_now(), "now"),
        publish=publish,
    )
    return ByToken(app, token, port)
