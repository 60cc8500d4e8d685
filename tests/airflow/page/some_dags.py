"""Airflow's users with rights on some DAGs alone: `half` may read none but `others`."""

from typing import Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager


class SomeDags(SimpleAuthManager):
    """SimpleAuthManager has roles, and no rights on single DAGs."""

    def is_authorized_dag(self, *, user: Any, details: Any = None, **more: Any) -> bool:
        """As there; of `half` one DAG alone."""
        if user.username == "half" and (details is None or details.id != "others"):
            return False
        return super().is_authorized_dag(user=user, details=details, **more)
