"""The Java of a local Spark: where it only hands out tasks it has the quick compiler alone and a collector without threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.case_counts import at_length

pytestmark = [pytest.mark.spark, at_length]
PROGRAM = """
import sys
from muntin.tasks import runner_for

with runner_for("local[1]", needed=sys.argv[1] or None) as runner:
    java = runner.spark.sparkContext._jvm.java.lang
    facts = java.management.ManagementFactory
    print(*(each.getName() for each in facts.getGarbageCollectorMXBeans()), sep=",")
    print(*facts.getRuntimeMXBean().getInputArguments(), sep=",")
"""
QUICK = "-XX:+NeverActAsServerClassMachine"


def started(folder: Path, *, needed: str = "", options: str = "") -> tuple[str, str]:
    """The collectors and the flags of a Java; `options`: of the user's own settings of Spark."""
    (folder / "spark-defaults.conf").write_text(f"spark.driver.extraJavaOptions {options}\n" if options else "")
    without = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "JAVA_TOOL", "JDK_JAVA"))}
    command, env = [sys.executable, "-c", PROGRAM, needed], {**without, "SPARK_CONF_DIR": str(folder)}
    collectors, flags = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.splitlines()
    return collectors, flags


def test_java_that_hands_out_tasks_starts_for_a_short_life(tmp_path: Path) -> None:
    collectors, flags = started(tmp_path)
    assert QUICK in flags
    assert collectors == "Copy,MarkSweepCompact", "the collector without threads"


def test_a_collector_that_the_user_names_wins(tmp_path: Path) -> None:
    collectors, flags = started(tmp_path, options="-XX:+UseParallelGC -Dmine=1")
    assert "PS Scavenge" in collectors
    assert flags.index(QUICK) < flags.index("-Dmine=1")


def test_java_that_computes_rows_starts_as_spark_starts_it(tmp_path: Path) -> None:
    assert QUICK not in started(tmp_path, needed="sources.spark")[1]
