"""What can be wrong at the door: the suite itself, or the windows it was held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import DefinitionError, ExpectationsError

if TYPE_CHECKING:
    from pipelines.quality.report import QualityReport


class SuiteError(DefinitionError):
    """A suite file that cannot be used: missing, not JSON, or saying what Great Expectations does not know."""


class ExpectationsFailed(ExpectationsError):  # noqa: N818 - it says what happened, in the words of the log
    """A critical check failed or could not run; `report` holds every check, its numbers and its failing rows."""

    def __init__(self, report: QualityReport) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        """The report in words, with what to do next."""
        return self.report.text()
