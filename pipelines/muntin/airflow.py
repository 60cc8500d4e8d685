"""The names that DAG files import beside `airflow_dag`, as `from muntin.airflow import by_window`: of the
extension for Airflow.
"""

from muntin.registry import extension, stand_for

stand_for(__name__, extension("muntin", "airflow"))
