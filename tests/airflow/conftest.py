"""Airflow runs in processes of its own: importing it changes a process, and its Spark tasks stop the session they used."""

import os

OWN_PROCESS = "MUNTIN_AIRFLOW_TESTS"

if OWN_PROCESS not in os.environ:
    collect_ignore_glob = ["inside/*"]
