"""What can be wrong at the door: the suite itself, or the windows that it was held against."""

from __future__ import annotations

from typing import Any, Protocol

from pipelines.errors import DefinitionError, ExpectationsError


class Report(Protocol):
    """What a validation found."""

    def text(self) -> str:
        """For a person."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        ...


class SuiteError(DefinitionError):
    """A suite file that cannot be used: missing, not JSON, or saying what Great Expectations does not know."""


class ExpectationsFailed(ExpectationsError):  # noqa: N818 - it says what happened, in the words of the log
    """A critical check failed or could not run; `report` holds every check, its numbers and its failing rows."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        """The report in words, with what to do next."""
        return self.report.text()
