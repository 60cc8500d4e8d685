"""Publishing despite a failed suite by table: what is staged, what suites said, what a person approved. Nothing is read."""

from typing import Any

import pytest

from muntin.errors import ConflictError, ExpectationsError
from muntin.jobs.records.approvals import Approval, check_publishable, is_approved, said_of, still_said, verdict_name

CHECK = {"type": "expect_x", "column": "n", "success": False, "unexpected_count": 1, "failing_rows": [{"n": 0}]}


def verdict(status: str = "passed", files: tuple[str, ...] = ("a",), **check: Any) -> dict[str, Any]:
    return {"files": list(files), "report": {"status": status, "checks": [{**CHECK, **check}] if status == "failed" else []}}


def approval(verdicts: dict[str, Any]) -> Approval:
    return Approval(verdict_name(verdicts) or "", "ann", "a strike")


PASSED, FAILED, OTHER = verdict(), verdict("failed"), verdict("failed", files=("b",))
STAGED = {"day": ["a"], "hour": ["a"], "unguarded": ["z"]}
GUARDED = ("day", "hour")
HELD = {"day": FAILED, "hour": PASSED}


@pytest.mark.parametrize(
    ("verdicts", "approved", "raises"),
    [
        ({"day": PASSED, "hour": verdict("warning")}, None, None),
        ({"day": PASSED}, None, ConflictError),  # a window has no verdict
        ({"day": PASSED, "hour": verdict(files=("b",))}, None, ConflictError),  # a verdict on other files
        (HELD, None, ExpectationsError),
        (HELD, approval(HELD), None),
        ({"day": FAILED, "hour": verdict("warning")}, approval(HELD), None),  # what does not hold is not approved either
        (HELD, approval({"day": OTHER, "hour": PASSED}), ExpectationsError),  # other data
        (HELD, approval({"day": verdict("failed", column="m"), "hour": PASSED}), ExpectationsError),  # another check failed
        (HELD, approval({"day": verdict("failed", unexpected_count=2), "hour": PASSED}), ExpectationsError),  # more rows failed
        (HELD, approval({"hour": FAILED}), ExpectationsError),  # another window
        (HELD, Approval("", "ann", "a strike"), ExpectationsError),
        ({"day": FAILED, "hour": FAILED}, approval(HELD), ExpectationsError),  # one more window fails
        ({"day": FAILED, "hour": FAILED}, approval({"day": FAILED, "hour": FAILED}), None),
        ({"day": OTHER, "hour": PASSED}, approval({"day": OTHER, "hour": PASSED}), ConflictError),  # approved, and on other files
        ({**HELD, "unguarded": FAILED}, approval(HELD), None),  # its suite is gone from the definition
    ],
)
def test_publishable(verdicts: dict[str, Any], approved: Approval | None, raises: type[Exception] | None) -> None:
    if raises is None:
        return check_publishable(STAGED, GUARDED, verdicts, approved)
    with pytest.raises(raises):
        check_publishable(STAGED, GUARDED, verdicts, approved)
    return None


def test_the_refusal_names_both_verdicts() -> None:
    other = approval({"day": OTHER})
    with pytest.raises(ExpectationsError, match=f"ann approved the verdict {other.verdict}, and this is the verdict {verdict_name(HELD)}"):
        check_publishable(STAGED, GUARDED, HELD, other)


def test_the_name_is_of_files_and_failed_checks_alone() -> None:
    name = verdict_name(HELD)
    assert name is not None
    assert len(name) == 16
    assert verdict_name({"hour": verdict("warning"), "day": verdict("failed", failing_rows=[])}) == name
    assert verdict_name({"day": PASSED}) is None
    assert is_approved({"day": PASSED}, None)


QUALITY = [{"window": "day", "status": "failed", "verdict": "failed: 1"}, {"window": "hour", "status": "passed", "verdict": "passed: 1"}]


@pytest.mark.parametrize(
    ("approved", "quality", "published", "starts"),
    [
        (Approval("f00", "ann", "why"), QUALITY, {"day": (1, 2), "hour": (2, 3)}, {1, 2}),
        (None, QUALITY, {"day": (1, 2)}, set()),
        (Approval("f00", "ann", "why"), QUALITY[1:], {"hour": (2, 3)}, set()),  # another run published: nothing failed any more
        (Approval("f00", "ann", "why"), QUALITY, {"hour": (2, 3)}, set()),
    ],
)
def test_reports_say_it_of_the_batches_of_windows_that_failed(
    approved: Approval | None, quality: list[dict[str, str]], published: dict[str, tuple[int, ...]], starts: set[int]
) -> None:
    said = said_of(approved, quality, published)
    assert set(said) == starts
    assert all(each == {"verdict": "f00", "windows": {"day": "failed: 1"}, "by": "ann", "reason": "why"} for each in said.values())


@pytest.mark.parametrize(("published", "stays"), [({}, True), ({"hour": (1,)}, True), ({"day": (2,)}, True), ({"day": (0, 1)}, False)])
def test_an_approval_is_over_when_its_window_is_published_anew(published: dict[str, tuple[int, ...]], stays: bool) -> None:
    before = {1: {"windows": {"day": "failed: 1"}}}
    assert still_said(before, published) == (before if stays else {})
