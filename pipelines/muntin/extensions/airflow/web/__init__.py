"""The questions of the page to Airflow, inside of its web server."""
