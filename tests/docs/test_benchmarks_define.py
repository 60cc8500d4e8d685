"""The definitions that the benchmarks race are accepted: a race takes minutes, and nobody runs it at every change."""

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.contestants import CONTESTANTS
from benchmarks.ours.pipeline import Job
from benchmarks.profile import REST, STEPS, measuring
from benchmarks.promises import MORE, PARTS, PROMISES, broken, lines

MODULES = sorted({one.module for one in CONTESTANTS if one.ours})


@pytest.mark.parametrize("module", MODULES)
def test_definitions_of_ours_are_accepted(module: str) -> None:
    jobs = [each for each in vars(import_module(f"benchmarks.{module}")).values() if isinstance(each, Job)]
    assert jobs
    assert all(job.pipeline([Path("/data/0.parquet")]).windows for job in jobs)


def test_steps_of_the_profile_are_functions() -> None:
    with measuring() as clock:
        pass
    assert set(clock.stop()) <= {*STEPS, REST}


def test_a_promise_is_judged_by_what_is_asked_or_recorded() -> None:
    for promise in PROMISES:
        assert promise.part in PARTS
        assert not promise.recorded or (promise.recorded > promise.asked and promise.why)
        for ratio, begin in (
            (promise.asked, "kept"),
            (max(promise.asked, MORE * promise.recorded) * 1.01, "NOT KEPT"),
            (None, "NOT MEASURED"),
        ):
            found = {} if ratio is None else {promise.line: ratio}
            shown = [line for line in lines({promise.part: found}) if line[0] == f"{promise.part}: {promise.line}"]
            assert [line[-1].startswith(begin) for line in shown] == [True]
            assert bool(broken(shown)) == (begin != "kept")
        if promise.recorded:
            assert promise.verdict(promise.recorded).startswith("not kept, recorded at")
