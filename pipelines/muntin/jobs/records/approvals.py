"""Publishing despite a failed suite, decided from values alone: what is held, by which verdict, and whether a
person has approved that.

staged files + failed checks = verdict 3f2a...      an approval names 3f2a..., and is of no other files and no
other checks
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import instant_us
from muntin.errors import ConflictError, ExpectationsError
from muntin.jobs.records.reports import BatchReport
from muntin.jobs.records.reports_table import DESPITE, TABLE, read_reports
from muntin.store.store import Store

Verdicts = Mapping[str, Mapping[str, Any]]
"""Window -> its verdict: the paths of its staged `files`, and the `report` of its validation."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The word of a person that windows are to be published despite a failed suite: the name of the verdict,
    the person, the reason.
    """

    verdict: str
    by: str
    reason: str


def failed_windows(verdicts: Verdicts) -> dict[str, Mapping[str, Any]]:
    """Window -> report, of the windows that failed their suite."""
    return {
        window: each["report"]
        for window, each in sorted(verdicts.items())
        if each["report"]["status"] == "failed"
    }


def verdict_name(verdicts: Verdicts) -> str | None:
    """The name of the verdict on windows that were staged together, 16 hex digits; None if no window failed.

    It is a digest (BLAKE2) of the failed checks and the files of the failed windows. The path of a file names
    the content of the file.
    """
    failed = {
        window: [verdicts[window]["files"], _failed_checks(report)]
        for window, report in failed_windows(verdicts).items()
    }
    return blake2b(json.dumps(failed, sort_keys=True).encode(), digest_size=8).hexdigest() if failed else None


def _failed_checks(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The failed checks of a report. Failing rows are shown in part, and lie in the files."""
    checks = (check for check in report.get("checks", ()) if check["success"] is False)
    return [{name: value for name, value in check.items() if name != "failing_rows"} for check in checks]


def check_publishable(
    staged: Mapping[str, Sequence[str]],
    guarded: Collection[str],
    verdicts: Verdicts,
    approval: Approval | None = None,
) -> None:
    """Check that each guarded window has a verdict on exactly its staged files, and did not fail, or a person
    approved that.

    `staged`: window -> the paths of its staged files, sorted. `guarded`: the windows that have a suite.
    """
    for window in staged:
        if window in guarded and (
            window not in verdicts or [*verdicts[window]["files"]] != [*staged[window]]
        ):
            raise ConflictError(
                f"windows/{window}: the staged files were not validated; finalize and validate again"
            )
    about = {window: each for window, each in verdicts.items() if window in staged and window in guarded}
    if not is_approved(about, approval):
        window, name = next(iter(failed_windows(about))), verdict_name(about)
        other = (
            f"; {approval.by} approved the verdict {approval.verdict}, and this is the verdict {name}"
            if approval
            else ""
        )
        raise ExpectationsError(
            f"windows/{window}: a critical expectation failed on the staged files; nothing was"
            f" published{other}"
        )


def is_approved(verdicts: Verdicts, approval: Approval | None) -> bool:
    """Whether nothing failed, or a person has approved exactly this verdict."""
    name = verdict_name(verdicts)
    return name is None or (approval is not None and approval.verdict == name)


def said_of(
    approval: Approval | None, quality: Sequence[Mapping[str, Any]], published: Mapping[str, Sequence[int]]
) -> dict[int, dict[str, Any]]:
    """Start of a batch -> what its report says of the approval: verdict, windows with their verdicts in
    words, by, reason.

    `quality`: the reports of the validation. `published`: window -> starts of the batches whose windows were
    published.
    """
    failed = {each["window"]: each["verdict"] for each in quality if each["status"] == "failed"}
    if approval is None or not failed:
        return {}
    said = {"verdict": approval.verdict, "windows": failed, "by": approval.by, "reason": approval.reason}
    return {start: said for window in failed for start in published.get(window, ())}


def still_said(
    before: Mapping[int, Mapping[str, Any]], published: Mapping[str, Sequence[int]]
) -> dict[int, Mapping[str, Any]]:
    """The earlier approvals that windows still rest on: none of the windows that they are about was published
    since.

    `before`: start of a batch -> what its last report says of an approval. `published`: window -> starts of
    the batches published since.
    """
    return {
        start: said
        for start, said in before.items()
        if not any(start in published.get(window, ()) for window in said["windows"])
    }


def spelled_approval(said: Mapping[str, Any]) -> str:
    """An approval in words, as `said_of` gives it.

    >>> spelled_approval({"windows": {"day": "failed: 1 critical of 2 checks on 5 rows"}, "by": "ann",
    ...     "reason": "a strike"})
    'despite the suite of day: failed: 1 critical of 2 checks on 5 rows; ann: a strike'
    """
    windows = ", ".join(f"{window}: {verdict}" for window, verdict in said["windows"].items())
    return f"despite the suite of {windows}; {said['by']}: {said['reason'] or 'no reason was given'}"


def with_approvals(
    store: Store,
    reports: Iterable[BatchReport],
    published: Mapping[str, Sequence[int]],
    said: Mapping[int, Mapping[str, Any]],
) -> list[BatchReport]:
    """The reports of a run's batches, each with the approval that its published windows rest on.

    `published`: window -> starts of the batches whose windows the run published. `said`: start of a batch ->
    the approval by which the run published it.
    """
    by_start = {instant_us(one.interval_start, "start"): one for one in reports}
    before = still_said(said_before(store, [*by_start]), published)
    return [replace(one, despite=said.get(start) or before.get(start)) for start, one in by_start.items()]


def said_before(store: Store, starts: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Start of a batch -> the approval of its newest publication.

    Nothing is read where there never was an approval.
    """
    snapshot = store.snapshot(TABLE)
    if not starts or snapshot.schema is None or DESPITE not in snapshot.schema.names:
        return {}
    columns = ["batch", "recorded_at", DESPITE]
    table = read_reports(store, columns, "publish", (min(starts), max(starts)))
    return newest_said(table.set_column(0, "batch", table["batch"].cast(pa.int64())))


def newest_said(published: pa.Table) -> dict[int, dict[str, Any]]:
    """Start of a batch -> the approval of its newest publication.

    `published`: batch, recorded_at, despite, of reports of publications.
    """
    rows = published.sort_by("recorded_at")
    newest = dict(zip(rows["batch"].to_pylist(), rows[DESPITE].to_pylist(), strict=True))
    return {start: json.loads(said) for start, said in newest.items() if said}


def approvals_in(reports: pa.Table | None) -> dict[int, dict[str, Any]]:
    """Start of a batch -> the approval that its published windows rest on.

    `reports`: as `reports_of` has them.
    """
    if reports is None or DESPITE not in reports.column_names:
        return {}
    return newest_said(reports.filter(pc.equal(reports["step"], "publish")))
