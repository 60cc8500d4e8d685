"""Airflow's users with rights on some DAGs alone: `half` may read none but `others`, `keeper` none but the DAG that forgets."""

from typing import Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager

ALONE = {"half": "others", "keeper": "shop.forget_keys"}


class SomeDags(SimpleAuthManager):
    """SimpleAuthManager has roles, and no rights on single DAGs."""

    def is_authorized_dag(self, *, user: Any, details: Any = None, **more: Any) -> bool:
        """As there; of some users one DAG alone."""
        if user.username in ALONE and (details is None or details.id != ALONE[user.username]):
            return False
        return super().is_authorized_dag(user=user, details=details, **more)
