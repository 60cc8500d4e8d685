"""Bring all sinks of a definition up to date, side by side. Whatever goes wrong is a line of the log."""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from muntin.definition.extras import need
from muntin.errors import MuntinError
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.sending.catch_up import Sent, catch_up
from muntin.jobs.sending.notes import Note, Patience, write_note
from muntin.jobs.state.beside_forgetting import beside_forgetting
from muntin.printable import printable
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import BlockedError, SinkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from muntin.jobs.state.bound import Bound
    from muntin.sinks.declaration import Declared as Sink

_POLL_S = 0.02
log = logging.getLogger("muntin")


def send(bound: Bound, reach: Reach | None = None, *, anew: bool = False) -> tuple[Sent, ...]:
    """Send to each sink what it lacks. Never raises: a sink that is down stops no run.

    A sink that gives no sign of life for ten seconds is given up until the next run. `reach`: how this
    process reaches sinks; None: by addresses of the environment, without Spark. `anew`: all windows are sent,
    whatever the sinks have.
    """
    given = reach or Reach(of_environment)
    attempts = [_Attempt(bound, sink, given, anew=anew) for sink in bound.sinks]
    sent = tuple(attempt.outcome() for attempt in attempts)
    for one in sent:
        if one.failed or one.misfits:
            log.log(logging.ERROR if one.needs_a_person else logging.WARNING, "sinks: %s", one.line)
    return sent


def after_run(bound: Bound, spark: SparkSession | None) -> tuple[Sent, ...]:
    """Send to each sink what it lacks, with addresses of the environment."""
    return send(bound, reach_of(spark)) if bound.sinks else ()


def reach_of(spark: SparkSession | None) -> Reach:
    """Sinks by addresses of the environment; a session for sinks that take a DataFrame."""
    return Reach(of_environment, partial(nullcontext, spark) if spark else None)


def reported(sent: Sequence[Sent]) -> tuple[str, ...]:
    """A line for each sink that got something or lacks something."""
    return tuple(printable(one.line) for one in sent if one.failed or one.rows or one.misfits)


class _Attempt:
    """An attempt to bring a sink up to date, in a thread of its own, which is left alone when the sink is
    given up.
    """

    def __init__(self, bound: Bound, sink: Sink, reach: Reach, *, anew: bool) -> None:
        self._bound, self._sink, self._reach, self._anew = bound, sink, reach, anew
        self._patience = Patience(sink.patience_us / 1e6)
        self._sent: list[Sent] = []
        self._thread = Thread(target=self._work, name="muntin sink", daemon=True)
        self._thread.start()

    def outcome(self) -> Sent:
        while self._thread.is_alive() and not self._patience.is_over():
            self._thread.join(_POLL_S)
        if self._sent:
            return self._sent[0]
        return self._failed(f"no answer within {self._patience.seconds:g} s")

    def _work(self) -> None:
        begun = time.monotonic()
        try:
            if self._sink.package:
                need(self._sink.package)
            self._sent.append(beside_forgetting(self._bound, self._brought))
        except (SinkError, MuntinError) as wrong:
            if not self._patience.over:
                self._sent.append(
                    self._failed(
                        str(wrong),
                        blocked=not isinstance(wrong, SinkError) or isinstance(wrong, BlockedError),
                    )
                )
        except Exception as wrong:  # noqa: BLE001 - its text may hold a secret
            if not self._patience.over:
                self._sent.append(self._failed(type(wrong).__name__, blocked=True))
        log.debug("sinks: %s: %.1f s", self._sink.name, time.monotonic() - begun)

    def _brought(self) -> Sent:
        given = (self._reach, self._patience)
        own: Sent | None = self._sink.follow(self._bound, *given, anew=self._anew)
        return own or catch_up(self._bound, self._sink, *given, anew=self._anew)

    def _failed(self, why: str, *, blocked: bool = False) -> Sent:
        with suppress(MuntinError):
            write_note(self._bound, self._sink, Note(failed=why, at=utc_now().isoformat()))
        return Sent(self._sink.name, str(self._sink.window), failed=why, blocked=blocked)
