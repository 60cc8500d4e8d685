"""Access rights of the page:

Airflow authenticates only its own API, so that a plugin must check rights. Imports Airflow's web server.
"""

from __future__ import annotations

from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from fastapi import HTTPException, Request

from muntin.store.state import DAG_ENDS


def enter(request: Request, user: GetUserDep) -> None:
    """Remember who asks, by the token of the request or its cookie; Airflow refuses strangers with 401."""
    request.state.muntin_reader = user


def may_see(request: Request, name: str) -> bool:
    """Whether Airflow lets who asks read the DAG of this name."""
    try:
        requires_access_dag("GET", param_dag_id=name)(request, request.state.muntin_reader)
    except HTTPException as refused:
        if refused.status_code == 403:  # noqa: PLR2004 - forbidden
            return False
        raise
    return True


def may_see_forgotten(request: Request, name: str) -> bool:
    """Whether Airflow lets who asks read the DAG that forgets keys of this pipeline."""
    return may_see(request, f"{name}{DAG_ENDS}")
