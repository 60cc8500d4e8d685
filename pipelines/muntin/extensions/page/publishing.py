"""The addresses by which a reader publishes what a suite holds: a page that asks, and a form that is sent from it alone."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from fastapi import FastAPI, Request  # noqa: TC002 - FastAPI looks up the types of its functions
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from muntin.extensions.page import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muntin.extensions.page.installation import Known
    from muntin.extensions.page.views.around import Around

_FROM = "sec-fetch-site"  # browsers say so; a page of another port of this machine has the same cookies, and is "same-site"


def add_publishing(
    app: FastAPI,
    pipeline_of: Callable[[Request, str], Known],
    tabs: Callable[[Request, str], Sequence[tuple[str, str]]],
    around: Callable[[Sequence[str]], Around],
    publish: Callable[[Known, str, str], None] | None,
) -> None:
    """Add the page of a verdict to an application, before the pages of a pipeline; and what its form is sent to.

    `pipeline_of` gives the pipeline of a name, or refuses the request; without `publish` nothing is published from the page.
    """

    def question(request: Request, name: str) -> HTMLResponse:
        verdict, publishes = request.query_params.get("verdict", ""), publish is not None
        about = pipeline_of(request, name)
        return HTMLResponse(answers.question(about, verdict, around([name]), tabs=tabs(request, name), publishes=publishes))

    async def published(request: Request, name: str) -> Response:
        about = await to_thread(pipeline_of, request, name)
        if publish is None:
            raise HTTPException(403, "Nothing is published from here.")
        if request.headers.get(_FROM) != "same-origin":
            raise HTTPException(403, "Another page asks for this; open the page of the verdict, and ask from there.")
        try:
            given = parse_qs((await request.body()).decode())
        except ValueError:
            raise HTTPException(400, "What was sent is no form in UTF-8; open the page of the verdict, and send its form.") from None
        verdict, reason = (given.get(field, [""])[0] for field in ("verdict", "reason"))
        await to_thread(publish, about, verdict, reason)
        return RedirectResponse("now", 303)

    app.add_api_route("/pipeline/{name}/publish", question, response_class=HTMLResponse)
    app.add_api_route("/pipeline/{name}/publish", published, methods=["POST"])
