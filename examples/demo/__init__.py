"""The main job, for real: a week of flights through Airflow and Spark to published windows, then the year in bulk."""
