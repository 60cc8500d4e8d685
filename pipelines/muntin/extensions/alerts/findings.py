"""Findings of a run that are worth a message.

Pure: the declaration and the run's facts go in, findings come out.

Failing rows as lines of a message.

Values come of data: a value is one line, of limited length, without control characters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from muntin.definition.instants import spell_instant
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from muntin.extensions.alerts.declaration import Alerts
    from muntin.extensions.alerts.facts import Batch, Run

Kind = Literal[
    "check", "failure", "quarantined", "late", "empty", "hole", "forgetting", "unsettled", "revised"
]
MASKED = "***"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a run that is worth a message.

    Attributes:
        kind: what sort of thing.
        severity: `critical`: nothing was published. `warning`: it was.
        what: what was expected; findings of equal `kind` and `what` stand together in a message.
        observed: what was observed.
        interval: of the batch, or of the run.
        rows: failing rows, column -> value, masked.
    """

    kind: Kind
    severity: str
    what: str
    observed: str
    interval: Interval
    rows: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_held(self) -> bool:
        """Whether windows of its interval wait for its end; else they are published, and a later interval may
        be well.
        """
        return self.severity == "critical" or self.kind == "hole"

    @property
    def key(self) -> str:
        """Names the problem: a later finding with this key is the same problem."""
        place = f" {self.interval}" if self.is_held else ""
        return f"{self.kind}: {self.what}{place}"

    def to_dict(self) -> dict[str, Any]:
        facts = {name: getattr(self, name) for name in self.__slots__}
        return facts | {
            "interval": [self.interval.start_us, self.interval.end_us],
            "rows": [dict(row) for row in self.rows],
        }

    @staticmethod
    def of_dict(facts: Mapping[str, Any]) -> Finding:
        return Finding(**{**facts, "interval": Interval(*facts["interval"]), "rows": tuple(facts["rows"])})


def findings(alerts: Alerts, run: Run) -> tuple[Finding, ...]:
    """The findings of a run, gravest first."""
    run_findings = [
        *(
            []
            if run.failure is None
            else [Finding("failure", "critical", "the run failed", run.failure, run.interval)]
        ),
        *_checks(alerts, run),
        *_quarantined(alerts, run),
        *_shares(run, "late", alerts.late, lambda batch: batch.late or 0),
        *_empty(alerts, run),
    ]
    return tuple(
        sorted(
            (*run_findings, *_holes(alerts, run), *_forgetting(run), *_unsettled(run), *_revised(run)),
            key=lambda one: one.severity != "critical",
        )
    )


def _checks(alerts: Alerts, run: Run) -> Iterator[Finding]:
    """The checks that failed; of windows published by an approval, warnings alone: the question named the
    critical checks.
    """
    warnings = ("warning",) if alerts.warnings else ()
    approved = {window for each in run.approved for window in each["windows"]}
    for report in run.quality:
        severities = warnings if report["window"] in approved else ("critical", *warnings)
        for check in report["checks"]:
            if check["success"] is False and check["severity"] in severities:
                hidden, rows = _masked(check, alerts.mask)
                what, observed = expected(report["window"], check), _observed(check, hidden=hidden)
                yield Finding("check", check["severity"], what, observed, run.interval, rows)


def masked_report(report: Mapping[str, Any], mask: Collection[str]) -> dict[str, Any]:
    """A report of a validation without values of masked columns, in rows and in what was observed."""
    return {**report, "checks": [_without_values(check, mask) for check in report["checks"]]}


def _without_values(check: Mapping[str, Any], mask: Collection[str]) -> dict[str, Any]:
    hidden, rows = _masked(check, mask)
    names = ("error",) if _counts_rows(check) else ("error", "observed_value")
    return {**check, **{name: MASKED for name in names if hidden and check[name]}, "failing_rows": rows}


def _masked(check: Mapping[str, Any], mask: Collection[str]) -> tuple[bool, tuple[Mapping[str, Any], ...]]:
    """Whether what was observed must not be shown, and the failing rows with masked values."""
    masked = {name.lower() for name in mask}
    hidden = bool(masked) and (
        not check["column"] or any(name.lower() in masked for name in check["column"].split(", "))
    )
    return hidden, tuple(
        {name: MASKED if name.lower() in masked else value for name, value in row.items()}
        for row in check["failing_rows"]
    )


def _counts_rows(check: Mapping[str, Any]) -> bool:
    return str(check["type"]).startswith("expect_table_row_count")


def expected(window: str, check: Mapping[str, Any]) -> str:
    """The expectation of a check on a window, in words."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in check["kwargs"].items())
    return f"window {window}: {check['type']}({arguments})"


def _observed(check: Mapping[str, Any], *, hidden: bool) -> str:
    """The observation of a check.

    No value is reported of a masked column, nor of a check without a column where columns are masked.
    """
    if check["error"]:
        return "could not run" + ("" if hidden else f": {check['error']}")
    if check["unexpected_count"] is not None:
        percent = check["unexpected_percent"]
        return f"{many(check['unexpected_count'], 'row')} not as expected" + (
            "" if percent is None else f" ({percent:.3g} %)"
        )
    return f"observed {check['observed_value'] if _counts_rows(check) or not hidden else MASKED}"


def _quarantined(alerts: Alerts, run: Run) -> Iterator[Finding]:
    """Reasons may hold values of rows: where columns are masked no reason is reported."""
    for finding in _shares(run, "quarantined", alerts.quarantined, lambda batch: batch.quarantined):
        why = next(
            each.refusals.partition(": ")[2] for each in run.batches if each.interval == finding.interval
        )
        yield replace(finding, observed=f"{finding.observed}: {why}") if why and not alerts.mask else finding


def _shares(
    run: Run, kind: Literal["quarantined", "late"], limit: float | None, rows: Callable[[Batch], int]
) -> Iterator[Finding]:
    for batch in run.batches if limit is not None else ():
        if limit is not None and batch.read and rows(batch) / batch.read > limit:
            observation = (
                f"{rows(batch):,} of {many(batch.read, 'row')} ({100 * rows(batch) / batch.read:.3g} %)"
            )
            yield Finding(
                kind, "warning", f"{kind} rows above {100 * limit:g} %", observation, batch.interval
            )


def _empty(alerts: Alerts, run: Run) -> Iterator[Finding]:
    """Batches without rows, where as many batches as asked all had rows before."""
    if (count := alerts.empty_after) is None:
        return
    history = [rows for _, rows in sorted(run.before)]
    for batch in sorted(run.batches, key=lambda one: one.interval):
        if not batch.read and len(history) >= count and all(history[-count:]):
            yield Finding(
                "empty",
                "warning",
                "an empty batch",
                f"the {many(count, 'batch')} before it had rows",
                batch.interval,
            )
        history.append(batch.read)


def _holes(alerts: Alerts, run: Run) -> Iterator[Finding]:
    for hole in run.missing or ():
        if alerts.hole_after is not None and hole.age >= alerts.hole_after:
            observation = (
                f"not there {many(hole.age, 'interval')} later; what was read since"
                f" {spell_instant(hole.interval.end_us)} waits for it"
            )
            yield Finding("hole", "warning", "a missing interval", observation, hole.interval)


def _unsettled(run: Run) -> Iterator[Finding]:
    for line in run.unsettled:
        yield Finding("unsettled", "warning", "earlier batches as their source is now", line, run.interval)


def _revised(run: Run) -> Iterator[Finding]:
    for each in run.revised:
        yield Finding("revised", "warning", each["what"], each["observed"], run.interval, tuple(each["rows"]))


def _forgetting(run: Run) -> Iterator[Finding]:
    if run.unforgotten:
        observation = (
            f"something may be left of {many(run.unforgotten, 'key')}; run muntin forget with them again"
        )
        yield Finding("forgetting", "warning", "keys that are to be forgotten", observation, run.interval)


_CELL, _LINE = 60, 500


def row_lines(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Rows under the names of their columns, in columns of equal width; no lines without rows.

    >>> row_lines([{"who": "ann", "total": -1}])
    ['who  total', 'ann  -1']
    """
    shown = [{_cell(name): _cell(value) for name, value in row.items()} for row in rows]
    names = list(dict.fromkeys(name for row in shown for name in row))
    widths = {name: max(len(name), *(len(row.get(name, "")) for row in shown)) for name in names}
    lines = [{name: name for name in names}, *shown] if shown else []
    return ["  ".join(line.get(name, "").ljust(widths[name]) for name in names).rstrip() for line in lines]


def shortened(text: str, length: int = _LINE) -> str:
    r"""A text as one line, cut where it is too long.

    >>> shortened("one\ntwo", 6)
    'one...'
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= length else f"{line[: length - 3]}..."


def _cell(value: object) -> str:
    return "null" if value is None else shortened(str(value), _CELL)
