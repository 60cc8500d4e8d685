# One image for Airflow and for Spark: both need the same Python and the same pyspark.
FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3

RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/muntin

COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt

# Editable, so that the mounted pipelines/ is the code that runs.
COPY pyproject.toml README.md ./
COPY pipelines pipelines
RUN pip install --no-cache-dir --no-deps --editable .

# New volumes take their owner from these folders.
RUN useradd --uid 50000 --gid 0 --create-home airflow \
    && mkdir -p /opt/airflow /opt/s3 state \
    && chown airflow:0 /opt/airflow /opt/s3 state
USER airflow

# Kernels are compiled once per container: the mounted code is read-only, so their cache lies elsewhere.
ENV AIRFLOW_HOME=/opt/airflow \
    NUMBA_CACHE_DIR=/tmp/numba \
    PYSPARK_PYTHON=/usr/local/bin/python \
    PYTHONUNBUFFERED=1
