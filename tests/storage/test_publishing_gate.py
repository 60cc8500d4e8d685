"""No window with a suite is published without a verdict on exactly the staged files, whatever the steps before did."""

from dataclasses import replace
from pathlib import Path

import pytest

from muntin.errors import ConflictError, ExpectationsError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.publish.publish import publish
from muntin.jobs.published.staged_windows import Staged
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.verdicts import record_verdicts
from muntin.jobs.state.bound import Bound, bind
from tests.made_once import made_once
from tests.storage.three_batches import HERE, OTHER, Small, at_once

HOUR_US = 3_600_000_000
BOTH = {"hours": "suite.json", "visits": "suite.json"}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made_once(tmp_path, at_once)
    return Small(tmp_path)


def guarded(small: Small) -> Bound:
    """The pipeline with a suite for each window, beside the state that it has."""
    return replace(bind(small.pipeline, small.folder / "state"), pipeline=replace(small.pipeline, expectations=BOTH))


def changed(small: Small) -> Staged:
    """The windows of a replaced batch, staged."""
    small.write(1, OTHER)
    bound = bind(small.pipeline, small.folder / "state")
    schedule = bound.pipeline.intervals
    accumulate(bound, HERE, schedule.intervals(schedule.first_us, schedule.first_us + 3 * HOUR_US))
    return finalize(bound, HERE, [])


def ledgers(bound: Bound) -> dict[str, str | None]:
    return {name: published(bound.store, name).head for name in bound.windows}


def test_without_a_verdict_nothing_is_published(small: Small) -> None:
    staged, bound = changed(small), guarded(small)
    before = ledgers(bound)
    with pytest.raises(ConflictError, match="windows/hours: the staged files were not validated"):
        publish(bound, staged)
    assert ledgers(bound) == before


def test_a_verdict_on_other_files_does_not_count(small: Small) -> None:
    staged, bound = changed(small), guarded(small)
    hours = staged.windows[0]
    others = replace(staged, windows=[replace(hours, files=hours.files[1:]), *staged.windows[1:]])
    record_verdicts(bound, others, {"hours": {"status": "passed"}, "visits": {"status": "passed"}})
    with pytest.raises(ConflictError, match="windows/hours: the staged files were not validated"):
        publish(bound, staged)


def test_a_failed_window_is_not_published_and_takes_the_others_with_it(small: Small) -> None:
    staged, bound = changed(small), guarded(small)
    before = ledgers(bound)
    record_verdicts(bound, staged, {"hours": {"status": "passed"}, "visits": {"status": "failed"}})
    with pytest.raises(ExpectationsError, match="windows/visits"):
        publish(bound, staged)
    assert ledgers(bound) == before


# staged:     hours, visits      against the ledgers of then
# meanwhile:  visits             published by another run
# publish:    nothing            hours is fresh, but its step `validate` was skipped since visits is stale
def test_one_stale_window_keeps_all_from_being_published(small: Small) -> None:
    staged, bound = changed(small), guarded(small)
    visits = replace(staged, windows=[each for each in staged.windows if each.window == "visits"], folder=f"{staged.folder}-other")
    Path(bound.folder, visits.folder).mkdir()
    for file in visits.windows[0].files:
        place = Path(bound.folder, visits.folder, "visits", file["path"])
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(Path(bound.folder, staged.folder, "visits", file["path"]).read_bytes())
    publish(bound, visits, validated=False)
    before = ledgers(bound)
    with pytest.raises(ConflictError, match="windows/visits: another run published"):
        publish(bound, staged)
    assert ledgers(bound) == before


def test_with_verdicts_both_are_published(small: Small) -> None:
    staged, bound = changed(small), guarded(small)
    record_verdicts(bound, staged, {"hours": {"status": "warning"}, "visits": {"status": "passed"}})
    done: dict[str, object] = {}
    publish(bound, staged, committed=done.__setitem__)
    assert set(done) == {"hours", "visits"}
