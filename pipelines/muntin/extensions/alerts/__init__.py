"""Alerts: messages when a run of a pipeline fails, or when its data seems wrong.

    flights = Pipeline(..., alerts=alerts.to("alerts", mask=["email"], late=0.05))
    orders = Pipeline(..., alerts=[alerts.to("alerts"), alerts.revised(by="5%", of="revenue")])

`"alerts"` is the name of an Airflow connection. Importing this package imports neither Airflow nor Apprise.
"""

from muntin.extensions.alerts.declaration import revised, to

__all__ = ["revised", "to"]
