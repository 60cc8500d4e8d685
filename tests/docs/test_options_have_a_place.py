"""Each option stands on a page of the job that it serves, and README names the pages of each job."""

import re
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from muntin import Limits, Pipeline, Renamed, Retain, airflow_dag, as_of, over, run, sources

ROOT = Path(__file__).parents[2]
JOBS = re.findall(
    r"^\| ((?:write|run|look|mend|change)\b[^|]*) \| (.*) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)
PAGES = {job.split()[0]: re.findall(r"\]\(([^)#]+\.md)", links) for job, links in JOBS}
PAGES["write"] += [f"docs/windows/{page.name}" for page in (ROOT / "docs/windows").glob("*.md")]
SERVES: dict[str, tuple[Callable[..., Any], ...]] = {
    "write": (Pipeline, Limits, sources.files, sources.at, sources.csv, sources.jsonl, sources.events, sources.lookup, sources.table),
    "run": (airflow_dag, run),
    "look": (as_of, over),
    "change": (Retain, Renamed),
}
ELSEWHERE = {
    "fresh_within": "look",
    "alerts": "look",
    "description": "change",
    "retain": "change",
    "renamed": "change",
    "states_in_windows": "write",
}
"""An option of one job in a value of another."""
PLACES = {"path", "options", "pipeline", "store", "progress", "promoting", "allow_missing"}
"""What a call begins with, and what is for programs."""


def test_each_job_has_pages() -> None:
    assert [*PAGES] == ["write", "run", "look", "mend", "change"]
    assert [page for pages in PAGES.values() for page in pages if not (ROOT / page).is_file()] == []


@pytest.mark.parametrize(("job", "function"), [(job, function) for job, functions in SERVES.items() for function in functions])
def test_an_option_stands_where_its_job_is(job: str, function: Callable[..., Any]) -> None:
    texts = {each: "".join((ROOT / page).read_text(encoding="utf-8") for page in pages) for each, pages in PAGES.items()}
    options = {*signature(function).parameters} - PLACES
    missing = [each for each in options if not re.search(rf"\b{each}=|`{each}`", texts[ELSEWHERE.get(each, job)])]
    assert missing == [], f"{function.__name__}, to {job}: {sorted(missing)}"
