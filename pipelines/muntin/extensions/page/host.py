"""The page for a program that shows it within its own, as Airflow does: the entry point `page.host`."""

from muntin.extensions.page.app import page_app
from muntin.extensions.page.installation import Installation
from muntin.extensions.page.views.explained import Run
from muntin.extensions.page.views.held import Around, Dead

__all__ = ["Around", "Dead", "Installation", "Run", "page_app"]
