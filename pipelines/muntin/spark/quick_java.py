"""How Java is started for a command that needs it for a few short jobs: with what makes its start short.

A Java that runs for hours gains from code that is compiled twice and from a collector in threads of its own. That of a command ends after
seconds and only hands tasks to Python: the second compiler and the collector's threads would take half of all that the command computes.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# One flag for the quick compiler and a collector without threads: unlike -XX:+UseSerialGC it gives way to a collector that the user names.
# With it Java begins with 8 MB, and would collect garbage a dozen times until Spark is loaded.
FLAGS = "-XX:+NeverActAsServerClassMachine -Xms192m -XX:MetaspaceSize=160m"
_OF_SPARK, _OF_ITS_LAUNCHER = "SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS"


def quick(given: Mapping[str, str]) -> dict[str, str]:
    """The variables that let Spark start its Java so. What the user set in them comes last, and wins.

    >>> quick({"SPARK_SUBMIT_OPTS": "-Dmine=1"})["SPARK_SUBMIT_OPTS"].split()[-2:]
    ['-XX:MetaspaceSize=160m', '-Dmine=1']
    """
    ours = {_OF_SPARK: FLAGS, _OF_ITS_LAUNCHER: FLAGS.split(maxsplit=1)[0]}
    return {name: f"{flags} {given.get(name, '')}".strip() for name, flags in ours.items()}


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Variables of this process, and of those it starts meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
