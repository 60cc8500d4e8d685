"""Packages that only some of Muntin needs, and how to get them."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from muntin.errors import MissingPackageError

EXTRAS = {
    "apprise": "alerts",
    "pyspark": "spark",
    "airflow": "airflow",
    "great_expectations": "quality",
    "matplotlib": "plot",
    "fastapi": "page",
    "uvicorn": "page",
    "obstore": "s3",
    "psycopg": "postgres",
    "adbc_driver_postgresql": "sql",
    "pymysql": "mysql",
    "python_calamine": "excel",
    "redis": "redis",
    "confluent_kafka": "kafka",
    "fastavro": "kafka",
    "pyiceberg": "iceberg",
}


def need(package: str) -> None:
    """See that a package is installed."""
    if not is_installed(package):
        raise MissingPackageError(f"{package} is not installed: {command_for(package)}")


def command_for(package: str) -> str:
    """The command that installs a package.

    >>> command_for("psycopg"), command_for("snowflake")
    ("pip install 'muntin[postgres]'", 'pip install snowflake')
    """
    return f"pip install 'muntin[{EXTRAS[package]}]'" if package in EXTRAS else f"pip install {package}"


def is_installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported for it."""
    try:
        return package in sys.modules or find_spec(package) is not None
    except ImportError:
        return False
