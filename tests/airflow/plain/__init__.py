"""Of the extension for Airflow, what imports no Airflow: assets, lineage, connections, tasks that end."""
