"""Alerts: messages when a run of a pipeline fails, or when its data seems wrong.

    flights = Pipeline(..., alerts=alerts.to("alerts", mask=["email"], late=0.05))

`"alerts"` is the name of an Airflow connection. Importing this package imports neither Airflow nor Apprise.
"""

from muntin.extensions.alerts.declaration import to

__all__ = ["to"]
