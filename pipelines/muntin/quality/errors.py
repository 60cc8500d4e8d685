"""Errors of validation: a suite that cannot be used, and windows that fail it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from muntin.definition.time_limits import PUBLISH_DESPITE
from muntin.errors import DefinitionError, ExpectationsError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Report(Protocol):
    """The result of a validation."""

    def text(self) -> str:
        """The report as text."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        ...


class SuiteError(DefinitionError):
    """A suite file that cannot be used: it is missing, is not JSON, or has an expectation that Great
    Expectations does not know.
    """


class ExpectationsFailed(ExpectationsError):  # noqa: N818 - the log shows this name: it says what happened
    """A critical check failed or could not run; `report` holds every check, its numbers and its failing rows.

    `reports` are the reports of all checked windows, `report` among them; `verdict` is the name of the
    verdict on all of them.
    """

    def __init__(self, report: Report, reports: Sequence[Report] = (), verdict: str | None = None) -> None:
        super().__init__(report, reports, verdict)
        self.report = report
        self.reports = tuple(reports) or (report,)
        self.verdict = verdict

    def __str__(self) -> str:
        """The report in words, with what to do next."""
        despite = (
            f"\n  To publish it all the same: {PUBLISH_DESPITE.format(self.verdict)}" if self.verdict else ""
        )
        return self.report.text() + despite
