"""The page "Windows" in Airflow's navigation and on DAGs.

The code is in `muntin/extensions`: `page` and `airflow/page.py`.
"""

import logging

from airflow.plugins_manager import AirflowPlugin

try:
    from muntin.extensions.airflow.page import plugin_parts

    APPS, VIEWS = plugin_parts()
except Exception as wrong:  # noqa: BLE001 - Airflow goes on without the page
    logging.getLogger("muntin").warning("no page of windows: %s", wrong)
    APPS, VIEWS = [], []


class MuntinPage(AirflowPlugin):
    """The plugin that Airflow registers."""

    name = "muntin_page"
    fastapi_apps = APPS
    external_views = VIEWS
