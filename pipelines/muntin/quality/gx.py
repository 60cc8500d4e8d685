"""Great Expectations behind a few functions: build a suite's expectations, judge a frame by them, find the
failing rows. A frame is the staged files in one engine, Spark or pandas.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from muntin.quality.later import imported_later
from muntin.quality.suite import Expectation, Suite, SuiteError, near

ROW_NUMBER = "__muntin_row"


class Frame(Protocol):
    """The rows of the staged files, each with a number of its own."""

    numbered_by: ClassVar[Mapping[str, object]]
    """What the form of a result needs, so that Great Expectations names failing rows by their numbers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the files' columns, in order."""

    def batch(self, context: Any, *, numbered: bool) -> Any:  # noqa: ANN401 - of Great Expectations
        """A batch of Great Expectations with the files' columns; with `ROW_NUMBER` as the last column if
        `numbered` and needed.
        """

    def rows(self, numbers: Collection[int]) -> Mapping[int, Mapping[str, object]]:
        """Row number -> row, for these numbers. Instants are aware datetimes."""


SELDOM_USED = ("altair", "scipy.sparse", "scipy.stats")
"""What Great Expectations imports for a few expectations on distributions, and for drawing: a third of its
import.
"""
MAX_ROWS = 20
NAMED = 1000
"""So many failing rows of a check are looked up, to see which batches they are of; `MAX_ROWS` are shown."""
ERROR_LENGTH = 400
BOOLEAN = {"result_format": "BOOLEAN_ONLY"}
NUMBERS = {"result_format": "SUMMARY"}
NUMBERS_AND_ROWS = {
    "result_format": "SUMMARY",
    "partial_unexpected_count": NAMED,
    "return_unexpected_index_query": False,
}
QUERIED_ROWS = {"result_format": "COMPLETE"}
SECOND_INSPECTIONS: dict[str, Mapping[str, object]] = {
    "rows": NUMBERS_AND_ROWS,
    "query": QUERIED_ROWS,
    "table": NUMBERS,
}
"""Kind of expectation -> the form of the result if it fails."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one expectation: its verdict (None: not asked), the error if it could not run, and
    numbers and rows.
    """

    success: bool | None
    error: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the expectation ran, and the frame is not as expected."""
        return self.success is False and self.error is None


def imported() -> Any:  # noqa: ANN401 - a module
    """Great Expectations. The first call imports it, which takes seconds, and keeps its log quiet."""
    logger = logging.getLogger("great_expectations")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
    with imported_later(*SELDOM_USED), _garbage_kept():
        import great_expectations

    logger.getChild("data_context.types.base").setLevel(logger.level)  # it sets itself to INFO
    return great_expectations


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Collect no garbage: an import of a thousand modules makes none, and a fifth of its time went there."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def build(suite: Suite) -> tuple[Any, ...]:
    """The suite's expectations as objects of Great Expectations, with their positions.

    The error names all expectations that cannot be built.
    """
    imported()
    wrong: list[str] = []
    built = [_built(expectation, position, wrong) for position, expectation in enumerate(suite.expectations)]
    if wrong:
        raise SuiteError(f"{suite.path or suite.name}: " + "\n".join(wrong))
    return tuple(built)


def _built(expectation: Expectation, position: int, wrong: list[str]) -> Any:  # noqa: ANN401 - GX expectation
    from great_expectations.expectations.expectation_configuration import (
        ExpectationConfiguration,
    )
    from great_expectations.expectations.registry import (
        list_registered_expectation_implementations,
    )

    expectation_types = tuple(list_registered_expectation_implementations())
    if expectation.type not in expectation_types:
        hint = near(expectation.type, expectation_types, count=3) or "; see greatexpectations.io/expectations"
        wrong.append(f"expectation {position + 1}: unknown type {expectation.type!r}{hint}")
        return None
    try:
        return ExpectationConfiguration(
            type=expectation.type, kwargs=dict(expectation.kwargs), meta={"position": position}
        ).to_domain_obj()
    except (TypeError, ValueError) as error:
        wrong.append(f"expectation {position + 1} ({expectation.type}): {_brief(str(error))}")
        return None


def kind(expectation: Any) -> str:  # noqa: ANN401 - a GX expectation
    """`rows`: it judges row by row.

    `query`: its SQL finds failing rows. `table`: it judges the table or a column as a whole.
    """
    from great_expectations.expectations import expectation as kinds

    if expectation.expectation_type == "unexpected_rows_expectation":
        return "query"
    by_row = (kinds.ColumnMapExpectation, kinds.ColumnPairMapExpectation, kinds.MulticolumnMapExpectation)
    return "rows" if isinstance(expectation, by_row) else "table"


def row_numbers(result: Mapping[str, Any]) -> tuple[int, ...]:
    """The numbers of the failing rows in a result, at most `NAMED`; () if it names none."""
    named = (
        result.get("partial_unexpected_index_list") or result.get("details", {}).get("unexpected_rows") or []
    )
    failing: list[int] = []
    for entry in named:
        numbers = entry.get(ROW_NUMBER, []) if isinstance(entry, dict) else entry
        failing += numbers if isinstance(numbers, list) else [numbers]
    return tuple(failing[:NAMED])


def judge(
    frame: Frame, expectations: Sequence[Any], form: Mapping[str, object], *, numbered: bool = False
) -> dict[int, Outcome]:
    """Position of an expectation -> its outcome, by one run over a frame.

    If several could not run, each is run again alone: an expectation that breaks the run must not fail other
    expectations.
    """
    outcomes = _run(frame, expectations, form, numbered=numbered) if expectations else {}
    broken = [
        expectation for expectation in expectations if outcomes[position(expectation)].error is not None
    ]
    if len(broken) > 1:
        for expectation in broken:
            outcomes |= _run(frame, [expectation], form, numbered=numbered)
    return outcomes


def position(expectation: Any) -> int:  # noqa: ANN401 - GX expectation
    """The position of an expectation in its suite."""
    return int(expectation.meta["position"])


def _run(
    frame: Frame, expectations: Sequence[Any], form: Mapping[str, object], *, numbered: bool
) -> dict[int, Outcome]:
    missing = Outcome(success=False, error="Great Expectations returned no result")
    outcomes = {position(expectation): missing for expectation in expectations}
    suite = imported().ExpectationSuite(name="staged windows", expectations=list(expectations))
    try:
        form = {**form, **frame.numbered_by} if numbered else form
        context = imported().get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        results = frame.batch(context, numbered=numbered).validate(suite, result_format=dict(form)).results
    except Exception as error:  # noqa: BLE001 - whatever was raised, the check has not passed
        broken = Outcome(success=False, error=_brief(f"{type(error).__name__}: {error}"))
        return dict.fromkeys(outcomes, broken)
    return outcomes | {position(result.expectation_config): _outcome(result) for result in results}


def _outcome(result: Any) -> Outcome:  # noqa: ANN401 - GX result
    info = result.exception_info
    infos = [info] if "raised_exception" in info else list(info.values())
    messages = [str(info["exception_message"]) for info in infos if info["raised_exception"]]
    error = _brief("; ".join(dict.fromkeys(messages))) if messages else None
    return Outcome(bool(result.success) and error is None, error, dict(result.result or {}))


def _brief(message: str) -> str:
    text = " ".join(message.partition("JVM stacktrace:")[0].split())
    return text if len(text) <= ERROR_LENGTH else f"{text[:ERROR_LENGTH]}..."
