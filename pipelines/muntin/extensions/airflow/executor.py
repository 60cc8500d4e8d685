"""Airflow's LocalExecutor, whose tasks find Python's libraries imported.

    AIRFLOW__CORE__EXECUTOR=muntin.extensions.airflow.executor.ReadyLocalExecutor

A task of LocalExecutor is a fork of one of its workers, and a worker is a fork of the scheduler. So what the
scheduler has imported when it starts its workers, every task has, at no cost. Without this, each task of
Muntin's DAGs imports the same libraries for one to three seconds, every run. Where processes are not forked
(macOS), nothing is imported ahead.
"""

from __future__ import annotations

from airflow.executors.local_executor import LocalExecutor

from muntin.extensions.airflow.imported_ahead import import_ahead


class ReadyLocalExecutor(LocalExecutor):  # type: ignore[misc]  # Airflow has no types here
    """`LocalExecutor`, after an import of what tasks of Muntin need; it has the settings of LocalExecutor."""

    def start(self) -> None:
        if self.is_mp_using_fork:
            import_ahead()
        super().start()
