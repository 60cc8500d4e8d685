"""Airflow's REST API, as far as one follows a backfill with it."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from examples.demo.home import Home

HEALTHY = ("metadatabase", "scheduler", "dag_processor", "triggerer")
NO_ANSWER = (urllib.error.URLError, TimeoutError, ConnectionError)


@dataclass(frozen=True, slots=True)
class Api:
    """A signed-in session, and how long it waits for an answer."""

    url: str
    token: str
    patience_s: float = 60

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever the API answers
        """The answer to `GET /api/v2/<path>`."""
        return _ask(f"{self.url}/api/v2/{path}", headers={"Authorization": f"Bearer {self.token}"}, patience_s=self.patience_s)

    def post(self, path: str, body: dict[str, Any], method: str = "POST") -> Any:  # noqa: ANN401 - whatever the API answers
        """The answer to `POST /api/v2/<path>`, or to another method that takes a body."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        return _ask(f"{self.url}/api/v2/{path}", headers=headers, body=json.dumps(body).encode(), patience_s=self.patience_s, method=method)


def sign_in(home: Home) -> Api:
    """A session of the user admin."""
    body = json.dumps({"username": "admin", "password": home.password}).encode()
    answer = _ask(f"{home.url}/auth/token", headers={"Content-Type": "application/json"}, body=body)
    return Api(home.url, answer["access_token"])


def is_up(home: Home) -> bool:
    """Whether the scheduler, the DAG processor and the triggerer beat, and the web server answers."""
    try:
        health = _ask(f"{home.url}/api/v2/monitor/health")
    except OSError:
        return False
    return all((health[part] or {}).get("status") == "healthy" for part in HEALTHY)


def has_dag(api: Api, dag_id: str) -> bool:
    """Whether the DAG processor has read the DAG."""
    try:
        return not api.get(f"dags/{dag_id}")["is_stale"]
    except NO_ANSWER:
        return False


def _ask(
    url: str, *, headers: dict[str, str] | None = None, body: bytes | None = None, patience_s: float = 30, method: str | None = None
) -> Any:  # noqa: ANN401 - JSON
    request = urllib.request.Request(url, data=body, headers=headers or {}, method=method)  # noqa: S310 - 127.0.0.1
    with urllib.request.urlopen(request, timeout=patience_s) as answer:  # noqa: S310 - as above
        return json.load(answer)
