"""The facts of a run that alerts need: plain values, whoever ran it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.definition.schedule import Interval


@dataclass(frozen=True, slots=True)
class Batch:
    """The numbers of rows of one batch; `late` is None while the batch waits for an interval before it.

    `refusals`: as of a `BatchReport`.
    """

    interval: Interval
    read: int
    quarantined: int
    late: int | None = None
    refusals: str = ""


@dataclass(frozen=True, slots=True)
class Hole:
    """A missing interval, or several in a row, and how many intervals behind it have begun."""

    interval: Interval
    age: int


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has ended, well or not.

    Attributes:
        pipeline: its name.
        interval: from the start of the first batch to the end of the last.
        batches: what was read; () if nothing was.
        quality: of each window that was checked, the report as `QualityReport.to_dict` gives it.
        failure: why the run failed, in a line; None if it did not, or if `quality` tells why.
        published: window -> starts of the batches whose windows were published, in microseconds; None of a
            run that failed.
        missing: the holes; None if they are not known.
        before: (start in microseconds, rows read) of batches before the first.
        stays_us: the watermark of what was published before; None if nothing was.
        link: the command or the address where a person goes on.
        unforgotten: how many keys are being forgotten, and something of them may be left.
        unsettled: what has changed in the past and stays as it was, a sentence each.
        revised: which published values moved by more than the definition lets them: `what`, `observed` and
            some `rows` each.
        approved: what a person said who let windows be published although they failed their suite: `verdict`,
            `windows`, `by`, `reason`.
        asked_until_us: until when a question waits whether what is held is published all the same, in
            microseconds; None: none waits.
        kept: why what is held stays held: the answer of a person, or that no answer came; "": nothing was
            asked.
        verdict: the name of the verdict that a question, or its answer, is about.
    """

    pipeline: str
    interval: Interval
    batches: tuple[Batch, ...] = ()
    quality: tuple[Mapping[str, Any], ...] = ()
    failure: str | None = None
    published: Mapping[str, Sequence[int]] | None = field(default_factory=dict)
    missing: tuple[Hole, ...] | None = None
    before: tuple[tuple[int, int], ...] = ()
    stays_us: int | None = None
    link: str = ""
    unforgotten: int = 0
    unsettled: tuple[str, ...] = ()
    revised: tuple[Mapping[str, Any], ...] = ()
    approved: tuple[Mapping[str, Any], ...] = ()
    asked_until_us: int | None = None
    kept: str = ""
    verdict: str = ""

    @property
    def failed(self) -> bool:
        """Whether nothing was published because something went wrong."""
        return self.published is None
