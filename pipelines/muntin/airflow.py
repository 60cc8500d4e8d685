"""The names that DAG files import beside `airflow_dag`, as `from muntin.airflow import by_window`: of the
extension for Airflow.
"""

import sys

from muntin.registry import extension

sys.modules[__name__] = extension("muntin", "airflow")
