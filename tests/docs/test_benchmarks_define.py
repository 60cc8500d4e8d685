"""The definitions that the benchmarks race are accepted: a race takes minutes, and nobody runs it at every change."""

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.contestants import CONTESTANTS
from benchmarks.ours.pipeline import Job
from benchmarks.profile import REST, STEPS, measuring

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
