"""Suites as JSON files: the expectations on a window, and the severity of each one's failure.

Errors of validation: a suite that cannot be used, and windows that fail it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Protocol, TypeGuard, get_args

from muntin.definition.time_limits import PUBLISH_DESPITE
from muntin.errors import DefinitionError, ExpectationsError


class Report(Protocol):
    """The result of a validation."""

    def text(self) -> str:
        """The report as text."""

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""


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


Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
SUITE_FIELDS = ("name", "expectations", "meta", "notes", "id", "suite_parameters")
EXPECTATION_FIELDS = ("type", "kwargs", "severity", "meta", "notes", "description", "id", "rendered_content")
_BEFORE = {
    "expectation_suite_name": "name",
    "expectation_type": "type",
    "data_asset_type": "",
    "ge_cloud_id": "",
    "evaluation_parameters": "",
}
"""Fields of suites before 1.0 -> their names today; "": there is none."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation of a suite: a type of Great Expectations, its arguments, and the severity of its
    failure.
    """

    type: str
    kwargs: Mapping[str, object]
    severity: Severity = "critical"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that its arguments name, in order; () if it is about the table as a whole."""
        several = self.kwargs.get("column_list")
        single = [self.kwargs.get(name) for name in ("column", "column_A", "column_B")]
        return tuple(
            str(name) for name in (several if isinstance(several, list) else single) if name is not None
        )

    @property
    def lists_columns(self) -> bool:
        """Whether it is about the names, order or number of the table's columns."""
        return self.type.startswith(("expect_table_column", "expect_column_to_exist"))

    @property
    def condition(self) -> Mapping[str, Any] | None:
        """The expectation's condition on rows as JSON, if it has such a condition.

        A condition may also be a text.
        """
        condition = self.kwargs.get("row_condition")
        return condition if isinstance(condition, dict) else None

    @property
    def counts_rows(self) -> bool:
        """Whether it is about the number of rows, so that it can be checked without rows."""
        return self.type.startswith("expect_table_row_count")


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one window, in the order of the file."""

    name: str
    expectations: tuple[Expectation, ...]
    path: str = ""


def load_suite(path: str | Path) -> Suite:
    """Read a suite in the format of Great Expectations 1.x.

    `{"name": ..., "expectations": [{"type": ..., "kwargs": {...}, "severity": "critical"}, ...]}`; `severity`
    is "critical" if it is left out. Unknown fields and severities are refused.
    """
    given = _json(Path(path))
    _check_version(given, str(path))
    content = _known_fields(given, SUITE_FIELDS, str(path))
    entries = content.get("expectations")
    if not isinstance(entries, list) or not entries:
        raise SuiteError(
            f"{path}: no expectations; a suite that checks nothing guards nothing: add at least one"
        )
    expectations = tuple(
        _expectation(entry, f"{path}: expectation {n}") for n, entry in enumerate(entries, 1)
    )
    return Suite(str(content.get("name") or Path(path).stem), expectations, str(path))


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        msg = f"{path}: no such suite; make the file, or correct `expectations=` of the pipeline"
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
    except ValueError as error:
        msg = f"{path}: not JSON: {error}"
    raise SuiteError(msg)


def _check_version(content: Any, where: str) -> None:  # noqa: ANN401 - whatever JSON holds
    """Refuse a suite as Great Expectations before 1.0 wrote it, with all that has other names now."""
    entries = content.get("expectations") if isinstance(content, dict) else None
    names = [
        *(content if isinstance(content, dict) else ()),
        *(name for each in entries or () if isinstance(each, dict) for name in each),
    ]
    if not {*names} & {*_BEFORE}:
        return
    renamed = [f'write "{_BEFORE[name]}" for "{name}"' for name in dict.fromkeys(names) if _BEFORE.get(name)]
    gone = [f'"{name}"' for name in dict.fromkeys(names) if _BEFORE.get(name) == ""]
    rest = [f"leave out {', '.join(gone)}"] if gone else []
    raise SuiteError(
        f"{where}: a suite of Great Expectations before 1.0, whose fields had other names:"
        f" {'; '.join([*renamed, *rest])}"
    )


def _known_fields(content: object, field_names: tuple[str, ...], where: str) -> Mapping[str, object]:
    if not isinstance(content, dict):
        raise SuiteError(f"{where}: an object was expected, found {type(content).__name__}")
    for name in content:
        if name not in field_names:
            raise SuiteError(
                f"{where}: unknown field {name!r}{near(name, field_names)}; known are"
                f" {', '.join(field_names)}"
            )
    return content


def _expectation(entry: object, where: str) -> Expectation:
    content = _known_fields(entry, EXPECTATION_FIELDS, where)
    name = content.get("type")
    kwargs = content.get("kwargs", {})
    if not isinstance(name, str) or not name:
        raise SuiteError(
            f"{where}: `type` must name an expectation, such as expect_column_values_to_be_between"
        )
    if not isinstance(kwargs, dict):
        raise SuiteError(f"{where} ({name}): `kwargs` must be an object, found {type(kwargs).__name__}")
    if '"$PARAMETER"' in json.dumps(kwargs):
        raise SuiteError(
            f"{where} ({name}): suite parameters ($PARAMETER) are not supported; write the value itself"
        )
    return Expectation(name, kwargs, _severity(content.get("severity"), f"{where} ({name})"))


def _severity(value: object, where: str) -> Severity:
    if value is None:
        return "critical"
    if not _is_severity(value):
        raise SuiteError(
            f"{where}: unknown severity {value!r}{near(str(value), SEVERITIES)}; one of"
            f" {', '.join(SEVERITIES)}"
        )
    return value


def _is_severity(value: object) -> TypeGuard[Severity]:
    return value in SEVERITIES


def near(name: str, names: tuple[str, ...], *, count: int = 1) -> str:
    """`; did you mean ...?` if a known name is similar to this name, else nothing."""
    close = get_close_matches(name.lower(), names, n=count, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""
