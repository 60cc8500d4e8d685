"""The code of docs/testing.md and docs/sources.md runs and gives what the pages show."""

import doctest
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muntin.definition.durations import UNITS
from muntin.definition.instants import instant_us

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "testing.md"


def test_the_code_of_the_page_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```(python|pycon)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [language for language, _ in blocks] == ["python", "pycon", "pycon"]
    for language, block in blocks:
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
        else:
            shown = doctest.DocTestParser().get_doctest(block, names, PAGE.name, str(PAGE), 0)
            assert doctest.DocTestRunner().run(shown).failed == 0


def test_the_test_of_a_project_stands_as_it_is() -> None:
    (shown,) = re.findall(r'```python title="(.*?)"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown[1] in (DOCS.parent / "pipelines/muntin/templates/files" / shown[0]).read_text(
        encoding="utf-8"
    )  # tests/cli/test_new.py runs it


def test_the_code_of_the_page_on_sources_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "sources.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile("\n".join(blocks), "sources.md", "exec"), names)  # noqa: S102 - our own page
    assert {"flights", "hourly", "clicks", "tills", "busiest"} <= names.keys()


def test_the_days_of_a_local_clock_are_those_of_the_page_on_sources() -> None:
    page, names = (DOCS / "sources.md").read_text(encoding="utf-8"), dict[str, Any]()
    (block,) = re.findall(r"```python\n((?:(?!```).)*timezone=\"Europe/Berlin\",\n.*?)```", page, re.DOTALL)
    exec(compile("from muntin import sources\n" + block, "sources.md", "exec"), names)  # noqa: S102 - our own page
    days = names["shops"].intervals.intervals(*(instant_us(datetime(2024, *day, tzinfo=UTC), "day") for day in ((3, 29, 23), (4, 1, 22))))
    hours = [(day.end_us - day.start_us) // UNITS["h"] for day in days]
    local, utc = ([replace(names["shops"].source, path=path).patterns(day) for day in days] for path in ("{start:%F}", "{start_utc:%FT%H}"))
    table = "".join(f"| `{day}` | {length} | `{a}` | `{b}` |\n" for day, length, a, b in zip(days, hours, local, utc, strict=True))
    assert hours == [24, 23, 24]
    assert table in page
