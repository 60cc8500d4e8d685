"""The four tasks of an Airflow run, one after the other in this process, without Airflow."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from muntin import Pipeline
from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.extensions.airflow import steps
from muntin.extensions.airflow.assets import events
from muntin.extensions.airflow.place import Place
from muntin.extensions.airflow.publishing import publish
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.end_to_end.hourly import Hourly, hour

HERE: Any = Local(2)
Events = Mapping[str, list[int]]


@dataclass(frozen=True)
class Steps:
    """The tasks of the runs of an hourly pipeline, or of another one below the same root."""

    hourly: Hourly
    other: Pipeline | None = None

    def place(self, at: int, pipeline: Pipeline | None = None) -> Place:
        interval = Interval(instant_us(hour(at), "start"), instant_us(hour(at + 1), "end"))
        return Place(bind(pipeline or self.other or self.hourly.pipeline, self.hourly.root, claim=True), interval)

    def publish(self, at: int) -> tuple[Place, dict[str, Any]]:
        """All four tasks; the run ends before Airflow knows that the last one is done."""
        place = self.place(at)
        accumulated = steps.accumulate(place, HERE)
        staged = steps.finalize(place, HERE, accumulated)
        quality = steps.validate(place, session, staged)
        return place, publish(place, staged, accumulated, quality, session)

    def run(self, at: int) -> Events:
        """All four tasks, and what Airflow does after them; the events, with their batches as hours."""
        place, result = self.publish(at)
        events.acknowledge(place, result)
        return told(place, result)


def told(place: Place, result: Mapping[str, Any]) -> Events:
    """Window -> the hours of the batches that its event names."""
    return {name: [int(start[11:13]) for start in extra["published"]] for name, extra in events.extras(place, result).items()}


@contextmanager
def session() -> Iterator[Any]:
    """As tasks get one that need it seldom."""
    yield HERE
