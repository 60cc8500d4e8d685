"""Airflow runs in processes of its own: importing it changes a process, and its Spark tasks stop the session they used."""

import os

from tests.selection import OWN_PROCESS

__all__ = ["OWN_PROCESS"]

if OWN_PROCESS not in os.environ:
    collect_ignore_glob = ["inside/*"]
