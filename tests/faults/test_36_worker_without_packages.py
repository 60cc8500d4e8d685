"""Fault 36: a real worker whose interpreter sees the standard library and Spark's own files alone."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from pyspark.sql import SparkSession
from muntin.errors import StateError
from muntin.tasks.spark import OnSpark
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
try:
    OnSpark(spark).run(len, ["x"])
except StateError as wrong:
    print("told:", wrong)
"""


def test_it_is_named(tmp_path: Path) -> None:
    for package in ("pyspark", "py4j"):
        found = find_spec(package)
        assert found is not None
        assert found.origin is not None
        (tmp_path / "spark").mkdir(exist_ok=True)
        (tmp_path / "spark" / package).symlink_to(Path(found.origin).parent)
    bare = tmp_path / "bare-python"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path / "spark"} exec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    program = PROGRAM.format(folder=str(Path(__file__).parents[2]))
    env = {**os.environ, "PYSPARK_PYTHON": str(bare), "PYTHONPATH": ""}
    out = subprocess.run([sys.executable, "-c", program], env=env, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert f"told: Spark's workers run a Python at {bare} that has no module 'muntin'" in out.stdout, out.stderr
