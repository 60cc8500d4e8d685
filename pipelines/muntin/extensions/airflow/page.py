"""The page inside Airflow: what the plugin registers.

Nothing of the page is imported before somebody asks for it.
"""

from __future__ import annotations

import logging
from asyncio import to_thread
from collections.abc import Awaitable, Callable, MutableMapping
from importlib.util import find_spec
from threading import Lock
from typing import Any

log = logging.getLogger("muntin")

PREFIX = "/muntin"
NEEDED = ("fastapi", "jinja2", "matplotlib")


class PageLater:
    """An application of ASGI that is made at its first request:

    Airflow loads plugins in each of its processes.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._one = make, Lock()
        self._made: Any = None

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Any],
    ) -> None:
        """Answer."""
        page = self._made or await to_thread(self._page)  # the first one imports for a second or more
        await page(scope, receive, send)

    def _page(self) -> Any:  # noqa: ANN401 - an application
        with self._one:
            if self._made is None:
                self._made = self._make()
        return self._made


def plugin_parts() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The `fastapi_apps` and `external_views` of an `AirflowPlugin`; nothing, and a line in the log, where a
    package is missing.
    """
    missing_packages = [package for package in NEEDED if find_spec(package) is None]
    if missing_packages:
        log.warning(
            "no page of windows: %s not installed; pip install 'muntin[page]'", ", ".join(missing_packages)
        )
        return [], []
    app = {"app": PageLater(_made), "url_prefix": PREFIX, "name": "Windows"}
    place = PREFIX.removeprefix("/")
    everywhere = {
        "name": "Windows",
        "href": f"{place}/",
        "destination": "nav",
        "url_route": "windows",
        "category": "browse",
    }
    of_dag = {
        "name": "Windows",
        "href": f"{place}/pipeline/{{DAG_ID}}/now",
        "destination": "dag",
        "url_route": "muntin",
    }
    return [app], [everywhere, of_dag]


def _made() -> Any:  # noqa: ANN401 - an application
    from pathlib import Path

    from airflow.configuration import conf

    from muntin.extensions.airflow.page_facts import (
        definition_files,
        enter,
        may_see,
        may_see_forgotten,
        runs_that_published,
    )
    from muntin.extensions.airflow.page_runs import around
    from muntin.jobs.records.reports_table import now_us
    from muntin.registry import extension

    home = Path(conf.get("core", "dags_folder")).absolute().parent
    page = extension("page", "host")
    installation = page.Installation(definition_files, None, home)
    return page.page_app(
        installation,
        enter=enter,
        may_see=may_see,
        may_see_forgotten=may_see_forgotten,
        clock=now_us,
        runs=runs_that_published,
        around=around,
    )
