"""The application: requests to views to HTML. Every address is asked for by GET, and nothing is changed by
it, but for one.

Where a function `publish` is given, a form lets the reader publish what a suite holds, by POST, from the page
itself alone.

Whom it is shown to is decided by functions that are given: `enter`, a dependency of FastAPI's that refuses
strangers (401), and `may_see` and `may_see_forgotten`, which say whether who has entered may see a pipeline,
and what it forgot (403).
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, quote

from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from muntin.errors import DefinitionError, MuntinError
from muntin.extensions.page import answers
from muntin.extensions.page.answers import FORGOTTEN, TABS
from muntin.extensions.page.html import page, show_as_asked
from muntin.extensions.page.installation import Installation, Place
from muntin.extensions.page.views.explained import Runs, no_runs
from muntin.extensions.page.views.held import Around, no_airflow
from muntin.extensions.page.views.overview import RECENT, overview
from muntin.store.state import DAG_ENDS

_SAFE = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self'; "
        "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_STATIC = {"page.css": "text/css", "page.js": "text/javascript"}
_REFUSED = {401: "Who are you?", 403: "Not for you", 404: "Not here"}
# browsers say so; a page of another port of this machine has the same cookies, and is "same-site"
_FROM = "sec-fetch-site"


def page_app(
    installation: Installation,
    *,
    enter: Callable[..., Any],
    may_see: Callable[[Request, str], bool],
    may_see_forgotten: Callable[[Request, str], bool] = lambda *_: True,
    clock: Callable[[], int],
    runs: Runs = no_runs,
    around: Callable[[Sequence[str]], Around] = no_airflow,
    publish: Callable[[Place, str, str], None] | None = None,
) -> FastAPI:
    """The page of an installation.

    `enter` raises `HTTPException` 401 for a request without a user; `may_see` says whether a request may see
    the pipeline of a name, `may_see_forgotten` whether it may see when keys of this pipeline were forgotten.
    `clock` gives microseconds since 1970. `publish` publishes what a verdict holds, with a reason; without it
    the page changes nothing.
    """
    app = FastAPI(dependencies=[Depends(enter)], docs_url=None, redoc_url=None, openapi_url=None)

    def start(request: Request) -> HTMLResponse:
        seen = {name: place for name, place in installation.places().items() if may_see(request, name)}
        now_us, airflow = clock(), around([*seen])
        lines = overview(seen, now_us, airflow)
        return HTMLResponse(
            page("overview.html", up="", lines=lines, dead=airflow.dead, now_us=now_us, recent=RECENT)
        )

    def static(name: str) -> Response:
        if name not in _STATIC:
            raise HTTPException(404)
        return Response(answers.static(name), media_type=_STATIC[name])

    def tabs(request: Request, name: str) -> list[tuple[str, str]]:
        may = {False: may_see(request, name), True: may_see_forgotten(request, name)}
        return [each for each in TABS if may[each[0] == FORGOTTEN]]

    def one(request: Request, name: str, tab: str = "") -> Place:
        may = may_see_forgotten if tab == FORGOTTEN else may_see
        if not may(request, name):
            raise HTTPException(
                403, f"You may not read the DAG {name}{DAG_ENDS if tab == FORGOTTEN else ''}."
            )
        return _known(installation, name)

    def pipeline(request: Request, name: str, tab: str) -> Response:
        if name.endswith(DAG_ENDS):  # the tab of the DAG that forgets
            return RedirectResponse(f"../{quote(name.removesuffix(DAG_ENDS), safe='')}/{FORGOTTEN}")
        pipeline_place, asked = one(request, name, tab), dict(request.query_params)
        return HTMLResponse(
            answers.answer(pipeline_place, tab, asked, clock(), runs, around([name]), tabs(request, name))
        )

    def nothing(rest: str) -> None:
        raise HTTPException(404, f"There is no page {rest}.")

    app.add_api_route("/", start, response_class=HTMLResponse)
    app.add_api_route("/static/{name}", static)
    _add_publishing(app, one, tabs, around, publish)
    app.add_api_route("/pipeline/{name}/{tab}", pipeline, response_class=HTMLResponse)
    app.add_api_route("/{rest:path}", nothing)
    app.add_exception_handler(MuntinError, _wrong)
    app.add_exception_handler(HTTPException, _refused)
    app.middleware("http")(_guarded)
    return app


def _known(installation: Installation, name: str) -> Place:
    pipeline_place = installation.one(name)
    if pipeline_place is None:
        raise HTTPException(404, f"{name} is no pipeline of Muntin's.")
    return pipeline_place


async def _guarded(request: Request, answer: Callable[[Request], Any]) -> Any:  # noqa: ANN401 - a response
    """Show instants by the reader's clock, and add the security headers for browsers to every answer."""
    show_as_asked(request.cookies)
    response = await answer(request)
    response.headers.update(_SAFE)
    return response


async def _wrong(request: Request, wrong: Exception) -> HTMLResponse:
    status = 400 if isinstance(wrong, DefinitionError) else 409
    return HTMLResponse(
        page("wrong.html", up=_up(request), title="That did not work", says=str(wrong)), status
    )


async def _refused(request: Request, wrong: Exception) -> HTMLResponse:
    status = getattr(wrong, "status_code", 500)
    says = getattr(wrong, "detail", "")
    return HTMLResponse(
        page("wrong.html", up=_up(request), title=_REFUSED.get(status, "That did not work"), says=says),
        status,
    )


def _up(request: Request) -> str:
    """The way from an address to the overview."""
    below = request.url.path.removeprefix(request.scope.get("root_path", ""))
    return "../" * max(0, below.count("/") - 1)


def _add_publishing(
    app: FastAPI,
    pipeline_of: Callable[[Request, str], Place],
    tabs: Callable[[Request, str], Sequence[tuple[str, str]]],
    around: Callable[[Sequence[str]], Around],
    publish: Callable[[Place, str, str], None] | None,
) -> None:
    """Add the page of a verdict to an application, before the pages of a pipeline; and what its form is sent
    to.

    `pipeline_of` gives the pipeline of a name, or refuses the request; without `publish` nothing is published
    from the page.
    """

    def question(request: Request, name: str) -> HTMLResponse:
        verdict, publishes = request.query_params.get("verdict", ""), publish is not None
        about = pipeline_of(request, name)
        return HTMLResponse(
            answers.question(about, verdict, around([name]), tabs=tabs(request, name), publishes=publishes)
        )

    async def published(request: Request, name: str) -> Response:
        about = await to_thread(pipeline_of, request, name)
        if publish is None:
            raise HTTPException(403, "Nothing is published from here.")
        if request.headers.get(_FROM) != "same-origin":
            raise HTTPException(
                403, "Another page asks for this; open the page of the verdict, and ask from there."
            )
        try:
            given = parse_qs((await request.body()).decode())
        except ValueError:
            raise HTTPException(
                400, "What was sent is no form in UTF-8; open the page of the verdict, and send its form."
            ) from None
        verdict, reason = (given.get(field, [""])[0] for field in ("verdict", "reason"))
        await to_thread(publish, about, verdict, reason)
        return RedirectResponse("now", 303)

    app.add_api_route("/pipeline/{name}/publish", question, response_class=HTMLResponse)
    app.add_api_route("/pipeline/{name}/publish", published, methods=["POST"])
