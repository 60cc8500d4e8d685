"""Validate: hold the staged windows against their suites, before any reader can see them."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from muntin.errors import DefinitionError
from muntin.files.near import near
from muntin.jobs.publish.culprits import culprits
from muntin.jobs.published.staged_windows import Staged
from muntin.jobs.records.approvals import Approval, is_approved, verdict_name
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.records.verdicts import note_verdict, record_checks, record_verdicts
from muntin.jobs.state.bound import Bound
from muntin.quality.report import QualityReport
from muntin.tasks import Runner

log = logging.getLogger("muntin")


def validate_staged(
    bound: Bound, runner: Runner, staged: Staged, approval: Approval | None = None
) -> list[dict[str, Any]]:
    """Check every staged window that has a suite, and where a person is asked, whether it revises published
    windows; write the verdicts next to the files, and return the reports.

    A failed critical expectation that no person has approved is an error. The staged files stay, so that
    people can inspect them.
    """
    from muntin.quality import load_suite, validate
    from muntin.quality.suite import ExpectationsFailed

    suites = {name: load_suite(find_suite(path)) for name, path in bound.pipeline.expectations.items()}
    reports: list[QualityReport] = []
    for window in staged.windows:
        if window.window in suites:
            folder = bound.folder / staged.folder / window.window
            files = [f"{folder}/{file['path']}" for file in window.files]
            rows = sum(file["rows"] for file in window.files)
            keys = list(bound.keys_of(window.window))
            reports.append(
                validate(
                    runner.spark,
                    suites[window.window],
                    files=files,
                    window=window.window,
                    keys=keys,
                    rows=rows,
                )
            )
    if bound.pipeline.on_revision == "ask":
        from muntin.jobs.publish.revisions import with_revisions

        reports = with_revisions(bound, staged, reports)
    reports = [
        replace(report, culprits=culprits(bound, report.window, report))
        if report.status == "failed"
        else report
        for report in reports
    ]
    verdicts = record_verdicts(bound, staged, {report.window: report.to_dict() for report in reports})
    name = verdict_name(verdicts)
    starts = {window.window: window.starts for window in staged.windows}
    now = utc_now()
    for report in reports:
        named = {"name": name} if report.status == "failed" else {}
        note_verdict(bound.folder, {**report.to_dict(), **named}, starts[report.window], now)
    record_checks(bound.store, [(report.to_dict(), starts[report.window]) for report in reports], now)
    failed = [report for report in reports if report.status == "failed"]
    for report in failed[1:]:  # the first report is the text of the error
        log.error("%s", report.text())
    if not is_approved(verdicts, approval):
        raise ExpectationsFailed(failed[0], reports, name)
    return [report.to_dict() for report in reports]


def find_suite(path: str | Path) -> Path:
    """The path of a suite: as given, or below the folder that `MUNTIN_HOME` names."""
    tried = list(
        dict.fromkeys(
            each.absolute() for each in (Path(path), Path(os.environ.get("MUNTIN_HOME", ".")) / path)
        )
    )
    for candidate in tried:
        if candidate.exists():
            return candidate
    places = " or ".join(map(str, tried))
    mend = "" if Path(path).is_absolute() else "; run in the project's folder, or set MUNTIN_HOME to it"
    raise DefinitionError(f"expectations: no file {places}{mend}; {near(str(tried[-1]))}")
