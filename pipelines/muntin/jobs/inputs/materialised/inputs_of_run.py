"""The inputs of a run's batches; rows of a Spark source are written to files for this run, which are removed after it."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from muntin.jobs.inputs.inputs import inputs
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.inputs.listings.of_several import telling, together
from muntin.jobs.inputs.materialised.materialise import materialise, remove_materialised
from muntin.jobs.inputs.purged import check_kept
from muntin.sources import SparkSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner


@contextmanager
def inputs_of_run(bound: Bound, runner: Runner, intervals: Sequence[Interval], *, allow_missing: bool) -> Iterator[Inputs]:
    """The inputs of batches that are about to be read, as `inputs` gives them, in a context in which the files are there.

    Raises:
        SourceError, StateError: as `inputs`, and as `materialise`.
    """
    if bound.members:
        with ExitStack() as materialised:
            parts = dict[str, Inputs]()
            for name, each in bound.members.items():
                with telling(name):
                    parts[name] = materialised.enter_context(inputs_of_run(each, runner, intervals, allow_missing=allow_missing))
            yield together(parts)
        return
    if not isinstance(bound.source, SparkSource):
        yield inputs(bound, intervals, allow_missing=allow_missing, keep=True)
        return
    try:
        files_of_batches = materialise(bound, runner.spark, intervals)
        if not allow_missing:
            check_kept(bound, [interval for interval, files in files_of_batches.items() if not files], "row")
        yield Inputs(files_of_batches, {}, replace(bound.source, read=_was_read))  # tasks do without the function, and what it holds
    finally:
        remove_materialised(bound, intervals)


def _was_read(*_: Any) -> NoReturn:  # noqa: ANN401 - as a function of a definition
    raise AssertionError("tasks read the files that were written of the rows")
