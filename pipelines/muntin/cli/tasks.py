"""Where the tasks of a command run, which its first line reports."""

import sys
from typing import TYPE_CHECKING

from muntin.cli.quiet import is_quiet

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline


def say_where(pipeline: "Pipeline", spark: str | None, *, validate: bool) -> None:
    """Say on stderr where tasks run; nothing in quiet."""
    from muntin.jobs.publish.spark_needed import spark_needed
    from muntin.tasks import place_of

    place = place_of(spark, needed=spark_needed(pipeline, validate=validate))
    if not is_quiet():
        print(f"{pipeline.name}: tasks run {place}", file=sys.stderr)
